package lsm

import (
	"context"
	"errors"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// cursor walks one run. Rows are counted by k, the number among the rows that
// count; at(k) is the vector index.
type cursor struct {
	run  int
	rd   RunReader
	b    *column.Batch // nil at the end
	n    int
	pos  int
	keys []*column.Vector
	vals []*column.Vector
	// i64 or i32 is the key, where it is one flat integer column without nulls.
	i64 []int64
	i32 []int32
	// seq and kind are indexed by at(k); seq is nil where the layout has none,
	// kind where the batch holds no retract.
	seq  []int64
	kind []int32
	sel  []uint16
	// lost marks the rows (by k) that an unordered merge does not hand on in place.
	lost bitset4k
}

// rec is a record: row k of a cursor's batch.
type rec struct {
	c *cursor
	k int
}

func (c *cursor) at(k int) int {
	if c.sel != nil {
		return int(c.sel[k])
	}
	return k
}

func (r rec) row() int { return r.c.at(r.k) }

func (r rec) kind() int32 {
	if r.c.kind == nil {
		return Insert
	}
	return r.c.kind[r.row()]
}

func (r rec) retract() bool { return r.c.kind != nil && IsRetract(r.c.kind[r.row()]) }

func (r rec) seq() int64 {
	if r.c.seq == nil {
		return 0
	}
	return r.c.seq[r.row()]
}

// load fetches the next batch with rows. The cursor's b is nil at the end of the run.
func (m *merger) load(ctx context.Context, c *cursor) error {
	for {
		b, err := c.rd.Next(ctx)
		if errors.Is(err, io.EOF) {
			c.b, c.n, c.pos = nil, 0, 0
			return nil
		}
		if err != nil {
			return err
		}
		if b.Rows() > 0 {
			return m.take(c, b)
		}
	}
}

// take makes b the cursor's batch.
func (m *merger) take(c *cursor, b *column.Batch) error {
	if len(b.Cols) < m.width {
		return errs.Invalidf("a run's batch has %d columns, its layout needs %d", len(b.Cols), m.width)
	}
	if b.N > column.MaxRows || b.Rows() > column.MaxRows {
		return errs.Invalidf("a run's batch has %d rows, more than %d", b.N, column.MaxRows)
	}
	c.b, c.n, c.pos, c.sel = b, b.Rows(), 0, b.Sel
	c.keys = pick(c.keys, b, m.layout.Keys)
	c.vals = pick(c.vals, b, m.layout.Values)
	if m.kinds == nil {
		for i, k := range c.keys {
			if k.Kind >= column.KindList || k.Kind == column.KindInvalid {
				return errs.Unsupportedf("key column %d is of a kind (%d) that has no order", i, k.Kind)
			}
			m.kinds = append(m.kinds, k.Kind)
		}
	}
	for i, k := range c.keys {
		if k.Kind != m.kinds[i] {
			return errs.Corruptf("key column %d has kind %d in one run and kind %d in another", i, m.kinds[i], k.Kind)
		}
	}
	c.keys = dropValidity(c.keys)
	c.typedKey()
	c.seq, c.kind = nil, nil
	if m.layout.Seq >= 0 {
		v := column.Flatten(b.Cols[m.layout.Seq])
		if v.Kind != column.KindInt64 || v.Valid != nil && v.NullCount() > 0 {
			return errs.Corruptf("_SEQUENCE_NUMBER holds nulls or is no BIGINT")
		}
		c.seq = v.I64
	}
	if m.layout.Kind >= 0 {
		if err := c.takeKinds(b.Cols[m.layout.Kind]); err != nil {
			return err
		}
	}
	if m.unordered {
		clear(c.lost[:])
		if c.kind != nil && !m.keepDeletes {
			for k := range c.n {
				if IsRetract(c.kind[c.at(k)]) {
					c.lost.set(k)
				}
			}
		}
	}
	return nil
}

// takeKinds sets kind, and leaves it nil where the vector holds no retract.
func (c *cursor) takeKinds(v *column.Vector) error {
	if v.Kind != column.KindInt32 || v.Valid != nil && v.NullCount() > 0 {
		return errs.Corruptf("_VALUE_KIND holds nulls or is no TINYINT")
	}
	values := v.I32
	if v.Dict != nil {
		values = v.Dict.I32[:v.Dict.N]
	} else {
		values = values[:v.N]
	}
	var all int32
	for _, k := range values {
		all |= k
	}
	if all&^3 != 0 {
		return errs.Corruptf("_VALUE_KIND holds a value beyond 0..3")
	}
	if all&1 != 0 { // -U is 1, -D is 3
		c.kind = column.Flatten(v).I32
	}
	return nil
}

func pick(dst []*column.Vector, b *column.Batch, cols []int) []*column.Vector {
	dst = dst[:0]
	for _, i := range cols {
		dst = append(dst, b.Cols[i])
	}
	return dst
}

// dropValidity takes the validity bitmap off key vectors that hold no null.
func dropValidity(keys []*column.Vector) []*column.Vector {
	for i, v := range keys {
		if v.Valid != nil && v.NullCount() == 0 {
			w := *v
			w.Valid = nil
			keys[i] = &w
		}
	}
	return keys
}
