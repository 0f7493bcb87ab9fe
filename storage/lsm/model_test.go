package lsm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// The test table: key columns, then seq, kind, then values.

var (
	tInt    = &schema.Type{Root: schema.Int}
	tBig    = &schema.Type{Root: schema.BigInt}
	tString = &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	tBytes  = &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}
	tDouble = &schema.Type{Root: schema.Double}
	tFloat  = &schema.Type{Root: schema.Float}
	tBool   = &schema.Type{Root: schema.Boolean}
	tTiny   = &schema.Type{Root: schema.TinyInt}
	tSmall  = &schema.Type{Root: schema.SmallInt}
	tDate   = &schema.Type{Root: schema.Date}
	tTS     = &schema.Type{Root: schema.Timestamp, Precision: 9}
)

func tDecimal(p, s int) *schema.Type {
	return &schema.Type{Root: schema.Decimal, Precision: p, Scale: s}
}

func field(name string, t *schema.Type) schema.Field { return schema.Field{Name: name, Type: t} }

// record is one row of a run, in Go values.
type record struct {
	key  []column.Scalar
	seq  int64
	kind int32
	vals []column.Scalar
	run  int
}

func (r record) String() string {
	var b strings.Builder
	for _, k := range r.key {
		b.WriteString(show(k) + " ")
	}
	fmt.Fprintf(&b, "| %d %d |", r.seq, r.kind)
	for _, v := range r.vals {
		b.WriteString(" " + show(v))
	}
	return b.String()
}

func show(s column.Scalar) string {
	if s.Null {
		return "NULL"
	}
	switch s.Kind {
	case column.KindInt128:
		return s.D.Big().String()
	case column.KindFloat32, column.KindFloat64:
		return fmt.Sprint(s.F)
	case column.KindBytes:
		return fmt.Sprintf("%q", s.B)
	case column.KindTimestamp:
		return fmt.Sprintf("%d.%d", s.I, s.Sub)
	}
	return fmt.Sprint(s.I)
}

// sliceReader yields batches.
type sliceReader struct {
	batches []*column.Batch
	closed  bool
	// scribble overwrites the batch handed out before, to catch readers that keep it.
	last *column.Batch
}

func (s *sliceReader) Next(ctx context.Context) (*column.Batch, error) {
	if s.last != nil {
		for _, v := range s.last.Cols {
			scribble(v)
		}
	}
	if len(s.batches) == 0 {
		s.last = nil
		return nil, io.EOF
	}
	b := s.batches[0]
	s.batches = s.batches[1:]
	s.last = b
	return b, nil
}

func (s *sliceReader) Close() error { s.closed = true; return nil }

func scribble(v *column.Vector) {
	for i := range v.I32 {
		v.I32[i] = -77
	}
	for i := range v.I64 {
		v.I64[i] = -77
	}
	for i := range v.Data {
		v.Data[i] = 'X'
	}
	for i := range v.F64 {
		v.F64[i] = -77
	}
}

// makeRun turns records into batches of random sizes, with selections,
// dictionaries and rows that do not count mixed in as rnd says.
func makeRun(rnd *rand.Rand, recs []record, layoutKinds []column.Kind, nkeys, maxBatch int) *sliceReader {
	s := &sliceReader{}
	pos := int64(0)
	for len(recs) > 0 {
		n := 1 + rnd.Intn(maxBatch)
		n = min(n, len(recs))
		withSel := rnd.Intn(3) == 0
		bs := make([]*column.Builder, len(layoutKinds))
		for i, k := range layoutKinds {
			bs[i] = column.NewBuilder(k)
		}
		add := func(r record) {
			c := 0
			for _, k := range r.key {
				bs[c].AppendScalar(k)
				c++
			}
			bs[c].AppendInt(r.seq)
			bs[c+1].AppendInt(int64(r.kind))
			c += 2
			for _, v := range r.vals {
				bs[c].AppendScalar(v)
				c++
			}
		}
		var sel []uint16
		rows := 0
		for _, r := range recs[:n] {
			for withSel && rows < column.MaxRows-n && rnd.Intn(4) == 0 {
				junk := r
				junk.seq, junk.kind = 1<<40, Insert
				add(junk)
				rows++
			}
			sel = append(sel, uint16(rows))
			add(r)
			rows++
		}
		b := &column.Batch{N: rows, Base: pos}
		if withSel {
			b.Sel = sel
		}
		for _, x := range bs {
			v := x.Finish()
			if rnd.Intn(3) == 0 {
				v = asDictionary(v)
			}
			b.Cols = append(b.Cols, v)
		}
		pos += int64(rows) + int64(rnd.Intn(3))
		s.batches = append(s.batches, b)
		recs = recs[n:]
	}
	return s
}

