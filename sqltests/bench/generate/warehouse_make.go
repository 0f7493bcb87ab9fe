package generate

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/binrow"
)

const (
	// layoutVersion goes up with every change of what is written: an older cache is made anew.
	layoutVersion = 1
	seed          = 19920101
	// Database is the database of the tables.
	Database = database
	// baseFiles is how many files the rows are cut into.
	baseFiles = 8
	// buckets of the primary-key tables.
	buckets   = 4
	baseLevel = 5
	// updateOneIn: a delta updates one row in so many.
	updateOneIn = 100
	// upperLevel holds the new versions of the rows that deletion vectors delete.
	upperLevel = 4
	doneFile   = "complete.json"
)

// The tables.
const (
	// Append is a table without a key.
	Append = "lineitem_append"
	// Vectors has a key; updated rows are in level 4, their old versions deleted by vectors.
	Vectors = "lineitem_vectors"
	// Merge has a key and is merged while it is read: level 5 and two files of updates per bucket in level 0.
	Merge = "lineitem_merge"
)

// Table describes a written table.
type Table struct {
	Name string
	// Base are the paths of the Parquet files with the first version of every row.
	Base []string
	// Expected are the answers of the table, BaseExpected those of the base files.
	Expected, BaseExpected *Expected
}

// Warehouse describes what Make has written.
type Warehouse struct {
	// Dir is the warehouse's folder.
	Dir    string
	Rows   int64
	Seed   uint64
	Layout int
	Tables []Table
}

