package parquet

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/format"
)

// A file reads the same with pages from the cache, at whatever row the reading begins.
func TestKeptPages(t *testing.T) {
	path, err := writeBench()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(context.Background(), diskFiles{}, path, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cols := benchColumns("l_orderkey", "l_extendedprice", "l_comment")
	read := func(o format.ReadOptions) []*column.Vector {
		t.Helper()
		o.Columns = cols
		r, err := f.Read(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		out := make([]*column.Builder, len(cols))
		for {
			b, err := r.Next(context.Background())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range b.Cols {
				if out[i] == nil {
					out[i] = column.NewBuilderLike(c)
				}
				for k := range c.N {
					out[i].AppendScalar(column.ScalarAt(c, k))
				}
			}
		}
		vs := make([]*column.Vector, len(cols))
		for i := range out {
			vs[i] = out[i].Finish()
		}
		return vs
	}
	pages := format.NewPageCache(64 << 20)
	last := len(f.Sections()) - 1
	for _, from := range []int{0, last} {
		want := read(format.ReadOptions{FromSection: from})
		for range 2 {
			got := read(format.ReadOptions{FromSection: from, Pages: pages, PageColumns: []int{0, 1, 2}})
			for i := range want {
				if got[i].N != want[i].N {
					t.Fatalf("column %d: %d rows, want %d", i, got[i].N, want[i].N)
				}
				for k := 0; k < want[i].N; k += 97 {
					if !column.EqualRows(got[i], k, want[i], k) {
						t.Fatalf("column %d, row %d differs with kept pages", i, k)
					}
				}
			}
		}
	}
	if s := pages.Stats(); s.Hits == 0 || s.Entries == 0 {
		t.Fatalf("no page came from the cache: %+v", s)
	}
}
