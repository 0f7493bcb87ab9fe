package orc_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// TestZones reads files whose writers stood in many time zones: each row holds
// the text of the date-time next to the stored forms.
func TestZones(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "zone_*.orc"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	columns := []schema.Field{
		{Name: "ts", Type: &schema.Type{Root: schema.Timestamp, Precision: 9}},
		{Name: "lz", Type: &schema.Type{Root: schema.TimestampLTZ, Precision: 9}},
		{Name: "txt", Type: &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}},
	}
	ctx := context.Background()
	for _, p := range files {
		t.Run(filepath.Base(p), func(t *testing.T) {
			f, err := format.Open(ctx, fileio.NewLocal(), p, -1, "orc")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := f.Read(ctx, format.ReadOptions{LegacyTimestampLTZ: true, Columns: columns})
			if err != nil {
				t.Fatal(err)
			}
			bad, rows := 0, 0
			for {
				b, err := r.Next(ctx)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.N {
					rows++
					text := string(b.Cols[2].Bytes(i))
					layout := "2006-01-02T15:04:05.999999999"
					if len(text) == len("2006-01-02T15:04") {
						layout = "2006-01-02T15:04"
					}
					want, err := time.Parse(layout, text)
					if err != nil {
						t.Fatal(err)
					}
					for c := range 2 {
						if got := b.Cols[c].I64[i]; got != want.UnixMicro() {
							if bad++; bad < 8 {
								t.Errorf("%s: column %d gives %s", text, c, time.UnixMicro(got).UTC().Format(layout))
							}
						}
					}
				}
			}
			if bad > 0 || rows == 0 {
				t.Errorf("%d of %d values are wrong", bad, 2*rows)
			}
		})
	}
}
