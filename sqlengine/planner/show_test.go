package planner

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// partTable is a partitioned table.
type partTable struct{ *fakeTable }

func (p partTable) Partitions(context.Context) ([]Partition, error) {
	a, b := "2026-01-01", "5"
	return []Partition{
		{Name: "d=2026-01-01/h=5", Values: []*string{&a, &b}, Rows: 3, Bytes: 300, Files: 1},
		{Name: "d=__DEFAULT_PARTITION__/h=5", Values: []*string{nil, &b}, Rows: 1, Bytes: 100, Files: 1},
	}, nil
}

func (p partTable) EstimateRows(context.Context) (int64, bool, error) { return 4, true, nil }
func (p partTable) DataSize(context.Context) (int64, error)           { return 400, nil }

type partCatalog struct {
	*fakeCatalog
	broken error
}

func (c partCatalog) Open(ctx context.Context, db, name string, o OpenOptions) (relation.Relation, error) {
	if name == "broken" {
		return nil, c.broken
	}
	r, err := c.fakeCatalog.Open(ctx, db, name, o)
	if err == nil && name == "part" {
		return partTable{r.(*fakeTable)}, nil
	}
	return r, err
}

func showCatalog() partCatalog {
	c := shop()
	def := "it's"
	p := c.add("default", "part", newFakeTable(
		field("id", schema.BigInt, notNullable), field("d", schema.Date, notNullable), field("h", schema.Int), field("name", schema.Varchar),
		field("lz", schema.TimestampLTZ, precision(3, 0)), field("ts", schema.Timestamp, precision(9, 0)), field("tm", schema.Time, precision(3, 0)),
		field("am", schema.Decimal, precision(10, 2)), field("ok", schema.Boolean),
		schema.Field{Name: "arr", Type: &schema.Type{Root: schema.Array, Elem: &schema.Type{Root: schema.Int}}}))
	p.fields[3].Default, p.fields[3].Description = &def, "who"
	p.keys, p.parts, p.comment = []string{"id", "d"}, []string{"d", "h"}, "the table"
	p.options = map[string]string{"bucket": "2", "a'b": "c"}
	return partCatalog{c, nil}
}

func TestShow(t *testing.T) {
	s := newTestSession(t, showCatalog())
	s.want("SHOW TABLES", "orders", "part", "people")
	s.want("SHOW FULL TABLES LIKE 'p%'", "part\tBASE TABLE", "people\tBASE TABLE")
	s.want("SHOW COLUMNS FROM part",
		"id\tbigint\tNO\tPRI\tNULL\t", "d\tdate\tNO\tPRI\tNULL\t", "h\tint\tYES\t\tNULL\t", "name\tlongtext\tYES\t\tit's\t",
		"lz\ttimestamp(3)\tYES\t\tNULL\t", "ts\tdatetime(6)\tYES\t\tNULL\t", "tm\ttime(3)\tYES\t\tNULL\t", "am\tdecimal(10,2)\tYES\t\tNULL\t",
		"ok\ttinyint(1)\tYES\t\tNULL\t", "arr\tjson\tYES\t\tNULL\t")
	s.want("SHOW COLUMNS FROM part LIKE 'a_'", "am\tdecimal(10,2)\tYES\t\tNULL\t")
	s.want("SHOW FULL COLUMNS FROM part WHERE Field = 'name'", "name\tlongtext\tutf8mb4_0900_bin\tYES\t\tit's\t\tselect,insert,update,references\twho")
	s.want("DESCRIBE people", "name\tlongtext\tYES\t\tNULL\t", "age\tint\tYES\t\tNULL\t")
	s.want("SHOW INDEX FROM part", "part\t0\tPRIMARY\t1\tid\tA\tNULL\tNULL\tNULL\t\tBTREE\t\t\tYES\tNULL", "part\t0\tPRIMARY\t2\td\tA\tNULL\tNULL\tNULL\t\tBTREE\t\t\tYES\tNULL")
	s.want("SHOW TABLE STATUS LIKE 'part'", "part\tPaimon\t10\tDynamic\t4\t100\t400\t0\t0\t0\tNULL\tNULL\tNULL\tNULL\tutf8mb4_0900_bin\tNULL\tpartitioned\tthe table")
	s.want("SHOW CREATE TABLE part", "part\tCREATE TABLE `part` (\n"+
		"  `id` bigint NOT NULL,\n  `d` date NOT NULL,\n  `h` int DEFAULT NULL,\n  `name` longtext DEFAULT 'it''s' COMMENT 'who',\n"+
		"  `lz` timestamp(3) WITH LOCAL TIME ZONE DEFAULT NULL,\n  `ts` TIMESTAMP(9) DEFAULT NULL,\n  `tm` time(3) DEFAULT NULL,\n  `am` decimal(10,2) DEFAULT NULL,\n"+
		"  `ok` tinyint(1) DEFAULT NULL,\n  `arr` ARRAY<INT> DEFAULT NULL,\n  PRIMARY KEY (`id`,`d`)\n) COMMENT 'the table'\n"+
		"PARTITIONED BY (`d`,`h`)\nWITH (\n  'a''b' = 'c',\n  'bucket' = '2'\n)")
	s.want("SHOW PARTITIONS part", "d=2026-01-01/h=5", "d=__DEFAULT_PARTITION__/h=5")
	s.want("SHOW PARTITIONS part PARTITION (d = '2026-01-01')", "d=2026-01-01/h=5")
	s.want("SHOW PARTITIONS part PARTITION (d = NULL)", "d=__DEFAULT_PARTITION__/h=5")
	s.fails("SHOW PARTITIONS people", "not partitioned")
	s.fails("SHOW PARTITIONS part PARTITION (x = '1')", "no partition column")
	s.fails("SHOW PARTITIONS nothing", "nothing")
	s.want("SHOW GRANTS", "GRANT ALL PRIVILEGES ON *.* TO ``@`%`")
	s.want("CHECK TABLE people, nothing", "default.people\tcheck\tstatus\tOK", "default.nothing\tcheck\tError\tTable 'default.nothing' doesn't exist", "default.nothing\tcheck\tstatus\tOperation failed")
}

