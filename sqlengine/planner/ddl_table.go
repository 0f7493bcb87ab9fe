package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Options of CREATE TABLE that are no options of the table.
const (
	connectorOption = "connector"
	pathOption      = "path"
	paimonConnector = "paimon"
)

// definitionStatement gives a statement that defines data its node; nil for others.
func (e *Engine) definitionStatement(stmt dialect.Statement, children []sql.Expression) (sql.Node, error) {
	switch s := stmt.(type) {
	case dialect.CreateTable:
		if s.HasQuery {
			return e.createTableAs(s, children)
		}
		return e.command("CreateTable", func(ctx *sql.Context) (uint64, error) { return 0, e.createTable(ctx, s) }), nil
	case dialect.DropTables:
		return e.command("DropTable", func(ctx *sql.Context) (uint64, error) { return 0, e.dropTables(ctx, s) }), nil
	case dialect.DropViews:
		return e.command("DropView", func(ctx *sql.Context) (uint64, error) { return 0, e.dropViews(ctx, s) }), nil
	case dialect.RenameTables:
		return e.command("RenameTable", func(ctx *sql.Context) (uint64, error) { return 0, e.renameTables(ctx, s) }), nil
	case dialect.TruncateTable:
		return e.command("Truncate", func(ctx *sql.Context) (uint64, error) { return 0, e.truncateTable(ctx, s) }), nil
	case dialect.AlterTable:
		return e.command("AlterTable", func(ctx *sql.Context) (uint64, error) { return 0, e.alterTable(ctx, s) }), nil
	case dialect.CreateIndex:
		return e.command("CreateIndex", func(ctx *sql.Context) (uint64, error) { return 0, e.createIndex(ctx, s) }), nil
	case dialect.DropIndex:
		return e.command("DropIndex", func(ctx *sql.Context) (uint64, error) { return 0, e.dropIndex(ctx, s) }), nil
	case dialect.CreateDatabase:
		return e.command("CreateDatabase", func(ctx *sql.Context) (uint64, error) { return e.createDatabase(ctx, s) }), nil
	case dialect.DropDatabase:
		return e.command("DropDatabase", func(ctx *sql.Context) (uint64, error) { return e.dropDatabase(ctx, s) }), nil
	case dialect.AlterDatabase:
		return e.command("AlterDatabase", func(ctx *sql.Context) (uint64, error) {
			_, err := e.databaseFor(ctx, s.Database)
			return 0, err
		}), nil
	case dialect.AnalyzeTable:
		return e.analyzeTable(s), nil
	case dialect.Call:
		return e.callProcedure(s, children), nil
	}
	return nil, nil
}

// createTable is CREATE TABLE with columns or LIKE.
func (e *Engine) createTable(ctx *sql.Context, s dialect.CreateTable) error {
	return e.change(ctx, s.Table, func(w WritableCatalog, db string) error {
		if s.IfNotExists {
			if there, err := tableExists(ctx, w, db, s.Table.Name); err != nil {
				return err
			} else if there {
				note(ctx, 1050, "Table '"+s.Table.Name+"' already exists")
				return nil
			}
		}
		def := s.Definition
		if s.Like != nil {
			var err error
			if def, err = e.likeDefinition(ctx, w, s); err != nil {
				return err
			}
		}
		if err := finishDefinition(&def); err != nil {
			return err
		}
		if err := existingTable(w.CreateTable(ctx, db, s.Table.Name, def), s.Table.Name); err != nil {
			return err
		}
		warnIgnored(ctx, s.Ignored)
		return nil
	})
}

// existingTable gives a table that is there already MySQL's error; other errors stay.
func existingTable(err error, name string) error {
	if errs.Is(err, errs.Exists) {
		return errmap.Wrap(err, 1050, "42S01", "Table '%s' already exists", name)
	}
	return err
}

// likeDefinition is the definition of CREATE TABLE … LIKE: that of the other table, with what the statement adds.
func (e *Engine) likeDefinition(ctx *sql.Context, w WritableCatalog, s dialect.CreateTable) (schema.Definition, error) {
	db, err := e.databaseFor(ctx, s.Like.DB)
	if err != nil {
		return schema.Definition{}, err
	}
	at, err := onBranch(ctx, w, db, s.Like.Name, nil)
	if err != nil {
		return schema.Definition{}, err
	}
	if at.lacks != "" {
		noteLacking(ctx, db, s.Like.Name, at.lacks)
	}
	def, err := w.Definition(ctx, db, at.name)
	if err != nil {
		return def, missingTable(err, db, s.Like.Name)
	}
	without := func(what string) bool {
		return slices.Contains(s.LikeExcluding, what) || slices.Contains(s.LikeExcluding, "ALL")
	}
	options, keys := map[string]string{}, []string{}
	if !without("OPTIONS") {
		for _, k := range optionKeys(def) {
			if k != pathOption {
				options[k] = def.Options[k]
				keys = append(keys, k)
			}
		}
	}
	for _, k := range optionKeys(s.Definition) {
		if _, ok := options[k]; !ok {
			keys = append(keys, k)
		}
		options[k] = s.Definition.Options[k]
	}
	def.Options, def.OptionKeys = options, keys
	if without("CONSTRAINTS") {
		def.PrimaryKeys = nil
	}
	if without("PARTITIONS") {
		def.PartitionKeys = nil
	}
	def.Fields = slices.Clone(def.Fields)
	for _, f := range s.Definition.Fields {
		if _, ok := fieldAt(def.Fields, f.Name); ok {
			return def, duplicateColumn(f.Name)
		}
		def.Fields = append(def.Fields, f)
	}
	if len(s.Definition.PrimaryKeys) > 0 {
		def.PrimaryKeys = s.Definition.PrimaryKeys
	}
	if len(s.Definition.PartitionKeys) > 0 {
		def.PartitionKeys = s.Definition.PartitionKeys
	}
	if s.Definition.HasComment {
		def.Comment, def.HasComment = s.Definition.Comment, true
	}
	return def, nil
}

