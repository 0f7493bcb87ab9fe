package dialect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
)

// lake is a memory database whose tables exist in every version; it records
// what the binder asks for.
type lake struct {
	*memory.Database
	asked []string
}

func (l *lake) GetTableInsensitiveAsOf(ctx *sql.Context, name string, asOf any) (sql.Table, bool, error) {
	c, err := carrier(asOf)
	if err != nil {
		return nil, false, err
	}
	l.asked = append(l.asked, name+" "+c)
	return l.GetTableInsensitive(ctx, name)
}

func (l *lake) GetTableNamesAsOf(ctx *sql.Context, asOf any) ([]string, error) {
	c, err := carrier(asOf)
	if err != nil {
		return nil, err
	}
	l.asked = append(l.asked, "tables "+c)
	return l.GetTableNames(ctx)
}

// carrier prints what an asOf value says.
func carrier(asOf any) (string, error) {
	text, ok := asOf.(string)
	if !ok {
		return "", fmt.Errorf("asOf is a %T", asOf)
	}
	c, ok, err := dialect.DecodeCarrier(text)
	if err != nil || !ok {
		return "", fmt.Errorf("%q is no carrier: %v", text, err)
	}
	var out []string
	if len(c.Options) > 0 {
		out = append(out, fmt.Sprintf("Options:%v", c.Options))
	}
	for _, p := range [...][2]string{{"Version:", c.Version}, {"Timestamp:", c.Timestamp}, {"AsOf:", c.AsOf}} {
		if p[1] != "" {
			out = append(out, p[0]+p[1])
		}
	}
	return "{" + strings.Join(out, " ") + "}", nil
}

type provider struct {
	*memory.DbProvider
	lake *lake
}

func (p provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	if strings.EqualFold(name, "db") {
		return p.lake, nil
	}
	return p.DbProvider.Database(ctx, name)
}

type engine struct {
	*sqle.Engine
	lake *lake
	ctx  *sql.Context
}

