package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/schema"
)

// showRule answers SHOW statements whose go-mysql-server form knows nothing of
// Paimon, or prints types and columns otherwise than MySQL. Columns keep their number and places: a WHERE above refers to them.
func showRule(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	e := engineOf(a)
	if e == nil || !isTop(scope, sel) {
		return n, transform.SameTree, nil
	}
	return transform.Node(n, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if r := e.showNode(n); r != nil {
			return r, transform.NewTree, nil
		}
		return n, transform.SameTree, nil
	})
}

// showNode returns our form of a SHOW statement, nil for other nodes.
func (e *Engine) showNode(n sql.Node) *rowsNode {
	switch n := n.(type) {
	case *plan.ShowColumns:
		return showColumns(n)
	case *plan.ShowIndexes:
		return showIndexes(n)
	case *plan.ShowCreateTable:
		return showCreateTable(n)
	case *plan.ShowTableStatus:
		return showTableStatus(n)
	case *plan.FlushPrivileges: // accounts come with the server's start
		return &rowsNode{name: "FlushPrivileges", sch: gms.OkResultSchema, rows: fixedRows([]sql.Row{{gms.NewOkResult(0)}})}
	case *plan.ShowProcessList:
		return e.showProcessList(n.Schema())
	case *plan.ShowVariables:
		return showVariables(n)
	case *plan.ShowStatus:
		return showStatus(n)
	case *plan.ShowGrants:
		return showGrants(e, n)
	case *plan.ShowDatabases:
		return showDatabases(n)
	case plan.ShowWarnings:
		return showWarnings(n)
	}
	return nil
}

// showDatabases lists every database once; go-mysql-server adds its own mysql to that of the provider.
func showDatabases(n *plan.ShowDatabases) *rowsNode {
	return &rowsNode{name: "ShowDatabases", sch: n.Schema(), rows: func(ctx *sql.Context) ([]sql.Row, error) {
		var names []string
		for _, db := range n.Catalog.AllDatabases(ctx) {
			names = append(names, db.Name())
		}
		slices.Sort(names)
		var rows []sql.Row
		for _, name := range slices.Compact(names) {
			rows = append(rows, sql.Row{name})
		}
		return rows, nil
	}}
}

// tableUnder describes the table of a SHOW statement; ok is false for views.
func tableUnder(n sql.Node) (*tableInfo, bool) {
	rt, ok := n.(*plan.ResolvedTable)
	if !ok {
		return nil, false
	}
	db := ""
	if rt.SqlDatabase != nil {
		db = rt.SqlDatabase.Name()
	}
	return describeTable(db, rt.Name(), rt.UnderlyingTable()), true
}

func fixedRows(rows []sql.Row) func(*sql.Context) ([]sql.Row, error) {
	return func(*sql.Context) ([]sql.Row, error) { return rows, nil }
}

func showColumns(n *plan.ShowColumns) *rowsNode {
	info, ok := tableUnder(n.Child)
	if !ok {
		return nil
	}
	var rows []sql.Row
	for i := range info.columns {
		c := &info.columns[i]
		if n.Full {
			var collation any
			if c.collation != "" {
				collation = c.collation
			}
			rows = append(rows, sql.Row{c.name, c.columnType, collation, yesNo(c.nullable), keyName(c.key), optional(c.def), "",
				"select,insert,update,references", c.comment})
		} else {
			rows = append(rows, sql.Row{c.name, c.columnType, yesNo(c.nullable), keyName(c.key), optional(c.def), ""})
		}
	}
	return &rowsNode{name: "ShowColumns(" + info.name + ")", sch: nullableColumns(n.Schema()), rows: fixedRows(rows)}
}

// nullableColumns copies a schema with columns that may be NULL.
func nullableColumns(sch sql.Schema) sql.Schema {
	out := make(sql.Schema, len(sch))
	for i, c := range sch {
		d := *c
		d.Nullable = true
		out[i] = &d
	}
	return out
}

func showIndexes(n *plan.ShowIndexes) *rowsNode {
	info, ok := tableUnder(n.Child)
	if !ok {
		return nil
	}
	var rows []sql.Row
	for i, k := range info.keys {
		rows = append(rows, sql.Row{info.name, int32(0), primaryName, uint32(i + 1), k, "A", nil, nil, nil, "", "BTREE", "", "", "YES", nil})
	}
	return &rowsNode{name: "ShowIndexes(" + info.name + ")", sch: nullableColumns(n.Schema()), rows: fixedRows(rows)}
}

func showCreateTable(n *plan.ShowCreateTable) *rowsNode {
	if n.IsView {
		return nil
	}
	info, ok := tableUnder(n.Child)
	if !ok {
		return nil
	}
	return &rowsNode{name: "ShowCreateTable(" + info.name + ")", sch: n.Schema(), rows: fixedRows([]sql.Row{{info.name, createStatement(info)}})}
}

