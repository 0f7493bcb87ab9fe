package write

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/index/fileindex"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// abortTimeout bounds the removal of files of a writer that is given up, also
// where the statement's context has ended.
const abortTimeout = 30 * time.Second

// Target is the branch of a table that is written.
type Target struct {
	FIO fileio.FileIO
	// Dir is the table's directory, Label its name in messages.
	Dir, Label string
	// Schema has the columns and the options in force.
	Schema *schema.TableSchema
	// Clock tells the time, in the zone whose wall clock files record. Rand makes file names.
	Clock func() time.Time
	Rand  io.Reader
	// User is the commit user: part of the names of postponed files.
	User string
	// TempDir is the local directory of rows that do not fit in memory; "" = the system's.
	TempDir string
	// LastPostponed is the creation time of the newest postponed file of this branch, in milliseconds: such files
	// are replayed in the order of these times, which therefore never repeat. nil = there is no other writer.
	LastPostponed *atomic.Int64
	// Parallelism is how many files are written at a time; 0 = 1.
	Parallelism int
}

// Options say how a Writer's rows go into the table.
type Options struct {
	// Overwrite says that the partitions of the rows are replaced: numbers
	// start anew, and nothing that is there counts.
	Overwrite bool
	// Rewrite says that the rows are the table's already: only LevelFiles are written.
	Rewrite bool
	// Replay says that the rows come from the table's postpone bucket: they go to real buckets, whose number a
	// new partition gets by the rows that wait for it.
	Replay bool
}

// Writer turns rows into data files. It is for one goroutine; Prepare uses several.
type Writer struct {
	t         Target
	schema    *schema.TableSchema
	fields    []schema.Field
	opts      *tableOptions
	overwrite bool
	replay    bool

	// keys are the columns of the trimmed primary key.
	keys      []int
	keyFields []schema.Field
	keyTypes  []*schema.Type
	engine    *lsm.Engine
	// rowTracking says that the commit gives rows their ids.
	rowTracking bool
	indexes     []fileindex.Spec

	layout   *layout
	router   *router
	bucketer *binrow.Bucketer
	hashCols []int
	partOf   []uint32
	bucketOf []int32

	slots  []*slot
	buf    *slotBuffer
	going  *spilling
	log    *rowLog
	direct bool
	rows   int64

	filesMu sync.Mutex
	files   []string
	spills  []*spillFile
}

// slot is a bucket of a partition that gets rows.
type slot struct {
	id     uint32
	part   *partition
	bucket int
	dir    string
	names  nameSource
	// sel are rows of the present batch.
	sel []uint16
	// next is the number of the next row of a primary-key table, counted from 0;
	// base is added when the bucket's greatest sequence number is known.
	next, base int64
	// roll writes the files of an append table.
	roll *roller
	// runs and changes are spilled rows: sorted and merged, or in the order of an
	// append table; and unmerged ones for changelog files.
	runs, changes []spillSegment
	// buckets is recorded as _TOTAL_BUCKETS.
	buckets          int
	files, changelog []*manifest.DataFile
	index            []manifest.IndexEntry
	// there are the bucket's files before.
	there fill
}

// maxOpenFiles is the number of buckets up to which rows of append tables go into files at once.
const maxOpenFiles = 16

