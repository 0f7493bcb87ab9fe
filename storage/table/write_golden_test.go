package table_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/index/fileindex"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
	"github.com/tributarydb/tributary/storage/write"
)

// TestWriteLikePaimon writes the rows of every data file of the golden
// warehouses of Paimon 2.0.0 again and compares what the manifest says of the file: keys, statistics, counts, file indexes.
func TestWriteLikePaimon(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := golden.List(root)
	if err != nil {
		t.Fatal(err)
	}
	var files atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d files compared", files.Load())
		if files.Load() < 1000 {
			t.Errorf("only %d files compared", files.Load())
		}
	})
	for _, c := range cases {
		if strings.HasPrefix(c.Name, "bug-") || strings.HasPrefix(c.Name, "legacy-") || strings.HasPrefix(c.Name, "py-") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := unpacked(t, c.Name)
			ctx := context.Background()
			fio := fileio.NewLocal()
			cat := catalog.NewFilesystem(fio, dir, &schema.Cache{})
			env := table.NewEnv(fio, cat, nil)
			dbs, err := cat.Databases(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, db := range dbs {
				names, err := cat.Tables(ctx, db)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range names {
					tb, err := table.Open(ctx, env, db, n, table.OpenOptions{})
					if err != nil {
						t.Logf("%s: %v", n, err)
						continue
					}
					if len(tb.Branches()) > 1 {
						continue
					}
					files.Add(int64(rewriteFiles(t, ctx, tb)))
				}
			}
		})
	}
}

func rewriteFiles(t *testing.T, ctx context.Context, tb *table.Table) (compared int) {
	snap, err := tb.Snapshots().Latest(ctx)
	if err != nil || snap == nil {
		return 0
	}
	src := tb.Source()
	live, _, err := src.LiveFiles(ctx, snap, scan.Request{})
	if err != nil {
		t.Logf("%s: %v", tb.Label(), err)
		return 0
	}
	for _, f := range live {
		_, levelled := tb.Schema().Options["metadata.stats-mode.per.level"]
		if levelled && f.Meta.Level > 0 || schema.OptClusteringOverride.Value(tb.Schema().Options) && f.Meta.Level > 0 {
			continue // statistics of another mode, bounds that are not of the key
		}
		if f.Format == "orc" && tb.Label() == "default.ot_orc" {
			continue // its date-times before 1582-10-15 are read as others than were written, so bounds differ
		}
		if f.Meta.FirstRowID != nil || f.Meta.WriteColumns != nil || f.Bucket < 0 || f.Meta.RowCount > 20000 {
			continue
		}
		fs, err := tb.Schemas().Get(ctx, f.Meta.SchemaID)
		if err != nil {
			t.Fatal(err)
		}
		if fs.ID != tb.Schema().ID { // options of the file's time
			continue
		}
		if got, indexes, err := rewrite(ctx, t, src, f); errs.Is(err, errs.Unsupported) {
			t.Logf("%s: %v", tb.Label(), err)
			return compared
		} else if err != nil {
			t.Errorf("%s: file %s: %v", tb.Label(), f.Meta.Name, err)
		} else if diff := compareMeta(f.Meta, got, fs); diff != "" {
			t.Errorf("%s: file %s (level %d, %d rows): %s", tb.Label(), f.Meta.Name, f.Meta.Level, f.Meta.RowCount, diff)
		} else if diff, err := compareIndexes(ctx, src.FIO, f, got, indexes); err != nil || diff != "" {
			t.Errorf("%s: file %s (%d rows): %s %v", tb.Label(), f.Meta.Name, f.Meta.RowCount, diff, err)
		} else {
			compared++
		}
	}
	return compared
}