func asDictionary(v *column.Vector) *column.Vector {
	if v.N == 0 || v.Kind >= column.KindList {
		return v
	}
	out := &column.Vector{Kind: v.Kind, N: v.N, Valid: v.Valid, Codes: make([]uint32, v.N)}
	d := *v
	d.Valid = nil
	out.Dict = &d
	for i := range out.Codes {
		out.Codes[i] = uint32(i)
	}
	return out
}

// readAll reads records (value columns, seq, kind appended) from a merge.
func readAll(t testing.TB, r interface {
	Next(context.Context) (*column.Batch, error)
	Close() error
}) [][]column.Scalar {
	t.Helper()
	rows, err := readRows(r)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func readRows(r interface {
	Next(context.Context) (*column.Batch, error)
	Close() error
}) ([][]column.Scalar, error) {
	defer r.Close()
	var rows [][]column.Scalar
	for {
		b, err := r.Next(context.Background())
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if b.Rows() == 0 || b.N > column.MaxRows {
			return nil, fmt.Errorf("batch of %d rows", b.Rows())
		}
		for k := range b.Rows() {
			var row []column.Scalar
			for _, v := range b.Cols {
				if v.N != b.N {
					return nil, fmt.Errorf("vector of %d rows in a batch of %d", v.N, b.N)
				}
				row = append(row, column.ScalarAt(v, b.Row(k)))
			}
			rows = append(rows, row)
		}
	}
}

func showRows(rows [][]column.Scalar) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		var parts []string
		for _, s := range r {
			parts = append(parts, show(s))
		}
		out[i] = strings.Join(parts, " ")
	}
	return out
}

func diff(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(none)", "(none)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: row %d is %s, want %s (%d rows, want %d)", what, i, g, w, len(got), len(want))
		}
	}
}

// group is the records of a key, oldest first, as the model sees them.
func groupRecords(runs [][]record, seqVals []int, desc bool) [][]record {
	byKey := map[string][]record{}
	var keys []string
	keyOf := map[string][]column.Scalar{}
	for _, run := range runs {
		for _, r := range run {
			k := fmt.Sprint(showRows([][]column.Scalar{r.key}))
			if _, ok := byKey[k]; !ok {
				keys = append(keys, k)
				keyOf[k] = r.key
			}
			byKey[k] = append(byKey[k], r)
		}
	}
	sort.Slice(keys, func(i, j int) bool { return CompareKeys(keyOf[keys[i]], keyOf[keys[j]]) < 0 })
	var out [][]record
	for _, k := range keys {
		g := byKey[k]
		sort.SliceStable(g, func(i, j int) bool {
			a, b := g[i], g[j]
			for _, s := range seqVals {
				x, y := a.vals[s], b.vals[s]
				c := x.Compare(y)
				if c == 0 {
					continue
				}
				if desc && !x.Null && !y.Null {
					c = -c
				}
				return c < 0
			}
			if a.seq != b.seq {
				return a.seq < b.seq
			}
			if ra, rb := IsRetract(a.kind), IsRetract(b.kind); ra != rb {
				return ra
			}
			return a.run < b.run
		})
		out = append(out, g)
	}
	return out
}

type modelRow struct {
	vals []column.Scalar
	seq  int64
	kind int32
}

// keyTypes are the shapes of keys that the random tests go through.
var keyTypes = map[string][]*schema.Type{
	"int":        {tInt},
	"bigint":     {tBig},
	"string":     {tString},
	"date":       {tDate},
	"double":     {tDouble},
	"float":      {tFloat},
	"timestamp":  {tTS},
	"decimal9":   {tDecimal(9, 2)},
	"decimal30":  {tDecimal(30, 2)},
	"int-int":    {tInt, tInt},
	"int-string": {tInt, tString},
	"string-int": {tString, tInt},
	"big-big":    {tBig, tBig},
	"bytes":      {tBytes},
	"bool-three": {tBool, tBool, tInt},
}

