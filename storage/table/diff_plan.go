package table

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// diff plans the difference of two full states: by files for append tables,
// by key, bucket for bucket, for primary-key tables (section 6.3 of the SQL surface).
func (p *planner) diff(ctx context.Context, st *State) error {
	req, _, err := p.request(ctx, p.t, nil)
	if err != nil {
		return err
	}
	src := p.t.Source()
	p.inexact = true
	if !p.t.schema.HasPrimaryKey() {
		return p.diffAppend(ctx, st, req)
	}
	// Only conditions on partitions may leave files out: a key must be seen in both states.
	req.Filter = nil
	if part := src.PartitionFilter(p.want.Filter); part != nil {
		req.Partitions = both(req.Partitions, matchPartition(part))
	}
	if req.Levels == nil { // rows that wait for a compaction belong to the states, although a SELECT of one does not show them
		req.Levels = func(int) bool { return true }
	}
	before, err := p.fullState(ctx, st.From, req)
	if err != nil {
		return err
	}
	after, err := p.fullState(ctx, st.Snapshot, req)
	if err != nil {
		return err
	}
	byBucket := func(files []*scan.File) (map[string][]*scan.File, []string) {
		m, order := map[string][]*scan.File{}, []string(nil)
		for _, f := range files {
			k := bucketKey(f)
			if m[k] == nil {
				order = append(order, k)
			}
			m[k] = append(m[k], f)
		}
		return m, order
	}
	old, order := byBucket(before)
	now, order2 := byBucket(after)
	for _, k := range order2 {
		if old[k] == nil {
			order = append(order, k)
		}
	}
	for _, k := range order {
		if sameFiles(old[k], now[k]) {
			continue
		}
		files := slices.Concat(old[k], now[k])
		for _, f := range files {
			if f.TotalBuckets != files[0].TotalBuckets {
				return errs.Unsupportedf("table %s: the number of buckets of a partition changed between the snapshots (%d, %d); their difference cannot be told", p.t.Label(), files[0].TotalBuckets, f.TotalBuckets)
			}
		}
		p.plan.Morsels = append(p.plan.Morsels, &diffMorsel{p: p, src: src, before: old[k], after: now[k]})
	}
	p.note(p.t, st, scan.Counts{Files: len(before) + len(after)}, false)
	return nil
}

func bucketKey(f *scan.File) string { return f.PartitionID + "/" + strconv.Itoa(f.Bucket) }

func sameFiles(a, b []*scan.File) bool {
	if len(a) != len(b) {
		return false
	}
	names := map[string]int{}
	for _, f := range a {
		names[f.Meta.Name] = f.Meta.Level + 1
	}
	for _, f := range b {
		if names[f.Meta.Name] != f.Meta.Level+1 || f.Vector != nil {
			return false
		}
	}
	return true
}

func (p *planner) fullState(ctx context.Context, snap *snapshot.Snapshot, req scan.Request) ([]*scan.File, error) {
	return p.t.Source().VisibleFiles(ctx, snap, req)
}

// diffAppend reads the files that only the later state has.
func (p *planner) diffAppend(ctx context.Context, st *State, req scan.Request) error {
	src := p.t.Source()
	before, _, err := src.LiveFiles(ctx, st.From, scan.Request{})
	if err != nil {
		return err
	}
	old := map[string]bool{}
	for _, f := range before {
		old[f.Meta.Name] = true
	}
	plan, err := src.Plan(ctx, st.Snapshot, req)
	if err != nil {
		return err
	}
	for _, s := range plan.Splits {
		s.Files = slices.DeleteFunc(s.Files, func(f *scan.File) bool { return old[f.Meta.Name] })
		if len(s.Files) > 0 {
			p.splits = append(p.splits, s)
		}
	}
	p.note(p.t, st, plan.Counts, false)
	return nil
}

// diffMorsel compares the two states of a bucket.
type diffMorsel struct {
	p             *planner
	src           *scan.Source
	before, after []*scan.File
}

// Weight is the number of physical rows of both states.
func (m *diffMorsel) Weight() int64 {
	var n int64
	for _, f := range slices.Concat(m.before, m.after) {
		n += f.Meta.RowCount
	}
	return n
}

// Open starts comparing. All columns are compared, whatever the request shows.
func (m *diffMorsel) Open(ctx context.Context) (relation.Reader, error) {
	all := make([]int, len(m.src.Schema.Fields))
	for i := range all {
		all[i] = i
	}
	open := func(files []*scan.File, deletes bool) (*rowCursor, error) {
		w := read.Want{Columns: all, Kind: true, Sequence: m.p.want.Sequence}
		c := &rowCursor{}
		for _, s := range m.src.MergeSplits(files, partitionOfFiles(files)) {
			r, err := m.p.handles.OpenMerge(ctx, s, w, read.MergeOptions{KeepDeletes: deletes})
			if err != nil {
				return nil, errors.Join(err, c.Close())
			}
			c.readers = append(c.readers, r)
		}
		return c, nil
	}
	before, err := open(m.before, true)
	if err != nil {
		return nil, err
	}
	after, err := open(m.after, true)
	if err != nil {
		return nil, errors.Join(err, before.Close())
	}
	d := &diffReader{m: m, before: before, after: after}
	for _, k := range m.src.Schema.TrimmedKeyFields() {
		d.keys = append(d.keys, m.src.Schema.Index(k.Name))
	}
	return d, nil
}