func newEngine(t *testing.T) *engine {
	t.Helper()
	db := memory.NewDatabase("db")
	db.EnablePrimaryKeyIndexes()
	pro := memory.NewDBProvider(db)
	l := &lake{Database: db}
	e := sqle.New(analyzer.NewBuilder(provider{pro, l}).Build(), &sqle.Config{})
	parser := dialect.NewParser(dialect.Options{})
	e.Parser = parser
	e.Analyzer.Parser = parser
	session := memory.NewSession(sql.NewBaseSession(), pro)
	ctx := sql.NewContext(context.Background(), sql.WithSession(session))
	ctx.SetCurrentDatabase("db")
	for _, name := range []string{"T", "T$snapshots", "T$branch_b$files"} {
		table := memory.NewTable(l.Database, name, sql.NewPrimaryKeySchema(sql.Schema{
			{Name: "id", Type: types.Int64, Source: name, DatabaseSource: "db"},
			{Name: "s", Type: types.LongText, Source: name, DatabaseSource: "db", Nullable: true},
			{Name: "j", Type: types.JSON, Source: name, DatabaseSource: "db", Nullable: true},
		}), nil)
		l.AddTable(name, table)
		for i := range 3 {
			doc := types.MustJSON(fmt.Sprintf(`{"a": %d}`, i))
			if err := table.Insert(ctx, sql.NewRow(int64(i), fmt.Sprintf("v%d", i), doc)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return &engine{e, l, ctx}
}

// run executes a query and prints header and rows.
func (e *engine) run(query string, binds map[string]sqlparser.Expr) (string, error) {
	e.lake.asked = nil
	schema, rows, _, err := e.QueryWithBindings(e.ctx, query, nil, binds, nil)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, c := range schema {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(c.Name)
	}
	all, err := sql.RowIterToRows(e.ctx, rows)
	if err != nil {
		return "", err
	}
	for _, r := range all {
		b.WriteByte('\n')
		for i, v := range r {
			if i > 0 {
				b.WriteByte('|')
			}
			if v != nil && types.IsText(schema[i].Type) {
				v, _, err = types.LongText.Convert(e.ctx, v)
				if err != nil {
					return "", err
				}
			}
			fmt.Fprint(&b, v)
		}
	}
	return b.String(), nil
}

// Function serves the aggregate tunnel as the planner does; here every kind is a
// sum.
func (p provider) Function(_ *sql.Context, name string) (sql.Function, bool) {
	if name != dialect.AggregateTunnel {
		return nil, false
	}
	return sql.FunctionN{Name: name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 2 {
			return nil, sql.ErrInvalidArgumentNumber.New(name, 2, len(args))
		}
		return aggregation.NewSum(args[1]), nil
	}}, true
}

// TestEngine runs the dialect through go-mysql-server.
func TestEngine(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		query string
		want  string   // header and rows
		asked []string // versioned tables the binder asked for
	}{
		{"SELECT id FROM T$snapshots WHERE T$snapshots.id = 1", "id\n1", nil},
		{"SELECT x.Id FROM db.T$branch_b$files x LIMIT 1", "Id\n0", nil},
		{"SELECT id FROM T VERSION AS OF 3 x WHERE x.id = 1", "id\n1", []string{"T {Version:3}"}},
		{"SELECT a.id FROM T VERSION AS OF 'v' a JOIN T TIMESTAMP AS OF '2026-01-01' AS b ON a.id = b.id WHERE b.id = 2", "id\n2", []string{"T {Version:v}", "T {Timestamp:2026-01-01}"}},
		{"SELECT id FROM T /*+ OPTIONS('a''b' = 'c\\d', 'k'='v') */ AS x WHERE x.id = 0", "id\n0", []string{"T {Options:map[a'b:cd k:v]}"}},
		{"SELECT id FROM T AS OF 'v1' /*+ OPTIONS('k'='v') */ WHERE id = 0", "id\n0", []string{"T {Options:map[k:v] AsOf:v1}"}},
		{"SELECT id FROM T FOR SYSTEM_TIME AS OF '2026-01-02' - INTERVAL 1 DAY WHERE id = 0", "id\n0", []string{"T {Timestamp:2026-01-01 00:00:00}"}},
		{"SELECT id FROM T FOR SYSTEM_TIME AS OF TIMESTAMP('2026-01-02 03:04:05') WHERE id = 0", "id\n0", []string{"T {Timestamp:2026-01-02 03:04:05}"}},
		{"SELECT id FROM T FOR VERSION AS OF CONCAT('a', 'b') /*+ OPTIONS('k'='v') */ WHERE id = 0", "id\n0", []string{"T {Options:map[k:v] Version:ab}"}},
		{"SET @v = 7", "\n", nil},
		{"SELECT id FROM T VERSION AS OF @v WHERE id = 0", "id\n0", []string{"T {Version:7}"}},
		{"SELECT (SELECT MAX(id) FROM T VERSION AS OF 2) m", "m\n2", []string{"T {Version:2}"}},
		{"WITH c AS (SELECT id FROM T VERSION AS OF 2) SELECT COUNT(*) FROM c", "COUNT(*)\n3", []string{"T {Version:2}"}},
		{"SHOW TABLES AS OF 'x'", "Tables_in_db\nT\nT$branch_b$files\nT$snapshots", []string{"tables {AsOf:x}"}},

		{"SELECT SUM( id ), SUM(id) + 1 FROM T HAVING SUM(id) > 0 ORDER BY SUM(id)", "SUM( id )|SUM(id) + 1\n3|4", nil},
		{"SELECT s, AVG(id) a FROM T GROUP BY s HAVING AVG(id) > 0 ORDER BY AVG(id) DESC", "s|a\nv2|2\nv1|1", nil},
		{"SELECT `SUM(id)` FROM (SELECT SUM(id) FROM T) d", "SUM(id)\n3", nil},
		{"SELECT id, SUM(id) OVER w FROM T WINDOW w AS (ORDER BY id)", "id|SUM(id) OVER w\n0|0\n1|1\n2|3", nil},
		{"SELECT id FROM T x WHERE id = (SELECT SUM(y.id) FROM T y WHERE y.id <= x.id) ORDER BY id", "id\n0\n1", nil},
		{"SELECT MAX(id) FROM T LIMIT 0", "MAX(id)", nil},
		{"SELECT SUM(id) FROM T LIMIT 0", "SUM(id)", nil},
		{"SELECT id > 0 p, SUM(id) n, GROUPING(p) g FROM T GROUP BY p WITH ROLLUP", "p|n|g\nfalse|0|0\ntrue|3|0\n<nil>|3|1", nil},
		{"SELECT s, COUNT(*) FROM T WHERE id > 5 GROUP BY s WITH ROLLUP", "s|COUNT(*)", nil},

		{"SELECT DATE '2024-1-5', TIME '10:11:12'", "DATE '2024-1-5'|TIME '10:11:12'\n2024-01-05 00:00:00 +0000 UTC|10:11:12", nil},
		{"SELECT CAST('12' AS BIGINT), CAST(12 AS STRING), CAST('true' AS BOOLEAN), CAST(NULL AS BOOLEAN) IS NULL", "CAST('12' AS BIGINT)|CAST(12 AS STRING)|CAST('true' AS BOOLEAN)|CAST(NULL AS BOOLEAN) IS NULL\n12|12|1|true", nil},
		{"SELECT @x := 5, @x + 1", "@x := 5|@x + 1\n5|6", nil},
		{"SELECT CASE id WHEN 1 THEN @y := 'one' ELSE @y:='other' END c FROM T ORDER BY id", "c\nother\none\nother", nil},
		{"SELECT ~5, ~0, -~5, ~-1, ~NULL", "~5|~0|-~5|~-1|~NULL\n18446744073709551610|18446744073709551615|6|0|<nil>", nil},
		{"SELECT id > ANY (SELECT id FROM T), id >= ALL (SELECT id FROM T), id > ALL (SELECT NULL) IS NULL FROM T ORDER BY id",
			"id > ANY (SELECT id FROM T)|id >= ALL (SELECT id FROM T)|id > ALL (SELECT NULL) IS NULL\n0|0|true\n1|0|true\n1|1|true", nil},
		{"SELECT id FROM T WHERE id = ANY (SELECT 1) OR id <> ALL (SELECT 0 UNION SELECT 1) ORDER BY id", "id\n1\n2", nil},
		{"SELECT id FROM T WHERE s REGEXP '^v[12]' AND s NOT RLIKE '1'", "id\n2", nil},
		{"SELECT j->'$.a', j->>'$.a' FROM T WHERE j->'$.a' = 1", "j->'$.a'|j->>'$.a'\n1|1", nil},
		{"SELECT N'abc', 'a\\%b', 0b11", "abc|a\\%b|0b11\nabc|a\\%b|\x03", nil},
		{"SELECT a.id, b.id FROM T a LEFT JOIN (SELECT * FROM T WHERE FALSE) b ON TRUE ORDER BY 1", "id|id\n0|<nil>\n1|<nil>\n2|<nil>", nil},
		{"SELECT id AS n FROM T ORDER BY (n) DESC", "n\n2\n1\n0", nil},
		{"(SELECT id FROM T ORDER BY id LIMIT 2) ORDER BY id DESC", "id\n1\n0", nil},
		{"SELECT TRIM(LEADING FROM ' x'), SUBSTRING('abc' FROM 2)", "TRIM(LEADING FROM ' x')|SUBSTRING('abc' FROM 2)\nx|bc", nil},
		{"SELECT 1 MEMBER OF ('[1, 2]'), 3 MEMBER OF ('[1, 2]'), 'b' MEMBER OF ('[\"a\", \"b\"]'), NULL MEMBER OF ('[1]') IS NULL", "1 MEMBER OF ('[1, 2]')|3 MEMBER OF ('[1, 2]')|'b' MEMBER OF ('[\"a\", \"b\"]')|NULL MEMBER OF ('[1]') IS NULL\n1|0|1|true", nil},
		{"SELECT '2024-01-01' + INTERVAL '1 2' DAY_HOUR d", "d\n2024-01-02 02:00:00 +0000 UTC", nil},
		{"DESC T id", "Field|Type|Null|Key|Default|Extra\nid|bigint|NO||<nil>|", nil},
		{"SET NAMES utf8mb4 COLLATE utf8mb4_bin", "\n", nil},
		{"SELECT @@collation_connection", "@@collation_connection\nutf8mb4_bin", nil},

		{"CREATE VIEW vv AS SELECT id, ~id FROM T$snapshots VERSION AS OF 3", "__ok_result__\n{0 0 <nil>}", []string{"T$snapshots {Version:3}"}},
		{"SELECT * FROM vv ORDER BY id LIMIT 1", "id|~id\n0|18446744073709551615", []string{"T$snapshots {Version:3}"}},
		{"SELECT id FROM vv VERSION AS OF 4 LIMIT 1", "id\n0", []string{"T$snapshots {Version:3}"}},

		{"PREPARE p FROM 'SELECT id FROM T VERSION AS OF ? WHERE id = ?'", "__ok_result__\n{0 0 Statement prepared}", []string{"T {}"}},
		{"SET @a = 'tag9', @b = 1", "\n", nil},
		{"EXECUTE p USING @a, @b", "id\n1", []string{"T {Version:tag9}"}},
	} {
		got, err := e.run(c.query, nil)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.query, got, c.want)
		}
		if fmt.Sprint(e.lake.asked) != fmt.Sprint(c.asked) {
			t.Errorf("%s\nasked %q\n want %q", c.query, e.lake.asked, c.asked)
		}
	}
}

