package write

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

func allTypes(t testing.TB) []schema.Field {
	t.Helper()
	var out []schema.Field
	for i, s := range []string{"INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(30, 2)", "TIMESTAMP(9)", "STRING", "ARRAY<STRING>", "MAP<INT, ARRAY<INT>>", "ROW<a INT, b STRING>"} {
		ty, err := schema.ParseType(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, schema.Field{ID: i, Name: fmt.Sprint("c", i), Type: ty})
	}
	return out
}

// randomVector makes n rows of a type.
func randomVector(rnd *rand.Rand, b *column.Builder, t *schema.Type, n int) {
	kids := schema.ChildTypes(t)
	for range n {
		if !t.NotNull && rnd.Intn(5) == 0 {
			b.AppendNull()
			continue
		}
		switch schema.KindOf(t) {
		case column.KindFloat32, column.KindFloat64:
			b.AppendFloat(rnd.NormFloat64())
		case column.KindBytes:
			b.AppendString(fmt.Sprintf("%*d", rnd.Intn(12), rnd.Intn(1000)))
		case column.KindTimestamp:
			b.AppendTimestamp(rnd.Int63(), uint16(rnd.Intn(2)*rnd.Intn(1000)))
		case column.KindInt128:
			b.AppendInt128(column.Int128{Hi: rnd.Int63n(99) - 50, Lo: rnd.Uint64()})
		case column.KindList, column.KindMap:
			k := rnd.Intn(4)
			for i, c := range kids {
				randomVector(rnd, b.Child(i), c, k)
			}
			b.EndList()
		case column.KindStruct:
			for i, c := range kids {
				randomVector(rnd, b.Child(i), c, 1)
			}
			b.EndStruct()
		default:
			b.AppendInt(int64(rnd.Intn(1000) - 500))
		}
	}
}

func randomBatch(rnd *rand.Rand, fields []schema.Field, n int) *column.Batch {
	b := &column.Batch{N: n}
	for _, f := range fields {
		nb := schema.NewBuilder(f.Type)
		randomVector(rnd, nb, f.Type, n)
		b.Cols = append(b.Cols, nb.Finish())
	}
	return b
}

// sameRows compares row i of a's columns with row j of b's.
func sameRows(a []*column.Vector, i int, b []*column.Vector, j int) bool {
	for c := range a {
		if !column.EqualRows(a[c], i, b[c], j) {
			return false
		}
	}
	return true
}

// TestRowBuffer appends batches, selected and coded ones too, with reuse of the memory.
func TestRowBuffer(t *testing.T) {
	fields := allTypes(t)
	rnd := rand.New(rand.NewSource(1))
	for round := range 20 {
		buf := newRowBuffer(fields)
		for range 2 {
			type from struct {
				b *column.Batch
				i int
			}
			var want []from
			for range rnd.Intn(6) {
				b := randomBatch(rnd, fields, rnd.Intn(200))
				if rnd.Intn(3) == 0 && b.N > 0 {
					for c, v := range b.Cols {
						if v.Kind < column.KindList {
							b.Cols[c] = column.NewConst(column.Slice(v, 0, 1), b.N)
						}
					}
				}
				var sel []uint16
				if rnd.Intn(2) == 0 {
					sel = []uint16{}
					for i := range b.N {
						if rnd.Intn(3) == 0 {
							sel = append(sel, uint16(i))
						}
					}
				}
				buf.add(b.Cols, sel, b.N)
				each(sel, b.N, func(i int) { want = append(want, from{b, i}) })
			}
			if buf.n != len(want) {
				t.Fatalf("%d rows, want %d", buf.n, len(want))
			}
			got := buf.vectors()
			for k, w := range want {
				if !sameRows(got, k, w.b.Cols, w.i) {
					t.Fatalf("round %d: row %d differs", round, k)
				}
			}
			buf.reset()
		}
		buf.release()
	}
}

// TestSpillFile writes batches to a temporary file and reads the segments back.
func TestSpillFile(t *testing.T) {
	fields := allTypes(t)
	rnd := rand.New(rand.NewSource(2))
	f, err := newSpillFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var segs []spillSegment
	var want [][]*column.Batch
	for range 5 {
		seg := spillSegment{file: f, at: f.end}
		var batches []*column.Batch
		for range rnd.Intn(4) {
			b := randomBatch(rnd, fields, 1+rnd.Intn(300))
			if rnd.Intn(2) == 0 { // vectors whose lists do not start at 0
				for i, c := range b.Cols {
					b.Cols[i] = column.Slice(c, b.N/2, b.N)
				}
				b.N -= b.N / 2
			}
			if err := f.append(b); err != nil {
				t.Fatal(err)
			}
			batches = append(batches, b)
		}
		seg.end = f.end
		seg.shapes = shapesOf(randomBatch(rnd, fields, 1).Cols)
		segs, want = append(segs, seg), append(want, batches)
	}
	for s, seg := range segs {
		r := seg.open()
		for _, w := range want[s] {
			b, err := r.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if b.N != w.N {
				t.Fatalf("%d rows, want %d", b.N, w.N)
			}
			for i := range b.N {
				if !sameRows(b.Cols, i, w.Cols, i) {
					t.Fatalf("row %d differs", i)
				}
			}
		}
		if _, err := r.Next(context.Background()); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
}

// FuzzSpillBlock decodes blocks that nobody wrote.
func FuzzSpillBlock(f *testing.F) {
	fields := allTypes(f)
	b := randomBatch(rand.New(rand.NewSource(3)), fields, 20)
	s, err := newSpillFile(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	defer s.close()
	if err := s.append(b); err != nil {
		f.Fatal(err)
	}
	shapes := shapesOf(b.Cols)
	f.Add(append([]byte(nil), s.buf[4:]...))
	f.Fuzz(func(t *testing.T, p []byte) {
		got, err := decodeBatch(p, shapes)
		if err == nil && got.N > 0 && len(got.Cols) != len(shapes) {
			t.Error("columns are missing")
		}
	})
}

func TestHashTable(t *testing.T) {
	var h hashTable
	want := map[int32]int{}
	rnd := rand.New(rand.NewSource(4))
	for range 20_000 {
		k := int32(rnd.Uint32()) % 9000
		if k%3 == 0 {
			k = math.MinInt32 + k
		}
		b := rnd.Intn(maxDynamicBucket + 1)
		h.put(k, b)
		want[k] = b
	}
	for k, b := range want {
		if got, ok := h.get(k); !ok || got != b {
			t.Fatalf("%d: %d %v, want %d", k, got, ok, b)
		}
	}
	for range 1000 {
		k := int32(rnd.Uint32())
		if _, has := want[k]; !has {
			if _, ok := h.get(k); ok {
				t.Fatalf("%d was never put in", k)
			}
		}
	}
}
