package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/types"
)

// Constants of metadata.
const (
	catalogName   = "def"
	engineName    = "Paimon"
	primaryName   = "PRIMARY"
	partitionedBy = "partitioned"
)

// informationTables are the tables of information_schema that are ours. They
// open no table for what the names alone say.
func informationTables() []*virtualTable {
	return []*virtualTable{
		infoTables(), infoColumns(), infoStatistics(), infoConstraints(), infoKeyUsage(), infoPartitions(), infoColumnStatistics(),
		infoEngines(), infoProcessList(),
	}
}

// eachTable calls f for every table whose database and name the filter admits; dbCol and tableCol are the columns that hold them.
func (q *virtualQuery) eachTable(dbCol, tableCol int, f func(db sql.Database, name string) error) error {
	for _, db := range q.engine.allDatabases(q.ctx) {
		if !q.may(map[int]string{dbCol: db.Name()}) {
			continue
		}
		names, err := db.GetTableNames(q.ctx)
		if err != nil {
			q.ctx.Warn(warnCodeUnknown, "tables of database %s cannot be listed: %s", db.Name(), err)
			continue
		}
		for _, n := range names {
			if err := q.ctx.Err(); err != nil {
				return err
			}
			if !q.may(map[int]string{dbCol: db.Name(), tableCol: n}) {
				continue
			}
			if err := f(db, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe opens a table; nil with a warning where that fails, since one broken table must not hide the others.
func (q *virtualQuery) describe(db sql.Database, name string) *tableInfo {
	t, ok, err := db.GetTableInsensitive(q.ctx, name)
	switch {
	case err != nil:
		q.ctx.Warn(warnCodeUnknown, "table %s.%s: %s", db.Name(), name, err)
		return nil
	case !ok: // dropped meanwhile
		return nil
	}
	return describeTable(db.Name(), name, t)
}

// allDatabases are those that SHOW DATABASES lists.
func (e *Engine) allDatabases(ctx *sql.Context) []sql.Database {
	return e.Analyzer.Catalog.AllDatabases(ctx)
}

func infoTables() *virtualTable {
	const colComment, colRows, colAvg, colData = 20, 7, 8, 9
	return &virtualTable{
		name: "TABLES", view: true, exact: map[int]bool{1: true, 2: true},
		fields: numberFields(
			textField("TABLE_CATALOG", 64), textField("TABLE_SCHEMA", 64), textField("TABLE_NAME", 64), textField("TABLE_TYPE", 64, true),
			textField("ENGINE", 64), intField("VERSION"), textField("ROW_FORMAT", 10), intField("TABLE_ROWS"), intField("AVG_ROW_LENGTH"),
			intField("DATA_LENGTH"), intField("MAX_DATA_LENGTH"), intField("INDEX_LENGTH"), intField("DATA_FREE"), intField("AUTO_INCREMENT"),
			timeField("CREATE_TIME"), timeField("UPDATE_TIME"), timeField("CHECK_TIME"), textField("TABLE_COLLATION", 64), intField("CHECKSUM"),
			textField("CREATE_OPTIONS", 256), textField("TABLE_COMMENT", 2048)),
		rows: func(q *virtualQuery) error {
			sizes := q.wants(colRows) || q.wants(colAvg) || q.wants(colData)
			open := sizes || q.wants(colComment) || q.wants(19)
			return q.eachTable(1, 2, func(db sql.Database, name string) error {
				kind, engine := "BASE TABLE", any(engineName)
				own, isOwn := db.(*Database)
				if !isOwn {
					kind, engine = "SYSTEM VIEW", nil
					if strings.EqualFold(db.Name(), mysqlDatabase) || strings.EqualFold(db.Name(), performanceDatabase) {
						kind, engine = "BASE TABLE", any("PERFORMANCE_SCHEMA")
					}
				}
				var rows, bytes int64 = -1, -1
				comment, options := "", ""
				if isOwn && open {
					info := q.describe(own, name)
					if info == nil {
						return nil
					}
					comment = info.rel.Comment()
					if d, ok := info.rel.(Described); ok && len(d.PartitionKeys()) > 0 {
						options = partitionedBy
					}
					if sizes {
						rows, bytes = info.estimate(q.ctx)
					}
				}
				var avg any
				if rows > 0 && bytes >= 0 {
					avg = bytes / rows
				}
				q.emit(catalogName, db.Name(), name, kind, engine, 10, "Dynamic", known(rows), avg, known(bytes), 0, 0, 0, nil, nil, nil, nil,
					types.Collation.Name(), nil, options, comment)
				return nil
			})
		},
	}
}

func infoColumns() *virtualTable {
	return &virtualTable{
		name: "COLUMNS", view: true, exact: map[int]bool{1: true, 2: true},
		fields: numberFields(
			textField("TABLE_CATALOG", 64, true), textField("TABLE_SCHEMA", 64, true), textField("TABLE_NAME", 64, true), textField("COLUMN_NAME", 64),
			intField("ORDINAL_POSITION", true), textField("COLUMN_DEFAULT", 65535/4), textField("IS_NULLABLE", 3, true), textField("DATA_TYPE", 64),
			intField("CHARACTER_MAXIMUM_LENGTH"), intField("CHARACTER_OCTET_LENGTH"), intField("NUMERIC_PRECISION"), intField("NUMERIC_SCALE"),
			intField("DATETIME_PRECISION"), textField("CHARACTER_SET_NAME", 64), textField("COLLATION_NAME", 64), textField("COLUMN_TYPE", 1024, true),
			textField("COLUMN_KEY", 3, true), textField("EXTRA", 256), textField("PRIVILEGES", 154), textField("COLUMN_COMMENT", 1024, true),
			textField("GENERATION_EXPRESSION", 1024, true), intField("SRS_ID")),
		rows: func(q *virtualQuery) error {
			return q.eachTable(1, 2, func(db sql.Database, name string) error {
				info := q.describe(db, name)
				if info == nil {
					return nil
				}
				for i := range info.columns {
					c := &info.columns[i]
					var set, collation any
					if c.collation != "" {
						set, collation = charset, c.collation
					}
					q.emit(catalogName, db.Name(), name, c.name, i+1, optional(c.def), yesNo(c.nullable), c.dataType, known(c.chars), known(c.octets),
						known(int64(c.precision)), known(int64(c.scale)), known(int64(c.fraction)), set, collation, c.columnType, keyName(c.key), "",
						"select,insert,update,references", c.comment, "", nil)
				}
				return nil
			})
		},
	}
}

func optional(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func keyName(key bool) string {
	if key {
		return "PRI"
	}
	return ""
}

// eachKey calls f for every column of a primary key.
func (q *virtualQuery) eachKey(dbCol, tableCol int, f func(db, table string, pos int, c *columnInfo)) error {
	return q.eachTable(dbCol, tableCol, func(db sql.Database, name string) error {
		if _, ok := db.(*Database); !ok {
			return nil
		}
		info := q.describe(db, name)
		if info == nil {
			return nil
		}
		for i, k := range info.keys {
			for c := range info.columns {
				if info.columns[c].name == k {
					f(db.Name(), name, i+1, &info.columns[c])
				}
			}
		}
		return nil
	})
}

func infoStatistics() *virtualTable {
	return &virtualTable{
		name: "STATISTICS", view: true, exact: map[int]bool{1: true, 2: true},
		fields: numberFields(
			textField("TABLE_CATALOG", 64, true), textField("TABLE_SCHEMA", 64, true), textField("TABLE_NAME", 64, true), intField("NON_UNIQUE", true),
			textField("INDEX_SCHEMA", 64, true), textField("INDEX_NAME", 64), intField("SEQ_IN_INDEX", true), textField("COLUMN_NAME", 64),
			textField("COLLATION", 1), intField("CARDINALITY"), intField("SUB_PART"), textField("PACKED", 10), textField("NULLABLE", 3, true),
			textField("INDEX_TYPE", 11, true), textField("COMMENT", 8, true), textField("INDEX_COMMENT", 2048, true), textField("IS_VISIBLE", 3, true),
			textField("EXPRESSION", 1024)),
		rows: func(q *virtualQuery) error {
			return q.eachKey(1, 2, func(db, table string, pos int, c *columnInfo) {
				q.emit(catalogName, db, table, 0, db, primaryName, pos, c.name, "A", nil, nil, nil, "", "BTREE", "", "", "YES", nil)
			})
		},
	}
}

func infoConstraints() *virtualTable {
	return &virtualTable{
		name: "TABLE_CONSTRAINTS", view: true, exact: map[int]bool{1: true, 3: true, 4: true},
		fields: numberFields(
			textField("CONSTRAINT_CATALOG", 64, true), textField("CONSTRAINT_SCHEMA", 64, true), textField("CONSTRAINT_NAME", 64),
			textField("TABLE_SCHEMA", 64, true), textField("TABLE_NAME", 64, true), textField("CONSTRAINT_TYPE", 11, true), textField("ENFORCED", 3, true)),
		rows: func(q *virtualQuery) error {
			return q.eachKey(3, 4, func(db, table string, pos int, _ *columnInfo) {
				if pos == 1 {
					q.emit(catalogName, db, primaryName, db, table, "PRIMARY KEY", "YES")
				}
			})
		},
	}
}

func infoKeyUsage() *virtualTable {
	return &virtualTable{
		name: "KEY_COLUMN_USAGE", view: true, exact: map[int]bool{1: true, 4: true, 5: true},
		fields: numberFields(
			textField("CONSTRAINT_CATALOG", 64, true), textField("CONSTRAINT_SCHEMA", 64, true), textField("CONSTRAINT_NAME", 64),
			textField("TABLE_CATALOG", 64, true), textField("TABLE_SCHEMA", 64, true), textField("TABLE_NAME", 64, true), textField("COLUMN_NAME", 64),
			intField("ORDINAL_POSITION", true), intField("POSITION_IN_UNIQUE_CONSTRAINT"), textField("REFERENCED_TABLE_SCHEMA", 64),
			textField("REFERENCED_TABLE_NAME", 64), textField("REFERENCED_COLUMN_NAME", 64)),
		rows: func(q *virtualQuery) error {
			return q.eachKey(4, 5, func(db, table string, pos int, c *columnInfo) {
				q.emit(catalogName, db, primaryName, catalogName, db, table, c.name, pos, nil, nil, nil, nil)
			})
		},
	}
}

func infoPartitions() *virtualTable {
	return &virtualTable{
		name: "PARTITIONS", view: true, exact: map[int]bool{1: true, 2: true},
		fields: numberFields(
			textField("TABLE_CATALOG", 64, true), textField("TABLE_SCHEMA", 64, true), textField("TABLE_NAME", 64, true), textField("PARTITION_NAME", 4096),
			textField("SUBPARTITION_NAME", 64), intField("PARTITION_ORDINAL_POSITION"), intField("SUBPARTITION_ORDINAL_POSITION"),
			textField("PARTITION_METHOD", 13), textField("SUBPARTITION_METHOD", 13), textField("PARTITION_EXPRESSION", 2048),
			textField("SUBPARTITION_EXPRESSION", 2048), textField("PARTITION_DESCRIPTION", 4096), intField("TABLE_ROWS"), intField("AVG_ROW_LENGTH"),
			intField("DATA_LENGTH"), intField("MAX_DATA_LENGTH"), intField("INDEX_LENGTH", true), intField("DATA_FREE", true), timeField("CREATE_TIME"),
			timeField("UPDATE_TIME"), timeField("CHECK_TIME"), intField("CHECKSUM"), textField("PARTITION_COMMENT", 1024, true), textField("NODEGROUP", 256),
			textField("TABLESPACE_NAME", 268)),
		rows: func(q *virtualQuery) error {
			return q.eachTable(1, 2, func(db sql.Database, name string) error {
				if _, ok := db.(*Database); !ok {
					return nil
				}
				info := q.describe(db, name)
				if info == nil {
					return nil
				}
				d, ok := info.rel.(Described)
				ps, isPartitioned := info.rel.(Partitioned)
				if !ok || !isPartitioned || len(d.PartitionKeys()) == 0 {
					q.emit(catalogName, db.Name(), name, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, 0, 0, nil, nil, nil, nil, "", nil, nil)
					return nil
				}
				parts, err := ps.Partitions(q.ctx)
				if err != nil {
					q.ctx.Warn(warnCodeUnknown, "partitions of %s.%s: %s", db.Name(), name, err)
					return nil
				}
				keys := "`" + strings.Join(d.PartitionKeys(), "`,`") + "`"
				for i, p := range parts {
					var avg any
					if p.Rows > 0 && p.Bytes >= 0 {
						avg = p.Bytes / p.Rows
					}
					q.emit(catalogName, db.Name(), name, p.Name, nil, i+1, nil, "LIST COLUMNS", nil, keys, nil, describePartition(&p), known(p.Rows), avg,
						known(p.Bytes), nil, 0, 0, nil, nil, nil, nil, "", nil, nil)
				}
				return nil
			})
		},
	}
}

// describePartition prints the values of a partition as LIST partitions do.
func describePartition(p *Partition) string {
	out := make([]string, len(p.Values))
	for i, v := range p.Values {
		out[i] = "NULL"
		if v != nil {
			out[i] = "'" + strings.ReplaceAll(*v, "'", "''") + "'"
		}
	}
	return strings.Join(out, ",")
}

func infoColumnStatistics() *virtualTable {
	return &virtualTable{
		name: "COLUMN_STATISTICS", view: true,
		fields: numberFields(textField("SCHEMA_NAME", 64, true), textField("TABLE_NAME", 64, true), textField("COLUMN_NAME", 64, true), textField("HISTOGRAM", 16383, true)),
		rows:   func(*virtualQuery) error { return nil },
	}
}

func infoEngines() *virtualTable {
	return &virtualTable{
		name: "ENGINES", view: true,
		fields: numberFields(textField("ENGINE", 64, true), textField("SUPPORT", 8, true), textField("COMMENT", 80, true), textField("TRANSACTIONS", 3),
			textField("XA", 3), textField("SAVEPOINTS", 3)),
		rows: func(q *virtualQuery) error {
			q.emit("InnoDB", "DEFAULT", "What clients expect as default: tables are Paimon's", "YES", "NO", "NO")
			q.emit(engineName, "YES", "Apache Paimon tables", "YES", "NO", "NO")
			return nil
		},
	}
}