// Make writes the warehouse below dir, or finds it there complete. progress gets
// one line per step.
func Make(ctx context.Context, dir string, rows int64, workers int, progress func(string)) (*Warehouse, error) {
	if rows < 1 {
		return nil, fmt.Errorf("a warehouse needs at least one row, not %d", rows)
	}
	done := filepath.Join(dir, doneFile)
	if b, err := os.ReadFile(done); err == nil {
		w := &Warehouse{}
		if json.Unmarshal(b, w) == nil && w.Layout == layoutVersion && w.Seed == seed && w.Rows == rows && w.Dir == filepath.Join(dir, "warehouse") {
			return w, nil
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	w := &Warehouse{Dir: filepath.Join(dir, "warehouse"), Rows: rows, Seed: seed, Layout: layoutVersion}
	s := newSource(rows, seed)
	progress(fmt.Sprintf("writing %s (%d rows)", Append, rows))
	appended, err := s.makeAppend(ctx, filepath.Join(w.Dir, database+".db", Append), workers)
	if err != nil {
		return nil, err
	}
	progress(fmt.Sprintf("writing %s and %s (%d rows each)", Vectors, Merge, rows))
	keyed, err := s.makeKeyed(ctx, filepath.Join(w.Dir, database+".db"), workers)
	if err != nil {
		return nil, err
	}
	w.Tables = append([]Table{*appended}, keyed...)
	b, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return nil, err
	}
	return w, os.WriteFile(done, b, 0o666)
}

func (s *source) makeAppend(ctx context.Context, dir string, workers int) (*Table, error) {
	t, err := createTable(dir, false, -1, mix(s.seed, 10), map[string]string{"bucket": "-1"})
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "bucket-0")
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	files := int(min(baseFiles, s.rows))
	entries, tallies := make([]entry, files), make([]*tally, files)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range files {
		g.Go(func() error {
			name := fmt.Sprintf("data-%s-0.parquet", uuid(t.seed, 4, uint64(i)))
			f, err := createFile(filepath.Join(out, name), fileMeta{name: name}, false)
			if err != nil {
				return err
			}
			var l Line
			tallies[i] = &tally{}
			n := int64(0)
			err = s.each(s.rows*int64(i)/int64(files), s.rows*int64(i+1)/int64(files), func(order int64, line int32) error {
				if n%chunkRows == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				s.line(&l, order, line, 0)
				tallies[i].add(&l)
				n++
				return f.add(&l, n-1)
			})
			meta, e := f.close()
			entries[i] = entry{0, meta}
			if err == nil {
				err = e
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := t.commit("APPEND", entries, nil); err != nil {
		return nil, err
	}
	answers := total(tallies)
	made := &Table{Name: Append, Expected: answers, BaseExpected: answers}
	for _, e := range entries {
		made.Base = append(made.Base, filepath.Join(out, e.file.name))
	}
	return made, nil
}

// bucketOf is the bucket of a key (BinaryRow of BIGINT and INT, murmur).
func bucketOf(order int64, line int32) int {
	var row [24]byte
	binary.LittleEndian.PutUint64(row[8:], uint64(order))
	binary.LittleEndian.PutUint32(row[16:], uint32(line))
	return binrow.DefaultBucket(binrow.Murmur(row[:]), buckets)
}

// lineKey names a row.
type lineKey struct {
	order int64
	line  int32
}

// bucketFiles is what one bucket of the keyed tables has.
type bucketFiles struct {
	base    []fileMeta
	deleted []deleted
	// updates are the rows of a delta, as a file in level 0.
	updates [2]fileMeta
	// first, upper and merged are the answers of the base alone, with one delta and with both.
	first, upper, merged tally
}

// makeKeyed writes the two tables with a key. Their common files are links to one.
func (s *source) makeKeyed(ctx context.Context, db string, workers int) ([]Table, error) {
	options := map[string]string{"bucket": fmt.Sprint(buckets)}
	merge, err := createTable(filepath.Join(db, Merge), true, buckets, mix(s.seed, 11), options)
	if err != nil {
		return nil, err
	}
	vectors, err := createTable(filepath.Join(db, Vectors), true, buckets, mix(s.seed, 12),
		map[string]string{"bucket": fmt.Sprint(buckets), "deletion-vectors.enabled": "true"})
	if err != nil {
		return nil, err
	}
	all := make([]bucketFiles, buckets)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for b := range all {
		g.Go(func() error { return s.makeBucket(ctx, merge.dir, vectors.dir, b, &all[b]) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var base, upper []entry
	var deltas [2][]entry
	indexes := []vectorFile{}
	var first, afterOne, afterBoth []*tally
	tables := []Table{{Name: Vectors}, {Name: Merge}}
	for b := range all {
		f := &all[b]
		first, afterOne, afterBoth = append(first, &f.first), append(afterOne, &f.upper), append(afterBoth, &f.merged)
		for _, m := range f.base {
			base = append(base, entry{b, m})
			for i, t := range []*table{vectors, merge} {
				tables[i].Base = append(tables[i].Base, filepath.Join(t.dir, bucketDir(b), m.name))
			}
		}
		for d, m := range f.updates {
			if m.rows == 0 {
				continue
			}
			deltas[d] = append(deltas[d], entry{b, m})
			if d == 0 {
				m.level, m.compacted = upperLevel, true
				upper = append(upper, entry{b, m})
			}
		}
		if len(f.deleted) > 0 {
			v, err := vectors.writeVectors(b, f.deleted)
			if err != nil {
				return nil, err
			}
			indexes = append(indexes, v)
		}
	}
	if err := merge.commit("COMPACT", base, nil); err != nil {
		return nil, err
	}
	if err := vectors.commit("COMPACT", base, nil); err != nil {
		return nil, err
	}
	for _, d := range deltas {
		if len(d) > 0 {
			if err := merge.commit("APPEND", d, nil); err != nil {
				return nil, err
			}
		}
	}
	if len(upper) > 0 {
		if err := vectors.commit("COMPACT", upper, indexes); err != nil {
			return nil, err
		}
	}
	tables[0].Expected, tables[1].Expected = total(afterOne), total(afterBoth)
	tables[0].BaseExpected = total(first)
	tables[1].BaseExpected = tables[0].BaseExpected
	return tables, nil
}

func bucketDir(b int) string { return fmt.Sprintf("bucket-%d", b) }

// makeBucket writes the files of one bucket into the merge table and links
// those that the vectors table has too.
func (s *source) makeBucket(ctx context.Context, merge, vectors string, b int, out *bucketFiles) error {
	here, there := filepath.Join(merge, bucketDir(b)), filepath.Join(vectors, bucketDir(b))
	for _, d := range []string{here, there} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return err
		}
	}
	number := 0
	create := func(level int) (*dataFile, error) {
		name := fmt.Sprintf("data-%s-%d.parquet", uuid(s.seed, 13, uint64(b)), number)
		number++
		return createFile(filepath.Join(here, name), fileMeta{name: name, level: level, compacted: level > 0}, true)
	}
	closeFile := func(f *dataFile) (fileMeta, error) {
		m, err := f.close()
		if err == nil {
			err = os.Link(filepath.Join(here, m.name), filepath.Join(there, m.name))
		}
		return m, err
	}
	// A little more than an equal share, as buckets are not quite equal.
	perFile := s.rows/baseFiles + s.rows/(8*baseFiles) + 1
	var file *dataFile
	var gone *roaring.Bitmap
	var l Line
	var updates [2][]lineKey
	var seq int64
	finish := func() error {
		if file == nil {
			return nil
		}
		m, err := closeFile(file)
		if err != nil {
			return err
		}
		out.base = append(out.base, m)
		if !gone.IsEmpty() {
			out.deleted = append(out.deleted, deleted{m.name, gone})
		}
		file = nil
		return nil
	}
	err := s.each(0, s.rows, func(order int64, line int32) error {
		if bucketOf(order, line) != b {
			return nil
		}
		if seq%chunkRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if file != nil && file.meta.rows == perFile {
			if err := finish(); err != nil {
				return err
			}
		}
		if file == nil {
			var err error
			if file, err = create(baseLevel); err != nil {
				return err
			}
			gone = roaring.New()
		}
		s.line(&l, order, line, 0)
		if err := file.add(&l, seq); err != nil {
			return err
		}
		seq++
		out.first.add(&l)
		one, two := s.updated(order, line, 1), s.updated(order, line, 2)
		if one {
			gone.Add(uint32(file.meta.rows - 1))
			updates[0] = append(updates[0], lineKey{order, line})
			s.line(&l, order, line, 1)
		}
		out.upper.add(&l)
		if two {
			updates[1] = append(updates[1], lineKey{order, line})
			s.line(&l, order, line, 2)
		}
		out.merged.add(&l)
		return nil
	})
	if e := finish(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	for d := range updates {
		if len(updates[d]) == 0 {
			continue
		}
		f, err := create(0)
		if err != nil {
			return err
		}
		for _, k := range updates[d] {
			s.line(&l, k.order, k.line, d+1)
			if err = f.add(&l, seq); err != nil {
				break
			}
			seq++
		}
		m, e := f.close()
		if err == nil {
			err = e
		}
		if err == nil && d == 0 {
			err = os.Link(filepath.Join(here, m.name), filepath.Join(there, m.name))
		}
		if err != nil {
			return err
		}
		out.updates[d] = m
	}
	return nil
}
