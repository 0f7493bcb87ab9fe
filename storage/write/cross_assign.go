package write

import (
	"context"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/schema"
)

// MaxCrossPartitionKeys bounds the keys of a table whose rows move between
// partitions: a writer holds the place of every key in memory.
const MaxCrossPartitionKeys = 50_000_000

// place is where a key's row is.
type place struct {
	part   *partition
	bucket int32
}

// keyAssigner assigns buckets of tables whose primary key does not contain all
// partition columns (section 6.5): a row follows its key's old one, or the old one is deleted.
type keyAssigner struct {
	w     *Writer
	state map[*partition]*partitionState
	keys  map[string]place
	// counts are the rows of each partition's buckets.
	counts map[*partition]*hashPartition
	pk     []int
	types  []*schema.Type
	cols   []*column.Vector
	buf    []byte
	engine lsm.EngineKind
}

func newKeyAssigner(w *Writer, state map[*partition]*partitionState) *keyAssigner {
	a := &keyAssigner{w: w, state: state, keys: map[string]place{}, counts: map[*partition]*hashPartition{}, engine: w.engine.Kind()}
	for _, k := range w.schema.PrimaryKeys {
		a.pk = append(a.pk, w.schema.Index(k))
		a.types = append(a.types, w.fields[w.schema.Index(k)].Type)
	}
	return a
}

func (a *keyAssigner) countsOf(p *partition) *hashPartition {
	c := a.counts[p]
	if c == nil {
		c = &hashPartition{rows: map[int]int64{}}
		a.counts[p] = c
	}
	return c
}

// bootstrap reads where all keys are. Partitions that get no row of their own may get deletes.
func (a *keyAssigner) bootstrap(ctx context.Context, st State) error {
	if st.Keys == nil {
		return errs.Invalidf("table %s: the keys of the table are needed to write it", a.w.t.Label)
	}
	err := st.Keys(ctx, func(part []column.Scalar, bucket int, b *column.Batch) error {
		p, err := a.w.router.byValues(part)
		if err != nil {
			return err
		}
		c := a.countsOf(p)
		if _, ok := c.rows[bucket]; !ok {
			c.rows[bucket] = 0
			c.ids = append(c.ids, bucket)
		}
		c.rows[bucket] += int64(b.Rows())
		for k := range b.Rows() {
			a.buf = binrow.AppendRowOf(a.buf[:0], a.types, b.Cols, b.Row(k))
			a.keys[string(a.buf)] = place{p, int32(bucket)}
		}
		if len(a.keys) > MaxCrossPartitionKeys {
			return errs.Limitf("table %s has more than %d keys: its rows may move between partitions, and a writer must hold the place of every key; put the partition columns into the primary key",
				a.w.t.Label, MaxCrossPartitionKeys)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Sequence numbers of the partitions that were not asked for before.
	state, err := a.w.readState(ctx, st)
	for p, s := range state {
		a.state[p] = s
	}
	return err
}

// rows assigns the rows of a batch, in order; partOf is set.
func (a *keyAssigner) rows(ctx context.Context, rows Rows) error {
	w := a.w
	a.cols = a.cols[:0]
	for _, c := range a.pk {
		a.cols = append(a.cols, rows.Cols[c])
	}
	out := newRowBuffer(w.fields)
	defer out.release()
	var kinds []int32
	var parts []uint32
	var buckets []int32
	// one keeps row i, as a row of partition p.
	one := func(i int, p *partition, bucket, kind int32) {
		out.add(w.inPartition(rows, i, p), []uint16{uint16(i)}, rows.N)
		kinds, parts, buckets = append(kinds, kind), append(parts, w.router.number[p]), append(buckets, bucket)
	}
	each(rows.Sel, rows.N, func(i int) {
		kind := lsm.Insert
		if rows.Kinds != nil {
			kind = rows.Kinds[i]
		}
		p := w.router.all[w.partOf[i]]
		a.buf = binrow.AppendRowOf(a.buf[:0], a.types, a.cols, i)
		old, ok := a.keys[string(a.buf)]
		switch {
		case ok && old.part == p:
			one(i, p, old.bucket, kind)
			return
		case ok && a.engine == lsm.FirstRow:
			return
		case ok && a.engine != lsm.Deduplicate:
			one(i, old.part, old.bucket, kind)
			return
		case ok:
			one(i, old.part, old.bucket, lsm.Delete)
			if lsm.IsRetract(kind) {
				return // the row is gone where it was
			}
			a.countsOf(old.part).rows[int(old.bucket)]--
		}
		c := a.countsOf(p)
		bucket := c.bucket(w.opts.dynamicRows, w.opts.maxBuckets)
		c.rows[bucket]++
		a.keys[string(a.buf)] = place{p, int32(bucket)}
		one(i, p, int32(bucket), kind)
	})
	cols := out.vectors()
	for from := 0; from < out.n; from += column.MaxRows {
		to := min(out.n, from+column.MaxRows)
		part := Rows{N: to - from, Kinds: kinds[from:to]}
		for _, c := range cols {
			part.Cols = append(part.Cols, column.Slice(c, from, to))
		}
		copy(w.partOf, parts[from:to])
		copy(w.bucketOf, buckets[from:to])
		if err := w.place(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// inPartition returns the columns of the rows with the partition's values in row i.
func (w *Writer) inPartition(rows Rows, i int, p *partition) []*column.Vector {
	if w.router.all[w.partOf[i]] == p {
		return rows.Cols
	}
	cols := append([]*column.Vector(nil), rows.Cols...)
	for k, c := range w.router.cols {
		cols[c] = column.NewConst(column.FromScalar(p.values[k]), rows.N)
	}
	return cols
}
