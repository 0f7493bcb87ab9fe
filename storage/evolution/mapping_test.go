package evolution

import (
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

func fields(t testing.TB, json string) []schema.Field {
	t.Helper()
	f, err := schema.ParseFieldsJSON([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSameSchema(t *testing.T) {
	f := fields(t, `[{"id":0,"name":"a","type":"INT NOT NULL"},{"id":1,"name":"r","type":{"type":"ROW","fields":[{"id":2,"name":"x","type":"INT"}]}}]`)
	m, err := Map(f, f)
	if err != nil || !m.Identity() {
		t.Fatal(m.Identity(), err)
	}
	b := &column.Batch{N: 1}
	if out, err := m.Apply(b); out != b || err != nil {
		t.Error("a batch was copied")
	}
}

// TestNestedChanges covers renamed, added, dropped and retyped fields at every
// level, and reordered columns.
func TestNestedChanges(t *testing.T) {
	file := fields(t, `[
		{"id":0,"name":"a","type":"INT"},
		{"id":1,"name":"old name","type":"STRING"},
		{"id":2,"name":"r","type":{"type":"ROW","fields":[{"id":3,"name":"x","type":"INT"},{"id":4,"name":"gone","type":"STRING"},{"id":5,"name":"y","type":"STRING"}]}},
		{"id":6,"name":"l","type":{"type":"ARRAY","element":{"type":"ROW","fields":[{"id":7,"name":"p","type":"INT"}]}}},
		{"id":8,"name":"m","type":{"type":"MAP","key":"STRING","value":"INT"}},
		{"id":9,"name":"all gone","type":{"type":"ROW","fields":[{"id":10,"name":"q","type":"INT"}]}}]`)
	table := fields(t, `[
		{"id":1,"name":"new name","type":"STRING"},
		{"id":20,"name":"added","type":"DECIMAL(10, 2)"},
		{"id":0,"name":"a","type":"BIGINT"},
		{"id":2,"name":"r","type":{"type":"ROW","fields":[{"id":5,"name":"yy","type":"STRING"},{"id":21,"name":"n","type":"INT"},{"id":3,"name":"x","type":"BIGINT"}]}},
		{"id":6,"name":"l","type":{"type":"ARRAY","element":{"type":"ROW","fields":[{"id":22,"name":"o","type":"STRING"},{"id":7,"name":"p","type":"INT"}]}}},
		{"id":8,"name":"m","type":{"type":"MAP","key":"STRING","value":"DOUBLE"}},
		{"id":9,"name":"all gone","type":{"type":"ROW","fields":[{"id":23,"name":"z","type":"INT"}]}}]`)
	m, err := Map(file, table)
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.FieldsJSON(m.Read()); got != `[{"id":1,"name":"old name","type":"STRING"},{"id":0,"name":"a","type":"INT"},{"id":2,"name":"r","type":{"type":"ROW","fields":[{"id":5,"name":"y","type":"STRING"},{"id":3,"name":"x","type":"INT"}]}},{"id":6,"name":"l","type":{"type":"ARRAY","element":{"type":"ROW","fields":[{"id":7,"name":"p","type":"INT"}]}}},{"id":8,"name":"m","type":{"type":"MAP","key":"STRING","value":"INT"}}]` {
		t.Fatal(got)
	}
	if m.Source(0) != 0 || m.Source(1) != -1 || m.Source(6) != -1 || m.Identity() {
		t.Error("sources")
	}
	var cols []*column.Builder
	for _, f := range m.Read() {
		cols = append(cols, schema.NewBuilder(f.Type))
	}
	cols[0].AppendString("s")
	cols[1].AppendInt(7)
	cols[2].Child(0).AppendString("y")
	cols[2].Child(1).AppendInt(3)
	cols[2].EndStruct()
	cols[3].Child(0).Child(0).AppendInt(5)
	cols[3].Child(0).EndStruct()
	cols[3].Child(0).AppendNull()
	cols[3].EndList()
	cols[4].Child(0).AppendString("k")
	cols[4].Child(1).AppendInt(4)
	cols[4].EndList()
	for _, c := range cols {
		c.AppendNull()
	}
	in := &column.Batch{N: 2, Base: 9, Sel: []uint16{1}}
	for _, c := range cols {
		in.Cols = append(in.Cols, c.Finish())
	}
	out, err := m.Apply(in)
	if err != nil {
		t.Fatal(err)
	}
	if out.N != 2 || out.Base != 9 || len(out.Sel) != 1 || len(out.Cols) != len(table) {
		t.Fatalf("%+v", out)
	}
	for i, c := range out.Cols {
		if c.Kind != schema.KindOf(table[i].Type) || c.N != 2 || !c.IsNull(1) {
			t.Errorf("column %d: kind %d, %d rows", i, c.Kind, c.N)
		}
	}
	if string(out.Cols[0].Bytes(0)) != "s" || !out.Cols[1].IsNull(0) || out.Cols[2].Int(0) != 7 || !out.Cols[6].IsNull(0) {
		t.Error("flat columns")
	}
	r := out.Cols[3]
	if string(r.Children[0].Bytes(0)) != "y" || !r.Children[1].IsNull(0) || r.Children[2].Kind != column.KindInt64 || r.Children[2].Int(0) != 3 {
		t.Error("row")
	}
	l := out.Cols[4]
	if l.Offsets[1] != 2 || l.Children[0].IsNull(0) || !l.Children[0].IsNull(1) || !l.Children[0].Children[0].IsNull(0) || l.Children[0].Children[1].Int(0) != 5 {
		t.Error("list")
	}
	if mm := out.Cols[5]; string(mm.Children[0].Bytes(0)) != "k" || mm.Children[1].Float(0) != 4 {
		t.Error("map")
	}
}

func TestKeyColumns(t *testing.T) {
	old := &schema.TableSchema{Fields: fields(t, `[{"id":0,"name":"k","type":"INT NOT NULL"},{"id":1,"name":"v","type":"INT"}]`), PrimaryKeys: []string{"k"}}
	now := &schema.TableSchema{Fields: fields(t, `[{"id":0,"name":"key","type":"INT NOT NULL"},{"id":1,"name":"v","type":"BIGINT"}]`), PrimaryKeys: []string{"key"}}
	m, err := Map(old.KeyValueFields(false), now.KeyValueFields(false))
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, f := range m.Read() {
		names += f.Name + " "
	}
	if names != "_KEY_k _SEQUENCE_NUMBER _VALUE_KIND k v " {
		t.Error(names)
	}
}

func TestRefusedChanges(t *testing.T) {
	a := fields(t, `[{"id":0,"name":"c","type":"DOUBLE"},{"id":1,"name":"m","type":{"type":"MAP","key":"INT","value":"INT"}}]`)
	for _, b := range []string{
		`[{"id":0,"name":"c","type":"BOOLEAN"}]`, `[{"id":1,"name":"m","type":{"type":"MAP","key":"BIGINT","value":"INT"}}]`, `[{"id":1,"name":"m","type":{"type":"ARRAY","element":"INT"}}]`,
	} {
		if _, err := Map(a, fields(t, b)); !errs.Is(err, errs.Unsupported) {
			t.Errorf("%s: %v", b, err)
		}
	}
}

func TestFilter(t *testing.T) {
	file := fields(t, `[{"id":0,"name":"a","type":"INT"},{"id":1,"name":"s","type":"STRING"},{"id":2,"name":"d","type":"DOUBLE"}]`)
	table := fields(t, `[{"id":5,"name":"new","type":"INT"},{"id":2,"name":"d","type":"INT"},{"id":1,"name":"s","type":"STRING"},{"id":0,"name":"a","type":"BIGINT"}]`)
	m, err := Map(file, table)
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(op predicate.Op, col int, lits ...column.Scalar) *predicate.Leaf {
		return &predicate.Leaf{Op: op, Column: col, Literals: lits}
	}
	i64 := func(x int64) column.Scalar { return column.IntScalar(column.KindInt64, x) }
	// A condition on a column that the file lacks cannot hold, IS NULL always does.
	if p := m.Filter(leaf(predicate.Eq, 0, column.IntScalar(column.KindInt32, 1))); predicate.MayMatch(p, func(int) (predicate.Stats, bool) { return predicate.Stats{}, false }) {
		t.Error("a missing column equals something")
	}
	if p := m.Filter(leaf(predicate.IsNull, 0)); p != nil {
		t.Error(p)
	}
	// A changed type keeps only what converts without loss.
	if p := m.Filter(leaf(predicate.Gt, 1, column.IntScalar(column.KindInt32, 1))); p != nil {
		t.Error("a filter on a cast column was kept")
	}
	p, ok := m.Filter(leaf(predicate.Gt, 3, i64(5))).(*predicate.Leaf)
	if !ok || p.Column != m.Source(3) || p.Literals[0].Kind != column.KindInt32 || p.Literals[0].I != 5 {
		t.Error(p)
	}
	if p := m.Filter(leaf(predicate.Eq, 3, i64(1<<40))); p != nil {
		t.Error("a literal that does not fit was kept")
	}
	s := leaf(predicate.Eq, 2, column.BytesScalar([]byte("x")))
	if p, ok := m.Filter(s).(*predicate.Leaf); !ok || p.Column != m.Source(2) {
		t.Error(p)
	}
	// So do lists of keys, each column by itself, up to the first that does not.
	text := column.BytesScalar([]byte("x"))
	keys := func(cols []int, values ...column.Scalar) *predicate.Keys {
		k := &predicate.Keys{Columns: cols}
		for _, v := range values {
			k.Values = append(k.Values, []column.Scalar{v})
		}
		return k
	}
	k, ok := m.Filter(keys([]int{3, 2, 1}, i64(5), text, column.IntScalar(column.KindInt32, 1))).(*predicate.Keys)
	if !ok || !slices.Equal(k.Columns, []int{m.Source(3), m.Source(2)}) || k.Values[0][0].Kind != column.KindInt32 || k.Values[0][0].I != 5 || len(k.Values) != 2 {
		t.Error(k)
	}
	if p := m.Filter(keys([]int{3, 2}, i64(1<<40), text)); p != nil {
		t.Error("a key that does not fit was kept")
	}
	if p := m.Filter(keys([]int{0, 2}, column.IntScalar(column.KindInt32, 1), text)); predicate.MayMatch(p, func(int) (predicate.Stats, bool) { return predicate.Stats{}, false }) {
		t.Error("a missing column equals something")
	}
	// An OR with a dropped branch is dropped, an AND keeps the rest.
	lost := leaf(predicate.Gt, 1, column.IntScalar(column.KindInt32, 1))
	if p := m.Filter(&predicate.Or{Children: []predicate.Predicate{s, lost}}); p != nil {
		t.Error(p)
	}
	if p, ok := m.Filter(&predicate.And{Children: []predicate.Predicate{s, lost}}).(*predicate.Leaf); !ok {
		t.Error(p)
	}
}
