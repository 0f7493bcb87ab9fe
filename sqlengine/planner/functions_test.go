package planner

import (
	"slices"
	"testing"
)

// TestFunctions compares with answers of MySQL 8.0 (its manual, and MariaDB where both agree).
func TestFunctions(t *testing.T) {
	s := newTestSession(t, shop())
	s.run("SET time_zone = '+00:00'")
	s.run("SET timestamp = 1784116800")
	for _, x := range []struct{ expr, want string }{
		{"GREATEST(1.5, 2)", "2.0"}, {"LEAST(3, 1.25, 2)", "1.25"}, {"GREATEST(1, NULL)", "NULL"}, {"GREATEST('a', 'b')", "b"}, {"LEAST(2, 10)", "2"},
		{"GREATEST(1, 2.5e0)", "2.5"}, {"GREATEST(DATE '2026-01-01', DATE '2025-01-01')", "2026-01-01"},
		{"ROUND(1.5, 3)", "1.500"}, {"ROUND(2.5)", "3"}, {"ROUND(-1.5)", "-2"}, {"ROUND(1234.5, -2)", "1200"}, {"ROUND(1.005e0, 2)", "1"}, {"ROUND(25, -1)", "30"},
		{"ROUND(1e300)", "1e+300"}, {"TRUNCATE(1.999, 2)", "1.99"}, {"TRUNCATE(-1.999, 1)", "-1.9"}, {"TRUNCATE(1999, -2)", "1900"}, {"TRUNCATE(1.99e0, 1)", "1.9"},
		{"OCT(8)", "10"}, {"INSERT('Quadratic', 3, 4, 'What')", "QuWhattic"}, {"INSERT('abc', 10, 1, 'x')", "abc"}, {"INSERT('日本語', 2, 1, 'x')", "日x語"},
		{"MAKE_SET(5, 'a', 'b', 'c')", "a,c"}, {"MAKE_SET(1 | 4, 'hello', NULL, 'world')", "hello,world"}, {"EXPORT_SET(5, 'Y', 'N', ',', 4)", "Y,N,Y,N"},
		{"BENCHMARK(10, 1 + 1)", "0"}, {"UUID_SHORT() <> UUID_SHORT()", "1"},
		{"NOW()", "2026-07-15 12:00:00"}, {"NOW(3)", "2026-07-15 12:00:00"}, {"CURDATE()", "2026-07-15"}, {"CURTIME()", "12:00:00"}, {"UTC_TIMESTAMP()", "2026-07-15 12:00:00"},
		{"UTC_DATE()", "2026-07-15"}, {"UTC_TIME()", "12:00:00"}, {"UNIX_TIMESTAMP()", "1784116800"}, {"TIMESTAMPDIFF(SECOND, NOW(), CURRENT_TIMESTAMP)", "0"},
		{"FROM_UNIXTIME(1.5)", "1970-01-01 00:00:01.5"}, {"FROM_UNIXTIME(86400, '%Y-%m-%d')", "1970-01-02"}, {"FROM_UNIXTIME(-1)", "NULL"},
		{"HOUR('03:04:05')", "3"}, {"HOUR('272:59:59')", "272"}, {"MINUTE('2026-01-01 10:20:30')", "20"}, {"MICROSECOND('03:04:05.000123')", "123"}, {"TIME_TO_SEC('01:01:01')", "3661"},
		{"SEC_TO_TIME(3661)", "01:01:01"}, {"MAKETIME(12, 30, 15)", "12:30:15"}, {"MAKETIME(12, 60, 15)", "NULL"}, {"MAKEDATE(2026, 60)", "2026-03-01"}, {"MAKEDATE(2026, 0)", "NULL"},
		{"TO_SECONDS('2026-01-01')", "63934444800"}, {"PERIOD_ADD(202601, 2)", "202603"}, {"PERIOD_ADD(202601, -1)", "202512"}, {"PERIOD_DIFF(202603, 202512)", "3"},
		{"ADDTIME('01:00:00', '00:30:00')", "01:30:00"}, {"ADDTIME('2026-01-01 10:00:00', '01:00:00')", "2026-01-01 11:00:00"}, {"SUBTIME('01:00:00', '00:30:00')", "00:30:00"},
		{"TIMESTAMP('2026-01-02', '01:00:00')", "2026-01-02 01:00:00"}, {"TIME_FORMAT('25:06:07', '%H %k %h %i %s %p')", "25 25 01 06 07 AM"},
		{"TIMESTAMPDIFF(MONTH, '2026-01-31', '2026-03-30')", "1"}, {"TIMESTAMPDIFF(MONTH, '2026-03-30', '2026-01-31')", "-1"}, {"TIMESTAMPDIFF(MONTH, '2026-01-31', '2026-02-28')", "0"},
		{"TIMESTAMPDIFF(YEAR, '2000-02-29', '2026-02-28')", "25"}, {"TIMESTAMPDIFF(QUARTER, '2026-01-01', '2026-12-31')", "3"}, {"TIMESTAMPDIFF(DAY, '2026-01-01 12:00:00', '2026-01-02 11:00:00')", "0"},
		{"DATE '2026-01-31' + INTERVAL 1 MONTH", "2026-02-28"}, {"'2026-01-01' + INTERVAL 1 DAY", "2026-01-02"}, {"DATE '2026-01-01' + INTERVAL 1 HOUR", "2026-01-01 01:00:00"},
		{"DATE '2026-01-01' + 1", "20260102"}, {"TIME '10:11:12' + 0", "101112"},
		{"CAST('1.5' AS SIGNED)", "1"}, {"CAST('-3x' AS SIGNED)", "-3"}, {"CAST('99999999999999999999' AS SIGNED)", "9223372036854775807"}, {"CAST(123456 AS DECIMAL(5,2))", "999.99"},
		{"CAST(-123456 AS DECIMAL(5,2))", "-999.99"}, {"CAST('1.239' AS DECIMAL(5,2))", "1.24"}, {"CAST('x' AS DECIMAL(5,2))", "0.00"}, {"CAST(1e20 AS CHAR)", "1e20"},
		{"CAST(DATE '2026-01-01' AS CHAR)", "2026-01-01"}, {"CAST(TIME '10:00:00' AS CHAR)", "10:00:00"}, {"CAST(20260102 AS DATE)", "2026-01-02"},
		{"CAST(1 AS UNSIGNED) + 18446744073709551614", "18446744073709551615"}, {"9223372036854775806 + 1", "9223372036854775807"}, {"3 - 5", "-2"}, {"-4 * 5", "-20"},
		{"REGEXP_LIKE('abc', '^A.C$', 'i')", "1"}, {"'foo\\nbar' REGEXP '^bar$'", "0"}, {"REGEXP_LIKE('foo\\nbar', '^bar$', 'm')", "1"}, {"REGEXP_REPLACE('a1b22', '[0-9]+', '#')", "a#b#"},
		{"REGEXP_REPLACE('a1b22', '([a-z])([0-9]+)', '$2$1')", "1a22b"}, {"REGEXP_REPLACE('aaa', 'a', 'b', 1, 2)", "aba"}, {"REGEXP_SUBSTR('abc 12 def 34', '[0-9]+', 1, 2)", "34"},
		{"REGEXP_INSTR('日本abc', 'a')", "3"}, {"NULL REGEXP 'a'", "NULL"}, {"JSON_VALUE('{\"a\": \"x\"}', '$.a')", "x"}, {"JSON_VALUE('{\"a\": 1}', '$.a')", "1"},
	} {
		got, err := s.try("SELECT " + x.expr)
		if err != nil || !slices.Equal(got, []string{x.want}) {
			t.Errorf("%s: %v %v, want %s", x.expr, got, err, x.want)
		}
	}
	for expr, text := range map[string]string{
		"9223372036854775807 + 1":        "out of range",
		"9223372036854775807 * 2":        "out of range",
		"-9223372036854775807 - 2":       "out of range",
		"CAST(1 AS UNSIGNED) - 2":        "out of range",
		"'a' REGEXP '['":                 "regular expression",
		"'a' REGEXP '(?=a)'":             "regular expression",
		"'a' REGEXP ''":                  "regular expression",
		"NOW(7)":                         "precision",
		"PERIOD_ADD(202613, 1)":          "arguments",
		"BENCHMARK(10000000000, 1)":      "at most",
		"LOAD_FILE()":                    "",
		"REGEXP_LIKE('a', 'a', 'z')":     "arguments",
		"SUM(9223372036854775807 + id)":  "",
		"REGEXP_SUBSTR('abc', 'b', 100)": "out of bounds",
	} {
		s.fails("SELECT "+expr, text)
	}
	s.want("SELECT LOAD_FILE('/etc/passwd')", "NULL")
	s.want("SELECT CAST(who AS CHAR(2)) FROM orders WHERE id = 2", "bo")
	s.want("SELECT ti * 2 FROM orders WHERE id = 2", "254")
	s.want("SELECT SUM(x) FROM (SELECT 1.5 x UNION ALL SELECT 2.25) t", "3.75")
}

