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
	run int
	rd  RunReader
	b   *column.Batch // nil at the end
	n   int
	pos int
	// head is norm[pos].
	head uint64
	norm []uint64
	keys []*column.Vector
	vals []*column.Vector
	// seq and kind are indexed by at(k); seq is nil where the layout has none,
	// kind where the batch holds no retract.
	seq  []int64
	kind []int32
	sel  []uint16
	// lost lists, ascending, the rows (k) of the batch that are not handed on
	// in place; used by the unordered merge.
	lost []uint16
}

func (c *cursor) at(k int) int {
	if c.sel != nil {
		return int(c.sel[k])
	}
	return k
}

func (c *cursor) kindAt(k int) int32 {
	if c.kind == nil {
		return Insert
	}
	return c.kind[c.at(k)]
}

func (c *cursor) seqAt(k int) int64 {
	if c.seq == nil {
		return 0
	}
	return c.seq[c.at(k)]
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
	c.b, c.n, c.pos, c.sel, c.lost = b, b.Rows(), 0, b.Sel, c.lost[:0]
	c.keys = pick(c.keys, b, m.layout.Keys)
	c.vals = pick(c.vals, b, m.layout.Values)
	if m.order == nil {
		kinds := make([]column.Kind, len(c.keys))
		for i, k := range c.keys {
			if k.Kind >= column.KindList || k.Kind == column.KindInvalid {
				return errs.Unsupportedf("key column %d is of a kind (%d) that has no order", i, k.Kind)
			}
			kinds[i] = k.Kind
		}
		m.order = newKeyOrder(kinds)
	}
	for i, k := range c.keys {
		if k.Kind != m.order.kinds[i] {
			return errs.Corruptf("key column %d has kind %d in one run and kind %d in another", i, m.order.kinds[i], k.Kind)
		}
	}
	c.seq, c.kind = nil, nil
	if m.layout.Seq >= 0 {
		v := column.Flatten(b.Cols[m.layout.Seq])
		if v.Kind != column.KindInt64 || v.Valid != nil && v.NullCount() > 0 {
			return errs.Corruptf("_SEQUENCE_NUMBER holds nulls or is no BIGINT")
		}
		c.seq = v.I64
	}
	if m.layout.Kind >= 0 {
		v := column.Flatten(b.Cols[m.layout.Kind])
		if v.Kind != column.KindInt32 || v.Valid != nil && v.NullCount() > 0 {
			return errs.Corruptf("_VALUE_KIND holds nulls or is no TINYINT")
		}
		retract, bad := int32(0), int32(0)
		for _, k := range v.I32[:v.N] {
			retract |= k & 1 // -U is 1, -D is 3
			bad |= k &^ 3
		}
		if bad != 0 {
			return errs.Corruptf("_VALUE_KIND holds a value beyond 0..3")
		}
		if retract != 0 {
			c.kind = v.I32
		}
	}
	if m.order.adapt(c.keys, c.at(0), c.at(c.n-1)) {
		for _, o := range m.live {
			if o != c && o.b != nil {
				m.order.norms(o.norm, o.keys, o.sel)
				o.head = o.norm[min(o.pos, o.n-1)]
			}
		}
	}
	if cap(c.norm) < c.n {
		c.norm = make([]uint64, column.MaxRows)
	}
	c.norm = c.norm[:c.n]
	if !m.order.norms(c.norm, c.keys, c.sel) {
		return errs.Corruptf("a sorted run is not in key order")
	}
	c.head = c.norm[0]
	return nil
}

func pick(dst []*column.Vector, b *column.Batch, cols []int) []*column.Vector {
	dst = dst[:0]
	for _, i := range cols {
		dst = append(dst, b.Cols[i])
	}
	return dst
}