// optionKeys lists the keys of a definition's options in the order of its statement.
func optionKeys(def schema.Definition) []string {
	var keys []string
	for _, k := range def.OptionKeys {
		if _, ok := def.Options[k]; ok && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, k := range sortedKeys(def.Options) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// finishDefinition names key columns as the columns are named, and takes out or refuses the options that only say where a
// table is.
func finishDefinition(def *schema.Definition) error {
	if c, ok := def.Options[connectorOption]; ok {
		if c != paimonConnector {
			return errs.Invalidf("the connector '%s' is not one of this server: tables are Paimon tables ('connector' = 'paimon', or no connector)", c)
		}
		options := map[string]string{}
		for k, v := range def.Options {
			if k != connectorOption {
				options[k] = v
			}
		}
		def.Options = options
	}
	if _, ok := def.Options[pathOption]; ok {
		return errs.Invalidf("The current catalog FileSystemCatalog does not support specifying the table path when creating a table.")
	}
	if t, ok := def.Options["type"]; ok && t != "table" {
		return errs.Unsupportedf("tables of type '%s' are not supported, only 'table'", t)
	}
	def.OptionKeys = optionKeys(*def)
	def.HasComment = true // an empty one, as Flink writes it
	for i, f := range def.Fields {
		if _, ok := fieldAt(def.Fields[:i], f.Name); ok {
			return duplicateColumn(f.Name)
		}
	}
	var ok bool
	if def.PrimaryKeys, ok = namedColumns(def.Fields, def.PrimaryKeys); !ok {
		return errmap.New(1072, "42000", "Table column %s should include all primary key constraint %s", nameList(fieldNames(def.Fields)), nameList(def.PrimaryKeys))
	}
	if def.PartitionKeys, ok = namedColumns(def.Fields, def.PartitionKeys); !ok {
		return errmap.New(1488, "HY000", "Table column %s should include all partition fields %s", nameList(fieldNames(def.Fields)), nameList(def.PartitionKeys))
	}
	return nil
}

// namedColumns gives the names as the columns have them; ok is false where one is no column.
func namedColumns(fields []schema.Field, names []string) (out []string, ok bool) {
	ok = true
	for _, n := range names {
		if i, found := fieldAt(fields, n); found {
			n = fields[i].Name
		} else {
			ok = false
		}
		out = append(out, n)
	}
	return out, ok
}

// fieldAt finds a field by its name, exactly or else regardless of case where that is one field.
func fieldAt(fields []schema.Field, name string) (int, bool) {
	found := -1
	for i := range fields {
		if fields[i].Name == name {
			return i, true
		}
		if strings.EqualFold(fields[i].Name, name) {
			if found >= 0 {
				return -1, false
			}
			found = i
		}
	}
	return found, found >= 0
}

func fieldNames(fields []schema.Field) []string {
	out := make([]string, len(fields))
	for i := range fields {
		out[i] = fields[i].Name
	}
	return out
}

// nameList prints names as Java prints a list.
func nameList(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

func duplicateColumn(name string) error {
	return errmap.New(1060, "42S21", "Duplicate column name '%s'", name)
}

// dropTables is DROP TABLE: without IF EXISTS nothing is dropped where a table is missing.
func (e *Engine) dropTables(ctx *sql.Context, s dialect.DropTables) error {
	w, err := e.writable()
	if err != nil {
		return err
	}
	type target struct{ db, name string }
	var there []target
	var missing []string
	for _, n := range s.Tables {
		db, err := e.databaseFor(ctx, n.DB)
		if err != nil && !sql.ErrDatabaseNotFound.Is(err) {
			return err
		}
		if err != nil && !s.IfExists {
			return err
		}
		found := false
		if err == nil && !s.Temporary {
			if found, err = tableExists(ctx, w, db, n.Name); err != nil {
				return err
			}
		}
		if db == "" {
			db = n.DB
		}
		if found || strings.Contains(n.Name, "$") { // the catalog refuses branches and system tables
			there = append(there, target{db, n.Name})
		} else {
			missing = append(missing, db+"."+n.Name)
		}
	}
	if len(missing) > 0 && !s.IfExists {
		return errmap.New(1051, "42S02", "Unknown table '%s'", strings.Join(missing, ","))
	}
	for _, t := range there {
		if err := wholeTable(ctx, t.db, t.name, "dropTable"); err != nil {
			return err
		}
	}
	for _, t := range there {
		if err := w.DropTable(ctx, t.db, t.name); err != nil {
			if !isMissing(err) || !s.IfExists {
				return unknownTable(err, t.db, t.name)
			}
			missing = append(missing, t.db+"."+t.name)
		}
	}
	for _, m := range missing {
		note(ctx, 1051, "Unknown table '"+m+"'")
	}
	return nil
}

func unknownTable(err error, db, name string) error {
	if isMissing(err) && !strings.Contains(name, "$") {
		return errmap.Wrap(err, 1051, "42S02", "Unknown table '%s.%s'", db, name)
	}
	return err
}

// dropViews is DROP VIEW. There are no views.
func (e *Engine) dropViews(ctx *sql.Context, s dialect.DropViews) error {
	if _, err := e.writable(); err != nil {
		return err
	}
	var missing []string
	for _, n := range s.Views {
		db, err := e.databaseFor(ctx, n.DB)
		if err != nil && !(s.IfExists && sql.ErrDatabaseNotFound.Is(err)) {
			return err
		}
		if db == "" {
			db = n.DB
		}
		missing = append(missing, db+"."+n.Name)
	}
	if !s.IfExists {
		return errmap.New(1051, "42S02", "Unknown table '%s'", strings.Join(missing, ","))
	}
	for _, m := range missing {
		note(ctx, 1051, "Unknown table '"+m+"'")
	}
	return nil
}

func (e *Engine) renameTables(ctx *sql.Context, s dialect.RenameTables) error {
	for i, p := range s.Pairs {
		err := e.renameTable(ctx, p[0], p[1])
		if err == nil {
			continue
		}
		for i--; i >= 0; i-- { // all or none, as in MySQL
			if back := e.renameTable(ctx, s.Pairs[i][1], s.Pairs[i][0]); back != nil {
				e.log.Error("undoing a RENAME TABLE", "table", s.Pairs[i][1].Name, "to", s.Pairs[i][0].Name, "error", back)
			}
		}
		return err
	}
	return nil
}

func (e *Engine) renameTable(ctx *sql.Context, from, to dialect.Name) error {
	return e.change(ctx, from, func(w WritableCatalog, db string) error {
		if err := wholeTable(ctx, db, from.Name, "renameTable"); err != nil {
			return err
		}
		toDB := db
		if to.DB != "" || ctx.GetCurrentDatabase() != "" {
			var err error
			if toDB, err = e.databaseFor(ctx, to.DB); err != nil {
				return err
			}
		}
		err := w.RenameTable(ctx, db, from.Name, toDB, to.Name)
		return existingTable(missingTable(err, db, from.Name), to.Name)
	})
}

func (e *Engine) truncateTable(ctx *sql.Context, s dialect.TruncateTable) error {
	return e.changeBranch(ctx, s.Table, func(w WritableCatalog, db, name string) error {
		if len(s.Partitions) == 0 {
			return missingTable(w.TruncateTable(ctx, db, name), db, name)
		}
		def, err := w.Definition(ctx, db, name)
		if err != nil {
			return missingTable(err, db, name)
		}
		specs, err := partitionSpecs(def, db, name, s.Partitions)
		if err != nil {
			return err
		}
		return missingPartition(w.DropPartitions(ctx, db, name, specs, false))
	})
}

// createIndex makes nothing: there are no indexes but the key. It looks whether one could be made.
func (e *Engine) createIndex(ctx *sql.Context, s dialect.CreateIndex) error {
	return e.changeBranch(ctx, s.Table, func(w WritableCatalog, db, name string) error {
		def, err := w.Definition(ctx, db, name)
		if err != nil {
			return missingTable(err, db, name)
		}
		for _, c := range s.Columns {
			if _, ok := fieldAt(def.Fields, c); !ok {
				return errmap.New(1072, "42000", "Key column '%s' doesn't exist in table", c)
			}
		}
		what := "INDEX "
		if s.Unique {
			what = "UNIQUE INDEX "
		}
		warnIgnored(ctx, []string{what + quoteName(s.Index)})
		return nil
	})
}

func (e *Engine) dropIndex(ctx *sql.Context, s dialect.DropIndex) error {
	return e.changeBranch(ctx, s.Table, func(w WritableCatalog, db, name string) error {
		def, err := w.Definition(ctx, db, name)
		if err != nil {
			return missingTable(err, db, name)
		}
		if strings.EqualFold(s.Index, primaryName) {
			if len(def.PrimaryKeys) == 0 {
				return cannotDrop(primaryName)
			}
			return w.AlterTable(ctx, db, name, []schema.Change{schema.DropPrimaryKey{}})
		}
		warnIgnored(ctx, []string{"INDEX " + quoteName(s.Index)})
		return nil
	})
}

func cannotDrop(name string) error {
	return errmap.New(1091, "42000", "Can't DROP '%s'; check that column/key exists", name)
}