// TestEngineBindings runs AS OF ? with values as a wire front end binds them.
func TestEngineBindings(t *testing.T) {
	e := newEngine(t)
	query := "SELECT id FROM T TIMESTAMP AS OF ? WHERE id = ?"
	got, err := e.run(query, map[string]sqlparser.Expr{
		"v1": sqlparser.NewStrVal([]byte("2026-01-01 00:00:00")), "v2": sqlparser.NewIntVal([]byte("2")),
	})
	// The engine binds twice, the first time to describe the result.
	if err != nil || got != "id\n2" || fmt.Sprint(e.lake.asked) != "[T {} T {Timestamp:2026-01-01 00:00:00}]" {
		t.Errorf("%q, %q, %v", got, e.lake.asked, err)
	}
	if _, err := e.run("SELECT id FROM T VERSION AS OF NULL", nil); err == nil {
		t.Error("AS OF NULL was taken")
	}
}

// TestPlanOption checks that own statements reach the planner with their bound
// expressions, and are refused without one.
func TestPlanOption(t *testing.T) {
	e := newEngine(t)
	if _, err := e.run("DO 1", nil); err == nil || !strings.Contains(err.Error(), "not supported") {
		t.Errorf("DO without a planner: %v", err)
	}
	var seen dialect.Statement
	var exprs []sql.Expression
	parser := dialect.NewParser(dialect.Options{Plan: func(s dialect.Statement, children []sql.Expression) (sql.Node, error) {
		seen, exprs = s, children
		return plan.NothingImpl, nil
	}})
	e.Parser, e.Analyzer.Parser = parser, parser
	if _, err := e.run("DO 1 + 2, UPPER('x')", nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := seen.(dialect.Do); !ok || len(exprs) != 2 {
		t.Fatalf("%#v, %v", seen, exprs)
	}
	if v, err := exprs[0].Eval(e.ctx, nil); err != nil || fmt.Sprint(v) != "3" {
		t.Errorf("%v, %v", v, err)
	}
}