// New returns a writer. Tables that cannot be written correctly are refused.
func New(t Target, o Options) (*Writer, error) {
	s := t.Schema
	if err := CheckWritable(t.Label, s); err != nil {
		return nil, err
	}
	opts, err := readOptions(s, scan.TopLevel(s))
	if err == nil {
		_, _, err = s.RecordExpiry()
	}
	if err != nil {
		return nil, errs.New(errs.ClassOf(err), "table %s: %w", t.Label, err)
	}
	if o.Replay {
		opts.replay()
	}
	t.Parallelism = max(t.Parallelism, 1)
	w := &Writer{t: t, schema: s, fields: s.Fields, opts: opts, overwrite: o.Overwrite, replay: o.Replay, layout: newLayout(&t, opts)}
	w.router = newRouter(s, w.layout)
	w.rowTracking = schema.OptRowTracking.Value(s.Options)
	if s.HasPrimaryKey() {
		w.keyFields = s.TrimmedKeyFields()
		w.keyTypes = schema.Types(w.keyFields)
		for _, f := range w.keyFields {
			w.keys = append(w.keys, s.Index(f.Name))
		}
		if w.engine, err = NewEngine(s); err != nil {
			return nil, errs.New(errs.ClassOf(err), "table %s: %w", t.Label, err)
		}
	}
	if err := w.setBuckets(); err != nil {
		return nil, err
	}
	if err := w.readIndexes(); err != nil {
		return nil, err
	}
	w.direct = !w.deferred() && (!s.HasPrimaryKey() || opts.postponed)
	return w, nil
}

// setBuckets prepares the computation of fixed buckets.
func (w *Writer) setBuckets() error {
	s := w.schema
	fixed := w.opts.mode == schema.HashFixed || w.opts.mode == schema.Postpone && !w.opts.postponed
	if !fixed {
		return nil
	}
	names := s.BucketKeys()
	if len(names) == 0 {
		return errs.Invalidf("table %s has 'bucket' = '%d' and no primary key: set option 'bucket-key'", w.t.Label, w.opts.buckets)
	}
	for _, n := range names {
		i := s.Index(n)
		if i < 0 {
			return errs.Invalidf("table %s: option 'bucket-key' names '%s', which is no column", w.t.Label, n)
		}
		w.hashCols = append(w.hashCols, i)
	}
	var err error
	w.bucketer, err = w.newBucketer(w.opts.buckets)
	return err
}

func (w *Writer) newBucketer(n int) (*binrow.Bucketer, error) {
	var types []*schema.Type
	for _, i := range w.hashCols {
		types = append(types, w.fields[i].Type)
	}
	b, err := binrow.NewBucketer(w.opts.function, types, n)
	if err != nil {
		return nil, errs.New(errs.ClassOf(err), "table %s: %w", w.t.Label, err)
	}
	return b, nil
}

// deferred reports whether the buckets of rows depend on the table's state, and
// are found in Prepare.
func (w *Writer) deferred() bool {
	switch w.opts.mode {
	case schema.HashDynamic, schema.KeyDynamic:
		return true
	case schema.Postpone:
		return !w.opts.postponed
	}
	return false
}

// Rows is the number of rows written so far.
func (w *Writer) Rows() int64 { return w.rows }

// Write takes checked rows.
func (w *Writer) Write(ctx context.Context, rows Rows) error {
	n := rows.Count()
	if n == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.rows += int64(n)
	if w.oneSlot() {
		s, err := w.onlySlot()
		if err != nil {
			return err
		}
		return w.placeIn(ctx, s, rows)
	}
	if w.partOf == nil {
		w.partOf, w.bucketOf = make([]uint32, column.MaxRows), make([]int32, column.MaxRows)
	}
	if err := w.router.route(&rows, w.partOf); err != nil {
		return err
	}
	if w.deferred() {
		if w.log == nil {
			w.log = newRowLog(w)
		}
		return w.log.add(rows)
	}
	if err := w.fixedBuckets(&rows, w.bucketer); err != nil {
		return err
	}
	return w.place(ctx, rows)
}

// oneSlot reports whether all rows go to the same bucket.
func (w *Writer) oneSlot() bool {
	return w.bucketer == nil && !w.deferred() && !w.schema.Partitioned()
}

// onlySlot is the bucket of all rows.
func (w *Writer) onlySlot() (*slot, error) {
	if len(w.slots) > 0 {
		return w.slots[0], nil
	}
	p, err := w.router.byValues(nil)
	if err != nil {
		return nil, err
	}
	return w.slotOf(p, w.onlyBucket())
}