// showTableStatus opens each table for its comment and sizes; a table that cannot be opened is listed with the reason as comment.
func showTableStatus(n *plan.ShowTableStatus) *rowsNode {
	sch := nullableColumns(n.Schema())
	if last := sch[len(sch)-1]; last.Name == "Comments" {
		last.Name = "Comment"
	}
	db := n.Database()
	return &rowsNode{name: "ShowTableStatus", sch: sch, rows: func(ctx *sql.Context) ([]sql.Row, error) {
		names, err := db.GetTableNames(ctx)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		var rows []sql.Row
		for _, name := range names {
			row, err := tableStatus(ctx, db, name)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	}}
}

func tableStatus(ctx *sql.Context, db sql.Database, name string) (sql.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, ok, err := db.GetTableInsensitive(ctx, name)
	if err != nil || !ok {
		reason := "table does not exist"
		if err != nil {
			reason = err.Error()
			ctx.Warn(warnCodeUnknown, "table %s.%s: %s", db.Name(), name, reason)
		}
		return sql.Row{name, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, reason}, nil
	}
	info := describeTable(db.Name(), name, t)
	rows, bytes := info.estimate(ctx)
	comment, options, engine := "", "", any(engineName)
	if info.rel != nil {
		comment = info.rel.Comment()
	}
	if d, ok := info.rel.(Described); ok && len(d.PartitionKeys()) > 0 {
		options = partitionedBy
	}
	if info.view {
		engine = nil
	}
	var avg any
	if rows > 0 && bytes >= 0 {
		avg = uint64(bytes / rows)
	}
	return sql.Row{name, engine, uint64(10), "Dynamic", unsigned(rows), avg, unsigned(bytes), uint64(0), int64(0), int64(0), nil, nil, nil, nil,
		types.Collation.Name(), nil, options, comment}, nil
}

func unsigned(n int64) any {
	if n < 0 {
		return nil
	}
	return uint64(n)
}

// showGrants says what every account may: accounts have no grants of their own.
func showGrants(e *Engine, n *plan.ShowGrants) *rowsNode {
	return &rowsNode{name: "ShowGrants", sch: n.Schema(), rows: func(ctx *sql.Context) ([]sql.Row, error) {
		what := "ALL PRIVILEGES"
		if e.readOnly {
			what = "SELECT, SHOW DATABASES, PROCESS"
		}
		user, host := ctx.Client().User, "%"
		if !n.CurrentUser && n.For != nil && n.For.Name != "" {
			user = n.For.Name
		}
		return []sql.Row{{"GRANT " + what + " ON *.* TO " + quoteName(user) + "@" + quoteName(host)}}, nil
	}}
}

// showWarnings lists warnings in the order in which they came; the session gives the last one first.
func showWarnings(n plan.ShowWarnings) *rowsNode {
	var rows []sql.Row
	for _, w := range n {
		rows = append(rows, sql.Row{w.Level, w.Code, w.Message})
	}
	slices.Reverse(rows)
	return &rowsNode{name: "ShowWarnings", sch: n.Schema(), rows: fixedRows(rows)}
}

// quoteName quotes an identifier.
func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// quoteText quotes a text literal.
func quoteText(s string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(s) + "'"
}

// createStatement prints a CREATE TABLE that makes the table again. SQLAlchemy, and so Superset and pandas, learn a table's
// columns and key from it, with patterns for MySQL's lines: hence no NOT ENFORCED behind the key.
func createStatement(info *tableInfo) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quoteName(info.name) + " (")
	var lines []string
	for i := range info.columns {
		c := &info.columns[i]
		line := "  " + quoteName(c.name) + " " + createType(info, i)
		if !c.nullable {
			line += " NOT NULL"
		}
		if c.def != nil {
			line += " DEFAULT " + quoteText(*c.def)
		} else if c.nullable {
			line += " DEFAULT NULL"
		}
		if c.comment != "" {
			line += " COMMENT " + quoteText(c.comment)
		}
		lines = append(lines, line)
	}
	if len(info.keys) > 0 {
		lines = append(lines, "  PRIMARY KEY ("+quoteNames(info.keys)+")")
	}
	b.WriteString("\n" + strings.Join(lines, ",\n") + "\n)")
	if info.rel == nil || info.view {
		return b.String()
	}
	if c := info.rel.Comment(); c != "" {
		b.WriteString(" COMMENT " + quoteText(c))
	}
	d, ok := info.rel.(Described)
	if !ok {
		return b.String()
	}
	if keys := d.PartitionKeys(); len(keys) > 0 {
		b.WriteString("\nPARTITIONED BY (" + quoteNames(keys) + ")")
	}
	options := d.TableOptions()
	var with []string
	for _, k := range sortedKeys(options) {
		with = append(with, "  "+quoteText(k)+" = "+quoteText(options[k]))
	}
	if len(with) > 0 {
		b.WriteString("\nWITH (\n" + strings.Join(with, ",\n") + "\n)")
	}
	return b.String()
}

func quoteNames(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quoteName(n)
	}
	return strings.Join(out, ",")
}

// createType is a column's type for CREATE TABLE: MySQL's name, Paimon's for types that MySQL shows as another one and so
// would not be made again.
func createType(info *tableInfo, i int) string {
	c := &info.columns[i]
	if info.rel == nil || info.view {
		return c.columnType
	}
	t := info.rel.Fields()[i].Type
	switch {
	case t.Root == schema.TimestampLTZ:
		return fmt.Sprintf("timestamp(%d) WITH LOCAL TIME ZONE", t.Precision)
	case t.IsNested() || t.Root == schema.Blob || t.Root == schema.Geometry || t.Root == schema.Geography:
		return t.Kindless()
	}
	if made, err := dialect.ParseType(c.columnType); err != nil || made.Kindless() != t.Kindless() {
		return t.Kindless()
	}
	return c.columnType
}
