package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// placed opens a table with positions.
func (l *lake) placed(name string) *table.Table {
	l.t.Helper()
	tb, err := table.Open(context.Background(), l.env, "default", name, table.OpenOptions{Positions: true})
	if err != nil {
		l.t.Fatal(err)
	}
	return tb
}

// scanAll reads the morsels of a request, with split those that can be cut in parts.
func scanAll(t testing.TB, r relation.Relation, req relation.Request, split bool) (rows []string, plan *relation.Plan, parts int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	plan, err := r.Plan(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	var fields []schema.Field
	for _, c := range req.Columns {
		fields = append(fields, r.Fields()[c])
	}
	morsels := plan.Morsels
	if split {
		morsels = nil
		for _, m := range plan.Morsels {
			if s, ok := m.(relation.Splitter); ok {
				some, err := s.Split(ctx)
				if err != nil {
					t.Fatal(err)
				}
				morsels = append(morsels, some...)
				continue
			}
			morsels = append(morsels, m)
		}
	}
	for _, m := range morsels {
		err := eachBatch(ctx, m, func(b *column.Batch) error {
			if len(b.Cols) != len(fields) {
				t.Fatalf("a batch has %d columns, %d were asked for", len(b.Cols), len(fields))
			}
			if len(fields) > 0 {
				rows = append(rows, textsOf(t, fields, b)...)
				return nil
			}
			rows = append(rows, make([]string, b.Rows())...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows, plan, len(morsels)
}

// rawRows are all rows of the data files, deleted ones too, as `file|position|cells`. Files are named as tb numbers them.
func (l *lake) rawRows(tb *table.Table) map[string]string {
	l.t.Helper()
	want := read.Want{}
	for i := range tb.Schema().Fields {
		want.Columns = append(want.Columns, i)
	}
	out := map[string]string{}
	byName := map[string]int{}
	for n := 0; tb.FileOf(int32(n)) != nil; n++ {
		byName[tb.FileOf(int32(n)).Path] = n
	}
	for _, f := range l.live(tb.Name()) {
		n, ok := byName[f.Path]
		if !ok {
			continue
		}
		f.Vector = nil
		for i, row := range l.fileRows(tb.Name(), f, want, tb.Schema().Fields) {
			out[fmt.Sprintf("%d|%d", n, i)] = row
		}
	}
	return out
}

// TestPositionsRead compares the positions of rows with the rows that the files have there.
func TestPositionsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format string
		opts   []string
	}{
		{"parquet", []string{"file.block-size", "512 kb", "file-index.bitmap.columns", "k"}},
		{"orc", []string{"file.block-size", "512 kb", "file-index.bitmap.columns", "k", "file-index.in-manifest-threshold", "1 b"}},
		{"avro", nil},
		{"bucket", []string{"bucket", "2", "bucket-key", "k", "file-index.bsi.columns", "k"}},
	} {
		if underRace && c.format != "parquet" && c.format != "bucket" {
			continue
		}
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewSource(int64(len(c.format))))
			l := newLake(t)
			opts := append([]string{"deletion-vectors.enabled", "true", "write-only", "true", "metadata.stats-mode", "full"}, c.opts...)
			if c.format != "bucket" {
				opts = append(opts, "file.format", c.format)
			}
			l.create("t", "k INT; a STRING; p INT", "", "p", opts...)
			id := 0
			insert := func(n, width, columns int) {
				var rows []string
				for range n {
					id++
					a := make([]byte, width)
					for i := range a {
						a[i] = byte('0' + rnd.Intn(64))
					}
					row := fmt.Sprintf("%d|%s|%d", id%700, a, rnd.Intn(2))
					if columns == 4 {
						row += fmt.Sprintf("|%d", id)
					}
					rows = append(rows, row)
				}
				l.insert("t", rows...)
			}
			big := 9000
			if underRace {
				big = 500
			}
			insert(big, 1400, 3)
			insert(30, 5, 3)
			l.eraseSome("t", rnd)
			l.alter("t", schema.AddColumn{Path: []string{"n"}, Type: &schema.Type{Root: schema.BigInt}})
			key := column.KindInt32
			if c.format != "bucket" {
				l.alter("t", schema.ChangeType{Path: []string{"k"}, Type: &schema.Type{Root: schema.BigInt}})
				key = column.KindInt64
			}
			insert(big/2, 5, 4)
			l.eraseSome("t", rnd)

			tb := l.placed("t")
			if f := tb.Fields(); len(f) != 6 || f[4].Name != "_ROW_FILE" || f[5].Name != "_ROW_POSITION" || !f[4].Type.NotNull || f[4].ID >= 0 {
				t.Fatalf("columns %v", f)
			}
			visible := len(l.ordered("t"))
			eq := func(col int, v int64, kind column.Kind) predicate.Predicate {
				return &predicate.Leaf{Column: col, Op: predicate.Eq, Literals: []column.Scalar{column.IntScalar(kind, v)}}
			}
			pruned := false
			var raw map[string]string
			for _, filter := range []predicate.Predicate{
				nil, eq(0, 17, key), eq(2, 1, column.KindInt32), eq(4, 0, column.KindInt32),
				predicate.NewAnd(eq(2, 0, column.KindInt32), eq(5, 3, column.KindInt64)), &predicate.Or{Children: []predicate.Predicate{eq(0, 3, key), eq(5, 1, column.KindInt64)}},
			} {
				for _, columns := range [][]int{{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {4, 0, 1, 2, 3, 5, 4}, {4, 5}, {5}, {0}, {}} {
					for _, split := range []bool{false, true} {
						if !split && len(columns) == 6 {
							continue // the widest ones once
						}
						got, plan, parts := scanAll(t, tb, relation.Request{Columns: columns, Filter: filter}, split)
						if filter == nil && len(got) != visible {
							t.Fatalf("columns %v: %d rows, the table has %d", columns, len(got), visible)
						}
						if plan.RowCount >= 0 && plan.RowCount != int64(len(got)) {
							t.Fatalf("columns %v: %d rows, planned %d", columns, len(got), plan.RowCount)
						}
						pruned = pruned || len(got) < visible
						if split && filter == nil && !underRace && c.format != "avro" && c.format != "bucket" && parts == len(plan.Morsels) {
							t.Fatalf("%d morsels were not cut", parts)
						}
						f, p := slices.Index(columns, 4), slices.Index(columns, 5)
						if f < 0 || p < 0 {
							continue
						}
						if raw == nil {
							raw = l.rawRows(tb) // of all files: the first plan has no filter
						}
						for _, row := range got {
							cells := strings.Split(row, "|")
							have, ok := raw[cells[f]+"|"+cells[p]]
							if !ok {
								t.Fatalf("row %s is in no file", row)
							}
							is := strings.Split(have, "|")
							for i, col := range columns {
								if col < 4 && cells[i] != is[col] {
									t.Fatalf("columns %v: row %s, its file has %s", columns, row, have)
								}
							}
						}
					}
				}
			}
			if !pruned {
				t.Error("no filter left a row out")
			}
			if n, exact, err := tb.EstimateRows(context.Background()); err != nil || !exact || n != int64(visible) {
				t.Errorf("%d rows are estimated (%v, %v)", n, exact, err)
			}
		})
	}
}

// TestPositionsRefused lists what cannot be opened with positions, and what is said.
func TestPositionsRefused(t *testing.T) {
	t.Parallel()
	l := newLake(t)
	ctx := context.Background()
	l.create("keyed", "k INT NOT NULL; v STRING", "k", "", "bucket", "1")
	l.create("evolving", "k INT", "", "", "row-tracking.enabled", "true", "data-evolution.enabled", "true")
	l.create("named", "k INT; _row_file INT", "", "")
	l.create("plain", "k INT", "", "")
	l.insert("plain", "1", "2")
	for _, c := range []struct {
		name, want string
		dynamic    map[string]string
		class      errs.Class
	}{
		{"keyed", "table default.keyed has a primary key", nil, errs.Invalid},
		{"evolving", "data-evolution.enabled", nil, errs.Unsupported},
		{"named", "column '_row_file'", nil, errs.Unsupported},
		{"plain", "past state", map[string]string{"scan.snapshot-id": "1"}, errs.Invalid},
		{"plain", "past state", map[string]string{"incremental-between": "0,1"}, errs.Invalid},
	} {
		_, err := table.Open(ctx, l.env, "default", c.name, table.OpenOptions{Positions: true, Dynamic: c.dynamic})
		if !errs.Is(err, c.class) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "default."+c.name) {
			t.Errorf("%s %v: %v", c.name, c.dynamic, err)
		}
		if c.dynamic != nil {
			continue
		}
		if _, err := l.open(c.name).OpenSink(ctx, relation.SinkOptions{Positions: true}); !errs.Is(err, c.class) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("sink of %s: %v", c.name, err)
		}
	}
	if _, err := l.open("plain").OpenSink(ctx, relation.SinkOptions{Positions: true, Overwrite: true}); !errs.Is(err, errs.Invalid) {
		t.Errorf("an overwrite that removes rows: %v", err)
	}
	for warehouse, want := range map[string]string{"chain_table/ch": "chain-table.enabled", "fallback_engines/un": "scan.fallback-branch"} {
		dir, name, _ := strings.Cut(warehouse, "/")
		fio := fileio.NewLocal()
		env := table.NewEnv(fio, catalog.NewFilesystem(fio, unpacked(t, dir), &schema.Cache{}), nil)
		if _, err := table.Open(ctx, env, "default", name, table.OpenOptions{Positions: true}); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", warehouse, err)
		}
	}
}
