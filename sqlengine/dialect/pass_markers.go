package dialect

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// ResolveMarkers replaces the marker functions that the token rewriting left in
// the statement by the AST they stand for.
func ResolveMarkers(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	return walk(stmt, &visitor{expr: resolveMarker, query: expandRollup, table: refuseMarkerTable})
}

// refuseMarkerTable refuses an operator in the place of a table, as in FROM ~0.
func refuseMarkerTable(t sqlparser.TableExpr) error {
	if f, ok := t.(*sqlparser.TableFuncExpr); ok && strings.HasPrefix(strings.ToLower(f.Name), "tributary_") {
		return errMarker
	}
	return nil
}

func resolveMarker(e sqlparser.Expr) (sqlparser.Expr, error) {
	switch n := e.(type) {
	case *sqlparser.FuncExpr:
		name := n.Name.Lowered()
		if !strings.HasPrefix(name, "tributary_") {
			return e, nil
		}
		args := make([]sqlparser.Expr, len(n.Exprs))
		for i, a := range n.Exprs {
			ae, ok := a.(*sqlparser.AliasedExpr)
			if !ok {
				return nil, errMarker
			}
			args[i] = ae.Expr
		}
		switch name {
		case markerAsOf:
			return asOfMarker(args)
		case markerAssign:
			return assignMarker(args)
		case markerBitNot:
			if len(args) != 1 {
				return nil, errMarker
			}
			return sqlparser.InjectedExpr{
				Expression: bitNotInjection{},
				Children:   sqlparser.Exprs{args[0]},
				Auth:       sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
			}, nil
		case markerCastBoolean:
			if len(args) != 1 {
				return nil, errMarker
			}
			return booleanCast(args[0]), nil
		}
	case *sqlparser.BinaryExpr:
		if inner, ok := n.Left.(*sqlparser.BinaryExpr); ok && n.Operator == sqlparser.BitXorStr &&
			inner.Operator == sqlparser.BitXorStr && isCall(inner.Right, markerConcat) {
			return call("concat", inner.Left, n.Right), nil
		}
	case *sqlparser.ComparisonExpr:
		return quantified(n)
	}
	return e, nil
}

// call makes a function call.
func call(name string, args ...sqlparser.Expr) *sqlparser.FuncExpr {
	f := &sqlparser.FuncExpr{Name: sqlparser.NewColIdent(name)}
	for _, a := range args {
		f.Exprs = append(f.Exprs, &sqlparser.AliasedExpr{Expr: a})
	}
	return f
}

func isCall(e sqlparser.Expr, name string) bool {
	f, ok := e.(*sqlparser.FuncExpr)
	return ok && f.Name.EqualString(name)
}

func integer(s string) *sqlparser.SQLVal { return sqlparser.NewIntVal([]byte(s)) }

func text(s string) *sqlparser.SQLVal { return sqlparser.NewStrVal([]byte(s)) }

// booleanCast is CAST(e AS BOOLEAN): the words true and false by name, anything
// else by its numeric value, NULL for NULL.
func booleanCast(e sqlparser.Expr) sqlparser.Expr {
	when := func(word string, value sqlparser.BoolVal) *sqlparser.When {
		return &sqlparser.When{Cond: text(word), Val: value}
	}
	return &sqlparser.CaseExpr{
		Expr: call("lower", &sqlparser.ConvertExpr{Name: "cast", Expr: e, Type: &sqlparser.ConvertType{Type: "CHAR"}}),
		Whens: []*sqlparser.When{
			when("true", true), when("t", true), when("yes", true), when("y", true),
			when("false", false), when("f", false), when("no", false), when("n", false),
		},
		Else: &sqlparser.ComparisonExpr{Operator: sqlparser.NotEqualStr, Left: e, Right: integer("0")},
	}
}

// The derived table of a quantified comparison.
const (
	quantifiedTable  = "tributary_q"
	quantifiedColumn = "tributary_c"
)

