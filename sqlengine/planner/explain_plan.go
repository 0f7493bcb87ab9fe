package planner

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxShownLiterals bounds the literals of a list that an explanation prints.
const maxShownLiterals = 8

// scanNote describes a scan in an explanation.
type scanNote struct {
	*rowsNode
	table *Table
	alias string
	plan  *relation.Plan
	err   error
}

// noteScan plans the scan of a table to describe it.
func noteScan(ctx *sql.Context, t *Table, cols []int) *scanNote {
	p, err := t.rel.Plan(ctx, t.request(cols))
	return &scanNote{rowsNode: noRows("Scan", nil), table: t, alias: t.name, plan: p, err: err}
}

// String implements sql.Node.
func (n *scanNote) String() string {
	p := sql.NewTreePrinter()
	_ = p.WriteNode("Scan")
	_ = p.WriteChildren(n.lines()...)
	return p.String()
}

// DebugString implements sql.DebugStringer.
func (n *scanNote) DebugString() string { return n.String() }

// Describe implements sql.Describable.
func (n *scanNote) Describe(sql.DescribeOptions) string { return n.String() }

func (n *scanNote) lines() []string {
	t := n.table
	names := make([]string, len(t.sch))
	for i, c := range t.sch {
		names[i] = c.Name
	}
	out := []string{"table: " + t.db + "." + t.name, "columns: [" + strings.Join(names, ", ") + "]"}
	return append(out, n.notes()...)
}

// notes are what the pushed filter and the relation's plan say.
func (n *scanNote) notes() []string {
	var out []string
	t := n.table
	if t.object != t.name {
		table, _ := dataName(t.object)
		_, branch, _ := strings.Cut(table, "$"+branchPrefix)
		out = append(out, "branch: "+branch)
	}
	if t.filter != nil {
		out = append(out, "pushed filter: "+predicateText(t.filter, t.fields))
	}
	if t.limit > 0 {
		out = append(out, fmt.Sprintf("pushed limit: %d", t.limit))
	}
	if n.err != nil {
		return append(out, "error: "+n.err.Error())
	}
	for _, x := range n.plan.Info {
		out = append(out, x.Key+": "+x.Value)
	}
	return out
}

// rows is the number of rows that the scan gives, as far as metadata tells.
func (n *scanNote) rowCount() int64 {
	if n.err != nil {
		return -1
	}
	if n.plan.RowCount >= 0 {
		return n.plan.RowCount
	}
	var sum int64
	for _, m := range n.plan.Morsels {
		sum += m.Weight()
	}
	return sum
}

// withNotes replaces the scans of a plan by their descriptions and returns these in order.
func withNotes(ctx *sql.Context, n sql.Node) (sql.Node, []*scanNote) {
	var notes []*scanNote
	add := func(t *Table, cols []int) *scanNote {
		s := noteScan(ctx, t, cols)
		notes = append(notes, s)
		return s
	}
	out, _, err := transform.NodeWithOpaque(n, func(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.ResolvedTable:
			if t, ok := tableOf(n); ok {
				return add(t, t.columns()), transform.NewTree, nil
			}
		case *plan.TableAlias:
			if s, ok := n.Child.(*scanNote); ok {
				s.alias = n.Name()
			}
		case Replacement:
			_, more := withNotes(ctx, n.Replaced())
			notes = append(notes, more...)
		case *ScanNode:
			s := add(n.table, n.cols)
			s.table = n.table.WithProjections(columnNames(n.sch)).(*Table)
			return s, transform.NewTree, nil
		case *countNode:
			if n.slow == nil {
				s := add(n.table, nil)
				s.table = n.table.WithProjections(nil).(*Table)
				return s, transform.NewTree, nil
			}
		}
		return n, transform.SameTree, nil
	})
	if err != nil {
		return n, notes
	}
	return out, notes
}

func columnNames(sch sql.Schema) []string {
	out := make([]string, len(sch))
	for i, c := range sch {
		out[i] = c.Name
	}
	return out
}

// explainTree prints a plan as a tree, one line a row.
func explainTree(ctx *sql.Context, n sql.Node, o sql.DescribeOptions) []sql.Row {
	shown, _ := withNotes(ctx, n)
	var rows []sql.Row
	for l := range strings.Lines(sql.Describe(shown, o)) {
		if l = strings.TrimRight(l, "\n"); strings.TrimSpace(l) != "" {
			rows = append(rows, sql.Row{l})
		}
	}
	return rows
}