// rewrite writes a file's rows into an empty table of the same schema; indexes is the container of its file indexes.
func rewrite(ctx context.Context, t *testing.T, src *scan.Source, f *scan.File) (made *manifest.DataFile, indexes []byte, err error) {
	s := src.Schema.WithOptions(map[string]string{"file.format": f.Format, "file.format.per.level": "", "write-only": "true", "bucket": "1", "merge-engine": "deduplicate",
		"ignore-delete": "false", "pk-clustering-override": "false", "sequence.snapshot-ordering": "false", "write.sequence-number-init-mode": "scan", "file.compression": "zstd", "data-file.external-paths.strategy": "none", "data-file.path-directory": "", "row-tracking.enabled": "false", "data-evolution.enabled": "false"})
	if !s.HasPrimaryKey() {
		s = s.WithOptions(map[string]string{"bucket": "-1"})
	} else if s.CrossPartition() {
		s = s.WithOptions(map[string]string{"bucket-key": strings.Join(s.TrimmedPrimaryKeys(), ",")})
	}
	s.Options["bucket-function.type"] = "default"
	delete(s.Options, "sequence.field")
	delete(s.Options, "rowkind.field")
	mem := fileio.NewMemory()
	w, err := write.New(write.Target{FIO: mem, Dir: "/t", Label: src.Label, Schema: s, Clock: time.Now, Rand: rand.New(rand.NewSource(1)), TempDir: t.TempDir()}, write.Options{})
	if err != nil {
		return nil, nil, err
	}
	in, err := write.NewIntake(src.Label, s, nil)
	if err != nil {
		return nil, nil, err
	}
	want := read.Want{Kind: true}
	for i := range src.Schema.Fields {
		want.Columns = append(want.Columns, i)
	}
	env := read.NewEnv(1<<20, 1<<20)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	plain := *f
	plain.Vector = nil
	for _, m := range read.Morsels(env.NewHandles(ctx), &scan.Split{Source: src, Partition: f.Partition, Bucket: f.Bucket, Mode: scan.Changes, Files: []*scan.File{&plain}}, want) {
		err := eachBatch(ctx, m, func(b *column.Batch) error {
			n := len(b.Cols) - 1
			var kinds []int32
			if s.HasPrimaryKey() {
				kinds = column.Flatten(b.Cols[n]).I32
			}
			rows, err := in.Check(&column.Batch{N: b.N, Cols: b.Cols[:n], Sel: b.Sel}, kinds)
			if err != nil {
				return err
			}
			return w.Write(ctx, rows)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	msgs, err := w.Prepare(ctx, write.State{})
	if err != nil {
		return nil, nil, err
	}
	if len(msgs) != 1 || len(msgs[0].NewFiles) != 1 {
		return nil, nil, fmt.Errorf("%d messages", len(msgs))
	}
	made = msgs[0].NewFiles[0]
	indexes = made.EmbeddedIndex
	for _, x := range made.ExtraFiles {
		if x != made.Name+".index" {
			return nil, nil, fmt.Errorf("extra file %s", x)
		}
		if indexes, err = mem.ReadFile(ctx, "/t/bucket-0/"+x); err != nil {
			return nil, nil, err
		}
	}
	return made, indexes, nil
}

// compareIndexes compares the file indexes of a file: where they are kept, of which columns and kinds they
// are, and their bytes, but for the order of the bitmaps in bitmap indexes.
func compareIndexes(ctx context.Context, fio fileio.FileIO, f *scan.File, got *manifest.DataFile, made []byte) (string, error) {
	want := f.Meta.EmbeddedIndex
	for _, x := range f.Meta.ExtraFiles {
		var err error
		if want, err = fio.ReadFile(ctx, filepath.Dir(f.Path)+"/"+x); err != nil {
			return "", err
		}
	}
	if want == nil || made == nil {
		if want != nil || made != nil {
			return fmt.Sprintf("%d bytes of indexes, Paimon's %d", len(made), len(want)), nil
		}
		return "", nil
	}
	if (got.EmbeddedIndex == nil) != (f.Meta.EmbeddedIndex == nil) {
		return "the indexes are kept elsewhere", nil
	}
	a, err := fileindex.Parse("Paimon's", want)
	if err != nil {
		return "", err
	}
	b, err := fileindex.Parse("ours", made)
	if err != nil {
		return "", err
	}
	text := func(c *fileindex.Container) string {
		var out []string
		for _, x := range c.Indexes() {
			data := fmt.Sprintf("%x", x.Data)
			if x.Type == fileindex.Bitmap {
				data = fmt.Sprint(len(x.Data))
			}
			out = append(out, x.Column+" "+x.Type+" "+data)
		}
		slices.Sort(out)
		return strings.Join(out, "\n")
	}
	if w, g := text(a), text(b); w != g {
		return fmt.Sprintf("indexes\n%.600s\nPaimon's\n%.600s", g, w), nil
	}
	if len(want) != len(made) {
		return fmt.Sprintf("%d bytes of indexes, Paimon's %d", len(made), len(want)), nil
	}
	return "", nil
}

func compareMeta(want, got *manifest.DataFile, s *schema.TableSchema) string {
	var out []string
	add := func(what string, w, g any) { out = append(out, fmt.Sprintf("%s is %v, Paimon's %v", what, g, w)) }
	if want.RowCount != got.RowCount {
		add("row count", want.RowCount, got.RowCount)
	}
	if want.DeleteRows != nil && *want.DeleteRows != *got.DeleteRows {
		add("delete count", *want.DeleteRows, *got.DeleteRows)
	}
	if !bytes.Equal(want.MinKey, got.MinKey) || !bytes.Equal(want.MaxKey, got.MaxKey) {
		add("keys", fmt.Sprintf("%x %x", want.MinKey, want.MaxKey), fmt.Sprintf("%x %x", got.MinKey, got.MaxKey))
	}
	if !slices.Equal(want.StatsColumns, got.StatsColumns) || (want.StatsColumns == nil) != (got.StatsColumns == nil) {
		add("statistics columns", fmt.Sprint(want.StatsColumns, want.StatsColumns == nil), fmt.Sprint(got.StatsColumns, got.StatsColumns == nil))
	}
	if !reflect.DeepEqual(want.KeyStats, got.KeyStats) {
		add("key statistics", fmt.Sprintf("%x", want.KeyStats), fmt.Sprintf("%x", got.KeyStats))
	}
	if !reflect.DeepEqual(want.ValueStats, got.ValueStats) {
		add("value statistics", fmt.Sprintf("%x", want.ValueStats), fmt.Sprintf("%x", got.ValueStats))
		m := manifest.NewStatsMapper(s.Fields, s.Fields)
		for i, f := range s.Fields {
			a, _, _ := m.Stored(want, i)
			b, _, _ := m.Stored(got, i)
			if !reflect.DeepEqual(a, b) {
				add("  "+f.Name+" "+f.Type.String(), fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b))
			}
		}
	}
	return strings.Join(out, "\n   ")
}
