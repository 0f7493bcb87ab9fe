package lsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// bufferTables are tables of every engine with the key columns first.
func bufferTables() map[string]TableInfo {
	f := func(name string, t *schema.Type) schema.Field { return schema.Field{Name: name, Type: t} }
	str, big, i32 := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, &schema.Type{Root: schema.BigInt}, &schema.Type{Root: schema.Int}
	fields := []schema.Field{f("k", big), f("s", str), f("a", i32), f("b", str), f("v", big)}
	opts := func(kv ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	return map[string]TableInfo{
		"dedup":          {Fields: fields, PrimaryKeys: []string{"k"}},
		"dedup-two":      {Fields: fields, PrimaryKeys: []string{"s", "k"}},
		"dedup-text":     {Fields: fields, PrimaryKeys: []string{"s"}},
		"dedup-int":      {Fields: fields, PrimaryKeys: []string{"a"}},
		"dedup-ints":     {Fields: fields, PrimaryKeys: []string{"a", "k"}},
		"dedup-sequence": {Fields: fields, PrimaryKeys: []string{"k"}, Options: opts("sequence.field", "v,b")},
		"dedup-desc":     {Fields: fields, PrimaryKeys: []string{"s"}, Options: opts("sequence.field", "v", "sequence.field.sort-order", "descending")},
		"dedup-ignore":   {Fields: fields, PrimaryKeys: []string{"k"}, Options: opts("ignore-delete", "true")},
		"first-row":      {Fields: fields, PrimaryKeys: []string{"s"}, Options: opts("merge-engine", "first-row", "ignore-delete", "true")},
		"partial":        {Fields: fields, PrimaryKeys: []string{"k"}, Options: opts("merge-engine", "partial-update", "partial-update.remove-record-on-delete", "true")},
		"partial-group":  {Fields: fields, PrimaryKeys: []string{"s"}, Options: opts("merge-engine", "partial-update", "fields.v.sequence-group", "a,b")},
		"aggregation":    {Fields: fields, PrimaryKeys: []string{"k"}, Options: opts("merge-engine", "aggregation", "fields.v.aggregate-function", "sum", "fields.a.aggregate-function", "last_value")},
	}
}

// bufferRows makes random rows: the fields, sequence numbers and kinds.
func bufferRows(rnd *rand.Rand, info TableInfo, n, keys int) *column.Batch {
	key := map[string]bool{}
	for _, k := range info.PrimaryKeys {
		key[k] = true
	}
	cols := make([]*column.Builder, len(info.Fields))
	for i, f := range info.Fields {
		cols[i] = schema.NewBuilder(f.Type)
	}
	seq, kind := column.NewBuilder(column.KindInt64), column.NewBuilder(column.KindInt32)
	for r := range n {
		for i, f := range info.Fields {
			x := rnd.Intn(keys) - keys/2
			switch {
			case !key[f.Name] && rnd.Intn(4) == 0:
				cols[i].AppendNull()
			case f.Type.Root == schema.Varchar:
				cols[i].AppendString(fmt.Sprintf("a long prefix %d", x))
			default:
				cols[i].AppendInt(int64(x))
			}
		}
		seq.AppendInt(int64(r))
		kind.AppendInt(int64(rnd.Intn(6) / 4 * 3)) // mostly +I, some -D
	}
	b := &column.Batch{N: n}
	for _, c := range append(cols, seq, kind) {
		b.Cols = append(b.Cols, c.Finish())
	}
	return b
}

func bufferLayout(info TableInfo) Layout {
	l := Layout{Seq: len(info.Fields), Kind: len(info.Fields) + 1}
	for i := range info.Fields {
		l.Values, l.Fields = append(l.Values, i), append(l.Fields, i)
	}
	for _, k := range info.PrimaryKeys {
		l.Keys = append(l.Keys, schema.IndexOf(info.Fields, k))
	}
	return l
}

func collect(t *testing.T, r RunReader) []string {
	t.Helper()
	var out []string
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for k := range b.Rows() {
			line := ""
			for _, c := range b.Cols {
				i := b.Row(k)
				switch {
				case c.IsNull(i):
					line += "∅|"
				case c.Kind == column.KindBytes:
					line += string(c.Bytes(i)) + "|"
				default:
					line += fmt.Sprint(c.Int(i)) + "|"
				}
			}
			out = append(out, line)
		}
	}
}

