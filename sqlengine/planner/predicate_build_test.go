package planner

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// wide is a table with a column of each type, values at the edges, and NULLs.
func wide() (*fakeCatalog, *fakeTable) {
	c := newFakeCatalog()
	t := c.add("default", "w", newFakeTable(
		field("id", schema.Int, notNullable), field("ti", schema.TinyInt), field("si", schema.SmallInt), field("i", schema.Int),
		field("bi", schema.BigInt), field("d5", schema.Decimal, precision(5, 2)), field("d38", schema.Decimal, precision(38, 4)),
		field("f", schema.Float), field("d", schema.Double), field("s", schema.Varchar), field("dt", schema.Date),
		field("ts", schema.Timestamp, precision(3, 0)), field("t9", schema.Timestamp, precision(9, 0)), field("lz", schema.TimestampLTZ, precision(3, 0)),
		field("b", schema.Boolean)))
	t.rows(
		[]any{1, -128, -32768, math.MinInt32, int64(math.MinInt64), -99999, -12345, -1.5, -1e30, "", "0001-01-01", "1970-01-01 00:00:00", "2026-03-01 00:00:00.000000999", "2026-10-25 00:30:00", 0},
		[]any{2, 127, 32767, math.MaxInt32, int64(math.MaxInt64), 99999, 12345, 0.10000000149011612, 0.1, "abc", "2024-02-29", "2026-03-01 08:00:00", "2026-03-01 00:00:00.000001", "2026-10-25 01:30:00", 1},
		[]any{3, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil},
		[]any{4, 0, 0, 0, int64(0), 0, 0, 0.0, math.Copysign(0, -1), "abd", "1970-01-01", "2026-03-01 07:59:59.999", "2026-03-01 00:00:00", "2026-10-25 02:30:00", 0},
		[]any{5, 1, 100, 1000, int64(1) << 53, 125, 10000, 1.5, 1.5, "a中", "2026-03-01", "2026-03-02 00:00:00", "2026-03-01 00:00:00.0000015", "2026-03-29 01:30:00", 1})
	t.rows(
		[]any{6, 1, 100, 1001, int64(1)<<53 + 1, 126, 10001, 16777216.0, 1e15, "a%b", "2026-03-02", "2026-03-01 16:00:00", "9999-12-31 23:59:59.999999999", "2026-03-28 23:30:00", 1},
		[]any{7, -1, -1, -1, int64(-1), -1, -1, 2.5, 2.5, "ABC", "1969-12-31", "1969-12-31 23:59:59.999", "1969-12-31 23:59:59.999999999", "1969-12-31 23:59:59", 0})
	return c, t
}

var wideColumns = []string{"ti", "si", "i", "bi", "d5", "d38", "f", "d", "s", "dt", "ts", "t9", "lz", "b"}

var wideLiterals = map[string][]string{
	"num": {"0", "1", "-1", "127", "128", "-129", "300", "32768", "1000", "1000.5", "99999999999", "9223372036854775807",
		"9007199254740992", "9007199254740993", "1.25", "1.255", "1.250", "999.99", "0.1", "1.5", "0.5", "1e0", "1.5e0", "1e15", "-1.5", "'1'", "'1.5'", "NULL", "TRUE"},
	"str":  {"''", "'abc'", "'abd'", "'a'", "'b'", "'ABC'", "'a%b'", "NULL"},
	"date": {"'2024-02-29'", "'1970-01-01'", "DATE '2026-03-01'", "TIMESTAMP '2026-03-01 12:00:00'", "'2026-03-01 00:00:00'", "'0001-01-01'", "NULL"},
	"time": {"TIMESTAMP '2026-03-01 08:00:00'", "'2026-03-01 08:00:00'", "'2026-03-01'", "DATE '2026-03-02'", "'2026-03-01 07:59:59.999'", "'2026-03-01 00:00:00.000001'",
		"'2026-10-25 02:30:00'", "'2026-03-29 02:30:00'", "'2026-03-29 03:30:00'", "'2026-10-25 03:30:00'", "'2026-10-25 01:30:00'", "'1970-01-01 00:59:59'", "NULL"},
}

func literalsOf(col string) []string {
	switch col {
	case "s":
		return wideLiterals["str"]
	case "dt":
		return wideLiterals["date"]
	case "ts", "t9", "lz":
		return wideLiterals["time"]
	}
	return wideLiterals["num"]
}

