package planner

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

func TestInsertForms(t *testing.T) {
	s := newInsertSession(t)
	s.table("t", "id INT; name STRING; n DECIMAL(5,2) = 1.5")
	s.does("INSERT INTO t VALUES (1, 'a', 2), (2, 'b', NULL), (3, DEFAULT, DEFAULT)", "3 Records: 3  Duplicates: 0  Warnings: 0")
	s.happened("open default.t", "commit t 3")
	s.want("SELECT * FROM t", "1\ta\t2.00", "2\tb\tNULL", "3\tNULL\t1.50")
	s.does("INSERT t (NAME, id) VALUES ('c', 4)", "1")
	s.does("INSERT INTO t SET id = 5, name = CONCAT('d', 5)", "1")
	s.does("INSERT INTO t (id) VALUES ROW(6), ROW(7)", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO t () VALUES ()", "1")
	s.does("INSERT INTO t VALUES (8, DEFAULT(n), DEFAULT(n))", "1")
	s.does("REPLACE INTO t (id) VALUES (9)", "1")
	s.want("SELECT * FROM t WHERE id > 3 OR id IS NULL", "4\tc\t1.50", "5\td5\t1.50", "6\tNULL\t1.50", "7\tNULL\t1.50", "NULL\tNULL\t1.50", "8\t1.5\t1.50", "9\tNULL\t1.50")
	s.lake.events = nil
	s.table("u", "id INT; name STRING; n DECIMAL(5,2)")
	s.does("INSERT INTO u SELECT * FROM t WHERE id < 3", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO u TABLE t", "10 Records: 10  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO u (n, id) SELECT id, COUNT(*) FROM t WHERE id IS NOT NULL GROUP BY id HAVING id < 3", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO u (id) WITH q AS (SELECT 70 AS x UNION ALL SELECT 71) SELECT x FROM q", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO u (id) SELECT id FROM u", "16 Records: 16  Duplicates: 0  Warnings: 0")
	s.want("SELECT COUNT(*), COUNT(name), SUM(n) FROM u", "32\t7\t19.00")
	s.happened("open default.u", "commit u 2", "open default.u", "commit u 10", "open default.u", "commit u 2", "open default.u", "commit u 2", "open default.u", "commit u 16")
	s.does("INSERT INTO u VALUES ((SELECT MAX(id) FROM t), (SELECT name FROM t WHERE id = 1), 1 + 1), (1, 'x', -3)", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.want("SELECT * FROM u WHERE n = 2 AND name = 'a' OR n = -3", "1\ta\t2.00", "1\ta\t2.00", "9\ta\t2.00", "1\tx\t-3.00")
	s.table("o", "a INT")
	s.lake.add("other", "o", s.lake.tables["default"]["o"])
	s.does("INSERT INTO other.o VALUES (1)", "1")
	s.happened("open default.u", "commit u 2", "open other.o", "commit o 1")
}

func TestInsertErrors(t *testing.T) {
	s := newInsertSession(t)
	s.table("t", "id INT NOT NULL; name STRING", "id")
	s.table("a", "id INT NOT NULL; name STRING")
	for query, want := range map[string]string{
		"INSERT INTO nothing VALUES (1)":                                   "1146 42S02 ",
		"INSERT INTO nodb.t VALUES (1)":                                    "1049 42000 ",
		"INSERT INTO t (id, nope) VALUES (1, 2)":                           "1054 42S22 Unknown column 'nope'",
		"INSERT INTO t (id, ID) VALUES (1, 2)":                             "1110 42000 Column 'id' specified twice",
		"INSERT INTO t VALUES (1)":                                         "1136 21S01 Column count doesn't match value count at row 1",
		"INSERT INTO t VALUES (1, 'a'), (2)":                               "1136 21S01 Column count doesn't match value count at row 2",
		"INSERT INTO t SELECT 1":                                           "1136 21S01 ",
		"INSERT INTO t (name) VALUES ('a')":                                "1364 HY000 Field 'id' doesn't have a default value",
		"INSERT INTO t (name) SELECT 'a'":                                  "1364 HY000 Field 'id' doesn't have a default value",
		"INSERT INTO t () VALUES ()":                                       "1364 HY000 Field 'id' doesn't have a default value",
		"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (NULL, 'c')":             "1048 23000 Column 'id' cannot be null",
		"INSERT INTO t VALUES (1, 'a'), (2, 'b'), ('x', 'c')":              "1366 HY000 Incorrect integer value: 'x' for column 'id' at row 3",
		"INSERT INTO t SELECT NULL, 'a'":                                   "1048 23000 Column 'id' cannot be null",
		"INSERT INTO t VALUES (1, nope)":                                   "1054 42S22 Unknown column 'nope'",
		"INSERT INTO t VALUES (1, DEFAULT(nope))":                          "1054 42S22 Unknown column 'nope'",
		"INSERT INTO t VALUES (1, (SELECT 1 UNION SELECT 2))":              "1242 21000 ",
		"INSERT INTO information_schema.tables (table_name) VALUES (1)":    "1044 42000 Access denied for user",
		"INSERT INTO t VALUES (1, 'a') ON DUPLICATE KEY UPDATE name = 'b'": "1235 42000 ",
		"INSERT INTO a PARTITION (id = 1) VALUES ('x')":                    "1210 HY000 table default.a is not partitioned",
	} {
		s.failed(query, want)
	}
	for query, want := range map[string]string{
		"UPDATE t SET name = 'a'":              "UPDATE is not supported for table default.t: it does not say where its rows lie",
		"DELETE FROM t":                        "DELETE is not supported for table default.t: it does not say where its rows lie",
		"LOAD DATA INFILE 'x' INTO TABLE t":    "The MySQL server is running with the --secure-file-priv option",
		"INSERT INTO `t$snapshots` VALUES (1)": "Cannot 'write' for system table 't$snapshots', please use data table.",
	} {
		s.fails(query, want)
	}
	for _, e := range s.lake.events {
		if strings.HasPrefix(e, "commit") {
			t.Errorf("%q", s.lake.events)
		}
	}
	s.lake.events = nil
	// What the sink says is the statement's error, and nothing is left open.
	s.lake.writeErr["t"] = errs.Invalidf("Try to write table with a new bucket num 4")
	s.failed("INSERT INTO t VALUES (1, 'a')", "1210 HY000 Try to write table with a new bucket num 4")
	s.happened("open default.t", "abort t")
	s.lake.writeErr["t"] = nil
	for _, c := range []struct {
		err  error
		want string
	}{
		{errs.Conflictf("another writer"), "1213 40001 another writer"},
		{errs.Uncertainf("the answer was lost"), "1180 HY000 "},
	} {
		s.lake.commitErr["t"] = c.err
		s.failed("INSERT INTO t VALUES (1, 'a')", c.want)
		s.happened("open default.t", "failed t")
	}
	s.lake.commitErr["t"] = nil
	s.does("INSERT INTO t VALUES (1, 'a')", "1")
}

// TestInsertEngines: REPLACE and IGNORE promise what a merge engine may not keep.
func TestInsertEngines(t *testing.T) {
	s := newInsertSession(t)
	for _, c := range []struct {
		engine, keys    string
		replace, ignore bool
	}{
		{"", "id", true, true},
		{"deduplicate", "id", true, true},
		{"first-row", "id", false, true},
		{"partial-update", "id", false, false},
		{"aggregation", "id", false, false},
		{"", "", true, true},
	} {
		f := s.table("t", "id INT NOT NULL; v INT")
		if c.keys != "" {
			f.keys = []string{c.keys}
		}
		if c.engine != "" {
			f.options["merge-engine"] = c.engine
		}
		_, err := s.exec("REPLACE INTO t VALUES (1, 2)")
		if (err == nil) != c.replace || err != nil && errs.ClassOf(err) != errs.Unsupported {
			t.Errorf("%s %q: REPLACE %v", c.engine, c.keys, err)
		}
		_, err = s.exec("INSERT IGNORE INTO t VALUES (1, 2)")
		if (err == nil) != c.ignore || err != nil && errs.ClassOf(err) != errs.Unsupported {
			t.Errorf("%s %q: IGNORE %v", c.engine, c.keys, err)
		}
	}
}

func TestInsertIgnore(t *testing.T) {
	s := newInsertSession(t)
	s.table("t", "i TINYINT NOT NULL; s VARCHAR(2); d DATE")
	s.does("INSERT IGNORE INTO t VALUES (300, 'abc', '2024-02-30'), (NULL, 'ab', '2024-01-01'), ('7x', NULL, NULL)", "3 Records: 3  Duplicates: 0  Warnings: 5")
	s.warned("Warning 1264 Out of range value for column 'i' at row 1", "Warning 1406 Data too long for column 's' at row 1",
		"Warning 1292 Incorrect date value: '2024-02-30' for column 'd' at row 1", "Warning 1048 Column 'i' cannot be null", "Warning 1265 Data truncated for column 'i' at row 3")
	s.want("SELECT * FROM t", "127\tab\tNULL", "0\tab\t2024-01-01", "7\tNULL\tNULL")
	s.does("INSERT IGNORE INTO t (s) VALUES ('x')", "1")
	s.warned("Warning 1364 Field 'i' doesn't have a default value")
	// Without strict mode, NULL is an error in a single row only.
	s.run("SET sql_mode = ''")
	s.failed("INSERT INTO t VALUES (NULL, NULL, NULL)", "1048 23000 Column 'i' cannot be null")
	s.does("INSERT INTO t VALUES (1, NULL, NULL), (NULL, NULL, NULL)", "2 Records: 2  Duplicates: 0  Warnings: 1")
	s.does("INSERT INTO t SELECT NULL, NULL, NULL", "1 Records: 1  Duplicates: 0  Warnings: 1")
	// All are counted, so many are kept.
	var q strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&q, ",(%d,NULL,NULL)", 1000+i)
	}
	s.does("INSERT INTO t VALUES "+q.String()[1:], "1500 Records: 1500  Duplicates: 0  Warnings: 1500")
	if n := len(s.warnings()); n != maxStatementNotes {
		t.Errorf("%d warnings kept", n)
	}
}

func TestInsertPartitions(t *testing.T) {
	s := newInsertSession(t)
	f := s.table("t", "v INT; dt STRING; hh INT")
	f.parts = []string{"dt", "hh"}
	s.does("INSERT INTO t PARTITION (dt = 'a', hh = 1) VALUES (1), (2)", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO t PARTITION (dt = 'a') (v, hh) VALUES (3, 2)", "1")
	s.does("INSERT INTO t PARTITION (dt = NULL, hh) SELECT 4, 5", "1 Records: 1  Duplicates: 0  Warnings: 0")
	s.want("SELECT * FROM t", "1\ta\t1", "2\ta\t1", "3\ta\t2", "4\tNULL\t5")
	s.lake.events = nil
	s.does("INSERT OVERWRITE t PARTITION (dt = 'a') SELECT v, hh FROM t WHERE hh = 2", "1 Records: 1  Duplicates: 0  Warnings: 0")
	s.does("INSERT OVERWRITE TABLE t VALUES (1, 'b', 2)", "1")
	s.does("INSERT OVERWRITE t /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ SELECT * FROM t WHERE v > 100", "0 Records: 0  Duplicates: 0  Warnings: 0")
	s.happened("open default.t overwrite dt=a", "commit t 1", "open default.t overwrite", "commit t 1",
		"open default.t overwrite map[dynamic-partition-overwrite:false]", "commit t 0")
	s.failed("INSERT INTO t PARTITION (hh = 'x') VALUES (1, 'a')", "1366 HY000 Incorrect integer value: 'x' for column 'hh' at row 1")
	s.failed("INSERT INTO t PARTITION (v = 1) VALUES ('a', 1)", "1210 HY000 column 'v' is no partition column; these are: dt, hh")
	s.failed("INSERT INTO t PARTITION (dt = 'a') VALUES (1, 'a', 1)", "1136 21S01 ")
	s.failed("INSERT INTO t PARTITION (dt = 'a') (v, dt) VALUES (1, 'a')", "1054 42S22 Unknown column 'dt'")
}

func TestInsertPrepared(t *testing.T) {
	s := newInsertSession(t)
	s.table("t", "id INT; name STRING; d DOUBLE")
	s.run("PREPARE p FROM 'INSERT INTO t VALUES (?, ?, 1.5), (?, CONCAT(?, ?), DEFAULT)'")
	s.run("SET @a = 1, @b = 'one', @c = '2', @d = 'tw', @e = NULL")
	s.run("EXECUTE p USING @a, @b, @c, @d, @b")
	s.run("EXECUTE p USING @e, @e, @e, @e, @e")
	s.want("SELECT * FROM t", "1\tone\t1.5", "2\ttwone\tNULL", "NULL\tNULL\t1.5", "NULL\tNULL\tNULL")
}

// TestInsertBatches: vectors of the column's type pass, others are converted as single values are.
func TestInsertBatches(t *testing.T) {
	s := newInsertSession(t)
	src := s.table("src", "i INT; b BIGINT; s STRING; d DECIMAL(10,3); e DECIMAL(20,3); f DOUBLE; g FLOAT; dt DATE; ts TIMESTAMP(3); lz TIMESTAMP(3) WITH LOCAL TIME ZONE; ti TIME(3); ok BOOLEAN; bin BYTES; c CHAR(5)")
	src.rows([]any{1, 10, "5", 1500, 2500, 2.5, 0.5, "2024-01-02", "2024-01-02 03:04:05.678", "2024-01-02 03:04:05.678", 3_600_500, 1, "ab", "x    "},
		[]any{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil},
		[]any{-7, 20, "6", -1499, 99, -0.5, 1.25, "1969-12-31", "1969-12-31 23:59:59.999", "1969-12-31 23:59:59.999", 0, 0, "", "y"})
	first := func(col, typ, want string) {
		t.Helper()
		s.table("dst", "c "+typ)
		s.does("INSERT INTO dst SELECT "+col+" FROM src", "3 Records: 3  Duplicates: 0  Warnings: "+fmt.Sprint(len(s.warnings())))
		s.want("SELECT c FROM dst", strings.Split(want, "|")...)
	}
	first("i", "INT", "1|NULL|-7")
	first("i", "TINYINT", "1|NULL|-7")
	first("i", "BIGINT", "1|NULL|-7")
	first("i", "DOUBLE", "1|NULL|-7")
	first("i", "DECIMAL(30,2)", "1.00|NULL|-7.00")
	first("i", "STRING", "1|NULL|-7")
	first("i", "BOOLEAN", "1|NULL|1")
	first("s", "INT", "5|NULL|6")
	first("s", "VARCHAR(1)", "5|NULL|6")
	first("s", "BYTES", "5|NULL|6")
	first("e", "DECIMAL(10,3)", "2.500|NULL|0.099")
	first("d", "DECIMAL(30,3)", "1.500|NULL|-1.499")
	first("d", "DECIMAL(12,5)", "1.50000|NULL|-1.49900")
	first("d", "INT", "2|NULL|-1")
	first("d", "DOUBLE", "1.5|NULL|-1.499")
	first("d", "STRING", "1.500|NULL|-1.499")
	first("f", "INT", "2|NULL|0")
	first("f", "FLOAT", "2.5|NULL|-0.5")
	first("f", "DECIMAL(5,2)", "2.50|NULL|-0.50")
	first("g", "STRING", "0.5|NULL|1.25")
	first("dt", "TIMESTAMP(3)", "2024-01-02 00:00:00|NULL|1969-12-31 00:00:00")
	first("dt", "STRING", "2024-01-02|NULL|1969-12-31")
	first("dt", "INT", "20240102|NULL|19691231")
	first("ts", "TIMESTAMP(0)", "2024-01-02 03:04:06|NULL|1970-01-01 00:00:00")
	first("ts", "TIMESTAMP(6)", "2024-01-02 03:04:05.678|NULL|1969-12-31 23:59:59.999")
	first("ts", "STRING", "2024-01-02 03:04:05.678|NULL|1969-12-31 23:59:59.999")
	first("lz", "TIMESTAMP(3)", "2024-01-02 03:04:05.678|NULL|1969-12-31 23:59:59.999")
	s.table("dst", "c TIMESTAMP(3) WITH LOCAL TIME ZONE")
	s.does("INSERT INTO dst SELECT ts FROM src WHERE i = 1", "1 Records: 1  Duplicates: 0  Warnings: 0")
	s.want("SELECT c FROM dst", "2024-01-02 03:04:05.678")
	first("ti", "STRING", "01:00:00.500000|NULL|00:00:00")
	first("ok", "TINYINT", "1|NULL|0")
	first("bin", "STRING", "ab|NULL|")
	first("c", "STRING", "x    |NULL|y")
	s.table("dst", "c DATE")
	s.does("INSERT INTO dst SELECT ts FROM src", "3 Records: 3  Duplicates: 0  Warnings: 2")
	s.warned("Note 1265 Data truncated for column 'c' at row 1", "Note 1265 Data truncated for column 'c' at row 3")
	s.want("SELECT c FROM dst", "2024-01-02", "NULL", "1969-12-31")

	// Errors name the row; filters and constants go along.
	s.table("dst", "k INT NOT NULL = 9; c TINYINT; x STRING")
	s.failed("INSERT INTO dst (c) SELECT b * 10 FROM src", "1264 22003 Out of range value for column 'c' at row 3")
	s.failed("INSERT INTO dst (k) SELECT i FROM src", "1048 23000 Column 'k' cannot be null")
	s.does("INSERT INTO dst (x, c) SELECT s, i FROM src WHERE i < 0", "1 Records: 1  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO dst (x, k) SELECT s, i FROM src WHERE i IS NOT NULL", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.does("INSERT IGNORE INTO dst (k, c) SELECT i, b FROM src", "3 Records: 3  Duplicates: 0  Warnings: 1")
	s.want("SELECT * FROM dst", "9\t-7\t6", "1\tNULL\t5", "-7\tNULL\t6", "1\t10\tNULL", "0\tNULL\tNULL", "-7\t20\tNULL")
	s.want("SELECT COUNT(*) FROM dst WHERE k = 9", "1")

	// The session's zone.
	s.run("SET time_zone = '+02:00'")
	s.table("dst", "c TIMESTAMP(3); z TIMESTAMP(3) WITH LOCAL TIME ZONE")
	s.does("INSERT INTO dst SELECT lz, ts FROM src WHERE i = 1", "1 Records: 1  Duplicates: 0  Warnings: 0")
	s.does("INSERT INTO dst VALUES ('2024-01-02 03:04:05+00:00', '2024-01-02 03:04:05+00:00')", "1")
	s.want("SELECT c, z FROM dst", "2024-01-02 05:04:05.678\t2024-01-02 03:04:05.678", "2024-01-02 05:04:05\t2024-01-02 05:04:05")
	s.run("SET time_zone = '+00:00'")
	s.want("SELECT c, z FROM dst", "2024-01-02 05:04:05.678\t2024-01-02 01:04:05.678", "2024-01-02 05:04:05\t2024-01-02 03:04:05")
	s.run("SET time_zone = 'Europe/Vienna'")
	s.failed("INSERT INTO dst (z) VALUES ('2024-03-31 02:30:00')", "1292 22007 Incorrect datetime value: '2024-03-31 02:30:00' for column 'z' at row 1")
	s.does("INSERT INTO dst (c, z) VALUES ('2024-03-31 02:30:00', '2024-10-27 02:30:00')", "1")
	s.run("SET sql_mode = ''")
	s.does("INSERT INTO dst (z) VALUES ('2024-03-31 02:30:00')", "1")
	s.warned("Warning 1299 Invalid TIMESTAMP value in column 'z' at row 1")
	s.run("SET time_zone = '+00:00'")
	s.want("SELECT z FROM dst WHERE z > '2024-02-01'", "2024-10-27 00:30:00", "2024-03-31 01:00:00")
}

// TestInsertNested moves nested vectors, and documents between types that differ.
func TestInsertNested(t *testing.T) {
	s := newInsertSession(t)
	s.table("a", "l ARRAY<INT>; m MAP<STRING, BIGINT>; r ROW<`x` INT, `y` ARRAY<STRING>>")
	s.does(`INSERT INTO a VALUES ('[1,2]', '{"k":5}', '{"x":1,"y":["p"]}'), (NULL, NULL, NULL)`, "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.table("b", "l ARRAY<BIGINT>; m MAP<STRING, BIGINT>; r ROW<`x` INT, `y` ARRAY<STRING>>; t STRING")
	s.does("INSERT INTO b SELECT l, m, r, l FROM a", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.want("SELECT * FROM b", `[1, 2]	{"k": 5}	{"x": 1, "y": ["p"]}	[1, 2]`, "NULL\tNULL\tNULL\tNULL")
	s.table("c", "l ARRAY<INT NOT NULL>; m ROW<`k` INT>")
	s.does("INSERT INTO c SELECT l, m FROM a", "2 Records: 2  Duplicates: 0  Warnings: 0")
	s.want("SELECT * FROM c", `[1, 2]	{"k": 5}`, "NULL\tNULL")
	s.failed("INSERT INTO c SELECT m, l FROM a", "3140 22032 Invalid JSON value for column 'l' at row 1: $ is an object")
	for _, c := range []struct {
		from, to string
		passes   bool
	}{
		{"ARRAY<INT>", "ARRAY<INT>", true},
		{"ARRAY<INT NOT NULL>", "ARRAY<INT>", true},
		{"ARRAY<INT>", "ARRAY<INT NOT NULL>", false},
		{"ARRAY<INT>", "ARRAY<BIGINT>", false},
		{"ARRAY<SMALLINT>", "ARRAY<INT>", true},
		{"ROW<`a` INT, `b` STRING>", "ROW<`a` INT, `b` STRING>", true},
		{"ROW<`a` INT, `b` STRING>", "ROW<`b` INT, `a` STRING>", false},
		{"MAP<STRING, ROW<`a` VARCHAR(3)>>", "MAP<STRING, ROW<`a` STRING>>", true},
		{"MULTISET<STRING>", "MAP<STRING, INT>", false},
		{"STRING", "ARRAY<INT>", false},
		{"DECIMAL(10,2)", "DECIMAL(18,2)", true},
		{"DECIMAL(10,2)", "DECIMAL(20,2)", false},
		{"DECIMAL(20,2)", "DECIMAL(30,2)", true},
		{"DECIMAL(20,2)", "DECIMAL(19,2)", false},
		{"DECIMAL(10,2)", "DECIMAL(18,3)", false},
		{"TIMESTAMP(3)", "TIMESTAMP(6)", true},
		{"TIMESTAMP(6)", "TIMESTAMP(3)", false},
		{"TIMESTAMP(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", false},
		{"CHAR(3)", "VARCHAR(3)", true},
		{"VARCHAR(4)", "VARCHAR(3)", false},
		{"INT", "BIGINT", false},
		{"TINYINT", "INT", true},
		{"BOOLEAN", "INT", false},
		{"BINARY(3)", "BYTES", true},
		{"BYTES", "STRING", false},
	} {
		from, err := schema.ParseType(c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := schema.ParseType(c.to)
		if err != nil {
			t.Fatal(err)
		}
		if passes(from, to) != c.passes {
			t.Errorf("%s to %s passes: %v", c.from, c.to, !c.passes)
		}
	}
}

// TestInsertStopped: a statement whose context ends commits nothing.
func TestInsertStopped(t *testing.T) {
	s := newInsertSession(t)
	s.table("t", "id INT; name STRING; n STRING; d STRING")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.base = ctx
	if _, err := s.exec(valuesText("t", 10_000)); err == nil {
		t.Error("a stopped statement succeeded")
	}
	s.base = nil
	s.happened("open default.t", "abort t")
	s.want("SELECT COUNT(*) FROM t", "0")
}

// TestInsertMany: great statements come in batches.
func TestInsertMany(t *testing.T) {
	s := newInsertSession(t)
	f := s.table("t", "a INT; b STRING; c DECIMAL(10,2); d TIMESTAMP(3)")
	s.does(valuesText("t", 10_000), "10000 Records: 10000  Duplicates: 0  Warnings: 0")
	if len(f.morsels) != 3 || f.morsels[0].N != column.MaxRows {
		t.Errorf("%d batches, the first of %d rows", len(f.morsels), f.morsels[0].N)
	}
	s.want("SELECT COUNT(*), SUM(a), MAX(c), MIN(d) FROM t", "10000\t49995000\t9999.25\t2024-01-02 03:04:05")
	// Long texts make smaller ones.
	f = s.table("t", "a STRING")
	s.does("INSERT INTO t SELECT REPEAT('x', 3000000) FROM (VALUES ROW(1), ROW(2), ROW(3), ROW(4), ROW(5)) v", "5 Records: 5  Duplicates: 0  Warnings: 0")
	if len(f.morsels) != 2 {
		t.Errorf("%d batches", len(f.morsels))
	}
}