func randomScalar(rnd *rand.Rand, t *schema.Type, span int, nulls bool) column.Scalar {
	k := schema.KindOf(t)
	if nulls && rnd.Intn(4) == 0 {
		return column.NullScalar(k)
	}
	x := int64(rnd.Intn(span))
	switch t.Root {
	case schema.Boolean:
		return column.IntScalar(k, x&1)
	case schema.Double, schema.Float:
		return column.Scalar{Kind: k, F: float64(float32(x)) - float64(span/2)}
	case schema.Timestamp:
		return column.Scalar{Kind: k, I: x/3 - int64(span/6), Sub: uint16(x % 3)}
	case schema.Varchar:
		if x%7 == 0 {
			return column.BytesScalar([]byte(strings.Repeat("z", int(x/7))))
		}
		return column.BytesScalar([]byte(fmt.Sprintf("key-with-prefix-%06d", x)))
	case schema.Varbinary:
		return column.BytesScalar(bytes.Repeat([]byte{byte(x), 0}, int(x%9)))
	}
	if k == column.KindInt128 {
		d := column.MulInt64(x-int64(span/2), 1<<62)
		return column.Scalar{Kind: k, D: d}
	}
	return column.IntScalar(k, x-int64(span/2))
}

type caseSetup struct {
	keys   []*schema.Type
	vals   []*schema.Type
	runs   [][]record
	kinds  []column.Kind
	layout Layout
	table  TableInfo
}

// setup makes random runs. Values 0.. are v0, v1, …; the key is not among them.
func setup(rnd *rand.Rand, keys, vals []*schema.Type, nruns, rows, span int, kinds []int32, nullKeys bool, opts map[string]string) *caseSetup {
	c := &caseSetup{keys: keys, vals: vals}
	for _, k := range keys {
		c.kinds = append(c.kinds, schema.KindOf(k))
	}
	c.kinds = append(c.kinds, column.KindInt64, column.KindInt32)
	c.layout = Layout{Seq: len(keys), Kind: len(keys) + 1}
	for i := range keys {
		c.layout.Keys = append(c.layout.Keys, i)
	}
	c.table.Options = opts
	for i, v := range vals {
		c.kinds = append(c.kinds, schema.KindOf(v))
		c.layout.Values = append(c.layout.Values, len(keys)+2+i)
		c.layout.Fields = append(c.layout.Fields, i)
		c.table.Fields = append(c.table.Fields, field(fmt.Sprintf("v%d", i), v))
	}
	seq := int64(0)
	for r := range nruns {
		seen := map[string]bool{}
		var run []record
		for range rows {
			var rec record
			for _, k := range keys {
				rec.key = append(rec.key, randomScalar(rnd, k, span, nullKeys && rnd.Intn(3) == 0))
			}
			id := fmt.Sprint(showRows([][]column.Scalar{rec.key}))
			if seen[id] {
				continue
			}
			seen[id] = true
			seq++
			rec.seq, rec.run = seq, r
			if rnd.Intn(5) == 0 {
				rec.seq = int64(rnd.Intn(int(seq))) // out of order, and ties
			}
			rec.kind = kinds[rnd.Intn(len(kinds))]
			for _, v := range vals {
				rec.vals = append(rec.vals, randomScalar(rnd, v, 20, true))
			}
			run = append(run, rec)
		}
		sort.Slice(run, func(i, j int) bool { return CompareKeys(run[i].key, run[j].key) < 0 })
		c.runs = append(c.runs, run)
	}
	return c
}

func (c *caseSetup) readers(rnd *rand.Rand, maxBatch int) ([]RunReader, []*sliceReader) {
	var out []RunReader
	var srs []*sliceReader
	for _, r := range c.runs {
		s := makeRun(rnd, r, c.kinds, len(c.keys), maxBatch)
		out = append(out, s)
		srs = append(srs, s)
	}
	return out, srs
}

func (c *caseSetup) expect(rows []modelRow, keepDeletes bool) []string {
	var out []string
	for _, r := range rows {
		if !keepDeletes && IsRetract(r.kind) {
			continue
		}
		row := append(append([]column.Scalar(nil), r.vals...),
			column.IntScalar(column.KindInt64, r.seq), column.IntScalar(column.KindInt32, int64(r.kind)))
		out = append(out, showRows([][]column.Scalar{row})[0])
	}
	return out
}

