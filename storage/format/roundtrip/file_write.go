package roundtrip

import (
	"context"
	"math/rand"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// dictionaryOf codes a flat vector with a dictionary, of which not all entries occur.
func dictionaryOf(rnd *rand.Rand, v *column.Vector) *column.Vector {
	out := &column.Vector{Kind: v.Kind, N: v.N, Valid: v.Valid, Codes: make([]uint32, v.N)}
	d := *v
	d.Valid = nil
	perm := rnd.Perm(v.N)
	order := make([]uint16, v.N)
	for i, p := range perm {
		order[p] = uint16(i)
		out.Codes[i] = uint32(p)
	}
	out.Dict = column.Gather(&d, order)
	return out
}

// Write writes batches of so many random rows each, some with a selection, some coded with a dictionary, into a file of a
// format that is registered, and returns the rows with the file's bytes. Every column has a style of its own.
func Write(t testing.TB, name string, fields []schema.Field, o format.WriteOptions, rnd *rand.Rand, counts ...int) ([]*column.Vector, []byte) {
	t.Helper()
	makers := make([]*Maker, len(fields))
	for i := range makers {
		makers[i] = NewMaker(rnd)
	}
	return write(t, name, fields, o, rnd, makers, counts)
}

// WriteEven is Write of values that are spread evenly over all that a type has.
func WriteEven(t testing.TB, name string, fields []schema.Field, o format.WriteOptions, rnd *rand.Rand, counts ...int) ([]*column.Vector, []byte) {
	t.Helper()
	makers := make([]*Maker, len(fields))
	for i := range makers {
		makers[i] = &Maker{rnd: rnd}
	}
	return write(t, name, fields, o, rnd, makers, counts)
}

func write(t testing.TB, name string, fields []schema.Field, o format.WriteOptions, rnd *rand.Rand, makers []*Maker, counts []int) ([]*column.Vector, []byte) {
	t.Helper()
	ctx := context.Background()
	fio := fileio.NewMemory()
	path := "/f." + name
	o.Fields = fields
	w, err := format.Create(ctx, fio, path, name, o)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]*column.Builder, len(fields))
	for i, f := range fields {
		all[i] = schema.NewBuilder(f.Type)
	}
	for _, n := range counts {
		b := &column.Batch{N: n}
		if rnd.Intn(2) == 0 {
			b.Sel = []uint16{}
			for i := range n {
				if rnd.Intn(3) > 0 {
					b.Sel = append(b.Sel, uint16(i))
				}
			}
		}
		for i, f := range fields {
			bld := schema.NewBuilder(f.Type)
			for range n {
				makers[i].Append(bld, f.Type)
			}
			v := bld.Finish()
			for k := range b.Rows() {
				all[i].Append(v, b.Row(k))
			}
			if !f.Type.IsNested() && n > 0 && rnd.Intn(3) == 0 {
				v = dictionaryOf(rnd, v)
			}
			b.Cols = append(b.Cols, v)
		}
		if err := w.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if w.Size() < 3 {
		t.Fatalf("size %d", w.Size())
	}
	size, err := w.Close(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.Abort() // does nothing now
	data, err := fio.ReadFile(ctx, path)
	if err != nil || int64(len(data)) != size {
		t.Fatalf("%d bytes, size %d, %v", len(data), size, err)
	}
	want := make([]*column.Vector, len(fields))
	for i := range all {
		want[i] = all[i].Finish()
	}
	return want, data
}
