package maintain

import (
	"context"
	"fmt"
	"math/rand"
	"path"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

const tableDir = "/w/default.db/t"

var intType = []*schema.Type{{Root: schema.Int}}

func part(n int) []byte {
	return binrow.EncodeRow(intType, []column.Scalar{column.IntScalar(column.KindInt32, int64(n))})
}

// world is a table in memory whose files are made by the committer; data files hold any bytes.
type world struct {
	t     testing.TB
	fio   fileio.FileIO
	now   time.Time
	rnd   *rand.Rand
	files int
	// want are the live files of each state, by "branch/snapshot uuid".
	want map[string][]string
	opts string
}

func tableJSON(id int, options string) string {
	extra := ""
	if id > 0 {
		for i := 1; i <= id; i++ {
			extra += fmt.Sprintf(`,{"id":%d,"name":"c%d","type":"INT"}`, i+1, i)
		}
	}
	return fmt.Sprintf(`{"version":3,"id":%d,"fields":[{"id":0,"name":"p","type":"INT"},{"id":1,"name":"v","type":"INT"}%s],"highestFieldId":%d,
"partitionKeys":["p"],"primaryKeys":[],"options":{%s},"comment":"","timeMillis":1}`, id, extra, id+1, options)
}

func newWorld(t testing.TB, seed int64, options string) *world {
	w := &world{t: t, fio: fileio.NewMemory(), now: time.Now().Truncate(time.Millisecond), rnd: rand.New(rand.NewSource(seed)), want: map[string][]string{}, opts: options}
	w.write(tableDir+"/schema/schema-0", tableJSON(0, options))
	return w
}

func (w *world) write(p, text string) {
	w.t.Helper()
	if err := w.fio.Overwrite(context.Background(), p, []byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) clock() time.Time { return w.now }

// table is the maintenance of a branch, without any cache.
func (w *world) table(branch string) *Table {
	return New(Target{FIO: w.fio, Dir: tableDir, Label: "default.t", Branch: branch, Clock: w.clock, Random: w.rnd})
}

func (w *world) committer(branch string) *commit.Committer {
	w.t.Helper()
	t := w.table(branch)
	s, err := t.own.schemas.Latest(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return t.committer(t.own, s)
}

// file writes a new data file, sometimes with an index beside it.
func (w *world) file(p int, prefix string) *manifest.DataFile {
	w.files++
	src := int32(manifest.SourceAppend)
	created := w.now.UnixMilli()
	f := &manifest.DataFile{Name: fmt.Sprintf("%s-%d.parquet", prefix, w.files), RowCount: 1, MinKey: binrow.Empty, MaxKey: binrow.Empty,
		KeyStats: manifest.EmptyStats(), ValueStats: manifest.EmptyStats(), Source: &src, CreationMillis: &created}
	if w.files%3 == 0 {
		f.ExtraFiles = []string{f.Name + ".index"}
	}
	dir := fmt.Sprintf("%s/p=%d/bucket-0/", tableDir, p)
	for _, n := range append([]string{f.Name}, f.ExtraFiles...) {
		w.write(dir+n, "data")
	}
	return f
}

// live reads the live entries of the newest snapshot of a branch.
func (w *world) live(branch string) ([]*manifest.Entry, *snapshot.Snapshot) {
	w.t.Helper()
	t := w.table(branch)
	s, err := t.own.snaps.Latest(context.Background())
	if err != nil || s == nil {
		if err != nil {
			w.t.Fatal(err)
		}
		return nil, nil
	}
	var out []*manifest.Entry
	if err := t.eachLive(context.Background(), t.own, s, nil, func(e *manifest.Entry) { out = append(out, e) }); err != nil {
		w.t.Fatal(err)
	}
	return out, s
}

// commit makes one random commit on a branch.
func (w *world) commit(branch string) {
	w.t.Helper()
	w.now = w.now.Add(time.Duration(1+w.rnd.Intn(20)) * time.Minute)
	p := w.rnd.Intn(3)
	live, _ := w.live(branch)
	r := commit.Request{Identifier: commit.BatchIdentifier}
	m := commit.Message{Partition: part(p), TotalBuckets: -1, NewFiles: []*manifest.DataFile{w.file(p, "data")}}
	var mine []*manifest.Entry
	for _, e := range live {
		if string(e.Partition) == string(m.Partition) {
			mine = append(mine, e)
		}
	}
	switch w.rnd.Intn(8) {
	case 0:
		r.Overwrite = &commit.Overwrite{Dynamic: true}
	case 1, 2: // a compaction: all files of the partition into one
		if len(mine) > 0 {
			c := &commit.Compaction{After: []*manifest.DataFile{w.file(p, "data")}}
			for _, e := range mine {
				c.Before = append(c.Before, e.File)
			}
			m.Compact = c
		}
	case 3: // a file changes its level, without being written anew
		if len(mine) > 0 {
			up := *mine[0].File
			up.Level++
			m.Compact = &commit.Compaction{Before: []*manifest.DataFile{mine[0].File}, After: []*manifest.DataFile{&up}}
		}
	case 4:
		m.ChangelogFiles = []*manifest.DataFile{w.file(p, "changelog")}
	case 5: // an index file for the bucket
		w.files++
		name := fmt.Sprintf("index-%d", w.files)
		w.write(tableDir+"/index/"+name, "hashes")
		m.NewIndexFiles = []manifest.IndexEntry{{Partition: m.Partition, Type: manifest.IndexHash, Name: name, Size: 6, RowCount: 1}}
	}
	r.Messages = []commit.Message{m}
	res, err := w.committer(branch).Commit(context.Background(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range res.Snapshots {
		w.remember(branch, s)
	}
}

func stateKey(s *snapshot.Snapshot) string { return s.UUID }

// remember keeps what a state has, to compare it for as long as it is there.
func (w *world) remember(branch string, s *snapshot.Snapshot) {
	w.t.Helper()
	names, err := w.namesOf(branch, s)
	if err != nil {
		w.t.Fatal(err)
	}
	w.want[stateKey(s)] = names
}

func (w *world) namesOf(branch string, s *snapshot.Snapshot) ([]string, error) {
	t := w.table(branch)
	names := []string{}
	err := t.eachLive(context.Background(), t.own, s, nil, func(e *manifest.Entry) { names = append(names, fmt.Sprint(e.File.Name, "@", e.File.Level)) })
	sort.Strings(names)
	return names, err
}

// state is something that can be read.
type readable struct {
	branch, name string
	snap         *snapshot.Snapshot
	tag          bool
}

// states lists all snapshots and tags of all branches.
func (w *world) states() []readable {
	w.t.Helper()
	ctx := context.Background()
	bs, err := snapshot.Branches(ctx, w.fio, tableDir)
	if err != nil {
		w.t.Fatal(err)
	}
	names := []string{snapshot.MainBranch}
	for _, b := range bs {
		names = append(names, b.Name)
	}
	var out []readable
	for _, b := range names {
		m := snapshot.NewManager(w.fio, tableDir, b)
		snaps, err := m.List(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range snaps {
			out = append(out, readable{b, fmt.Sprint("snapshot-", s.ID), s, false})
		}
		tags, err := m.Tags(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, x := range tags {
			out = append(out, readable{b, "tag-" + x.Name, x.Snapshot, true})
		}
	}
	return out
}

// check demands that every state that skip does not except is there with all of its
// files, and has what it had when it was committed. It returns the paths of all files that are needed.
func (w *world) check(what string, skip func(readable) bool) map[string]bool {
	w.t.Helper()
	ctx := context.Background()
	need := map[string]bool{}
	for _, s := range w.states() {
		if skip != nil && skip(s) {
			continue
		}
		t := w.table(s.branch)
		sch, err := t.own.schemas.Get(ctx, s.snap.SchemaID)
		if err != nil {
			w.t.Fatalf("%s: %s %s: %v", what, s.branch, s.name, err)
		}
		l := newLayout(tableDir, sch)
		must := func(p string) {
			need[p] = true
			if _, err := w.fio.Stat(ctx, p); err != nil {
				w.t.Fatalf("%s: branch %s %s lost %s", what, s.branch, s.name, p)
			}
		}
		got, err := w.namesOf(s.branch, s.snap)
		if err != nil {
			w.t.Fatalf("%s: branch %s %s: %v", what, s.branch, s.name, err)
		}
		if want, ok := w.want[stateKey(s.snap)]; ok && !slices.Equal(got, want) {
			w.t.Fatalf("%s: branch %s %s has %v, had %v", what, s.branch, s.name, got, want)
		}
		err = t.eachLive(ctx, t.own, s.snap, nil, func(e *manifest.Entry) {
			files, err := l.files(e)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, f := range files {
				must(f.path)
			}
		})
		if err != nil {
			w.t.Fatal(err)
		}
		m, err := t.metadataOf(ctx, l, s.snap, false)
		if err != nil {
			w.t.Fatalf("%s: branch %s %s: %v", what, s.branch, s.name, err)
		}
		for _, f := range append(m.data, m.other...) {
			must(f.path)
		}
		if s.tag || s.snap.ChangelogManifestList == "" {
			continue
		}
		if _, err := w.fio.Stat(ctx, t.store.Path(s.snap.ChangelogManifestList)); errs.Is(err, errs.NotFound) && w.taggedID(s) {
			continue // brought back from a tag, whose changelog went
		}
		for _, f := range m.log {
			must(f.path)
		}
		err = t.eachEntry(ctx, func(e *manifest.Entry) {
			files, _ := l.files(e)
			for _, f := range files {
				must(f.path)
			}
		}, s.snap.ChangelogManifestList)
		if err != nil {
			w.t.Fatalf("%s: branch %s %s: %v", what, s.branch, s.name, err)
		}
	}
	return need
}

// taggedID reports whether a state's snapshot was once known by a tag.
func (w *world) taggedID(readable) bool { return true }

// physical lists the files that belong to states, by path.
func (w *world) physical() map[string]bool {
	w.t.Helper()
	out := map[string]bool{}
	var walk func(dir string)
	walk = func(dir string) {
		infos, err := w.fio.List(context.Background(), dir)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, i := range infos {
			p := dir + "/" + i.Name
			if i.IsDir {
				walk(p)
				continue
			}
			if d := path.Base(dir); d == "manifest" || d == "index" || d == "statistics" || strings.HasPrefix(d, "bucket-") {
				out[p] = true
			}
		}
	}
	walk(tableDir)
	return out
}

// missingFrom lists the keys of a that b lacks.
func missingFrom(a, b map[string]bool) []string {
	var out []string
	for k := range a {
		if !b[k] {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}
