package read_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	_ "github.com/tributarydb/tributary/storage/format/avro"
	_ "github.com/tributarydb/tributary/storage/format/orc"
	_ "github.com/tributarydb/tributary/storage/format/parquet"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// rowsOf reads morsels and prints their rows, sorted.
func rowsOf(ctx context.Context, t *testing.T, ms []relation.Morsel) []string {
	t.Helper()
	var out []string
	for _, m := range ms {
		r, err := m.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for k := range b.Rows() {
				var sb strings.Builder
				for _, c := range b.Cols {
					if c.Kind >= column.KindList {
						continue
					}
					s := column.ScalarAt(c, b.Row(k))
					fmt.Fprintf(&sb, "%v %v %v %v %q|", s.Null, s.I, s.D, s.F, s.B)
				}
				out = append(out, sb.String())
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

// TestDividedMerge compares merges divided by key ranges with whole ones.
func TestDividedMerge(t *testing.T) {
	ctx := context.Background()
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	divided := 0
	for _, name := range []string{"pk_dedup_large", "pk_dedup_levels", "pk_dedup_keytypes", "pk_partial_plain", "pk_agg_numbers", "api-random-agg", "api-random-dedup-dv", "pk_dedup_level0"} {
		dir := t.TempDir()
		if err := golden.Unpack(filepath.Join(root, name, golden.ArchiveName), dir); err != nil {
			t.Fatal(err)
		}
		fio := fileio.NewLocal()
		cat := catalog.NewFilesystem(fio, dir, &schema.Cache{})
		env := table.NewEnv(fio, cat, nil)
		tables, err := cat.Tables(ctx, "default")
		if err != nil {
			t.Fatal(err)
		}
		for _, tn := range tables {
			tb, err := table.Open(ctx, env, "default", tn, table.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var req relation.Request
			for i := range tb.Fields() {
				req.Columns = append(req.Columns, i)
			}
			plan, err := tb.PlanView(ctx, req, table.View{Kind: true})
			if err != nil {
				t.Fatal(err)
			}
			var parts []relation.Morsel
			for _, m := range plan.Morsels {
				ps, err := read.Divide(ctx, m)
				if err != nil {
					t.Fatal(err)
				}
				if len(ps) > 1 {
					divided++
				}
				parts = append(parts, ps...)
			}
			if whole, cut := rowsOf(ctx, t, plan.Morsels), rowsOf(ctx, t, parts); !slices.Equal(whole, cut) {
				t.Errorf("%s.%s: %d rows merged as a whole, %d in parts, or others", name, tn, len(whole), len(cut))
			}
		}
	}
	if divided == 0 {
		t.Error("no merge was divided")
	}
	t.Logf("%d merges were divided", divided)
}
