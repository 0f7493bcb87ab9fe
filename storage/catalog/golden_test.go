package catalog_test

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/fileio"
	_ "github.com/tributarydb/tributary/storage/format/orc"
	_ "github.com/tributarydb/tributary/storage/format/parquet"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// damagedOnPurpose are golden warehouses whose states cannot all be read.
func damagedOnPurpose(name string) bool { return strings.HasPrefix(name, "bug-") }

// TestEveryGoldenState reads every snapshot and tag of every branch of every
// golden table down to the entries: the live files' rows must add up to what
// the snapshot counts, every live file must lie where its partition says, and
// every deletion vector must pass its checks.
func TestEveryGoldenState(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Skip(err)
	}
	cases, err := golden.List(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if damagedOnPurpose(c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := golden.Unpack(c.Archive, dir); err != nil {
				t.Fatal(err)
			}
			// Release 0.4 adds the rows of deleted files instead of subtracting them.
			readWarehouse(t, dir, c.Name != "legacy-0.4.0")
			if !strings.HasPrefix(c.Name, "legacy-") && !strings.HasPrefix(c.Name, "py-") {
				rewriteSchemas(t, dir)
			}
		})
	}
}

// rewriteSchemas checks that every schema file of Paimon 2.0.0 is written as it is, and that defining its table anew gives its first one.
func rewriteSchemas(t *testing.T, warehouse string) {
	files, err := filepath.Glob(filepath.Join(warehouse, "*.db", "*", "schema", "schema-*"))
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.ParseTable(f, data)
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(s.JSON(), data) {
			t.Errorf("%s is rewritten as\n%s\nwant\n%s", f, s.JSON(), data)
		}
		if s.ID > 0 {
			continue
		}
		exists := func(string) (bool, error) { return true, nil }
		made, err := schema.NewTable(s.Definition(), schema.Context{BranchExists: exists, Clock: func() time.Time { return time.UnixMilli(s.TimeMillis) }})
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if !bytes.Equal(made.JSON(), data) {
			t.Errorf("%s is made as\n%s\nwant\n%s", f, made.JSON(), data)
		}
	}
}