// randomCondition makes a condition over the columns of wide.
func randomCondition(r *rand.Rand, depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		switch r.IntN(3) {
		case 0:
			return "(" + randomCondition(r, depth-1) + " AND " + randomCondition(r, depth-1) + ")"
		case 1:
			return "(" + randomCondition(r, depth-1) + " OR " + randomCondition(r, depth-1) + ")"
		}
		return "NOT (" + randomCondition(r, depth-1) + ")"
	}
	col := wideColumns[r.IntN(len(wideColumns))]
	lits := literalsOf(col)
	lit := func() string { return lits[r.IntN(len(lits))] }
	not := ""
	if r.IntN(3) == 0 {
		not = "NOT "
	}
	switch r.IntN(11) {
	case 9:
		return fmt.Sprintf("(i, %s) %sIN ((%s, %s), (1000, %s))", col, not, wideLiterals["num"][r.IntN(9)], lit(), lit())
	case 10:
		return fmt.Sprintf("(i, %s) %s (1000, %s)", col, []string{"=", "<", "<=", ">", ">=", "<>", "<=>"}[r.IntN(7)], lit())
	case 0:
		return fmt.Sprintf("%s IS %sNULL", col, not)
	case 1:
		return fmt.Sprintf("%s %sIN (%s, %s, %s)", col, not, lit(), lit(), lit())
	case 2:
		return fmt.Sprintf("%s %sBETWEEN %s AND %s", col, not, lit(), lit())
	case 3:
		if col == "s" {
			p := []string{"'a%'", "'%c'", "'abc'", "'%b%'", "'a_c'", "'%'", "'a%c'", `'a\\%b'`, "NULL"}
			return fmt.Sprintf("s %sLIKE %s", not, p[r.IntN(len(p))])
		}
		return fmt.Sprintf("%s %s %s", lit(), []string{"=", "<", "<=", ">", ">=", "<>"}[r.IntN(6)], col)
	case 4:
		return fmt.Sprintf("%s <=> %s", col, lit())
	case 5:
		return "b"
	}
	return fmt.Sprintf("%s %s %s", col, []string{"=", "<", "<=", ">", ">=", "<>"}[r.IntN(6)], lit())
}

// deaf hides the pushed filter from a relation.
type deaf struct{ relation.Relation }

func (d deaf) Plan(ctx context.Context, r relation.Request) (*relation.Plan, error) {
	r.Filter = nil
	return d.Relation.Plan(ctx, r)
}

// deafCatalog is a catalog of deaf relations.
type deafCatalog struct{ Catalog }

func (c deafCatalog) Open(ctx context.Context, db, name string, o OpenOptions) (relation.Relation, error) {
	r, err := c.Catalog.Open(ctx, db, name, o)
	if err != nil {
		return nil, err
	}
	return deaf{r}, nil
}

// TestPushdownKeepsRows runs random conditions with a relation that skips whatever
// the predicate excludes, and with one that skips nothing: the answers must agree.
func TestPushdownKeepsRows(t *testing.T) {
	c, table := wide()
	plain := &deafCatalog{c}
	with, without := newTestSession(t, c), newTestSession(t, plain)
	r := rand.New(rand.NewPCG(1, 2))
	pushed, exactCount := 0, 0
	for i := range 4000 {
		if i%500 == 0 {
			zone := []string{"+00:00", "Europe/Berlin", "+08:00", "America/New_York"}[i/500%4]
			with.run("SET time_zone = '" + zone + "'")
			without.run("SET time_zone = '" + zone + "'")
		}
		cond := randomCondition(r, 2)
		q := "SELECT id FROM w WHERE " + cond + " ORDER BY id"
		want, errW := without.try(q)
		before := len(table.log.reqs)
		got, errG := with.try(q)
		if (errW == nil) != (errG == nil) {
			t.Fatalf("%s: %v, without pushdown %v", q, errG, errW)
		}
		if errW == nil && !slices.Equal(got, want) {
			t.Errorf("%s: got %v, without pushdown %v", q, got, want)
		}
		if len(table.log.reqs) > before && table.log.last().Filter != nil {
			pushed++
		}
		n, err := with.try("SELECT COUNT(*) FROM w WHERE " + cond)
		if err == nil && errW == nil {
			exactCount++
			if n[0] != fmt.Sprint(len(want)) {
				t.Errorf("COUNT(*) WHERE %s: got %s, want %d", cond, n[0], len(want))
			}
		}
	}
	if pushed < 2000 || exactCount < 2000 {
		t.Errorf("only %d conditions were pushed, %d counted", pushed, exactCount)
	}
}

