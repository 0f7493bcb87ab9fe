package column

// Builder makes a flat (not dictionary-coded) vector row by row or range by range. Nested builders have child
// builders: append the elements to Child(j), then call EndList, EndMap or EndStruct for the row.
type Builder struct {
	v        Vector
	children []*Builder
}

// NewBuilder returns an empty builder. children are the child builders of a
// nested kind (list 1, map 2, struct one a field).
func NewBuilder(kind Kind, children ...*Builder) *Builder {
	b := &Builder{children: children}
	b.v.Kind = kind
	if kind == KindList || kind == KindMap {
		b.v.Offsets = append(b.v.Offsets, 0)
	}
	return b
}

// NewBuilderLike returns an empty builder for vectors shaped like v.
func NewBuilderLike(v *Vector) *Builder {
	if v.Dict != nil {
		v = v.Dict
	}
	ch := make([]*Builder, len(v.Children))
	for i, c := range v.Children {
		ch[i] = NewBuilderLike(c)
	}
	return NewBuilder(v.Kind, ch...)
}

// Len returns the number of rows so far.
func (b *Builder) Len() int { return b.v.N }

// Kind returns the kind being built.
func (b *Builder) Kind() Kind { return b.v.Kind }

// Child returns child builder j.
func (b *Builder) Child(j int) *Builder { return b.children[j] }

// push counts one row; the value slot has been appended.
func (b *Builder) push(valid bool) {
	i := b.v.N
	b.v.N++
	if b.v.Valid == nil {
		if valid {
			return
		}
		b.v.Valid = NewBitmap(i + 1)
	} else if i>>6 >= len(b.v.Valid) {
		b.v.Valid = append(b.v.Valid, ^uint64(0))
	}
	if !valid {
		b.v.Valid[i>>6] &^= 1 << (uint(i) & 63)
	} else {
		b.v.Valid[i>>6] |= 1 << (uint(i) & 63)
	}
}

// AppendNull appends a null row (nulls to the children of a struct as well).
func (b *Builder) AppendNull() {
	switch b.v.Kind {
	case KindInt32:
		b.v.I32 = append(b.v.I32, 0)
	case KindInt64:
		b.v.I64 = append(b.v.I64, 0)
	case KindTimestamp:
		b.v.I64 = append(b.v.I64, 0)
		if b.v.Sub != nil {
			b.v.Sub = append(b.v.Sub, 0)
		}
	case KindInt128:
		b.v.I128 = append(b.v.I128, Int128{})
	case KindFloat32:
		b.v.F32 = append(b.v.F32, 0)
	case KindFloat64:
		b.v.F64 = append(b.v.F64, 0)
	case KindBytes:
		b.v.Ref = append(b.v.Ref, Ref{})
	case KindList, KindMap:
		b.v.Offsets = append(b.v.Offsets, int32(b.children[0].v.N))
	case KindStruct:
		for _, c := range b.children {
			c.AppendNull()
		}
	}
	b.push(false)
}

// AppendInt appends to a KindInt32, KindInt64 or KindTimestamp (microseconds)
// builder, a widened decimal to KindInt128.
func (b *Builder) AppendInt(x int64) {
	switch b.v.Kind {
	case KindInt32:
		b.v.I32 = append(b.v.I32, int32(x))
	case KindInt128:
		b.v.I128 = append(b.v.I128, FromInt64(x))
	case KindTimestamp:
		b.AppendTimestamp(x, 0)
		return
	default:
		b.v.I64 = append(b.v.I64, x)
	}
	b.push(true)
}

// AppendTimestamp appends microseconds and nanoseconds of the microsecond.
func (b *Builder) AppendTimestamp(micros int64, sub uint16) {
	b.v.I64 = append(b.v.I64, micros)
	if sub != 0 && b.v.Sub == nil {
		b.v.Sub = make([]uint16, b.v.N, cap(b.v.I64))
	}
	if b.v.Sub != nil {
		b.v.Sub = append(b.v.Sub, sub)
	}
	b.push(true)
}

// AppendInt128 appends to a KindInt128 or (cut to 64 bits) KindInt64 builder.
func (b *Builder) AppendInt128(x Int128) {
	if b.v.Kind == KindInt64 {
		b.v.I64 = append(b.v.I64, int64(x.Lo))
	} else {
		b.v.I128 = append(b.v.I128, x)
	}
	b.push(true)
}

