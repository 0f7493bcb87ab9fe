package write

import (
	"sync"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// columnBuffer collects rows of one column in flat memory that is used again.
type columnBuffer struct {
	v column.Vector
	// nested collects a nested column.
	nested *column.Builder
}

// buffers keeps the memory of columns and rows between statements.
var (
	columnPool = sync.Pool{New: func() any { return new(columnBuffer) }}
	// maxPooledBytes is the greatest memory of a column that is kept for later.
	maxPooledBytes = 1 << 20
)

func newColumnBuffer(t *schema.Type) *columnBuffer {
	if t.IsNested() {
		return &columnBuffer{nested: schema.NewBuilder(t)}
	}
	c := columnPool.Get().(*columnBuffer)
	c.v.Kind = schema.KindOf(t)
	return c
}

// release gives the memory back. The buffer and its vector must not be used again.
func (c *columnBuffer) release() {
	if c.nested != nil {
		return
	}
	v := &c.v
	if 4*cap(v.I32)+8*cap(v.I64)+16*cap(v.I128)+4*cap(v.F32)+8*cap(v.F64)+2*cap(v.Sub)+8*cap(v.Ref)+cap(v.Data) > maxPooledBytes {
		return
	}
	c.reset()
	columnPool.Put(c)
}

// reset empties the buffer and keeps its memory.
func (c *columnBuffer) reset() {
	if c.nested != nil {
		c.nested.Reset()
		return
	}
	v := &c.v
	*v = column.Vector{Kind: v.Kind, I32: v.I32[:0], I64: v.I64[:0], I128: v.I128[:0], F32: v.F32[:0], F64: v.F64[:0], Ref: v.Ref[:0], Data: v.Data[:0]}
}

// vector is what was collected, good until the buffer changes.
func (c *columnBuffer) vector() *column.Vector {
	if c.nested != nil {
		return c.nested.Finish()
	}
	v := column.Vector{Kind: c.v.Kind, N: c.v.N, Valid: c.v.Valid}
	switch v.Kind {
	case column.KindInt32:
		v.I32 = c.v.I32
	case column.KindInt64:
		v.I64 = c.v.I64
	case column.KindTimestamp:
		v.I64, v.Sub = c.v.I64, c.v.Sub
	case column.KindInt128:
		v.I128 = c.v.I128
	case column.KindFloat32:
		v.F32 = c.v.F32
	case column.KindFloat64:
		v.F64 = c.v.F64
	case column.KindBytes:
		v.Ref, v.Data = c.v.Ref, c.v.Data
	}
	return &v
}

// add appends the rows of sel, nil = all n, of a vector of the column's type.
func (c *columnBuffer) add(v *column.Vector, sel []uint16, n int) {
	if c.nested != nil {
		if sel == nil {
			c.nested.AppendRange(v, 0, n)
			return
		}
		for _, i := range sel {
			c.nested.Append(v, int(i))
		}
		return
	}
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	c.addValid(v, sel, rows)
	d := v
	if v.Dict != nil {
		d = v.Dict
	}
	switch c.v.Kind {
	case column.KindInt32:
		c.v.I32 = appendValues(c.v.I32, d.I32, v, sel, n)
	case column.KindInt64:
		c.v.I64 = appendValues(c.v.I64, d.I64, v, sel, n)
	case column.KindTimestamp:
		if d.Sub != nil && c.v.Sub == nil {
			c.v.Sub = make([]uint16, len(c.v.I64), cap(c.v.I64))
		}
		c.v.I64 = appendValues(c.v.I64, d.I64, v, sel, n)
		switch {
		case d.Sub != nil:
			c.v.Sub = appendValues(c.v.Sub, d.Sub, v, sel, n)
		case c.v.Sub != nil:
			c.v.Sub = append(c.v.Sub, make([]uint16, rows)...)
		}
	case column.KindInt128:
		c.v.I128 = appendValues(c.v.I128, d.I128, v, sel, n)
	case column.KindFloat32:
		c.v.F32 = appendValues(c.v.F32, d.F32, v, sel, n)
	case column.KindFloat64:
		c.v.F64 = appendValues(c.v.F64, d.F64, v, sel, n)
	case column.KindBytes:
		c.addBytes(v, sel, n)
	}
	c.v.N += rows
}

// addValid extends the validity bitmap.
func (c *columnBuffer) addValid(v *column.Vector, sel []uint16, rows int) {
	if v.Valid == nil && c.v.Valid == nil {
		return
	}
	had := c.v.N
	if c.v.Valid == nil {
		c.v.Valid = column.NewBitmap(had)
	}
	for len(c.v.Valid) < (had+rows+63)/64 {
		c.v.Valid = append(c.v.Valid, ^uint64(0))
	}
	// Bits at the end of the last word may be stale: every row sets its own.
	for k := range rows {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		at := had + k
		if v.IsNull(i) {
			c.v.Valid[at>>6] &^= 1 << (uint(at) & 63)
		} else {
			c.v.Valid[at>>6] |= 1 << (uint(at) & 63)
		}
	}
}

// appendValues appends the values of rows; v may be coded, values are those of its dictionary then.
func appendValues[T any](dst, values []T, v *column.Vector, sel []uint16, n int) []T {
	switch {
	case v.Dict != nil && sel != nil:
		for _, i := range sel {
			dst = append(dst, valueOf(values, v.Codes[i]))
		}
	case v.Dict != nil:
		for _, c := range v.Codes[:n] {
			dst = append(dst, valueOf(values, c))
		}
	case sel != nil:
		for _, i := range sel {
			dst = append(dst, values[i])
		}
	default:
		dst = append(dst, values[:n]...)
	}
	return dst
}

// valueOf is values[code], the zero value for the code of a null row in an empty dictionary.
func valueOf[T any](values []T, code uint32) (x T) {
	if int(code) < len(values) {
		x = values[code]
	}
	return x
}

func (c *columnBuffer) addBytes(v *column.Vector, sel []uint16, n int) {
	refs, data := c.v.Ref, c.v.Data
	one := func(i int) {
		if v.IsNull(i) {
			refs = append(refs, column.Ref{})
			return
		}
		b := v.Bytes(i)
		refs = append(refs, column.Ref{Off: uint32(len(data)), Len: uint32(len(b))})
		data = append(data, b...)
	}
	if sel == nil {
		for i := range n {
			one(i)
		}
	} else {
		for _, i := range sel {
			one(int(i))
		}
	}
	c.v.Ref, c.v.Data = refs, data
}

// reserve makes room for times as much as there is. Memory that is not used is not touched.
func (c *columnBuffer) reserve(times int) {
	v := &c.v
	v.I32, v.I64, v.I128 = grown(v.I32, times), grown(v.I64, times), grown(v.I128, times)
	v.F32, v.F64, v.Sub = grown(v.F32, times), grown(v.F64, times), grown(v.Sub, times)
	v.Ref, v.Data = grown(v.Ref, times), grown(v.Data, times)
}

func grown[T any](s []T, times int) []T {
	if len(s) == 0 || cap(s) >= len(s)*times {
		return s
	}
	out := make([]T, len(s), len(s)*times)
	copy(out, s)
	return out
}

// bytes is the memory of the rows collected.
func (c *columnBuffer) bytes() int64 {
	if c.nested != nil {
		// Nested rows are counted by what a builder knows cheaply: its length.
		return 64 * int64(c.nested.Len())
	}
	return c.v.Size()
}

// rowBuffer collects rows in columns.
type rowBuffer struct {
	cols []*columnBuffer
	n    int
	// nestedBytes is the size of the batches' nested columns.
	nestedBytes int64
}

func newRowBuffer(fields []schema.Field) *rowBuffer {
	b := &rowBuffer{}
	for _, f := range fields {
		b.cols = append(b.cols, newColumnBuffer(f.Type))
	}
	return b
}

// add appends the rows of sel, nil = all n.
func (b *rowBuffer) add(cols []*column.Vector, sel []uint16, n int) {
	for i, c := range b.cols {
		c.add(cols[i], sel, n)
		if c.nested != nil {
			share := cols[i].Size()
			if sel != nil && n > 0 {
				share = share * int64(len(sel)) / int64(n)
			}
			b.nestedBytes += share
		}
	}
	if sel != nil {
		n = len(sel)
	}
	b.n += n
}

// bytes is the memory of the rows.
func (b *rowBuffer) bytes() int64 {
	n := b.nestedBytes
	for _, c := range b.cols {
		if c.nested == nil {
			n += c.bytes()
		}
	}
	return n
}

func (b *rowBuffer) vectors() []*column.Vector {
	out := make([]*column.Vector, len(b.cols))
	for i, c := range b.cols {
		out[i] = c.vector()
	}
	return out
}

// reset empties the buffer and keeps its memory.
func (b *rowBuffer) reset() {
	for _, c := range b.cols {
		c.reset()
	}
	b.n, b.nestedBytes = 0, 0
}

// release gives the memory back.
func (b *rowBuffer) release() {
	for _, c := range b.cols {
		c.release()
	}
	b.cols, b.n = nil, 0
}