func modelDeduplicate(groups [][]record, ignoreDelete bool) []modelRow {
	var out []modelRow
	for _, g := range groups {
		if len(g) == 1 {
			out = append(out, modelRow{g[0].vals, g[0].seq, g[0].kind})
			continue
		}
		for i := len(g) - 1; i >= 0; i-- {
			if ignoreDelete && IsRetract(g[i].kind) {
				continue
			}
			out = append(out, modelRow{g[i].vals, g[i].seq, g[i].kind})
			break
		}
	}
	return out
}

func modelFirstRow(groups [][]record) []modelRow {
	var out []modelRow
	for _, g := range groups {
		if len(g) == 1 {
			out = append(out, modelRow{g[0].vals, g[0].seq, g[0].kind})
			continue
		}
		for _, r := range g {
			if !IsRetract(r.kind) {
				out = append(out, modelRow{r.vals, r.seq, r.kind})
				break
			}
		}
	}
	return out
}

// check merges the case in every shape and compares with the model.
func (c *caseSetup) check(t *testing.T, rnd *rand.Rand, model []modelRow) {
	t.Helper()
	e, err := NewEngine(c.table)
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []bool{false, true} {
		want := c.expect(model, keep)
		for _, unordered := range []bool{false, true} {
			for _, maxBatch := range []int{3, 700} {
				rds, srs := c.readers(rnd, maxBatch)
				r, err := NewMerge(context.Background(), e, c.layout, rds, MergeOptions{KeepDeletes: keep, Seq: true, Kind: true, Unordered: unordered})
				if err != nil {
					t.Fatal(err)
				}
				got := showRows(readAll(t, r))
				w := want
				if unordered {
					w = append([]string(nil), want...)
					sort.Strings(w)
					sort.Strings(got)
				}
				diff(t, fmt.Sprintf("keep=%v unordered=%v batch=%d", keep, unordered, maxBatch), got, w)
				for _, s := range srs {
					if !s.closed {
						t.Fatal("a run was not closed")
					}
				}
			}
		}
		if e.PicksRows() {
			c.checkSurvivors(t, rnd, e, want, keep)
		}
	}
}

func (c *caseSetup) checkSurvivors(t *testing.T, rnd *rand.Rand, e *Engine, want []string, keep bool) {
	t.Helper()
	rds, srs := c.readers(rnd, 50)
	saved := make([][]*column.Batch, len(srs))
	for i, s := range srs {
		for _, b := range s.batches {
			saved[i] = append(saved[i], copyBatch(b))
		}
	}
	sets, err := Survivors(context.Background(), e, c.layout, rds, MergeOptions{KeepDeletes: keep})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	total := int64(0)
	for i, bs := range saved {
		total += sets[i].Count()
		for _, b := range bs {
			sel, all := sets[i].Select(b.Base, b.N, b.Sel, nil)
			if all != (len(sel) == b.Rows()) {
				t.Fatal("Select misreports all")
			}
			for _, k := range sel {
				if !sets[i].Contains(b.Base + int64(k)) {
					t.Fatal("Select and Contains disagree")
				}
				var row []column.Scalar
				for _, v := range c.layout.Values {
					row = append(row, column.ScalarAt(b.Cols[v], int(k)))
				}
				row = append(row, column.ScalarAt(b.Cols[c.layout.Seq], int(k)), column.ScalarAt(b.Cols[c.layout.Kind], int(k)))
				got = append(got, showRows([][]column.Scalar{row})[0])
			}
		}
	}
	if total != int64(len(got)) {
		t.Fatalf("bitsets hold %d positions, %d are rows", total, len(got))
	}
	w := append([]string(nil), want...)
	sort.Strings(w)
	sort.Strings(got)
	diff(t, fmt.Sprintf("survivors keep=%v", keep), got, w)
}

func copyBatch(b *column.Batch) *column.Batch {
	out := &column.Batch{N: b.N, Sel: append([]uint16(nil), b.Sel...), Base: b.Base}
	if b.Sel == nil {
		out.Sel = nil
	}
	for _, v := range b.Cols {
		bl := column.NewBuilderLike(v)
		bl.AppendRange(v, 0, v.N)
		out.Cols = append(out.Cols, bl.Finish())
	}
	return out
}