// placeIn hands rows to a slot, which gets all of them.
func (w *Writer) placeIn(ctx context.Context, s *slot, rows Rows) error {
	if w.direct {
		return w.writeDirect(ctx, s, rows, rows.Sel)
	}
	if w.buf == nil {
		w.buf = newSlotBuffer(w, w.schema.HasPrimaryKey())
	}
	w.buf.add(s, rows, rows.Sel)
	return w.spillFull(ctx)
}

// onlyBucket is the bucket of rows that have no other by their values.
func (w *Writer) onlyBucket() int {
	if w.opts.postponed {
		return schema.PostponeBucket
	}
	return 0
}

// fixedBuckets sets bucketOf.
func (w *Writer) fixedBuckets(rows *Rows, b *binrow.Bucketer) error {
	if b == nil {
		bucket := int32(w.onlyBucket())
		each(rows.Sel, rows.N, func(i int) { w.bucketOf[i] = bucket })
		return nil
	}
	cols := make([]*column.Vector, len(w.hashCols))
	for c, i := range w.hashCols {
		cols[c] = rows.Cols[i]
	}
	return b.Buckets(w.bucketOf, cols, rows.Sel, rows.N)
}

// place hands rows, of which partition and bucket are known, to their slots.
func (w *Writer) place(ctx context.Context, rows Rows) error {
	var touched []*slot
	var last *slot
	lastPart, lastBucket := uint32(0), int32(0)
	var failed error
	each(rows.Sel, rows.N, func(i int) {
		if last == nil || w.partOf[i] != lastPart || w.bucketOf[i] != lastBucket {
			s, err := w.slotOf(w.router.all[w.partOf[i]], int(w.bucketOf[i]))
			if err != nil {
				failed = err
				return
			}
			last, lastPart, lastBucket = s, w.partOf[i], w.bucketOf[i]
			if len(s.sel) == 0 {
				touched = append(touched, s)
			}
		}
		last.sel = append(last.sel, uint16(i))
	})
	defer func() {
		for _, s := range touched {
			s.sel = s.sel[:0]
		}
	}()
	if failed != nil {
		return failed
	}
	if w.direct && len(w.slots) > maxOpenFiles {
		w.direct = false
	}
	if !w.direct && w.buf == nil {
		w.buf = newSlotBuffer(w, w.schema.HasPrimaryKey())
	}
	for _, s := range touched {
		sel := s.sel
		if len(sel) == rows.N {
			sel = nil
		}
		if w.direct {
			if err := w.writeDirect(ctx, s, rows, sel); err != nil {
				return err
			}
			continue
		}
		w.buf.add(s, rows, sel)
	}
	return w.spillFull(ctx)
}

// writeDirect appends rows of an append table, or postponed ones, to the slot's file.
func (w *Writer) writeDirect(ctx context.Context, s *slot, rows Rows, sel []uint16) error {
	if !w.opts.postponed {
		if s.roll == nil {
			s.roll = w.newRoller(s, w.dataSpec(0))
		}
		return s.roll.write(ctx, rows.Cols, sel, rows.N)
	}
	if s.roll == nil {
		s.roll = w.newRoller(s, w.postponeSpec())
	}
	seq, kind := make([]int64, rows.N), make([]int32, rows.N)
	for i := range seq {
		seq[i] = unknownSequence
	}
	if rows.Kinds != nil {
		copy(kind, rows.Kinds)
	}
	return s.roll.write(ctx, w.fileColumns(rows.Cols, seq, kind), sel, rows.N)
}

// unknownSequence is the sequence number of postponed rows.
const unknownSequence = -1

// fileColumns are the columns of a key-value file: keys, unless thin, sequence number, kind, values.
func (w *Writer) fileColumns(values []*column.Vector, seq []int64, kind []int32) []*column.Vector {
	out := make([]*column.Vector, 0, len(w.keys)+2+len(values))
	if !w.opts.thin {
		for _, k := range w.keys {
			out = append(out, values[k])
		}
	}
	n := len(seq)
	out = append(out, &column.Vector{Kind: column.KindInt64, N: n, I64: seq}, &column.Vector{Kind: column.KindInt32, N: n, I32: kind})
	return append(out, values...)
}