func TestBrokenTablesAreTold(t *testing.T) {
	c := showCatalog()
	c.broken = errors.New("its schema is damaged")
	c.tables["default"]["broken"] = newFakeTable(field("a", schema.Int))
	c.fakeCatalog.broken["worse"] = "no schema"
	s := newTestSession(t, c)
	s.want("SHOW TABLES", "broken", "orders", "part", "people")
	s.want("SHOW WARNINGS", "Warning\t1105\ttable worse: no schema")
	s.want("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'default' AND TABLE_COMMENT <> '' ORDER BY 1", "part")
	if got := s.run("SHOW TABLE STATUS LIKE 'broken'"); len(got) != 1 || !strings.HasSuffix(got[0], "its schema is damaged") {
		t.Errorf("SHOW TABLE STATUS: %q", got)
	}
	s.fails("SELECT * FROM broken", "damaged")
}

func TestExplain(t *testing.T) {
	s := newTestSession(t, shop())
	tree := strings.Join(s.run("EXPLAIN FORMAT=TREE SELECT id FROM orders WHERE amt > 1.5 AND d = '2026-01-01' AND who IN ('a', 'b') LIMIT 2"), "\n")
	for _, want := range []string{"table: default.orders", "columns: [id, who, amt, d]", "pushed filter: amt > 1.50 AND d = '2026-01-01' AND who IN ('a', 'b')", "splits: 2"} {
		if !strings.Contains(tree, want) {
			t.Errorf("no %q in\n%s", want, tree)
		}
	}
	s.want("EXPLAIN SELECT o.id FROM orders o JOIN people p ON p.name = o.who WHERE o.id > 4",
		"1\tSIMPLE\to\tNULL\tALL\tNULL\tNULL\tNULL\tNULL\t2\t100\tpushed filter: id > 4; splits: 2",
		"1\tSIMPLE\tp\tNULL\tALL\tNULL\tNULL\tNULL\tNULL\t3\t100\tsplits: 1")
	s.want("EXPLAIN SELECT 1", "1\tSIMPLE\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNo tables used")
	if got := s.run("EXPLAIN FORMAT=JSON SELECT COUNT(*) FROM orders"); len(got) != 1 || !strings.Contains(got[0], `"table_name": "orders"`) {
		t.Errorf("JSON: %q", got)
	}
	if got := s.run("EXPLAIN ANALYZE FORMAT=TREE SELECT id FROM orders"); !strings.HasPrefix(got[0], "rows: 6, time:") {
		t.Errorf("ANALYZE: %q", got)
	}
	s.fails("EXPLAIN SELECT * FROM nothing", "nothing")
}

func TestInformationSchema(t *testing.T) {
	c := showCatalog()
	s := newTestSession(t, c)
	s.want("SELECT table_name, table_type, engine, table_rows, create_options FROM information_schema.tables WHERE table_schema = 'default' AND table_type = 'base table' ORDER BY 1",
		"orders\tBASE TABLE\tPaimon\tNULL\t", "part\tBASE TABLE\tPaimon\t4\tpartitioned", "people\tBASE TABLE\tPaimon\tNULL\t")
	s.want("SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, COLUMN_KEY FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'default' AND TABLE_NAME = 'part' AND ORDINAL_POSITION IN (1, 5, 8)",
		"id\tbigint\tbigint\t19\t0\tNULL\tPRI", "lz\ttimestamp\ttimestamp(3)\tNULL\tNULL\t3\t", "am\tdecimal\tdecimal(10,2)\t10\t2\tNULL\t")
	s.want("SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'default' AND TABLE_NAME = 'part'", "PRIMARY\t1\tid", "PRIMARY\t2\td")
	s.want("SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_NAME = 'part'", "PRIMARY\tPRIMARY KEY")
	s.want("SELECT COLUMN_NAME, ORDINAL_POSITION FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_NAME = 'part' AND REFERENCED_TABLE_NAME IS NULL ORDER BY 2", "id\t1", "d\t2")
	s.want("SELECT PARTITION_NAME, PARTITION_DESCRIPTION, TABLE_ROWS FROM information_schema.PARTITIONS WHERE TABLE_NAME = 'part'",
		"d=2026-01-01/h=5\t'2026-01-01','5'\t3", "d=__DEFAULT_PARTITION__/h=5\tNULL,'5'\t1")
	s.want("SELECT COUNT(*) FROM information_schema.COLUMN_STATISTICS", "0")
	s.want("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY 1", "default", "information_schema", "mysql", "other", "performance_schema")
	s.want("SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'VERSION'", Version)
	s.want("SELECT Db FROM mysql.tables_priv WHERE db = 'x'")
	// Names alone open no table, one name opens one.
	c.opens = nil
	s.run("SELECT TABLE_NAME FROM information_schema.TABLES")
	if len(c.opens) != 0 {
		t.Errorf("names opened %v", c.opens)
	}
	s.run("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'default' AND TABLE_NAME = 'orders'")
	if len(c.opens) != 1 {
		t.Errorf("one table opened %v", c.opens)
	}
}