// AppendFloat appends to a KindFloat32 or KindFloat64 builder.
func (b *Builder) AppendFloat(x float64) {
	if b.v.Kind == KindFloat32 {
		b.v.F32 = append(b.v.F32, float32(x))
	} else {
		b.v.F64 = append(b.v.F64, x)
	}
	b.push(true)
}

// AppendBytes appends a copy of p to a KindBytes builder.
func (b *Builder) AppendBytes(p []byte) {
	b.v.Ref = append(b.v.Ref, Ref{Off: uint32(len(b.v.Data)), Len: uint32(len(p))})
	b.v.Data = append(b.v.Data, p...)
	b.push(true)
}

// AppendString appends a copy of s to a KindBytes builder.
func (b *Builder) AppendString(s string) {
	b.v.Ref = append(b.v.Ref, Ref{Off: uint32(len(b.v.Data)), Len: uint32(len(s))})
	b.v.Data = append(b.v.Data, s...)
	b.push(true)
}

// AppendBool appends 0 or 1 to a KindInt32 builder.
func (b *Builder) AppendBool(x bool) { b.AppendInt(int64(b2i(x))) }

// EndList ends a non-null row of a list or map whose elements were appended
// to the children since the last row.
func (b *Builder) EndList() {
	b.v.Offsets = append(b.v.Offsets, int32(b.children[0].v.N))
	b.push(true)
}

// EndStruct ends a non-null row of a struct; each child must have got one row.
func (b *Builder) EndStruct() { b.push(true) }

// AppendScalar appends s, which must be of the builder's kind.
func (b *Builder) AppendScalar(s Scalar) {
	if s.Null {
		b.AppendNull()
		return
	}
	switch b.v.Kind {
	case KindTimestamp:
		b.AppendTimestamp(s.I, s.Sub)
	case KindInt128:
		b.AppendInt128(s.D)
	case KindFloat32, KindFloat64:
		b.AppendFloat(s.F)
	case KindBytes:
		b.AppendBytes(s.B)
	default:
		b.AppendInt(s.I)
	}
}

// Append appends row i of v, a vector of the builder's shape.
func (b *Builder) Append(v *Vector, i int) {
	if v.IsNull(i) {
		b.AppendNull()
		return
	}
	v, i = v.At(i)
	switch b.v.Kind {
	case KindInt32:
		b.v.I32 = append(b.v.I32, v.I32[i])
	case KindInt64:
		b.v.I64 = append(b.v.I64, v.I64[i])
	case KindTimestamp:
		b.AppendTimestamp(v.I64[i], v.SubNanos(i))
		return
	case KindInt128:
		b.v.I128 = append(b.v.I128, v.I128[i])
	case KindFloat32:
		b.v.F32 = append(b.v.F32, v.F32[i])
	case KindFloat64:
		b.v.F64 = append(b.v.F64, v.F64[i])
	case KindBytes:
		b.AppendBytes(v.Bytes(i))
		return
	case KindList, KindMap:
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			for c := range b.children {
				b.children[c].Append(v.Children[c], int(j))
			}
		}
		b.EndList()
		return
	case KindStruct:
		for c := range b.children {
			b.children[c].Append(v.Children[c], i)
		}
	}
	b.push(true)
}

// AppendRange appends rows [from, to) of v.
func (b *Builder) AppendRange(v *Vector, from, to int) {
	if v.Valid == nil && v.Dict == nil && b.v.Valid == nil {
		n := to - from
		switch b.v.Kind {
		case KindInt32:
			b.v.I32 = append(b.v.I32, v.I32[from:to]...)
			b.v.N += n
			return
		case KindInt64:
			b.v.I64 = append(b.v.I64, v.I64[from:to]...)
			b.v.N += n
			return
		case KindInt128:
			b.v.I128 = append(b.v.I128, v.I128[from:to]...)
			b.v.N += n
			return
		case KindFloat32:
			b.v.F32 = append(b.v.F32, v.F32[from:to]...)
			b.v.N += n
			return
		case KindFloat64:
			b.v.F64 = append(b.v.F64, v.F64[from:to]...)
			b.v.N += n
			return
		}
	}
	for i := from; i < to; i++ {
		b.Append(v, i)
	}
}

// Finish returns the vector built. The builder must not be used again before Reset.
func (b *Builder) Finish() *Vector {
	out := b.v
	for _, c := range b.children {
		out.Children = append(out.Children, c.Finish())
	}
	return &out
}

// Reset empties the builder, with new memory: a vector got from Finish stays valid.
func (b *Builder) Reset() {
	k := b.v.Kind
	b.v = Vector{Kind: k}
	if k == KindList || k == KindMap {
		b.v.Offsets = append(b.v.Offsets, 0)
	}
	for _, c := range b.children {
		c.Reset()
	}
}