func TestPushedForms(t *testing.T) {
	c, table := wide()
	s := newTestSession(t, c)
	for _, x := range []struct {
		cond string
		want string
	}{
		{"i = 5", "3 eq 5"},
		{"5 > i", "3 lt 5"},
		{"ti = 300", "never"},
		{"ti < 300", "1 notnull"},
		{"i > 1000.5", "3 gt 1000"},
		{"i >= 1000.5 AND i <= 2000", "and(3 gt 1000,3 le 2000)"},
		{"s LIKE 'ab%'", "9 starts ab"},
		{"d5 = 1.25", "5 eq 125"},
		{"dt > TIMESTAMP '2026-01-01 12:00:00'", "10 gt 20454"},
		{"i IS NULL OR i = 3", "or(3 null,3 eq 3)"},
		{"(i, s) IN ((1, 'a'), (2, 'b'))", "or(and(3 eq 1,9 eq a),and(3 eq 2,9 eq b))"},
		{"(i, s) > (1, 'a')", "or(3 gt 1,and(3 eq 1,9 gt a))"},
		{"i + 1 = 5", ""},
		{"s = 5", ""},
		{"i = ti", ""},
	} {
		table.log.reqs = nil
		s.run("SELECT id FROM w WHERE " + x.cond)
		got := printPredicate(table.log.last().Filter)
		if got != x.want {
			t.Errorf("%s: pushed %q, want %q", x.cond, got, x.want)
		}
	}
}

func printPredicate(p predicate.Predicate) string {
	join := func(name string, ps []predicate.Predicate) string {
		out := name + "("
		for i, c := range ps {
			if i > 0 {
				out += ","
			}
			out += printPredicate(c)
		}
		return out + ")"
	}
	switch p := p.(type) {
	case nil:
		return ""
	case *predicate.And:
		return join("and", p.Children)
	case *predicate.Or:
		if len(p.Children) == 0 {
			return "never"
		}
		return join("or", p.Children)
	case *predicate.Leaf:
		names := []string{"eq", "ne", "lt", "le", "gt", "ge", "null", "notnull", "in", "notin", "starts", "ends", "contains"}
		out := fmt.Sprintf("%d %s", p.Column, names[p.Op])
		for _, l := range p.Literals {
			if l.B != nil {
				out += " " + string(l.B)
			} else {
				out += fmt.Sprintf(" %d", l.I)
			}
		}
		return out
	}
	return "?"
}

func TestJoinPushdown(t *testing.T) {
	c := shop()
	s := newTestSession(t, c)
	orders := c.tables["default"]["orders"]
	for _, x := range []struct{ q, want string }{
		{"SELECT * FROM people p JOIN orders o ON o.who = p.name WHERE o.id > 3", "0 gt 3"},
		{"SELECT * FROM people p JOIN orders o ON o.who = p.name AND o.id > 3", "0 gt 3"},
		{"SELECT * FROM people p LEFT JOIN orders o ON o.who = p.name AND o.id > 3", "0 gt 3"},
		{"SELECT * FROM people p LEFT JOIN orders o ON o.who = p.name WHERE o.id > 3", "0 gt 3"},
		{"SELECT * FROM people p LEFT JOIN orders o ON o.who = p.name WHERE o.id IS NULL", ""},
		{"SELECT * FROM orders o LEFT JOIN people p ON o.who = p.name AND o.id > 3", ""},
		{"SELECT * FROM orders o LEFT JOIN people p ON o.who = p.name WHERE o.id > 3", "0 gt 3"},
		{"SELECT * FROM orders o RIGHT JOIN people p ON o.who = p.name WHERE o.id > 3", "0 gt 3"},
		{"SELECT * FROM orders o WHERE o.id > 3 ORDER BY o.d LIMIT 1", "0 gt 3"},
		{"SELECT * FROM (SELECT * FROM orders LIMIT 2) o WHERE o.id > 3", ""},
	} {
		orders.log.reqs = nil
		s.run(x.q)
		if got := printPredicate(orders.log.last().Filter); got != x.want {
			t.Errorf("%s: pushed %q, want %q", x.q, got, x.want)
		}
	}
}

func TestLimitPushdown(t *testing.T) {
	c := shop()
	s := newTestSession(t, c)
	orders := c.tables["default"]["orders"]
	for _, x := range []struct {
		q    string
		want int64
	}{
		{"SELECT id FROM orders LIMIT 3", 3},
		{"SELECT id + 1 FROM orders LIMIT 3 OFFSET 2", 5},
		{"SELECT id FROM orders WHERE id > 1 LIMIT 3", 0},
		{"SELECT id FROM orders ORDER BY id LIMIT 3", 0},
		{"SELECT DISTINCT id FROM orders LIMIT 3", 0},
		{"SELECT id FROM orders", 0},
	} {
		orders.log.reqs = nil
		s.run(x.q)
		if got := orders.log.last().Limit; got != x.want {
			t.Errorf("%s: limit %d, want %d", x.q, got, x.want)
		}
	}
}
