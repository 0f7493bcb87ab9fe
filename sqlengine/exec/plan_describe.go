package exec

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/schema"
)

// describe lists the operators, the outermost first.
func (p *pipe) describe(notes func(*planner.Table, []int) []string) (string, []string) {
	var name string
	var lines []string
	if p.agg != nil {
		name = "Aggregate"
		var keys, results []string
		for _, k := range p.agg.spec.keys {
			keys = append(keys, p.agg.in.nameOf(k))
		}
		for i, r := range p.agg.spec.results {
			if p.agg.need[len(p.agg.spec.keys)+i] {
				results = append(results, r.name)
			}
		}
		if len(keys) > 0 {
			lines = append(lines, "group by: "+strings.Join(keys, ", "))
		}
		if len(results) > 0 {
			lines = append(lines, "compute: "+strings.Join(results, ", "))
		}
	} else {
		name = "Scan"
		lines = append(lines, "table: "+p.table.DatabaseName()+"."+p.table.Name())
		var cols []string
		for _, f := range p.fields {
			cols = append(cols, p.table.Fields()[f].Name)
		}
		lines = append(lines, "columns: ["+strings.Join(cols, " ")+"]")
		lines = append(lines, notes(p.table, p.fields)...)
	}
	for _, f := range p.filters {
		lines = append(lines, "filter: "+f.text)
	}
	if len(p.order) > 0 {
		var keys []string
		for _, k := range p.order {
			name := p.nameOf(k.x)
			if k.desc {
				name += " DESC"
			}
			keys = append(keys, name)
		}
		lines = append(lines, "order by: "+strings.Join(keys, ", "))
	}
	if p.limit >= 0 {
		lines = append(lines, fmt.Sprintf("limit: %d, offset: %d", p.limit, p.offset))
	}
	if p.agg != nil {
		child, inner := p.agg.in.describe(notes)
		tree := sql.NewTreePrinter()
		_ = tree.WriteNode("%s", child)
		_ = tree.WriteChildren(inner...)
		lines = append(lines, tree.String())
	}
	return name, lines
}

// nameOf names an expression of the pipe for EXPLAIN.
func (p *pipe) nameOf(e expr) string {
	for i, o := range p.outs {
		if o == e {
			return p.cols[i].name
		}
	}
	if c, ok := e.(*columnExpr); ok && p.table != nil {
		return p.table.Fields()[c.field].Name
	}
	return "expression"
}

// sqlTypeOf is the type of an output column; old is what the replaced plan says. A column that is passed on keeps its type;
// go-mysql-server's types of computed ones may differ from MySQL's.
func sqlTypeOf(e expr, old sql.Type) sql.Type {
	keep := false
	switch {
	case e.kind() == classOpaque:
		keep = true
	case isInteger(e):
		_, bare := e.(*columnExpr)
		keep = gms.IsInteger(old) && (bare || e.typ().Root == schema.Boolean)
	case e.kind() == classFloat:
		keep = gms.IsFloat(old)
	case e.kind() == classBytes:
		keep = gms.IsText(old) || gms.IsBinaryType(old)
	case e.kind() == classInt:
		keep = gms.IsTime(old) || gms.IsTimespan(old)
	}
	if keep {
		return old
	}
	return types.SQLType(e.typ())
}
