package dialect

import (
	"reflect"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// clone copies an AST, so that two places of a statement can be changed apart.
func clone[T any](node T) T {
	v := reflect.New(reflect.TypeFor[T]()).Elem()
	v.Set(reflect.ValueOf(&node).Elem())
	return cloneValue(v).Interface().(T)
}

func cloneValue(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(cloneValue(v.Elem()))
		return out
	case reflect.Pointer:
		if v.IsNil() || !followed(v.Type().Elem()) {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(cloneValue(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() || !followed(v.Type().Elem()) {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(cloneValue(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for _, i := range fieldsOf(v.Type()) {
			out.Field(i).Set(cloneValue(v.Field(i)))
		}
		return out
	}
	return v
}

// substitute replaces the parts of an expression for which replace returns
// another one, outermost first; what it returns is not looked into again.
func substitute(e sqlparser.Expr, replace func(sqlparser.Expr) (sqlparser.Expr, bool)) sqlparser.Expr {
	holder := struct{ Expr sqlparser.Expr }{clone(e)}
	substituteValue(reflect.ValueOf(&holder).Elem().Field(0), replace)
	return holder.Expr
}

func substituteValue(v reflect.Value, replace func(sqlparser.Expr) (sqlparser.Expr, bool)) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if e, ok := v.Interface().(sqlparser.Expr); ok && v.CanSet() {
			if r, ok := replace(e); ok {
				if reflect.TypeOf(r).AssignableTo(v.Type()) {
					v.Set(reflect.ValueOf(r))
				}
				return
			}
		}
		inner := v.Elem()
		if inner.Kind() == reflect.Struct || inner.Kind() == reflect.Slice {
			c := reflect.New(inner.Type()).Elem()
			c.Set(inner)
			substituteValue(c, replace)
			if v.CanSet() {
				v.Set(c)
			}
			return
		}
		substituteValue(inner, replace)
	case reflect.Pointer:
		if !v.IsNil() && followed(v.Type().Elem()) {
			substituteValue(v.Elem(), replace)
		}
	case reflect.Slice:
		if followed(v.Type().Elem()) {
			for i := range v.Len() {
				substituteValue(v.Index(i), replace)
			}
		}
	case reflect.Struct:
		for _, i := range fieldsOf(v.Type()) {
			substituteValue(v.Field(i), replace)
		}
	}
}