// explainTable prints a plan in MySQL's traditional form: a row for each scanned table.
func explainTable(ctx *sql.Context, n sql.Node) []sql.Row {
	_, notes := withNotes(ctx, n)
	if len(notes) == 0 {
		return []sql.Row{{uint64(1), "SIMPLE", nil, nil, nil, nil, nil, nil, nil, nil, nil, "No tables used"}}
	}
	var rows []sql.Row
	for _, s := range notes {
		var count any
		if c := s.rowCount(); c >= 0 {
			count = uint64(c)
		}
		rows = append(rows, sql.Row{uint64(1), "SIMPLE", s.alias, nil, "ALL", nil, nil, nil, nil, count, float64(100), strings.Join(s.notes(), "; ")})
	}
	return rows
}

// explainJSON prints a plan as a JSON document.
func explainJSON(ctx *sql.Context, n sql.Node) string {
	shown, notes := withNotes(ctx, n)
	b := []byte(`{"query_block": {"select_id": 1, "plan": [`)
	i := 0
	for l := range strings.Lines(shown.String()) {
		if l = strings.TrimRight(l, "\n"); strings.TrimSpace(l) == "" {
			continue
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = types.AppendJSONString(b, []byte(l))
		i++
	}
	b = append(b, `], "tables": [`...)
	for i, s := range notes {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(types.AppendJSONString(append(b, `{"table_name": `...), []byte(s.alias)), `, "access_type": "ALL"`...)
		if c := s.rowCount(); c >= 0 {
			b = strconv.AppendInt(append(b, `, "rows_examined_per_scan": `...), c, 10)
		}
		for _, l := range s.notes() {
			k, v, _ := strings.Cut(l, ": ")
			b = types.AppendJSONString(append(b, ", "...), []byte(k))
			b = types.AppendJSONString(append(b, ": "...), []byte(v))
		}
		b = append(b, '}')
	}
	return string(append(b, "]}}"...))
}

var opTexts = map[predicate.Op]string{
	predicate.Eq: "=", predicate.Ne: "<>", predicate.Lt: "<", predicate.Le: "<=", predicate.Gt: ">", predicate.Ge: ">=",
	predicate.IsNull: "IS NULL", predicate.IsNotNull: "IS NOT NULL", predicate.In: "IN", predicate.NotIn: "NOT IN",
	predicate.StartsWith: "STARTS WITH", predicate.EndsWith: "ENDS WITH", predicate.Contains: "CONTAINS",
}

// predicateText prints a predicate for people.
func predicateText(p predicate.Predicate, fields []schema.Field) string {
	switch p := p.(type) {
	case *predicate.And:
		return joinTexts(p.Children, " AND ", "true", fields)
	case *predicate.Or:
		return joinTexts(p.Children, " OR ", "false", fields)
	case *predicate.Leaf:
		f := fields[p.Column]
		out := f.Name + " " + opTexts[p.Op]
		switch p.Op {
		case predicate.IsNull, predicate.IsNotNull:
			return out
		case predicate.In, predicate.NotIn:
			var list []string
			for i, l := range p.Literals {
				if i == maxShownLiterals {
					list = append(list, fmt.Sprintf("… %d more", len(p.Literals)-i))
					break
				}
				list = append(list, scalarText(l, f.Type))
			}
			return out + " (" + strings.Join(list, ", ") + ")"
		}
		return out + " " + scalarText(p.Literals[0], f.Type)
	}
	return "true"
}

func joinTexts(ps []predicate.Predicate, sep, empty string, fields []schema.Field) string {
	if len(ps) == 0 {
		return empty
	}
	out := make([]string, len(ps))
	for i, c := range ps {
		out[i] = predicateText(c, fields)
		if _, ok := c.(*predicate.Leaf); !ok {
			out[i] = "(" + out[i] + ")"
		}
	}
	return strings.Join(out, sep)
}

// scalarText prints a literal; instants in UTC.
func scalarText(s column.Scalar, t *schema.Type) string {
	if s.Null {
		return "NULL"
	}
	text := string(types.AppendCellText(nil, column.FromScalar(s), 0, t, nil))
	switch schema.KindOf(t) {
	case column.KindBytes, column.KindTimestamp:
		return quoteText(text)
	}
	if t.Root == schema.Date || t.Root == schema.Time {
		return quoteText(text)
	}
	return text
}