func TestSessionVariables(t *testing.T) {
	s := newTestSession(t, shop())
	s.want("SELECT @@time_zone, @@lower_case_table_names, @@autocommit, @@sql_select_limit", "SYSTEM\t0\t1\t18446744073709551615")
	s.fails("SET time_zone = 'Mars/Phobos'", "time zone")
	s.fails("SET time_zone = '+14:01'", "time zone")
	s.fails("SET GLOBAL time_zone = '+25:00'", "time zone")
	s.run("SET time_zone = 'europe/berlin'")
	s.want("SELECT FROM_UNIXTIME(1784116800), lz FROM orders WHERE id = 4", "2026-07-15 14:00:00\t2026-07-01 14:00:00")
	s.want("SELECT id FROM orders WHERE lz = '2026-07-01 14:00:00'", "4")
	s.run("SET time_zone = DEFAULT")
	s.want("SELECT lz FROM orders WHERE id = 4", "2026-07-01 12:00:00")
	s.run("SET character_set_results = NULL")
	s.want("SELECT @@character_set_results", "NULL")
	s.run("SET NAMES utf8mb4")
	s.run("SET PERSIST max_execution_time = 5")
	if got := s.sess.PersistedNames(); !slices.Equal(got, []string{"max_execution_time"}) {
		t.Errorf("persisted %v", got)
	}
	s.fails("SET version = 'x'", "read only")
	s.fails("SELECT @@no_such_variable", "no_such_variable")
	s.fails("SET no_such_variable = 1", "unknown system variable")
	s.want("SELECT @@timestamp > 1700000000", "1")
}