// slotOf returns the slot of a partition's bucket.
func (w *Writer) slotOf(p *partition, bucket int) (*slot, error) {
	if s := p.slots[bucket]; s != nil {
		return s, nil
	}
	uuid, err := NewUUID(w.t.Rand)
	if err != nil {
		return nil, err
	}
	s := &slot{id: uint32(len(w.slots)), part: p, bucket: bucket, dir: p.dir + bucketDir(bucket) + "/", names: nameSource{uuid: uuid}}
	switch {
	case bucket == schema.PostponeBucket:
		s.names.middle = "-u-" + w.t.User + "-s-0-w-"
		s.buckets = schema.PostponeBucket
	case w.bucketer != nil:
		s.buckets = w.opts.buckets
	default:
		s.buckets = -1
	}
	p.slots[bucket] = s
	w.slots = append(w.slots, s)
	return s, nil
}

// fileName names the next file of a slot.
func (w *Writer) fileName(s *slot, spec *fileSpec) string {
	return s.names.name(spec.look, w.opts.suffixCodec)
}

// created notes a file that Abort has to remove.
func (w *Writer) created(path string) {
	w.filesMu.Lock()
	defer w.filesMu.Unlock()
	w.files = append(w.files, path)
}

// creationMillis is the wall clock's time, as if it were UTC (section 4.2).
func (w *Writer) creationMillis() int64 {
	t := w.t.Clock()
	now := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC).UnixMilli()
	if !w.opts.postponed || w.t.LastPostponed == nil {
		return now
	}
	for {
		last := w.t.LastPostponed.Load()
		next := max(now, last+1)
		if w.t.LastPostponed.CompareAndSwap(last, next) {
			return next
		}
	}
}

// keyAt is the trimmed primary key of row i of the table's columns.
func (w *Writer) keyAt(values []*column.Vector, i int) []column.Scalar {
	out := make([]column.Scalar, len(w.keys))
	for k, c := range w.keys {
		out[k] = column.ScalarAt(values[c], i)
	}
	return out
}

// newSpill makes a temporary file.
func (w *Writer) newSpill() (*spillFile, error) {
	s, err := newSpillFile(w.t.TempDir)
	if err == nil {
		w.spills = append(w.spills, s)
	}
	return s, err
}

// free gives up memory and temporary files.
func (w *Writer) free() {
	if b, _ := w.spilled(); b != nil {
		b.rows.release()
	}
	for _, s := range w.spills {
		s.close()
	}
	w.spills = nil
	if w.buf != nil {
		w.buf.rows.release()
		w.buf = nil
	}
	if w.log != nil {
		w.log.rows.release()
		w.log = nil
	}
}

// Release frees the memory of a writer whose files were, or may have been, published.
func (w *Writer) Release() { w.free() }

// Abort gives the rows up and removes the files written, before or after
// Prepare; not after the files were published.
func (w *Writer) Abort(ctx context.Context) {
	w.free()
	for _, s := range w.slots {
		if s.roll != nil {
			s.roll.abort()
		}
	}
	w.Discard(ctx)
}

// Discard removes the files written, and keeps the rows for another Prepare.
func (w *Writer) Discard(ctx context.Context) {
	for _, s := range w.slots {
		s.files, s.changelog = nil, nil
	}
	w.DiscardFrom(ctx, 0)
}

// Created is the number of files that were begun so far, for DiscardFrom.
func (w *Writer) Created() int {
	w.filesMu.Lock()
	defer w.filesMu.Unlock()
	return len(w.files)
}

// DiscardFrom removes the files that were begun after the first n, which nothing may name any more.
func (w *Writer) DiscardFrom(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	w.filesMu.Lock()
	files := w.files[n:]
	w.files = w.files[:n:n]
	w.filesMu.Unlock()
	for _, f := range files {
		_ = w.t.FIO.Delete(ctx, f) // what stays is left to the cleaning of orphan files
	}
}
