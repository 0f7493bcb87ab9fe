package roundtrip

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/format"
)

// File is what is checked of a format.File.
type File interface {
	Rows() int64
	Read(ctx context.Context, o format.ReadOptions) (format.Reader, error)
}

// Check compares the columns o.Columns of a file with what they should be.
func Check(t testing.TB, f File, o format.ReadOptions, want []*column.Vector) {
	t.Helper()
	rows := 0
	if len(want) > 0 {
		rows = want[0].N
	}
	if f.Rows() != int64(rows) {
		t.Fatalf("%d rows, want %d", f.Rows(), rows)
	}
	r, err := f.Read(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	at := 0
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range o.Columns {
			for k := range b.N {
				if !column.EqualRows(b.Cols[i], k, want[i], at+k) {
					t.Fatalf("column %s (%s), row %d: %+v, want %+v", c.Name, c.Type, at+k, column.ScalarAt(b.Cols[i], k), column.ScalarAt(want[i], at+k))
				}
			}
		}
		at += b.N
	}
	if at != rows {
		t.Fatalf("%d rows were read of %d", at, rows)
	}
}