type oneBatch struct{ b *column.Batch }

func (r *oneBatch) Next(context.Context) (*column.Batch, error) {
	if r.b == nil {
		return nil, io.EOF
	}
	b := r.b
	r.b = nil
	return b, nil
}

func (r *oneBatch) Close() error { return nil }

// TestBufferMerge compares the merge of a write buffer with the merge of as many sorted runs of one row each.
func TestBufferMerge(t *testing.T) {
	for name, info := range bufferTables() {
		t.Run(name, func(t *testing.T) {
			e, err := NewEngine(info)
			if err != nil {
				t.Fatal(err)
			}
			l := bufferLayout(info)
			for _, size := range []struct{ rows, keys int }{{1, 1}, {40, 5}, {300, 20}, {300, 3000}, {700, 2}} {
				rnd := rand.New(rand.NewSource(int64(size.rows)))
				b := bufferRows(rnd, info, size.rows, size.keys)
				var runs []RunReader
				for i := range b.N {
					one := &column.Batch{N: 1}
					for _, c := range b.Cols {
						one.Cols = append(one.Cols, column.Slice(c, i, i+1))
					}
					runs = append(runs, &oneBatch{one})
				}
				ordered, err := NewMerge(context.Background(), e, l, runs, MergeOptions{KeepDeletes: true, Seq: true, Kind: true})
				if err != nil {
					t.Fatal(err)
				}
				want := collect(t, ordered)
				buf, err := NewBuffer(e, l, b)
				if err != nil {
					t.Fatal(err)
				}
				rows := make([]uint32, b.N)
				for i := range rows {
					rows[i] = uint32(i)
				}
				buf.Sort(rows, &SortSpace{})
				r, err := buf.Read(rows, true)
				if err != nil {
					t.Fatal(err)
				}
				got := collect(t, r)
				if len(got) != len(want) {
					t.Fatalf("%d rows: %d results, want %d", b.N, len(got), len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%d rows: result %d is %s, want %s", b.N, i, got[i], want[i])
					}
				}
				r, err = buf.Read(rows, false)
				if err != nil {
					t.Fatal(err)
				}
				if all := collect(t, r); len(all) != b.N {
					t.Fatalf("%d unmerged rows of %d", len(all), b.N)
				}
			}
		})
	}
}

// TestCheckRetract knows which engines take deletes.
func TestCheckRetract(t *testing.T) {
	for name, info := range bufferTables() {
		e, err := NewEngine(info)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.CheckRetract(Delete); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	info := bufferTables()["aggregation"]
	info.Options["fields.v.aggregate-function"] = "max"
	for _, o := range []map[string]string{info.Options, {"merge-engine": "first-row"}, {"merge-engine": "partial-update"},
		{"merge-engine": "partial-update", "fields.v.sequence-group": "a", "fields.a.aggregate-function": "min"}} {
		info.Options = o
		e, err := NewEngine(info)
		if err != nil {
			t.Fatal(err)
		}
		if e.CheckRetract(Delete) == nil || e.CheckRetract(UpdateAfter) != nil {
			t.Errorf("%v: a delete is taken, or an update is not", o)
		}
	}
}

func BenchmarkBufferSort(b *testing.B) {
	for _, name := range []string{"dedup", "dedup-text", "dedup-two", "aggregation"} {
		info := bufferTables()[name]
		e, _ := NewEngine(info)
		batch := bufferRows(rand.New(rand.NewSource(1)), info, 1<<18, 1<<17)
		buf, err := NewBuffer(e, bufferLayout(info), batch)
		if err != nil {
			b.Fatal(err)
		}
		rows := make([]uint32, batch.N)
		b.Run(name, func(b *testing.B) {
			s := &SortSpace{}
			for b.Loop() {
				for i := range rows {
					rows[i] = uint32(i)
				}
				buf.Sort(rows, s)
				r, _ := buf.Read(rows, true)
				for {
					if _, err := r.Next(context.Background()); err != nil {
						break
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.N), "ns/row")
		})
	}
}
