package dialect

import (
	"reflect"
	"sync"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// visitor holds what a pass does with the nodes of a statement. Nodes are
// visited children first. vitess's own Walk gives no way to replace a node and
// leaves out some (procedure bodies, AS OF), so that the walk is by reflection
// over the exported fields; the fields worth following are found once per type.
type visitor struct {
	expr   func(sqlparser.Expr) (sqlparser.Expr, error)                       // replaces expressions
	query  func(sqlparser.SelectStatement) (sqlparser.SelectStatement, error) // replaces selects and set operations
	table  func(sqlparser.TableExpr) error                                    // members of FROM
	column func(*sqlparser.AliasedExpr)                                       // members of select lists
	ddl    func(*sqlparser.DDL)
}

// maxWalkDepth bounds the recursion; vitess itself accepts about as much.
const maxWalkDepth = 20000

var (
	exprType   = reflect.TypeFor[sqlparser.Expr]()
	nodeType   = reflect.TypeFor[sqlparser.SQLNode]()
	walkFields sync.Map // reflect.Type → []int, or nil for a type without nodes
)

// walk visits the statement, which is replaced itself if a hook says so.
func walk(stmt sqlparser.Statement, v *visitor) (sqlparser.Statement, error) {
	holder := struct{ Statement sqlparser.Statement }{stmt}
	w := walker{v: v, seen: map[any]bool{}}
	if err := w.value(reflect.ValueOf(&holder).Elem().Field(0)); err != nil {
		return nil, err
	}
	return holder.Statement, nil
}

type walker struct {
	v     *visitor
	depth int
	seen  map[any]bool // pointers already walked: rewritten trees share parts
}

// fieldsOf returns the indexes of the fields of a struct that can hold nodes.
func fieldsOf(t reflect.Type) []int {
	if f, ok := walkFields.Load(t); ok {
		return f.([]int)
	}
	f := findFields(t, map[reflect.Type]bool{})
	walkFields.Store(t, f)
	return f
}

// followed reports whether values of a type can hold nodes.
func followed(t reflect.Type) bool { return holdsNodes(t, map[reflect.Type]bool{}) }

func holdsNodes(t reflect.Type, open map[reflect.Type]bool) bool {
	switch t.Kind() {
	case reflect.Interface:
		return t.Implements(nodeType) || t.PkgPath() == nodeType.PkgPath() && t.NumMethod() > 0
	case reflect.Pointer, reflect.Slice:
		return holdsNodes(t.Elem(), open)
	case reflect.Struct:
		if t.PkgPath() != nodeType.PkgPath() {
			return false
		}
		if f, ok := walkFields.Load(t); ok {
			return len(f.([]int)) > 0
		}
		return open[t] || len(findFields(t, open)) > 0
	}
	return false
}

// findFields computes fieldsOf; open has the types being looked at, which are
// taken to be worth following.
func findFields(t reflect.Type, open map[reflect.Type]bool) []int {
	open[t] = true
	defer delete(open, t)
	var out []int
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && holdsNodes(f.Type, open) {
			out = append(out, i)
		}
	}
	return out
}

func (w *walker) value(v reflect.Value) error {
	if w.depth++; w.depth > maxWalkDepth {
		return &Error{Number: ErrnoSyntax, State: sqlStateSyntax, Message: "Statement is nested too deeply"}
	}
	defer func() { w.depth-- }()
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return w.boxed(v)
	case reflect.Pointer:
		if v.IsNil() || !followed(v.Type().Elem()) {
			return nil
		}
		p := v.Interface()
		if w.seen[p] {
			return nil
		}
		w.seen[p] = true
		if err := w.value(v.Elem()); err != nil {
			return err
		}
		return w.leave(p)
	case reflect.Slice:
		if !followed(v.Type().Elem()) {
			return nil
		}
		for i := range v.Len() {
			if err := w.value(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for _, i := range fieldsOf(v.Type()) {
			if err := w.value(v.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// boxed walks the value of an interface and stores what the hooks make of it.
func (w *walker) boxed(v reflect.Value) error {
	switch v.Interface().(type) {
	case *sqlparser.SQLVal, *sqlparser.NullVal, sqlparser.BoolVal:
		return nil // no hook wants them, and there can be a million
	}
	inner := v.Elem()
	switch inner.Kind() {
	case reflect.Struct:
		// Not addressable: walk a copy. InjectedExpr is such.
		c := reflect.New(inner.Type()).Elem()
		c.Set(inner)
		if err := w.value(c); err != nil {
			return err
		}
		if v.CanSet() {
			v.Set(c)
		}
	default:
		if err := w.value(inner); err != nil {
			return err
		}
	}
	if !v.CanSet() {
		return nil
	}
	switch n := v.Interface().(type) {
	case sqlparser.SelectStatement:
		if w.v.query == nil {
			return nil
		}
		q, err := w.v.query(n)
		if err != nil {
			return err
		}
		if q != n {
			if !reflect.TypeOf(q).AssignableTo(v.Type()) {
				return nil
			}
			v.Set(reflect.ValueOf(q))
		}
	case sqlparser.Expr:
		if w.v.expr == nil || !exprType.AssignableTo(v.Type()) && !v.Type().Implements(exprType) && v.Type() != nodeType {
			return nil
		}
		e, err := w.v.expr(n)
		if err != nil {
			return err
		}
		if reflect.TypeOf(e).AssignableTo(v.Type()) {
			v.Set(reflect.ValueOf(e))
		}
	}
	return nil
}

// leave calls the hooks for nodes that are changed in place.
func (w *walker) leave(p any) error {
	switch n := p.(type) {
	case *sqlparser.AliasedExpr:
		if w.v.column != nil {
			w.v.column(n)
		}
	case *sqlparser.DDL:
		if w.v.ddl != nil {
			w.v.ddl(n)
		}
	case sqlparser.TableExpr:
		if w.v.table != nil {
			return w.v.table(n)
		}
	}
	return nil
}