func TestPinning(t *testing.T) {
	c := shop()
	s := newTestSession(t, c)
	count := func() int {
		n := 0
		for _, o := range c.opens {
			if o == `default.orders options=map[] version="" timestamp="" asof=""` {
				n++
			}
		}
		c.opens = nil
		return n
	}
	s.run("SELECT a.id FROM orders a JOIN orders b ON a.id = b.id WHERE a.id IN (SELECT id FROM orders)")
	if n := count(); n != 1 {
		t.Errorf("one statement opened the table %d times", n)
	}
	s.run("SELECT id FROM orders")
	if n := count(); n != 1 {
		t.Errorf("the next statement opened the table %d times", n)
	}
	s.run("BEGIN")
	s.run("SELECT id FROM orders")
	s.run("SELECT id FROM orders")
	if n := count(); n != 1 {
		t.Errorf("a transaction opened the table %d times", n)
	}
	c.tables["default"]["orders"].rows([]any{7, "new", nil, nil, nil, nil, nil, nil, nil})
	s.want("SELECT COUNT(*) FROM orders", "6")
	s.run("COMMIT")
	s.want("SELECT COUNT(*) FROM orders", "7")
	// A statement that fails must not leave its snapshots to the next.
	_, _ = s.try("SELECT nothing FROM orders")
	c.tables["default"]["orders"].rows([]any{8, "new", nil, nil, nil, nil, nil, nil, nil})
	s.want("SELECT COUNT(*) FROM orders", "8")
}

