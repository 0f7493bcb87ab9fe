package planner

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// What the vector executor needs to know of a plan.

// TableUnder returns our table under a node of a plan.
func TableUnder(rt *plan.ResolvedTable) (*Table, bool) { return tableOf(rt) }

// Fields are the relation's columns.
func (t *Table) Fields() []schema.Field { return t.fields }

// Columns are the projected columns, as indexes into Fields, in the order of Schema.
func (t *Table) Columns() []int { return t.columns() }

// Request asks for columns (indexes into Fields) with what was pushed into the table.
func (t *Table) Request(cols []int) relation.Request { return t.request(cols) }

// FilterExact reports whether the pushed filter, if there is one, decides by itself which rows a statement keeps.
func (t *Table) FilterExact() bool { return t.filter == nil || t.filterExact }

// FindColumn finds the field that an expression above rt names, by the binder's id and the name.
func (t *Table) FindColumn(rt *plan.ResolvedTable, g *expression.GetField) (int, bool) {
	return t.columnFinder(rt.Columns())(g)
}

// ExactPredicate converts a condition to a predicate over fields that is true for the same rows; ok is false where
// there is none. A nil predicate is always true.
func ExactPredicate(ctx *sql.Context, e sql.Expression, fields []schema.Field, column func(*expression.GetField) (int, bool), zone *time.Location) (predicate.Predicate, bool) {
	b := PredicateBuilder{Column: column, Fields: fields, Zone: zone}
	p, exact, ok := b.Build(ctx, e)
	return p, ok && exact
}

// ConstantValue evaluates an expression that depends on nothing but the statement.
func ConstantValue(ctx *sql.Context, e sql.Expression) (any, bool) {
	b := PredicateBuilder{ctx: ctx}
	return b.constant(e)
}

// ComparedAsBytes reports whether two texts are compared byte by byte.
func ComparedAsBytes(ctx *sql.Context, l, r sql.Expression) bool {
	return classOf(ctx, l, r) == classBytes
}

// LikeMatcher compiles a LIKE pattern for texts of a binary collation; esc 0 is no escape character.
func LikeMatcher(pattern string, esc rune) func(string) bool { return parseLike(pattern, esc).match }

// MomentOf reads a date or a time constant as microseconds since 1970 of the wall clock.
func MomentOf(v any) (int64, bool) { return literalMicros(literal{value: v}) }

// Replacement is a node of an executor in the place of others, which EXPLAIN's traditional form describes.
type Replacement interface {
	sql.Node
	// Replaced are the nodes as they were.
	Replaced() sql.Node
}

// ScanNotes say of the scan of a table what was pushed into it and how it is planned, for EXPLAIN.
func ScanNotes(ctx *sql.Context, t *Table, cols []int) []string {
	return noteScan(ctx, t, cols).notes()
}

// CountPlan returns the nodes that a filtered COUNT(*), which a table may answer by itself, stands for.
func CountPlan(n sql.Node) (*plan.GroupBy, bool) {
	c, ok := n.(*countNode)
	if !ok {
		return nil, false
	}
	g, ok := c.slow.(*plan.GroupBy)
	return g, ok
}

// Repaired replaces the expressions that go-mysql-server evaluates wrongly, in nodes that the analyzer did not see.
func Repaired(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	out, _, err := repairNode(ctx, n)
	return out, err
}
