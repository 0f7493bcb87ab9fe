package dialect

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// carrierText prints a carrier as it stands in vitess SQL.
func carrierText(c Carrier) string { return sqlparser.String(text(c.Encode())) }

func TestParse(t *testing.T) {
	pipes := Mode{PipesAsConcat: true}
	asOf3 := "as of " + carrierText(Carrier{Version: "3"})
	for _, c := range []struct {
		mode      Mode
		src, want string
	}{
		// Names.
		{Mode{}, "SELECT a FROM T$snapshots", "select a from `T$snapshots`"},
		{Mode{}, "SELECT T$x.a FROM db.T$branch_b$files AS T$x", "select `T$x`.a from db.`T$branch_b$files` as `T$x`"},
		{Mode{}, "SELECT größe FROM t", "select `größe` from t"},
		{Mode{AnsiQuotes: true}, `SELECT "a""b" FROM "t"`, "select `a\"b` from t"},
		{Mode{}, "SELECT plan, t.count FROM t AS file", "select `plan`, t.`count` from t as `file`"},
		// Time travel.
		{Mode{}, "SELECT a FROM T VERSION AS OF 3 x", "select a from T " + asOf3 + " as x"},
		{Mode{}, "SELECT a FROM T FOR VERSION AS OF 3 AS x", "select a from T " + asOf3 + " as x"},
		{Mode{}, "SELECT a FROM T SYSTEM_VERSION AS OF '3'", "select a from T " + asOf3},
		{Mode{}, "SELECT a FROM version VERSION AS OF 3", "select a from `version` " + asOf3},
		{Mode{}, "SELECT a FROM T TIMESTAMP AS OF TIMESTAMP '2026-1-2 3:04:05.6' WHERE b", "select a from T as of " + carrierText(Carrier{Timestamp: "2026-01-02 03:04:05.6"}) + " where b"},
		{Mode{}, "SELECT a FROM T FOR SYSTEM_TIME AS OF '2026-01-02'", "select a from T as of " + carrierText(Carrier{Timestamp: "2026-01-02"})},
		{Mode{}, "SELECT a FROM T AS OF v1", "select a from T as of " + carrierText(Carrier{AsOf: "v1"})},
		{Mode{}, "SELECT a FROM T FOR SYSTEM_TIME AS OF NOW() - INTERVAL 1 DAY x", "select a from T as of InjectedExpr as x"},
		{Mode{}, "SELECT a FROM T VERSION AS OF ? x WHERE b = ?", "select a from T as of InjectedExpr as x where b = :v2"},
		{Mode{}, "SHOW TABLES AS OF 'x'", "show tables as of " + carrierText(Carrier{AsOf: "x"})},
		// Hints.
		{Mode{}, "SELECT a FROM T /*+ OPTIONS('k'='v') */ AS x", "select a from T as of " + carrierText(Carrier{Options: map[string]string{"k": "v"}}) + " as x"},
		{Mode{}, "SELECT a FROM T x /*+ OPTIONS('k'='v') */, U", "select a from T as of " + carrierText(Carrier{Options: map[string]string{"k": "v"}}) + " as x, U"},
		{Mode{}, "SELECT a FROM T AS OF 'y' x /*+ OPTIONS('k'='v') */", "select a from T as of " + carrierText(Carrier{Options: map[string]string{"k": "v"}, AsOf: "y"}) + " as x"},
		{Mode{}, "SELECT a FROM d.T$files /*+ OPTIONS('k'='v', 'l'='w') */ VERSION AS OF 3", "select a from d.`T$files` as of " + carrierText(Carrier{Options: map[string]string{"k": "v", "l": "w"}, Version: "3"})},
		{Mode{}, "SELECT /*+ MAX_EXECUTION_TIME(1) */ a FROM T /*+ OTHER */", "select /*+ MAX_EXECUTION_TIME(1) */ a from T"},
		// Literals and casts.
		{Mode{}, "SELECT N'a', 'b\\%c', 0b11", "select 'a', 'b\\\\%c', X'03'"},
		{Mode{NoBackslashEscapes: true}, `SELECT 'a\'`, `select 'a\\'`},
		{Mode{}, "SELECT DATE '2024-1-5', {ts '2024-01-05 00:00:00'}, TIME '1:2:3.45'", "select CAST('2024-01-05' as DATE), CAST('2024-01-05 00:00:00' as DATETIME(0)), CAST('1:2:3.45' as TIME(2))"},
		{Mode{}, "SELECT date, t.time FROM t", "select `date`, t.`time` from t"},
		{Mode{}, "SELECT CAST(a AS STRING), CAST(a AS BIGINT), CAST(a AS TIMESTAMP(9)), CAST(a AS VARCHAR(3)), CAST(a AS NUMERIC(5,2)), TRY_CAST(a AS INT)",
			"select CAST(a as CHAR), CAST(a as SIGNED), CAST(a as DATETIME(6)), CAST(a as CHAR(3)), CAST(a as DECIMAL(5, 2)), CAST(a as SIGNED)"},
		{Mode{}, "SELECT CAST(CAST(a AS BYTES) AS BIGINT UNSIGNED), CONVERT(a, INT), CONVERT(a USING utf8mb4)", "select CAST(CAST(a as BINARY) as UNSIGNED), CONVERT(a, SIGNED), convert(a using utf8mb4)"},
		{Mode{}, "SELECT a + INTERVAL '1:2' MINUTE_SECOND", "select a + interval 62 SECOND"},
		{Mode{}, "SELECT 1--1", "select 1 - -1"},
		{Mode{}, "SELECT SUBSTRING(a FROM 2), TRIM(LEADING FROM a), a IS UNKNOWN, ROW(1,2) = (1,2)", "select SUBSTRING(a, 2), trim(leading ' ' from a), a is null, (1, 2) = (1, 2)"},
		{Mode{}, "SELECT JSON_VALUE(a, '$' RETURNING SIGNED)", "select CAST(JSON_VALUE(a, '$') as SIGNED)"},
		{pipes, "SELECT a || b || c", "select concat(concat(a, b), c)"},
		{Mode{}, "SELECT a || b", "select a or b"},
		// Clauses without meaning here.
		{Mode{}, "SELECT SQL_NO_CACHE HIGH_PRIORITY DISTINCT a FROM t FORCE INDEX (x) FOR UPDATE OF t SKIP LOCKED", "select distinct a from t"},
		{Mode{}, "SELECT a FROM t LOCK IN SHARE MODE", "select a from t"},
		{Mode{}, "(SELECT 1)", "select 1"},
		{Mode{}, "((SELECT a FROM t LIMIT 3)) ORDER BY a", "select * from (select a from t limit 3) as tributary_q order by a asc"},
		{Mode{}, "((SELECT 1) UNION (SELECT 2)) LIMIT 1", "select * from ((select 1) union (select 2)) as tributary_q limit 1"},
		{Mode{}, "SELECT * FROM ((SELECT 1)) x", "select * from (select 1) as x"},
		// Conditional comments.
		{Mode{}, "SELECT 1 /*!40101 + 2 */ /*!99999 + 3 */", "select 1 + 2"},
		{Mode{}, "/*!40101 SET @@a=binary */", "set session a = 'binary'"},
		// Statements.
		{Mode{}, "DESC t c", "show columns from t like 'c'"},
		{Mode{}, "DESCRIBE `d`.`t` '%'", "show columns from d.t like '%'"},
		{Mode{}, "SHOW EXTENDED FULL FIELDS IN t IN d", "show full columns from t from d"},
		{Mode{}, "SHOW LOCAL VARIABLES LIKE 'x'", "show session variables like 'x'"},
		{Mode{}, "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "set NAMES 'utf8mb4', collation_connection = 'utf8mb4_bin'"},
		{Mode{}, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "set session transaction read only"},
		{Mode{}, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "start transaction read only"},
		{Mode{}, "ALTER VIEW v AS SELECT 1", "create or replace view v as select 1"},
	} {
		parsed, err := NewParser(Options{}).ParseStatement(c.src, c.mode)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if got := sqlparser.String(parsed.Statement); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for src, near := range map[string]string{
		"SELEKT 1":                "'SELEKT 1' at line 1",
		"SELECT a\nFROM\nWHERE b": "'WHERE b' at line 3",
		"SELECT a FROM":           "'' at line 1",
		"SELECT a b c":            "'c' at line 1",
		"SELECT a FROM t WHERE DATE '2020-01-01' +": "'' at line 1",
		"SELECT 'abc":                                "''abc' at line 1",
		"SELECT a FROM T /*+ OPTIONS('a') */":        "''a') */' at line 1",
		"SHOW PARTITIONS t PARTITION (a 1)":          "'1)' at line 1",
		"DO 1,, 2":                                   "', 2' at line 1",
		"SELECT " + strings.Repeat("é", 60) + " b c": "'c' at line 1",
		"SELECT a b " + strings.Repeat("éa", 60):     "'" + strings.Repeat("éa", 26) + "é' at line 1",
	} {
		_, err := NewParser(Options{}).ParseStatement(src, Mode{})
		var e *Error
		if !errors.As(err, &e) || e.Number != ErrnoSyntax || e.State != "42000" || !strings.HasSuffix(e.Message, "use near "+near) {
			t.Errorf("%s: %v, want near %s", src, err, near)
		}
	}
	for src, want := range map[string]int{
		"SELECT * FROM (SELECT 1)":                            ErrnoDerivedAlias,
		"SELECT DATE '2020-02-30'":                            ErrnoWrongValue,
		"SELECT TIMESTAMP 'x'":                                ErrnoWrongValue,
		"SELECT TIME '1:75'":                                  ErrnoWrongValue,
		"SELECT a OVER w FROM t":                              ErrnoSyntax,
		"SELECT SUM(a) OVER w FROM t WINDOW v AS ()":          ErrnoNoSuchWindow,
		"EXPLAIN FORMAT=XML SELECT 1":                         ErrnoExplainFormat,
		"SELECT " + strings.Repeat("(", 3000) + "1":           ErrnoStackOverrun,
		"SELECT 1" + strings.Repeat("+1", 30000):              ErrnoStackOverrun,
		"SELECT " + strings.Repeat("- ", 30000) + "1":         ErrnoStackOverrun,
		"SELECT 1" + strings.Repeat(" UNION SELECT 1", 30000): ErrnoStackOverrun,
		"SELECT tributary_assign(1) FROM t":                   ErrnoSyntax,
	} {
		_, err := NewParser(Options{}).ParseStatement(src, Mode{})
		var e *Error
		if !errors.As(err, &e) || e.Number != want {
			t.Errorf("%s: %v, want error %d", src, err, want)
		}
	}
}

// TestHeaders checks that column names are the user's text.
func TestHeaders(t *testing.T) {
	for src, want := range map[string][]string{
		"SELECT SUM( a ), AVG(DISTINCT b) FROM t":                                   {"SUM( a )", "AVG(DISTINCT b)"},
		"SELECT /* c */ 1 /* d */ +2 , 'a''b', \"x\" 'y', N'z'":                     {"1 /* d */ +2", "a'b", "x", "z"},
		"SELECT DISTINCT DATE '2024-1-5',~a, {fn UPPER('x')}":                       {"DATE '2024-1-5'", "~a", "{fn UPPER('x')}"},
		"SELECT CAST(a AS STRING),@x := 5 FROM t":                                   {"CAST(a AS STRING)", "@x := 5"},
		"SELECT T$x.a + 1, a->>'$.b' FROM T$x":                                      {"T$x.a + 1", "a->>'$.b'"},
		"SELECT a = ANY (SELECT 1), b RLIKE 'x' FROM t FOR UPDATE":                  {"a = ANY (SELECT 1)", "b RLIKE 'x'"},
		"SELECT SQL_NO_CACHE COUNT(*)/*!50000 ,1+1 */ FROM t":                       {"COUNT(*)", "1+1"},
		"SELECT CURRENT_DATE, b'1', 0b1, X'4D', TRUE, NULL":                         {"CURRENT_DATE", "b'1'", "0b1", "X'4D'", "TRUE", "NULL"},
		"SELECT SUM(a) OVER w, SUBSTRING(a FROM 2) FROM t WINDOW w AS (ORDER BY a)": {"SUM(a) OVER w", "SUBSTRING(a FROM 2)"},
	} {
		parsed, err := NewParser(Options{}).ParseStatement(src, Mode{})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		sel := parsed.Statement.(*sqlparser.Select)
		for i, e := range sel.SelectExprs {
			if got := e.(*sqlparser.AliasedExpr).InputExpression; i >= len(want) || got != want[i] {
				t.Errorf("%s: header %d is %q, want %q", src, i, got, want)
			}
		}
	}
}

func TestOwnStatements(t *testing.T) {
	like := "x%"
	for src, want := range map[string]Statement{
		"SHOW PARTITIONS d.T$branch_b PARTITION (p = 'a', q = -1, r = NULL, s = DATE '2026-01-01')": ShowPartitions{Table: Name{"d", "T$branch_b"},
			Spec: []PartitionValue{{Column: "p", Value: "a"}, {Column: "q", Value: "-1"}, {Column: "r", Null: true}, {Column: "s", Value: "2026-01-01"}}},
		"show partitions `a b`":                       ShowPartitions{Table: Name{Name: "a b"}},
		"SHOW ENGINE innodb STATUS":                   ShowEngine{Engine: "innodb", What: "STATUS"},
		"SHOW OPEN TABLES IN d LIKE 'x%'":             ShowOpenTables{DB: "d", Filter: Filter{Like: &like}},
		"SHOW CREATE USER 'a'@'h'":                    ShowCreateUser{User: "a", Host: "h"},
		"SHOW CREATE USER CURRENT_USER()":             ShowCreateUser{Current: true},
		"SHOW COUNT(*) ERRORS":                        ShowCount{Errors: true},
		"SHOW BINLOG EVENTS IN 'b' FROM 4 LIMIT 1, 2": ShowLogEvents{Log: "b", From: 4},
		"CHECK TABLE a, b.c FAST FOR UPGRADE":         AdminTables{Verb: "CHECK", Tables: []Name{{Name: "a"}, {"b", "c"}}, Options: []string{"FAST", "FOR UPGRADE"}},
		"OPTIMIZE LOCAL TABLE a":                      AdminTables{Verb: "OPTIMIZE", Tables: []Name{{Name: "a"}}},
		"HELP 'contents'":                             Help{Topic: "contents"},
		"XA RECOVER CONVERT XID":                      XA{Verb: "RECOVER"},
		"SET ROLE ALL EXCEPT r, 's'@'h'":              SetRole{Mode: "EXCEPT", Roles: []Account{{"r", "%"}, {"s", "h"}}},
		"DO 1, SLEEP(0)":                              Do{},
	} {
		parsed, err := NewParser(Options{}).ParseStatement(src, Mode{})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		got, ok := AsStatement(parsed.Statement)
		if !ok || printed(got) != printed(want) {
			t.Errorf("%s: %+v, want %+v", src, got, want)
		}
	}
	parsed, err := NewParser(Options{}).ParseStatement("DO a + 1, f(b)", Mode{})
	if err != nil {
		t.Fatal(err)
	}
	if in := parsed.Statement.(sqlparser.InjectedStatement); sqlparser.String(in.Children) != "a + 1, f(b)" {
		t.Errorf("children of DO: %s", sqlparser.String(in.Children))
	}
	parsed, err = NewParser(Options{}).ParseStatement("EXPLAIN ANALYZE FORMAT = 'json' SELECT SUM(a) FROM T$files", Mode{})
	if err != nil {
		t.Fatal(err)
	}
	own, _ := AsStatement(parsed.Statement)
	e, ok := own.(Explain)
	if !ok || e.Format != "JSON" || !e.Analyze || e.Text != "SELECT SUM(a) FROM T$files" || sqlparser.String(e.Statement) != "select last('sum', a) from `T$files`" {
		t.Errorf("%+v", own)
	}
}

func TestParserInterface(t *testing.T) {
	var p sql.Parser = NewParser(Options{})
	ctx := context.Background()
	stmt, text, rest, err := p.ParseWithOptions(ctx, " SELECT T$a.b FROM T$a ;\n SELECT ';' ; ", ';', true, sqlparser.ParserOptions{})
	if err != nil || text != "SELECT T$a.b FROM T$a" || rest != "SELECT ';' ;" || sqlparser.String(stmt) != "select `T$a`.b from `T$a`" {
		t.Errorf("%q, %q, %v, %v", text, rest, stmt, err)
	}
	_, text, rest, err = p.ParseWithOptions(ctx, rest, ';', true, sqlparser.ParserOptions{})
	if err != nil || text != "SELECT ';'" || rest != "" {
		t.Errorf("%q, %q, %v", text, rest, err)
	}
	if _, _, _, err = p.ParseWithOptions(ctx, "SELECT 1; SELECT 2", ';', false, sqlparser.ParserOptions{}); err == nil || !strings.Contains(err.Error(), "near 'SELECT 2' at line 1") {
		t.Errorf("two statements for one: %v", err)
	}
	if _, _, _, err = p.ParseWithOptions(ctx, "SELECT 1; -- done\n", ';', false, sqlparser.ParserOptions{}); err != nil {
		t.Error(err)
	}
	if _, _, _, err = p.ParseWithOptions(ctx, `SELECT "a b" FROM t`, ';', false, sqlparser.ParserOptions{AnsiQuotes: true}); err != nil {
		t.Error(err)
	}
	stmt, next, err := p.ParseOneWithOptions(ctx, "SELECT ~1; SELECT 2", sqlparser.ParserOptions{})
	if err != nil || next != len("SELECT ~1;") || stmt == nil {
		t.Errorf("%d, %v", next, err)
	}
	for _, comment := range []string{" -- x", "/* y */ ;", "/*M!100100 SET x=1 */", "/*! */", "/*!99999 SET x=1 */"} {
		stmt, err := p.ParseSimple(comment)
		if own, ok := AsStatement(stmt); err != nil || !ok || own != (CommentOnly{}) {
			t.Errorf("%q: %v, %v", comment, own, err)
		}
	}
	for _, empty := range []string{"", ";", " "} {
		if _, err := p.ParseSimple(empty); !errors.Is(err, sqlparser.ErrEmpty) {
			t.Errorf("%q: %v", empty, err)
		}
		if _, _, _, err := p.ParseWithOptions(ctx, empty, ';', true, sqlparser.ParserOptions{}); !errors.Is(err, sqlparser.ErrEmpty) {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

// TestStatementPositions checks that the text of a view's query is the user's.
func TestStatementPositions(t *testing.T) {
	src := "CREATE VIEW v AS /* q */ SELECT ~a FROM T$x VERSION AS OF 3 FOR UPDATE"
	parsed, err := NewParser(Options{}).ParseStatement(src, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	d := parsed.Statement.(*sqlparser.DDL)
	if got := parsed.Text[d.SubStatementPositionStart:d.SubStatementPositionEnd]; got != "SELECT ~a FROM T$x VERSION AS OF 3 FOR UPDATE" {
		t.Errorf("%q", got)
	}
}

// TestLongLists checks that long lists, as loaders and ORMs send them, are no
// deep trees.
func TestLongLists(t *testing.T) {
	for _, src := range []string{
		"INSERT INTO t VALUES (-1, 'a')" + strings.Repeat(", (-1, 'a')", 50000),
		"SELECT a FROM t WHERE a IN (-1" + strings.Repeat(", -1", 50000) + ")",
		"SELECT a FROM t WHERE a = 1" + strings.Repeat(" OR a = 1", 9000),
	} {
		if _, err := NewParser(Options{}).ParseStatement(src, Mode{}); err != nil {
			t.Errorf("%.40s…: %v", src, err)
		}
	}
}

func TestParams(t *testing.T) {
	parsed, err := NewParser(Options{}).ParseStatement("SELECT '?' , ? FROM T VERSION AS OF ? /* ? */ WHERE a = ?", Mode{})
	if err != nil || parsed.Params != 3 {
		t.Errorf("%d, %v", parsed.Params, err)
	}
}

// TestRollupWithoutGroups has WITH ROLLUP where no GROUP BY is.
func TestRollupWithoutGroups(t *testing.T) {
	p := NewParser(Options{})
	for _, text := range []string{
		"SELECT a, b FROM t GROUPa, b WITH ROLLUP", "SELECT a FROM t WITH ROLLUP", "SELECT (SELECT 1 WITH ROLLUP) FROM t GROUP BY a",
		"SELECT a FROM t WHERE x IN (SELECT b FROM u GROUP BY b) WITH ROLLUP",
		"SELECT a FROM t GROUP BY a WITH ROLLUP + 1", "SELECT a FROM t GROUP BY a WITH ROLLUP, b",
	} {
		_, err := p.ParseStatement(text, Mode{})
		if e, ok := err.(*Error); !ok || e.Number != ErrnoSyntax {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"SELECT a, b, COUNT(*) FROM t GROUP BY a, b WITH ROLLUP", "SELECT a FROM t GROUP BY (a), YEAR(b) WITH ROLLUP HAVING a > 1",
		"SELECT * FROM (SELECT a FROM t GROUP BY a WITH ROLLUP) x", "SELECT a FROM t GROUP BY a WITH ROLLUP ORDER BY a LIMIT 3",
	} {
		if _, err := p.ParseStatement(text, Mode{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
