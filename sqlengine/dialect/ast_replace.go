package dialect

import (
	"reflect"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// ReplaceExprs calls f for an expression and all of its parts, children first, and puts what f gives in their place.
func ReplaceExprs(e sqlparser.Expr, f func(sqlparser.Expr) (sqlparser.Expr, error)) (sqlparser.Expr, error) {
	holder := struct{ Expr sqlparser.Expr }{e}
	w := walker{v: &visitor{expr: f}, seen: map[any]bool{}}
	if err := w.value(reflect.ValueOf(&holder).Elem().Field(0)); err != nil {
		return nil, err
	}
	return holder.Expr, nil
}
