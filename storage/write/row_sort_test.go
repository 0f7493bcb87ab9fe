package write

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// TestRowSorter sorts rows in memory, in a few runs, and in more runs than are merged at a time.
func TestRowSorter(t *testing.T) {
	t.Parallel()
	types := []*schema.Type{{Root: schema.BigInt}, {Root: schema.Varchar, Length: schema.MaxLength}, {Root: schema.Array, Elem: &schema.Type{Root: schema.Int}}}
	fields := make([]schema.Field, len(types))
	for i, typ := range types {
		fields[i] = schema.Field{ID: i, Name: fmt.Sprintf("c%d", i), Type: typ}
	}
	for _, c := range []struct {
		name   string
		buffer int64
		rows   int
	}{{"memory", 1 << 30, 9000}, {"runs", 60 << 10, 9000}, {"many-runs", 2 << 10, 12000}, {"empty", 1, 0}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewSource(5))
			w := &Writer{t: Target{TempDir: t.TempDir()}, fields: fields, opts: &tableOptions{bufferBytes: c.buffer}}
			s := w.NewRowSorter()
			defer s.Close()
			type row struct{ key, text string }
			var want []row
			for len(want) < c.rows {
				n := min(1+rnd.Intn(40), c.rows-len(want))
				ids, texts, keys := column.NewBuilder(column.KindInt64), column.NewBuilder(column.KindBytes), column.NewBuilder(column.KindBytes)
				list := &column.Vector{Kind: column.KindList, N: n, Offsets: []int32{0}, Children: []*column.Vector{{Kind: column.KindInt32}}}
				var sel []uint16
				for i := range n {
					id := int64(len(want))
					key := strings.Repeat("k", rnd.Intn(3)*5) + fmt.Sprint(rnd.Intn(200))
					text := fmt.Sprint("t", rnd.Intn(1000))
					ids.AppendInt(id)
					if id%7 == 0 {
						texts.AppendNull()
						text = "NULL"
					} else {
						texts.AppendString(text)
					}
					keys.AppendString(key)
					for range id % 3 {
						list.Children[0].I32 = append(list.Children[0].I32, int32(id))
						list.Children[0].N++
					}
					list.Offsets = append(list.Offsets, int32(list.Children[0].N))
					want = append(want, row{key, fmt.Sprintf("%d|%s|%d", id, text, id%3)})
					if rnd.Intn(10) > 0 {
						sel = append(sel, uint16(i))
					} else {
						want[len(want)-1].text = "" // not selected
					}
				}
				if sel == nil {
					sel = []uint16{}
				}
				if err := s.Add(context.Background(), &column.Batch{N: n, Sel: sel, Cols: []*column.Vector{ids.Finish(), texts.Finish(), list}}, keys.Finish()); err != nil {
					t.Fatal(err)
				}
			}
			want = slices.DeleteFunc(want, func(r row) bool { return r.text == "" })
			slices.SortStableFunc(want, func(a, b row) int { return strings.Compare(a.key, b.key) })
			r, err := s.Sorted(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var got []row
			for {
				b, err := r.Next(context.Background())
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for k := range b.Rows() {
					i := b.Row(k)
					text := "NULL"
					if !b.Cols[1].IsNull(i) {
						text = string(b.Cols[1].Bytes(i))
					}
					id := b.Cols[0].Int(i)
					from, to := b.Cols[2].Offsets[i], b.Cols[2].Offsets[i+1]
					for j := from; j < to; j++ {
						if b.Cols[2].Children[0].Int(int(j)) != id {
							t.Fatalf("row %d has a list of another row", id)
						}
					}
					got = append(got, row{string(b.Cols[3].Bytes(i)), fmt.Sprintf("%d|%s|%d", id, text, to-from)})
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d rows sorted, %d wanted, or in another order", len(got), len(want))
			}
			if c.name == "many-runs" && len(s.runs) >= maxSortRuns {
				t.Errorf("%d runs are open", len(s.runs))
			}
		})
	}
}
