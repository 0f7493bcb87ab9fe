package planner

import (
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// lakeSession is a session over a fakeLake, with checks of what was asked of the catalog.
type lakeSession struct {
	*testSession
	lake *fakeLake
}

func newLakeSession(t *testing.T) *lakeSession {
	l := newFakeLake()
	return &lakeSession{testSession: newTestSession(t, l), lake: l}
}

// does checks what a statement asks of the catalog.
func (s *lakeSession) does(query string, calls ...string) {
	s.t.Helper()
	s.lake.calls = nil
	if _, err := s.try(query); err != nil {
		s.t.Errorf("%s: %v", query, err)
		return
	}
	if !slices.Equal(s.lake.calls, calls) {
		s.t.Errorf("%s\n got %q\nwant %q", query, s.lake.calls, calls)
	}
}

// code checks the number and text of a statement's error, and that nothing was changed.
func (s *lakeSession) code(query string, code uint16, text string) {
	s.t.Helper()
	s.lake.calls = nil
	_, _, _, err := s.e.Parser.Parse(s.ctx(), query, false) // its errors as they are
	if err == nil {
		_, err = s.try(query)
	}
	if err == nil {
		s.t.Errorf("%s: no error", query)
		return
	}
	n, _, message := errmap.ConvertIn("default", err)
	if n != code || !strings.Contains(message, text) {
		s.t.Errorf("%s: %d %s; want %d %s", query, n, message, code, text)
	}
	if len(s.lake.calls) > 0 {
		s.t.Errorf("%s: %q", query, s.lake.calls)
	}
}

// warns checks the diagnostics of the last statement.
func (s *lakeSession) warns(lines ...string) {
	s.t.Helper()
	s.want("SHOW WARNINGS", lines...)
}

func TestCreateTable(t *testing.T) {
	s := newLakeSession(t)
	s.does("CREATE TABLE a (id INT, dt STRING, PRIMARY KEY (ID, dt) NOT ENFORCED) COMMENT 'c' PARTITIONED BY (DT) WITH ('bucket' = '2', 'connector' = 'paimon', 'x' = 'y')",
		`create default.a (id INT, dt STRING) pk=[id dt] by=[dt] [bucket x] map[bucket:2 x:y] "c"`)
	s.want("SHOW TABLES", "a")
	s.code("CREATE TABLE a (id INT)", 1050, "Table 'a' already exists")
	s.does("CREATE TABLE IF NOT EXISTS a (id INT)")
	s.warns("Note\t1050\tTable 'a' already exists")
	s.does("CREATE TABLE other.b (id INT DEFAULT 3, KEY (id), UNIQUE KEY u (id)) ENGINE=InnoDB", `create other.b (id INT =3) pk=[] by=[] [] map[] ""`)
	s.warns("Warning\t1478\tTable storage engine 'Paimon' does not support the create option 'KEY'",
		"Warning\t1478\tTable storage engine 'Paimon' does not support the create option 'UNIQUE KEY `u`'")
	s.code("CREATE TABLE nodb.x (a INT)", 1049, "Unknown database 'nodb'")
	s.code("CREATE TABLE sys.x (a INT)", 1210, "Can't do operation on system database.")
	s.code("CREATE TABLE information_schema.x (a INT)", 1044, "information_schema")
	s.code("CREATE TABLE x (a INT, PRIMARY KEY (b))", 1072, "Table column [a] should include all primary key constraint [b]")
	s.code("CREATE TABLE x (a INT) PARTITIONED BY (b, a)", 1488, "Table column [a] should include all partition fields [b, a]")
	s.code("CREATE TABLE x (a INT) WITH ('path' = '/x')", 1210, "does not support specifying the table path when creating a table.")
	s.code("CREATE TABLE x (a INT) LOCATION '/x'", 1210, "does not support specifying the table path when creating a table.")
	s.code("CREATE TABLE x (a INT) WITH ('connector' = 'kafka')", 1210, "kafka")
	s.code("CREATE TABLE x (a INT) WITH ('type' = 'format-table')", 1235, "format-table")
	s.code("CREATE TABLE `a$snapshots` (a INT)", 1210, "Cannot 'createTable' for system table")
	s.code("CREATE VIEW v AS SELECT 1", 1235, "views")
	s.code("CREATE TEMPORARY TABLE x (a INT)", 1235, "TEMPORARY")

	s.does("CREATE TABLE l LIKE a", `create default.l (id INT, dt STRING) pk=[id dt] by=[dt] [bucket x] map[bucket:2 x:y] "c"`)
	s.does("CREATE TABLE l2 (v INT) WITH ('x' = 'z', 'n' = '1') LIKE a (EXCLUDING CONSTRAINTS)",
		`create default.l2 (id INT, dt STRING, v INT) pk=[] by=[dt] [bucket x n] map[bucket:2 n:1 x:z] "c"`)
	s.does("CREATE TABLE l3 LIKE a (EXCLUDING ALL)", `create default.l3 (id INT, dt STRING) pk=[] by=[] [] map[] "c"`)
	s.code("CREATE TABLE l4 LIKE nothing", 1146, "Table 'default.nothing' doesn't exist")
	s.code("CREATE TABLE l4 (ID INT) LIKE a", 1060, "Duplicate column name 'ID'")
	s.sess.SetCurrentDatabase("")
	s.code("CREATE TABLE x (a INT)", 1046, "No database selected")
}

func TestDropAndRename(t *testing.T) {
	s := newLakeSession(t)
	for _, n := range []string{"a", "b", "c"} {
		s.run("CREATE TABLE " + n + " (x INT)")
	}
	s.code("DROP TABLE a, nothing", 1051, "Unknown table 'default.nothing'")
	s.does("DROP TABLE IF EXISTS nothing, a, nodb.x", "drop default.a")
	s.warns("Note\t1051\tUnknown table 'default.nothing'", "Note\t1051\tUnknown table 'nodb.x'")
	s.code("DROP TABLE `b$snapshots`", 1210, "Cannot 'dropTable' for system table")
	s.code("DROP TEMPORARY TABLE b", 1051, "Unknown table 'default.b'")
	s.does("DROP VIEW IF EXISTS v")
	s.warns("Note\t1051\tUnknown table 'default.v'")
	s.code("DROP VIEW v", 1051, "Unknown table 'default.v'")
	s.does("RENAME TABLE b TO d, c TO other.b", "rename default.b to default.d", "rename default.c to other.b")
	s.code("RENAME TABLE nothing TO x", 1146, "Table 'default.nothing' doesn't exist")
	s.run("CREATE TABLE e (x INT)")
	s.code("RENAME TABLE e TO d", 1050, "Table 'd' already exists")
	s.does("ALTER TABLE other.b RENAME TO f", "rename other.b to other.f")
	s.lake.calls = nil
	s.fails("RENAME TABLE d TO g, e TO g", "already exists")
	if want := []string{"rename default.d to default.g", "rename default.g to default.d"}; !slices.Equal(s.lake.calls, want) {
		t.Errorf("%q", s.lake.calls)
	}
	s.does("TRUNCATE TABLE d", "truncate default.d")
	s.code("TRUNCATE TABLE nothing", 1146, "Table 'default.nothing' doesn't exist")
}

func TestDatabases(t *testing.T) {
	s := newLakeSession(t)
	s.does("CREATE DATABASE shop CHARACTER SET utf8mb4", "create database shop")
	s.code("CREATE DATABASE shop", 1007, "Can't create database 'shop'; database exists")
	s.does("CREATE DATABASE IF NOT EXISTS shop")
	s.warns("Note\t1007\tCan't create database 'shop'; database exists")
	s.code("CREATE DATABASE sys", 1210, "Can't do operation on system database.")
	s.code("DROP DATABASE sys", 1210, "Can't do operation on system database.")
	s.code("DROP DATABASE mysql", 1044, "Access denied")
	s.run("USE shop")
	s.run("CREATE TABLE a (x INT)")
	s.code("DROP DATABASE shop RESTRICT", 1010, "not empty")
	s.does("DROP DATABASE shop", "drop database shop cascade=true")
	s.want("SELECT DATABASE()", "NULL")
	s.code("DROP DATABASE shop", 1008, "Can't drop database 'shop'; database doesn't exist")
	s.does("DROP DATABASE IF EXISTS shop")
	s.warns("Note\t1008\tCan't drop database 'shop'; database doesn't exist")
	s.does("ALTER DATABASE other COLLATE utf8mb4_bin")
	s.code("ALTER DATABASE nodb COLLATE utf8mb4_bin", 1049, "nodb")
}

func TestAlterTable(t *testing.T) {
	s := newLakeSession(t)
	s.run(`CREATE TABLE t (id INT NOT NULL, v INT DEFAULT 5 COMMENT 'vc', dt STRING, r ROW<a INT, b ARRAY<ROW<c INT>>>, m MAP<STRING, INT>,
		PRIMARY KEY (id, dt)) PARTITIONED BY (dt)`)
	s.does("ALTER TABLE t SET ('a' = 'b', 'comment' = 'x')", "alter default.t: set a=b; table comment x")
	s.does("ALTER TABLE t RESET ('a')", "alter default.t: reset a")
	s.does("ALTER TABLE `t$branch_b` SET ('a' = 'b')", "alter default.t$branch_b: set a=b")
	s.does("ALTER TABLE t ADD COLUMN c INT DEFAULT 1 COMMENT 'x' AFTER V, ADD d INT FIRST, MODIFY C BIGINT DEFAULT 1 COMMENT 'x'",
		`alter default.t: add c INT =1 #x after "v"; add d INT after ""; type c BIGINT keep=true`)
	s.code("ALTER TABLE t ADD V STRING", 1060, "Duplicate column name 'V'")
	s.does("ALTER TABLE t ADD COLUMN IF NOT EXISTS v STRING")
	s.warns("Note\t1060\tDuplicate column name 'v'")
	s.code("ALTER TABLE t ADD c INT AFTER nothing", 1054, "Unknown column 'nothing' in 't'")
	s.does("ALTER TABLE t DROP V", "alter default.t: drop v")
	s.code("ALTER TABLE t DROP nothing", 1091, "Can't DROP 'nothing'; check that column/key exists")
	s.does("ALTER TABLE t DROP COLUMN IF EXISTS nothing")
	s.code("ALTER TABLE t DROP v, DROP v", 1091, "Can't DROP 'v'")
	s.does("ALTER TABLE t RENAME COLUMN v TO w, ALTER w SET DEFAULT 7", "alter default.t: rename v to w; default w 7")
	s.code("ALTER TABLE t RENAME COLUMN nothing TO w", 1054, "Unknown column 'nothing' in 't'")
	s.code("ALTER TABLE t RENAME COLUMN v TO ID", 1060, "Duplicate column name 'ID'")
	s.does("ALTER TABLE t RENAME COLUMN v TO V", "alter default.t: rename v to V")
	s.code("ALTER TABLE nothing ADD c INT", 1146, "Table 'default.nothing' doesn't exist")
	s.does("ALTER TABLE IF EXISTS nothing ADD c INT")
	s.does("ALTER TABLE t COMMENT = 'x', ENGINE = InnoDB", "alter default.t: table comment x")
	s.does("ALTER TABLE t DISABLE KEYS")
	s.warns("Note\t1031\tTable storage engine for 't' doesn't have this option")
	s.does("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4")

	// A definition is whole: what it does not say is taken away, and what is as it was is no change.
	s.does("ALTER TABLE t MODIFY v INT DEFAULT 5 COMMENT 'vc'")
	s.does("ALTER TABLE t MODIFY v INT", "alter default.t: comment v ; default v none")
	s.does("ALTER TABLE t MODIFY v BIGINT NOT NULL DEFAULT 6 COMMENT 'd' FIRST",
		`alter default.t: type v BIGINT NOT NULL keep=true; nullable v false; comment v d; default v 6; move v after ""`)
	s.does("ALTER TABLE t CHANGE id id INT")
	s.does("ALTER TABLE t CHANGE id key2 INT", "alter default.t: rename id to key2")
	s.does("ALTER TABLE t MODIFY id BIGINT", "alter default.t: type id BIGINT keep=true")
	s.does("ALTER TABLE t MODIFY id INT NULL", "alter default.t: nullable id true")
	s.code("ALTER TABLE t CHANGE nothing x INT", 1054, "Unknown column 'nothing' in 't'")
	s.does("ALTER TABLE t ALTER COLUMN v TYPE BIGINT", "alter default.t: type v BIGINT keep=true")
	s.does("ALTER TABLE t ALTER v SET NOT NULL, ALTER COLUMN v COMMENT 'x', ALTER COLUMN dt AFTER Id", `alter default.t: nullable v false; comment v x; move dt after "id"`)
	s.does("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (V)", "alter default.t: drop key; set primary-key=v")
	s.code("ALTER TABLE t ADD PRIMARY KEY (v)", 1068, "Multiple primary key defined")
	s.does("ALTER TABLE t ADD INDEX i (v), ADD CONSTRAINT u UNIQUE (v)")
	s.warns("Warning\t1478\tTable storage engine 'Paimon' does not support the create option 'KEY `i`'",
		"Warning\t1478\tTable storage engine 'Paimon' does not support the create option 'UNIQUE KEY `u`'")
	s.does("CREATE INDEX i ON t (v)")
	s.code("CREATE INDEX i ON t (nothing)", 1072, "Key column 'nothing' doesn't exist in table")
	s.does("DROP INDEX i ON t")
	s.does("DROP INDEX `PRIMARY` ON t", "alter default.t: drop key")

	// Nested fields.
	s.does("ALTER TABLE t ADD COLUMN R.x INT", "alter default.t: add r.x INT")
	s.does("ALTER TABLE t ADD COLUMN r.b.element.x INT", "alter default.t: add r.b.element.x INT")
	s.code("ALTER TABLE t ADD COLUMN v.x INT", 1210, "only a ROW")
	s.code("ALTER TABLE t ADD COLUMN r.a INT", 1060, "Duplicate column name 'a'")
	s.does("ALTER TABLE t DROP COLUMN r.A", "alter default.t: drop r.a")
	s.does("ALTER TABLE t RENAME COLUMN r.b.element.c TO d", "alter default.t: rename r.b.element.c to d")
	s.does("ALTER TABLE t MODIFY m.value BIGINT", "alter default.t: type m.value BIGINT keep=true")
	s.code("ALTER TABLE t MODIFY m.nothing BIGINT", 1054, "Unknown column 'm.nothing'")
	s.does("ALTER TABLE t MODIFY r ROW<a INT, b ARRAY<ROW<c INT>>>")
	s.does("ALTER TABLE t MODIFY r ROW<b ARRAY<ROW<c BIGINT, d INT> NOT NULL>, e STRING COMMENT 'x'>",
		"alter default.t: drop r.a; type r.b.element.c BIGINT keep=true; add r.b.element.d INT; nullable r.b.element false; add r.e STRING #x")
	s.does("ALTER TABLE t MODIFY m MAP<STRING, BIGINT NOT NULL>", "alter default.t: type m.value BIGINT NOT NULL keep=true; nullable m.value false")
	s.code("ALTER TABLE t MODIFY m MAP<INT, INT>", 1210, "Cannot update key type")
	s.code("ALTER TABLE t MODIFY r ROW<b ARRAY<ROW<c INT>>, a INT>", 1210, "Order of existing fields in column r must be kept the same")
	s.does("ALTER TABLE t MODIFY r ROW<z INT, a INT, b ARRAY<ROW<c INT>>>", "alter default.t: add r.z INT after \"\"")

	// Partitions and tags.
	s.does("ALTER TABLE t DROP PARTITION (DT = 'x'), PARTITION (dt = NULL)", "drop partitions default.t dt=x dt=NULL if=false")
	s.does("ALTER TABLE t DROP IF EXISTS PARTITION (dt = 1)", "drop partitions default.t dt=1 if=true")
	s.does("ALTER TABLE t ADD IF NOT EXISTS PARTITION (dt = 'x')", "add partitions default.t dt=x if=true")
	s.does("TRUNCATE TABLE t PARTITION (dt = 'x')", "drop partitions default.t dt=x if=false")
	s.code("ALTER TABLE t DROP PARTITION (v = 1)", 1210, "no partition column")
	s.run("CREATE TABLE u (a INT)")
	s.code("ALTER TABLE u DROP PARTITION (a = 1)", 1210, "is not partitioned")
	s.code("ALTER TABLE t ADD x INT, DROP PARTITION (dt = 'x')", 1235, "one action")
	s.does("ALTER TABLE t ADD x INT, RENAME TO t2", "alter default.t: add x INT", "rename default.t to default.t2")
	s.does("ALTER TABLE t2 CREATE TAG v1 AS OF VERSION 3", "call create_tag(default.t2 | v1 | snapshot_id=>3) in default")
	s.lake.fail = errs.Existsf("Tag 'v1' already exists.")
	s.does("ALTER TABLE t2 CREATE OR REPLACE TAG v1", "call create_tag(default.t2 | v1) in default", "call replace_tag(default.t2 | v1) in default")
	s.lake.fail = errs.Existsf("Tag 'v1' already exists.")
	s.does("ALTER TABLE t2 CREATE TAG IF NOT EXISTS v1", "call create_tag(default.t2 | v1) in default")
	s.code("ALTER TABLE t2 DELETE TAG v1", 1305, "PROCEDURE sys.delete_tag does not exist")
}

func TestCall(t *testing.T) {
	s := newLakeSession(t)
	s.want("CALL sys.list_all()", "1\ta", "2\tNULL", "3\tc")
	s.want("CALL SYS.Create_Tag('default.T', 'v', 3)", "Success")
	s.does("CALL sys.create_tag(`table` => 'default.T', tag => \"v\", x => NULL, y => TRUE)", "call create_tag(table=>default.T | tag=>v | x=>NULL | y=>true) in default")
	s.run("SET @v = 'from variable'")
	s.does("CALL create_tag(@v, 1 + 2, CONCAT('a', 'b'), CAST('2026-01-01' AS DATE), NULL, 1.50)",
		"call create_tag(from variable | 3 | ab | 2026-01-01 | NULL | 1.50) in default")
	s.does("CALL compact", "call compact() in default")
	s.code("CALL sys.nothing()", 1305, "PROCEDURE sys.nothing does not exist")
	s.code("CALL other.compact()", 1305, "PROCEDURE other.compact does not exist")
	s.code("CALL compact(a => 1, 2)", 1210, "positional arguments come first")
	s.lake.fail = errs.NotFoundf("Table default.x doesn't exist")
	if _, err := s.try("CALL compact('x')"); errs.ClassOf(err) != errs.NotFound {
		t.Error(err)
	}
}

// TestImplicitCommit has a transaction that a definition commits.
func TestImplicitCommit(t *testing.T) {
	s := newLakeSession(t)
	s.run("CREATE TABLE a (x INT)")
	s.run("START TRANSACTION")
	s.run("SELECT * FROM a")
	if tx, _ := s.sess.GetTransaction().(*Transaction); tx == nil || !tx.Used() {
		t.Fatal("no transaction")
	}
	s.run("ALTER TABLE a ADD y INT")
	if s.sess.GetTransaction() != nil || s.sess.GetIgnoreAutoCommit() {
		t.Fatal("the transaction goes on")
	}
	s.run("START TRANSACTION READ ONLY")
	s.code("DROP TABLE a", 1792, "READ ONLY transaction")
	s.run("ROLLBACK")
	s.does("DROP TABLE a", "drop default.a")
}

// TestReadOnly has a server and a catalog that refuse changes.
func TestReadOnlyDefinitions(t *testing.T) {
	statements := []string{"CREATE TABLE a (x INT)", "DROP TABLE IF EXISTS a", "ALTER TABLE a ADD y INT", "CREATE DATABASE d", "DROP DATABASE d", "TRUNCATE a",
		"RENAME TABLE a TO b", "CREATE TABLE a AS SELECT 1", "DROP VIEW IF EXISTS v", "CREATE INDEX i ON a (x)", "DROP INDEX i ON a", "ALTER DATABASE d COLLATE x"}
	l := newFakeLake()
	e, err := New(Options{Catalog: l, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &lakeSession{lake: l, testSession: &testSession{t: t, e: e, sess: newSession(sql.NewBaseSession(), e.persisted)}}
	s.sess.SetCurrentDatabase("default")
	for _, q := range append(statements, "CALL sys.compact()") {
		s.code(q, 1290, "--read-only")
	}
	plain := newTestSession(t, newFakeCatalog())
	for _, q := range statements {
		if strings.HasPrefix(q, "ALTER DATABASE") {
			continue
		}
		_, err := plain.try(q)
		if errs.ClassOf(err) != errs.ReadOnly {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// TestShowCreateAgain makes tables from what SHOW CREATE TABLE prints.
func TestShowCreateAgain(t *testing.T) {
	s := newLakeSession(t)
	for _, text := range []string{
		"a BOOLEAN, b TINYINT, c SMALLINT NOT NULL, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(38, 10), i DECIMAL(5)",
		"a CHAR(3), b CHAR(300), c VARCHAR(10), d VARCHAR(20000), e STRING, f BINARY(3), g BINARY(300), h VARBINARY(70000), i VARBINARY(3), j BYTES",
		"a DATE, b TIME, c TIME(3), d TIME(9), e TIMESTAMP(0), f TIMESTAMP(6), g TIMESTAMP(9), h TIMESTAMP_LTZ(0), i TIMESTAMP_LTZ(9)",
		"a ARRAY<INT NOT NULL>, b MAP<STRING, ROW<`x y` INT COMMENT 'it''s', z BYTES>>, c MULTISET<DATE>, d VARIANT, e VECTOR<FLOAT, 3>",
		"a INT DEFAULT 5 COMMENT 'it''s \\\\ x', `b``c` STRING DEFAULT 'a''b', PRIMARY KEY (a, `b``c`)",
		"g GEOMETRY, h GEOGRAPHY",
	} {
		s.run("CREATE TABLE a (" + text + ") COMMENT 'x''y' WITH ('k' = 'v''w', 'z' = '\\\\d')")
		first := s.lake.defs["default.a"]
		shown := strings.TrimPrefix(s.run("SHOW CREATE TABLE a")[0], "a\t")
		s.run("DROP TABLE a")
		s.run(shown)
		second := s.lake.defs["default.a"]
		if len(first.Fields) != len(second.Fields) || first.Comment != second.Comment || !slices.Equal(first.PrimaryKeys, second.PrimaryKeys) || first.Options["z"] != second.Options["z"] {
			t.Errorf("%s:\n%+v\n%+v", shown, first, second)
			continue
		}
		for i, f := range first.Fields {
			g := second.Fields[i]
			if f.Name != g.Name || f.Type.String() != g.Type.String() || !sameText(f.Default, g.Default) || f.Description != g.Description {
				t.Errorf("%s:\n%+v %s\n%+v %s", shown, f, f.Type, g, g.Type)
			}
		}
		s.run("DROP TABLE a")
	}
}

// TestTypeChanges gives typeChanges types of all roots.
func TestTypeChanges(t *testing.T) {
	row := func(fs ...schema.Field) *schema.Type { return &schema.Type{Root: schema.Row, Fields: fs} }
	intField := schema.Field{Name: "a", Type: &schema.Type{Root: schema.Int}}
	changes, err := typeChanges([]string{"c"}, row(intField), &schema.Type{Root: schema.Int})
	if err != nil || len(changes) != 1 || changeText(changes[0]) != "type c INT keep=true" {
		t.Error(changes, err)
	}
}