// quantified expands x op ANY (subquery) and x op ALL (subquery) with SQL's
// treatment of NULL: unknown unless some row decides.
func quantified(n *sqlparser.ComparisonExpr) (sqlparser.Expr, error) {
	f, ok := n.Right.(*sqlparser.FuncExpr)
	if !ok {
		return n, nil
	}
	if member, sounds := f.Name.EqualString(markerMember), f.Name.EqualString(markerSounds); member || sounds {
		if len(f.Exprs) != 1 || n.Operator != sqlparser.EqualStr {
			return nil, errMarker
		}
		ae, ok := f.Exprs[0].(*sqlparser.AliasedExpr)
		switch {
		case !ok:
			return nil, errMarker
		case member:
			// As text: numbers of a JSON_ARRAY value have other Go types than
			// those of a document and are never equal to them. An array in an
			// array means each of its members.
			one := call("concat", call("json_array", n.Left))
			return &sqlparser.CaseExpr{
				Whens: []*sqlparser.When{{Cond: &sqlparser.IsExpr{Operator: sqlparser.IsNotNullStr, Expr: n.Left}, Val: call("json_contains", ae.Expr, one)}},
			}, nil
		}
		return &sqlparser.ComparisonExpr{Operator: sqlparser.EqualStr,
			Left: call("soundex", n.Left), Right: call("soundex", ae.Expr)}, nil
	}
	all := f.Name.EqualString(markerAll)
	if !all && !f.Name.EqualString(markerAny) {
		return n, nil
	}
	sub, ok := quantifiedSubquery(f)
	if !ok {
		return nil, errMarker
	}
	switch {
	case !all && n.Operator == sqlparser.EqualStr:
		return &sqlparser.ComparisonExpr{Operator: sqlparser.InStr, Left: n.Left, Right: sub}, nil
	case all && n.Operator == sqlparser.NotEqualStr:
		return &sqlparser.ComparisonExpr{Operator: sqlparser.NotInStr, Left: n.Left, Right: sub}, nil
	}
	compare := &sqlparser.ComparisonExpr{Operator: n.Operator, Left: n.Left,
		Right: &sqlparser.ColName{Name: sqlparser.NewColIdent(quantifiedColumn),
			Qualifier: sqlparser.TableName{Name: sqlparser.NewTableIdent(quantifiedTable)}}}
	exists := func(cond sqlparser.Expr) sqlparser.Expr {
		return &sqlparser.ExistsExpr{Subquery: &sqlparser.Subquery{Select: &sqlparser.Select{
			SelectExprs: sqlparser.SelectExprs{&sqlparser.AliasedExpr{Expr: integer("1")}},
			From: sqlparser.TableExprs{&sqlparser.AliasedTableExpr{
				Expr: &sqlparser.Subquery{Select: sub.Select,
					Columns: sqlparser.Columns{sqlparser.NewColIdent(quantifiedColumn)}},
				As:   sqlparser.NewTableIdent(quantifiedTable),
				Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
			}},
			Where: sqlparser.NewWhere(sqlparser.WhereStr, cond),
		}}}
	}
	decides, value := sqlparser.Expr(compare), sqlparser.BoolVal(true)
	if all {
		decides, value = &sqlparser.NotExpr{Expr: compare}, false
	}
	return &sqlparser.CaseExpr{
		Whens: []*sqlparser.When{
			{Cond: exists(decides), Val: value},
			{Cond: exists(&sqlparser.IsExpr{Operator: sqlparser.IsNullStr, Expr: compare}), Val: &sqlparser.NullVal{}},
		},
		Else: !value,
	}, nil
}

func quantifiedSubquery(f *sqlparser.FuncExpr) (*sqlparser.Subquery, bool) {
	if len(f.Exprs) != 1 {
		return nil, false
	}
	ae, ok := f.Exprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		return nil, false
	}
	e := ae.Expr
	for {
		p, ok := e.(*sqlparser.ParenExpr)
		if !ok {
			break
		}
		e = p.Expr
	}
	sub, ok := e.(*sqlparser.Subquery)
	return sub, ok
}