func TestTimeTravel(t *testing.T) {
	c := shop()
	s := newTestSession(t, c)
	s.want("SELECT COUNT(*) FROM orders VERSION AS OF 1", "3")
	s.want("SELECT COUNT(*) FROM orders /*+ OPTIONS('scan.snapshot-id' = '1') */ o", "3")
	s.want("SELECT COUNT(*) FROM orders VERSION AS OF 1 a, orders b WHERE a.id = b.id", "3")
	s.fails("SELECT * FROM orders VERSION AS OF 9", "snapshot 9")
	s.fails("SELECT * FROM nothing VERSION AS OF 9", "nothing")
	s.run("SELECT COUNT(*) FROM orders FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-01 00:00:00'")
	if got := c.opens[len(c.opens)-1]; got != `default.orders options=map[] version="" timestamp="2026-01-01 00:00:00" asof=""` {
		t.Errorf("opened %s", got)
	}
}

func TestCastWholeDecimal(t *testing.T) {
	s := newTestSession(t, shop())
	s.want("SELECT CAST(1.5 AS DECIMAL), CONVERT(2.49, DECIMAL(10,0)), CAST('7.7' AS NUMERIC(3)), CAST(12345 AS DEC(3))", "2\t2\t8\t999")
	s.want("SELECT CAST(DATE '2024-01-02' AS DECIMAL), CAST(TIMESTAMP '2024-01-02 03:04:05' AS DECIMAL(20))", "20240102\t20240102030405")
	s.want("SELECT SUM(CAST(amt AS DECIMAL(5))) FROM orders WHERE id < 3", "5")
	s.fails("SELECT CAST(1 AS DECIMAL(66))", "Too-big precision 66")
}

func TestIntervalFractions(t *testing.T) {
	s := newTestSession(t, shop())
	s.want("SELECT TIMESTAMP '2024-01-31 10:00:00.123456' + INTERVAL 1 SECOND, '2024-01-31 10:00:00' - INTERVAL 1 MICROSECOND",
		"2024-01-31 10:00:01.123456\t2024-01-31 09:59:59.999999")
	s.want("SELECT ts - INTERVAL 1 HOUR, d + INTERVAL 1 DAY, INTERVAL 1 MONTH + d FROM orders WHERE id = 1", "2026-01-01 09:00:00.5\t2026-01-02\t2026-02-01")
	s.want("SELECT 'garbage' + INTERVAL 1 DAY, DATE '2024-01-31' + INTERVAL NULL DAY", "NULL\tNULL")
}

func TestWholeNumbers(t *testing.T) {
	s := newTestSession(t, shop())
	s.want("SELECT CEIL(12345678901234567890.5), FLOOR(-12345678901234567890.5), CEIL(1.5), FLOOR(-1.5), CEIL('1.2'), FLOOR(NULL), CEIL(1e20), FLOOR(18446744073709551615)",
		"12345678901234567891\t-12345678901234567891\t2\t-2\t2\tNULL\t1e+20\t18446744073709551615")
	s.want("SELECT CEIL(amt), FLOOR(f), CEILING(id) FROM orders WHERE id IN (1, 2)", "2\t1\t1", "3\t-2\t2")
}

func TestGroupConcatOfSeveral(t *testing.T) {
	s := newTestSession(t, shop())
	s.want("SELECT GROUP_CONCAT(id, ':', who ORDER BY id DESC SEPARATOR ' ') FROM orders WHERE id < 4", "2:bob 1:ann")
}

func TestDatesAndNumbers(t *testing.T) {
	s := newTestSession(t, shop())
	s.want("SELECT id FROM orders WHERE d = 20260101 ORDER BY id", "1", "6")
	s.want("SELECT id FROM orders WHERE d IN (20260102, 20260201) ORDER BY id", "2", "4")
	s.want("SELECT id FROM orders WHERE d BETWEEN 20251231 AND 20260101 ORDER BY id", "1", "5", "6")
	s.want("SELECT id FROM orders WHERE ts > 20260101100000 ORDER BY id", "1", "2", "4")
	s.want("WITH RECURSIVE r AS (SELECT DATE '2024-01-30' x UNION ALL SELECT x + INTERVAL 1 DAY FROM r WHERE x < '2024-02-01') SELECT x FROM r",
		"2024-01-30", "2024-01-31", "2024-02-01")
}