func partitionOfFiles(files []*scan.File) []column.Scalar {
	if len(files) == 0 {
		return nil
	}
	return files[0].Partition
}

// rowCursor steps through the rows of readers in order.
type rowCursor struct {
	readers []relation.Reader
	b       *column.Batch
	k       int
}

// next moves to the next row; false at the end.
func (c *rowCursor) next(ctx context.Context) (bool, error) {
	c.k++
	for c.b == nil || c.k >= c.b.Rows() {
		if len(c.readers) == 0 {
			c.b = nil
			return false, nil
		}
		b, err := c.readers[0].Next(ctx)
		if errors.Is(err, io.EOF) {
			if err := c.readers[0].Close(); err != nil {
				return false, err
			}
			c.readers, c.b = c.readers[1:], nil
			continue
		}
		if err != nil {
			return false, err
		}
		c.b, c.k = b, 0
	}
	return true, nil
}

func (c *rowCursor) Close() error {
	var err error
	for _, r := range c.readers {
		err = errors.Join(err, r.Close())
	}
	c.readers = nil
	return err
}

func (c *rowCursor) row() int { return c.b.Row(c.k) }

// diffReader yields keys whose last record differs between the states: as that
// of the later state, a retract where it holds one, else -D with the row of the earlier state
// (org.apache.paimon.mergetree's DiffReader).
type diffReader struct {
	m             *diffMorsel
	before, after *rowCursor
	keys          []int
	started       bool
	moreB, moreA  bool
}

func (d *diffReader) Next(ctx context.Context) (*column.Batch, error) {
	var err error
	if !d.started {
		d.started = true
		if d.moreB, err = d.before.next(ctx); err != nil {
			return nil, err
		}
		if d.moreA, err = d.after.next(ctx); err != nil {
			return nil, err
		}
	}
	w := d.m.p.want
	fields := d.m.src.Schema.Fields
	kindAt := len(fields)
	var out []*column.Builder
	n := 0
	emit := func(c *rowCursor, kind int32) {
		if lsm.IsRetract(kind) && !w.Kind {
			return
		}
		if out == nil {
			for _, col := range w.Columns {
				out = append(out, column.NewBuilderLike(c.b.Cols[col]))
			}
			if w.Kind {
				out = append(out, column.NewBuilder(column.KindInt32))
			}
			if w.Sequence {
				out = append(out, column.NewBuilder(column.KindInt64))
			}
		}
		i := c.row()
		for k, col := range w.Columns {
			out[k].Append(c.b.Cols[col], i)
		}
		at := len(w.Columns)
		if w.Kind {
			out[at].AppendInt(int64(kind))
			at++
		}
		if w.Sequence {
			out[at].Append(c.b.Cols[kindAt+1], i)
		}
		n++
	}
	for n < column.MaxRows && (d.moreB || d.moreA) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := 0
		switch {
		case !d.moreA:
			c = -1
		case !d.moreB:
			c = 1
		default:
			c = d.compareKeys()
		}
		switch {
		case c < 0:
			// A retract that a compaction has dropped since is no change.
			if !lsm.IsRetract(kindOf(d.before, kindAt)) {
				emit(d.before, lsm.Delete)
			}
		case c > 0 || !d.equalRows() || lsm.IsRetract(kindOf(d.before, kindAt)) != lsm.IsRetract(kindOf(d.after, kindAt)):
			emit(d.after, kindOf(d.after, kindAt))
		}
		if c <= 0 {
			if d.moreB, err = d.before.next(ctx); err != nil {
				return nil, err
			}
		}
		if c >= 0 {
			if d.moreA, err = d.after.next(ctx); err != nil {
				return nil, err
			}
		}
	}
	if n == 0 {
		return nil, io.EOF
	}
	b := &column.Batch{N: n}
	for _, x := range out {
		b.Cols = append(b.Cols, x.Finish())
	}
	return b, nil
}

func kindOf(c *rowCursor, col int) int32 { return int32(c.b.Cols[col].Int(c.row())) }

func (d *diffReader) compareKeys() int {
	for _, k := range d.keys {
		if c := column.CompareRows(d.before.b.Cols[k], d.before.row(), d.after.b.Cols[k], d.after.row()); c != 0 {
			return c
		}
	}
	return 0
}

func (d *diffReader) equalRows() bool {
	i, j := d.before.row(), d.after.row()
	for c := range d.m.src.Schema.Fields {
		if !column.EqualRows(d.before.b.Cols[c], i, d.after.b.Cols[c], j) {
			return false
		}
	}
	return true
}

func (d *diffReader) Close() error { return errors.Join(d.before.Close(), d.after.Close()) }