func readWarehouse(t *testing.T, warehouse string, countsRight bool) {
	ctx := context.Background()
	fio := fileio.NewLocal()
	cat := catalog.NewFilesystem(fio, warehouse, nil)
	dbs, err := cat.Databases(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, db := range dbs {
		tables, err := cat.Tables(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range tables {
			main, err := cat.Load(ctx, db, name, "")
			if err != nil {
				t.Error(err)
				continue
			}
			branches, err := snapshot.Branches(ctx, fio, main.Dir)
			if err != nil {
				t.Error(err)
			}
			list := []string{snapshot.MainBranch}
			for _, b := range branches {
				list = append(list, b.Name)
			}
			for _, b := range list {
				tab, err := cat.Load(ctx, db, name, b)
				if err != nil {
					t.Error(err)
					continue
				}
				n += readBranch(ctx, t, fio, tab, countsRight)
			}
		}
	}
	t.Logf("%d states", n)
}

func readBranch(ctx context.Context, t *testing.T, fio fileio.FileIO, tab *catalog.Table, countsRight bool) int {
	label := tab.Database + "." + tab.Name + " branch " + tab.Branch
	all, err := tab.Schemas.All(ctx)
	if err != nil {
		t.Errorf("%s: %v", label, err)
	}
	for _, s := range all {
		again, err := schema.ParseTable("printed", s.JSON())
		if err != nil {
			t.Errorf("%s: schema %d does not survive printing: %v", label, s.ID, err)
		} else if schema.FieldsJSON(again.Fields) != schema.FieldsJSON(s.Fields) {
			t.Errorf("%s: schema %d changes when printed", label, s.ID)
		}
	}
	snaps := snapshot.NewManager(fio, tab.Dir, tab.Branch)
	states, err := snaps.List(ctx)
	if err != nil {
		t.Errorf("%s: %v", label, err)
	}
	latest, err := snaps.Latest(ctx)
	if err != nil {
		t.Errorf("%s: %v", label, err)
	}
	if len(states) > 0 && (latest == nil || latest.ID != states[len(states)-1].ID) {
		t.Errorf("%s: the latest snapshot is %v, listed is %d", label, latest, states[len(states)-1].ID)
	}
	tags, err := snaps.Tags(ctx)
	if err != nil {
		t.Errorf("%s: %v", label, err)
	}
	for _, x := range tags {
		states = append(states, x.Snapshot)
	}
	store := manifest.NewStore(fio, tab.Dir, manifest.NewCache(64<<20))
	for _, s := range states {
		readState(ctx, t, fio, tab, store, s, label, countsRight)
	}
	return len(states)
}

func readState(ctx context.Context, t *testing.T, fio fileio.FileIO, tab *catalog.Table, store *manifest.Store, s *snapshot.Snapshot, label string, countsRight bool) {
	var infos []manifest.FileInfo
	for _, name := range []string{s.BaseManifestList, s.DeltaManifestList} {
		x, err := store.ReadList(ctx, name)
		if err != nil {
			t.Errorf("%s snapshot %d: %v", label, s.ID, err)
			return
		}
		infos = append(infos, x...)
	}
	sch, err := tab.Schemas.Get(ctx, s.SchemaID)
	if err != nil {
		t.Errorf("%s snapshot %d: %v", label, s.ID, err)
		return
	}
	live, err := store.Live(ctx, infos, sch.PartitionTypes(), nil)
	if err != nil {
		t.Errorf("%s snapshot %d: %v", label, s.ID, err)
		return
	}
	var rows int64
	legacy := schema.OptPartitionLegacy.Value(sch.Options)
	defName := schema.OptPartitionDefault.Value(sch.Options)
	for _, e := range live {
		rows += e.File.RowCount
		p, err := binrow.DecodeRow(sch.PartitionTypes(), e.Partition)
		if err != nil {
			t.Errorf("%s snapshot %d: %v", label, s.ID, err)
			continue
		}
		sub, err := binrow.PartitionPath(sch.PartitionFields(), p, defName, legacy)
		if err != nil {
			t.Errorf("%s snapshot %d: %v", label, s.ID, err)
			continue
		}
		bucket := "bucket-postpone"
		if e.Bucket >= 0 {
			bucket = "bucket-" + strconv.Itoa(e.Bucket)
		}
		file := path.Join(tab.Dir, schema.OptDataFileDirectory.Value(sch.Options), sub, bucket, e.File.Name)
		if e.File.ExternalPath != nil {
			continue // points to where the warehouse was written
		}
		if i, err := fio.Stat(ctx, file); err != nil {
			t.Errorf("%s snapshot %d: %v", label, s.ID, err)
		} else if i.Size != e.File.Size {
			t.Errorf("%s snapshot %d: %s has %d bytes, its entry says %d", label, s.ID, file, i.Size, e.File.Size)
		}
		checkStats(ctx, t, tab, e, label)
	}
	if countsRight && s.TotalRecordCount != nil && *s.TotalRecordCount != rows {
		t.Errorf("%s snapshot %d: the live files have %d rows, the snapshot says %d", label, s.ID, rows, *s.TotalRecordCount)
	}
	entries, err := store.ReadIndexManifest(ctx, s.IndexManifest)
	if err != nil {
		t.Errorf("%s snapshot %d: %v", label, s.ID, err)
		return
	}
	if err := index.CheckKinds(s.IndexManifest, entries); err != nil {
		t.Error(err)
	}
	vectors, err := index.NewVectors(s.IndexManifest, entries, sch.PartitionTypes())
	if err != nil {
		t.Error(err)
		return
	}
	found := 0
	for _, e := range live {
		ref, ok, err := vectors.Of(e.Partition, e.Bucket, e.File.Name)
		if err != nil {
			t.Error(err)
		}
		if !ok {
			continue
		}
		found++
		inDir := schema.OptIndexInDataDir.Value(sch.Options)
		p, _ := binrow.DecodeRow(sch.PartitionTypes(), e.Partition)
		sub, _ := binrow.PartitionPath(sch.PartitionFields(), p, defName, legacy)
		file := index.Path(tab.Dir, path.Join(tab.Dir, sub, "bucket-"+strconv.Itoa(e.Bucket)), ref.Entry, inDir)
		v, err := index.ReadVector(ctx, fio, nil, file, ref.Entry.Size, ref.Range)
		if err != nil {
			t.Errorf("%s snapshot %d: %v", label, s.ID, err)
			continue
		}
		if v.Max() >= e.File.RowCount {
			t.Errorf("%s snapshot %d: row %d of %d is deleted in %s", label, s.ID, v.Max(), e.File.RowCount, e.File.Name)
		}
	}
	if found != vectors.Len() {
		t.Errorf("%s snapshot %d: %d of %d deletion vectors belong to live files", label, s.ID, found, vectors.Len())
	}
	for i := range entries {
		if entries[i].Type == manifest.IndexHash {
			h, err := index.ReadHashes(ctx, fio, index.Path(tab.Dir, "", &entries[i], false))
			if err != nil || int64(len(h)) != entries[i].RowCount {
				t.Errorf("%s snapshot %d: hash index %s has %d hashes (%v), its entry says %d", label, s.ID, entries[i].Name, len(h), err, entries[i].RowCount)
			}
		}
	}
	if s.Statistics != "" {
		if _, err := snapshot.ReadStatistics(ctx, fio, tab.Dir, s.Statistics); err != nil {
			t.Error(err)
		}
	}
}

// checkStats decodes the statistics and keys of an entry in its own schema.
func checkStats(ctx context.Context, t *testing.T, tab *catalog.Table, e *manifest.Entry, label string) {
	fs, err := tab.Schemas.Get(ctx, e.File.SchemaID)
	if err != nil {
		t.Errorf("%s: %v", label, err)
		return
	}
	m := manifest.NewStatsMapper(fs.Fields, tab.Schema.Fields)
	for i := range tab.Schema.Fields {
		s, ok := m.Column(e.File, i)
		if !ok {
			continue
		}
		if s.Nulls > s.Rows || s.HasBounds && s.Min.Compare(s.Max) > 0 {
			t.Errorf("%s: file %s column %s: %+v", label, e.File.Name, tab.Schema.Fields[i].Name, s)
		}
	}
	// Files of the postpone bucket are not sorted.
	if fs.HasPrimaryKey() && e.Bucket != schema.PostponeBucket && !schema.OptClusteringOverride.Value(fs.Options) {
		lo, err1 := binrow.DecodeRow(fs.KeyTypes(), e.File.MinKey)
		hi, err2 := binrow.DecodeRow(fs.KeyTypes(), e.File.MaxKey)
		if err1 != nil || err2 != nil || binrow.Compare(lo, hi) > 0 {
			t.Errorf("%s: file %s: keys %v %v, %v %v", label, e.File.Name, lo, hi, err1, err2)
		}
	}
}