// Gather returns a vector of the rows of v that sel lists, in its order.
// Dictionary coding is kept; a KindBytes result shares v's Data.
func Gather(v *Vector, sel []uint16) *Vector {
	n := len(sel)
	out := &Vector{Kind: v.Kind, N: n}
	if v.Valid != nil {
		valid := make([]uint64, (n+63)/64)
		for k, i := range sel {
			valid[k>>6] |= (v.Valid[i>>6] >> (i & 63) & 1) << (uint(k) & 63)
		}
		out.Valid = valid
	}
	if v.Dict != nil {
		out.Dict = v.Dict
		out.Codes = gather(v.Codes, sel)
		return out
	}
	switch v.Kind {
	case KindInt32:
		out.I32 = gather(v.I32, sel)
	case KindInt64:
		out.I64 = gather(v.I64, sel)
	case KindTimestamp:
		out.I64 = gather(v.I64, sel)
		if v.Sub != nil {
			out.Sub = gather(v.Sub, sel)
		}
	case KindInt128:
		out.I128 = gather(v.I128, sel)
	case KindFloat32:
		out.F32 = gather(v.F32, sel)
	case KindFloat64:
		out.F64 = gather(v.F64, sel)
	case KindBytes:
		out.Ref = gather(v.Ref, sel)
		out.Data = v.Data
	default:
		b := NewBuilderLike(v)
		for _, i := range sel {
			b.Append(v, int(i))
		}
		return b.Finish()
	}
	return out
}

func gather[T any](src []T, sel []uint16) []T {
	out := make([]T, len(sel))
	for k, i := range sel {
		out[k] = src[i]
	}
	return out
}

// Slice returns rows [from, to) of v, sharing its memory except the validity bitmap.
func Slice(v *Vector, from, to int) *Vector {
	if from == 0 && to == v.N {
		return v
	}
	out := *v
	out.N = to - from
	if v.Valid != nil {
		valid := make([]uint64, (out.N+63)/64)
		for k := range out.N {
			i := from + k
			valid[k>>6] |= (v.Valid[i>>6] >> (uint(i) & 63) & 1) << (uint(k) & 63)
		}
		out.Valid = valid
	}
	if v.Dict != nil {
		out.Codes = v.Codes[from:to]
		return &out
	}
	switch v.Kind {
	case KindInt32:
		out.I32 = v.I32[from:to]
	case KindInt64, KindTimestamp:
		out.I64 = v.I64[from:to]
		if v.Sub != nil {
			out.Sub = v.Sub[from:to]
		}
	case KindInt128:
		out.I128 = v.I128[from:to]
	case KindFloat32:
		out.F32 = v.F32[from:to]
	case KindFloat64:
		out.F64 = v.F64[from:to]
	case KindBytes:
		out.Ref = v.Ref[from:to]
	case KindList, KindMap:
		out.Offsets = v.Offsets[from : to+1]
	case KindStruct:
		out.Children = make([]*Vector, len(v.Children))
		for i, c := range v.Children {
			out.Children[i] = Slice(c, from, to)
		}
	}
	return &out
}

// Flatten returns v without dictionary coding, v itself where it has none.
// A KindBytes result shares the dictionary's Data.
func Flatten(v *Vector) *Vector {
	if v.Dict == nil {
		return v
	}
	d := v.Dict
	out := &Vector{Kind: v.Kind, N: v.N, Valid: v.Valid}
	switch v.Kind {
	case KindInt32:
		out.I32 = decode(d.I32, v.Codes)
	case KindInt64:
		out.I64 = decode(d.I64, v.Codes)
	case KindTimestamp:
		out.I64 = decode(d.I64, v.Codes)
		if d.Sub != nil {
			out.Sub = decode(d.Sub, v.Codes)
		}
	case KindInt128:
		out.I128 = decode(d.I128, v.Codes)
	case KindFloat32:
		out.F32 = decode(d.F32, v.Codes)
	case KindFloat64:
		out.F64 = decode(d.F64, v.Codes)
	case KindBytes:
		out.Ref = decode(d.Ref, v.Codes)
		out.Data = d.Data
	default:
		b := NewBuilderLike(v)
		for i := range v.N {
			b.Append(v, i)
		}
		return b.Finish()
	}
	return out
}

func decode[T any](dict []T, codes []uint32) []T {
	out := make([]T, len(codes))
	for i, c := range codes {
		out[i] = dict[c]
	}
	return out
}
