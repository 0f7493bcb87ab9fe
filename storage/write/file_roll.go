package write

import (
	"context"
	"math"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/index/fileindex"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// fileSpec says what the files of a roller are like.
type fileSpec struct {
	look   fileLook
	level  int
	fields []schema.Field
	// values is the position of the first table column among fields; the
	// columns before are system columns.
	values int
	// keyed files have sequence numbers and kinds at values-2 and values-1.
	keyed bool
	// tracked files have row id and sequence number of each row after the table's columns.
	tracked bool
	modes   []statsMode
	dense   bool
	// noStats keeps no statistics at all.
	noStats bool
	// source is recorded as _FILE_SOURCE.
	source int32
	// rolls says that a new file is begun at the target size.
	rolls bool
	// indexed says that the files get the file indexes that the table's options ask for: all but changelog files.
	indexed bool
	// pageRows is format.WriteOptions.PageRows.
	pageRows int
}

// lookupPageRows is the number of rows of a page where compactions look up what rows were before: each key costs the reading
// of a page of every column.
const lookupPageRows = 4096

// dataSpec is the spec of a table's data files of a level.
func (w *Writer) dataSpec(level int) *fileSpec {
	s := &fileSpec{look: w.opts.look(level), level: level, dense: w.opts.stats.dense, rolls: true, indexed: true, source: manifest.SourceAppend}
	if w.schema.HasPrimaryKey() && schema.NeedsLookup(w.schema.Options) {
		s.pageRows = lookupPageRows
	}
	w.setFields(s, w.opts.stats.modes(w.fields, level, false))
	return s
}

// changelogSpec is the spec of changelog files of changelog-producer input.
func (w *Writer) changelogSpec() *fileSpec {
	s := &fileSpec{look: w.opts.changelog, dense: w.opts.stats.dense, rolls: true, source: manifest.SourceAppend}
	w.setFields(s, w.opts.stats.modes(w.fields, 0, true))
	return s
}

// postponeSpec is the spec of files of the postpone bucket: Avro, without statistics.
func (w *Writer) postponeSpec() *fileSpec {
	s := &fileSpec{look: fileLook{prefix: w.opts.prefix, format: "avro", codec: w.opts.look(0).codec}, dense: w.opts.stats.dense, rolls: true, noStats: true, indexed: true, source: manifest.SourceAppend}
	modes := make([]statsMode, len(w.fields))
	w.setFields(s, modes)
	return s
}

func (w *Writer) setFields(s *fileSpec, modes []statsMode) {
	s.fields, s.modes = w.fields, modes
	if !w.schema.HasPrimaryKey() {
		return
	}
	s.keyed = true
	s.fields = w.schema.KeyValueFields(w.opts.thin)
	s.values = len(s.fields) - len(w.fields)
	if w.opts.thin {
		for _, k := range w.keys {
			s.modes[k] = keyStatsMode
		}
	}
}

// roller writes rows into files of one bucket, beginning a new one at the target size.
type roller struct {
	w    *Writer
	slot *slot
	spec *fileSpec

	cur   format.Writer
	path  string
	meta  *manifest.DataFile
	stats fileStats
	keys  fileStats
	// least and greatest are the first and last key of the file.
	least, greatest []column.Scalar
	deletes         int64
	// index makes the file's indexes; nil = none.
	index *fileindex.Builder
	done  []*manifest.DataFile
	// sequence is the number of the next row of an append file.
	sequence int64
}

func (w *Writer) newRoller(s *slot, spec *fileSpec) *roller {
	return &roller{w: w, slot: s, spec: spec}
}

// open begins a file.
func (r *roller) open(ctx context.Context) error {
	name := r.w.fileName(r.slot, r.spec)
	r.path = r.slot.dir + name
	r.w.created(r.path)
	var err error
	r.cur, err = format.Create(ctx, r.w.t.FIO, r.path, r.spec.look.format, format.WriteOptions{
		Fields: r.spec.fields, Compression: r.spec.look.codec, ZstdLevel: r.w.opts.zstdLevel, BlockSize: r.w.blockSize(r.spec.look.format), PageRows: r.spec.pageRows, Options: r.w.schema.Options,
	})
	if err != nil {
		r.cur = nil
		return err
	}
	if err := r.openIndex(); err != nil {
		r.abort()
		return err
	}
	created, source := r.w.creationMillis(), r.spec.source
	r.meta = &manifest.DataFile{Name: name, SchemaID: r.w.schema.ID, Level: r.spec.level, CreationMillis: &created, Source: &source,
		MinSequence: math.MaxInt64, MaxSequence: math.MinInt64, ExtraFiles: []string{}}
	r.deletes, r.least, r.greatest = 0, nil, nil
	r.stats = newFileStats(r.w.fields, r.spec.modes, r.spec.look.format)
	r.keys = nil
	if r.spec.keyed {
		modes := make([]statsMode, len(r.w.keyFields))
		for i := range modes {
			if !r.spec.noStats {
				modes[i] = keyStatsMode
			}
		}
		r.keys = newFileStats(r.w.keyFields, modes, r.spec.look.format)
	}
	return nil
}

// sharedBlockSize is the size of row groups of tables with several buckets: as
// many as there are open files are in memory at a time.
const sharedBlockSize = 32 << 20

// blockSize is the size of a row group or stripe of a format, 0 = the format's default.
func (w *Writer) blockSize(format string) int64 {
	key := format + ".block.size"
	if format == "orc" {
		key = "orc.stripe.size"
	}
	_, set := w.schema.Options[key]
	if w.opts.blockSize == 0 && !set && (w.schema.Partitioned() || w.opts.buckets > 1) {
		return sharedBlockSize
	}
	return w.opts.blockSize
}

// write appends the rows of cols that count (sel; nil = all n): the spec's fields.
func (r *roller) write(ctx context.Context, cols []*column.Vector, sel []uint16, n int) error {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	for rows > 0 {
		if r.cur == nil {
			if err := r.open(ctx); err != nil {
				return err
			}
		}
		take := rows
		if limit := r.w.opts.targetRows; r.spec.rolls && limit > 0 {
			take = int(min(int64(take), limit-r.meta.RowCount))
		}
		part, partCols, partN := sel, cols, n
		if take < rows {
			part, partCols, partN = splitRows(sel, cols, n, take)
		}
		if err := r.put(ctx, partCols, part, partN, take); err != nil {
			return err
		}
		if take < rows {
			sel, cols, n = dropRows(sel, cols, n, take)
		}
		rows -= take
		if r.full() {
			if err := r.close(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// splitRows returns the first rows, take of them.
func splitRows(sel []uint16, cols []*column.Vector, n, take int) ([]uint16, []*column.Vector, int) {
	if sel != nil {
		return sel[:take], cols, n
	}
	out := make([]*column.Vector, len(cols))
	for i, c := range cols {
		out[i] = column.Slice(c, 0, take)
	}
	return nil, out, take
}

// dropRows returns all but the first rows.
func dropRows(sel []uint16, cols []*column.Vector, n, take int) ([]uint16, []*column.Vector, int) {
	if sel != nil {
		return sel[take:], cols, n
	}
	out := make([]*column.Vector, len(cols))
	for i, c := range cols {
		out[i] = column.Slice(c, take, n)
	}
	return nil, out, n - take
}

func (r *roller) full() bool {
	if !r.spec.rolls {
		return false
	}
	return r.w.opts.targetRows > 0 && r.meta.RowCount >= r.w.opts.targetRows || r.cur.Size() >= r.w.opts.targetSize
}

// put writes rows to the current file.
func (r *roller) put(ctx context.Context, cols []*column.Vector, sel []uint16, n, rows int) error {
	if err := r.cur.Write(ctx, &column.Batch{N: n, Cols: cols, Sel: sel}); err != nil {
		return err
	}
	r.meta.RowCount += int64(rows)
	values := cols[r.spec.values:][:len(r.w.fields)]
	if !r.spec.noStats {
		r.stats.add(values, sel)
	}
	if err := r.addIndex(values, sel, n); err != nil {
		return err
	}
	if r.spec.tracked {
		seq := cols[r.spec.values+len(values)+1].I64
		each(sel, n, func(i int) {
			r.meta.MinSequence, r.meta.MaxSequence = min(r.meta.MinSequence, seq[i]), max(r.meta.MaxSequence, seq[i])
		})
	}
	if !r.spec.keyed {
		return nil
	}
	first, last := 0, n-1
	if sel != nil {
		first, last = int(sel[0]), int(sel[rows-1])
	}
	if r.least == nil {
		r.least = r.w.keyAt(values, first)
	}
	r.greatest = r.w.keyAt(values, last)
	if r.keys != nil {
		keyCols := make([]*column.Vector, len(r.w.keys))
		for i, k := range r.w.keys {
			keyCols[i] = values[k]
		}
		r.keys.add(keyCols, sel)
	}
	seq, kind := cols[r.spec.values-2].I64, cols[r.spec.values-1].I32
	each(sel, n, func(i int) {
		r.meta.MinSequence, r.meta.MaxSequence = min(r.meta.MinSequence, seq[i]), max(r.meta.MaxSequence, seq[i])
		if lsm.IsRetract(kind[i]) {
			r.deletes++
		}
	})
	return nil
}

func each(sel []uint16, n int, f func(i int)) {
	if sel != nil {
		for _, i := range sel {
			f(int(i))
		}
		return
	}
	for i := range n {
		f(i)
	}
}

// close finishes the current file.
func (r *roller) close(ctx context.Context) error {
	size, err := r.cur.Close(ctx)
	if err != nil {
		r.cur.Abort()
		r.cur = nil
		return err
	}
	r.cur = nil
	if err := r.closeIndex(ctx); err != nil {
		return err
	}
	m := r.meta
	m.Size = size
	deletes := r.deletes
	m.DeleteRows = &deletes
	m.KeyStats, m.MinKey, m.MaxKey = emptyStats(), binrow.Empty, binrow.Empty
	m.ValueStats, m.StatsColumns = emptyStats(), []string{}
	if !r.spec.noStats {
		m.ValueStats, m.StatsColumns = r.stats.simple(r.w.fields, r.spec.dense)
	}
	if r.spec.keyed {
		m.MinKey, m.MaxKey = binrow.EncodeRow(r.w.keyTypes, r.least), binrow.EncodeRow(r.w.keyTypes, r.greatest)
		if r.keys != nil {
			m.KeyStats, _ = r.keys.simple(r.w.keyFields, false)
		}
	} else if !r.spec.tracked {
		m.MinSequence, m.MaxSequence = r.sequence, r.sequence+m.RowCount-1
		r.sequence += m.RowCount
		if r.w.rowTracking { // the commit puts the snapshot's id there
			m.MinSequence, m.MaxSequence = 0, 0
		}
	}
	r.done = append(r.done, m)
	return nil
}

// finish closes what is open and returns the files written.
func (r *roller) finish(ctx context.Context) ([]*manifest.DataFile, error) {
	if r.cur != nil {
		if err := r.close(ctx); err != nil {
			return nil, err
		}
	}
	return r.done, nil
}

// abort gives up the file being written. Finished ones are the writer's to remove.
func (r *roller) abort() {
	if r.cur != nil {
		r.cur.Abort()
		r.cur = nil
	}
}

func emptyStats() manifest.SimpleStats {
	return manifest.SimpleStats{Min: binrow.Empty, Max: binrow.Empty, Nulls: []int64{}}
}
