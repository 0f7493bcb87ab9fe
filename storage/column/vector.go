package column

import "math/bits"

// MaxRows is the greatest number of rows of a Batch. Selections fit uint16.
const MaxRows = 4096

// Kind is the physical form of a Vector's values.
type Kind uint8

// The kinds and the Paimon types that use them (schema.KindOf is the mapping).
const (
	// KindInvalid is the zero value; no vector has it.
	KindInvalid Kind = iota
	// KindInt32 stores BOOLEAN (0/1), TINYINT, SMALLINT, INT, DATE (days since
	// 1970-01-01) and TIME (milliseconds of the day) in Vector.I32.
	KindInt32
	// KindInt64 stores BIGINT and DECIMAL(p<=18) (unscaled) in Vector.I64.
	KindInt64
	// KindInt128 stores DECIMAL(p>18) (unscaled) in Vector.I128.
	KindInt128
	// KindFloat32 stores FLOAT in Vector.F32.
	KindFloat32
	// KindFloat64 stores DOUBLE in Vector.F64.
	KindFloat64
	// KindTimestamp stores TIMESTAMP and TIMESTAMP_LTZ: microseconds since the
	// epoch (of the local date-time read as UTC, or of the instant) in
	// Vector.I64 and 0..999 nanoseconds of the microsecond in Vector.Sub
	// (nil = all 0).
	KindTimestamp
	// KindBytes stores CHAR, VARCHAR, BINARY, VARBINARY, BLOB: Vector.Ref
	// points into Vector.Data.
	KindBytes
	// KindList stores ARRAY and VECTOR: row i has the elements
	// [Offsets[i], Offsets[i+1]) of Children[0].
	KindList
	// KindMap stores MAP and MULTISET (element -> INT count): as KindList,
	// with keys in Children[0] and values in Children[1].
	KindMap
	// KindStruct stores ROW: Children[j] is field j, of the same length.
	// A null struct has null (or any) children at that row. VARIANT is a
	// struct of two KindBytes children: value, metadata.
	KindStruct
)

// Ref is a span of Vector.Data.
type Ref struct{ Off, Len uint32 }

// Int128 is a two's complement 128-bit integer.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Vector is one column of a batch, or one level of a nested column. Exactly
// the slices of its Kind are set. Where Dict is set, the vector is
// dictionary-coded: value i is value Codes[i] of Dict (never itself coded, of the
// same Kind, without nulls) and the other value slices of the vector are nil. Codes of
// null rows may be anything below Dict.Len(). Value slots of null rows hold unspecified but valid values (Refs in bounds).
//
// List and map vectors need Offsets of length Len()+1, not necessarily starting at 0; a null row may
// have an empty or non-empty span, which is to be ignored.
type Vector struct {
	Kind Kind
	// N is the number of rows.
	N int
	// Valid is the validity bitmap, bit i of word i/64: 1 = not null; nil = no nulls.
	Valid []uint64

	I32  []int32
	I64  []int64
	I128 []Int128
	F32  []float32
	F64  []float64
	Sub  []uint16
	Ref  []Ref
	Data []byte

	Offsets  []int32
	Children []*Vector

	Codes []uint32
	Dict  *Vector
}

// Len returns the number of rows.
func (v *Vector) Len() int { return v.N }

// HasNulls reports whether any row may be null.
func (v *Vector) HasNulls() bool { return v.Valid != nil }

// IsNull reports whether row i is null.
func (v *Vector) IsNull(i int) bool {
	return v.Valid != nil && v.Valid[i>>6]&(1<<(uint(i)&63)) == 0
}

// At resolves dictionary coding: it returns the vector and row that hold the
// value of row i. The row must not be null.
func (v *Vector) At(i int) (*Vector, int) {
	if v.Dict != nil {
		return v.Dict, int(v.Codes[i])
	}
	return v, i
}

// Bytes returns the bytes of row i of a KindBytes vector, not a copy.
func (v *Vector) Bytes(i int) []byte {
	if v.Dict != nil {
		v, i = v.Dict, int(v.Codes[i])
	}
	r := v.Ref[i]
	return v.Data[r.Off : r.Off+r.Len : r.Off+r.Len]
}

// Int returns the value of row i of a KindInt32, KindInt64 or KindTimestamp
// (microseconds) vector.
func (v *Vector) Int(i int) int64 {
	if v.Dict != nil {
		v, i = v.Dict, int(v.Codes[i])
	}
	if v.Kind == KindInt32 {
		return int64(v.I32[i])
	}
	return v.I64[i]
}

// Float returns the value of row i of a KindFloat32 or KindFloat64 vector.
func (v *Vector) Float(i int) float64 {
	if v.Dict != nil {
		v, i = v.Dict, int(v.Codes[i])
	}
	if v.Kind == KindFloat32 {
		return float64(v.F32[i])
	}
	return v.F64[i]
}

// SubNanos returns the nanoseconds of the microsecond of row i of a
// KindTimestamp vector.
func (v *Vector) SubNanos(i int) uint16 {
	if v.Dict != nil {
		v, i = v.Dict, int(v.Codes[i])
	}
	if v.Sub == nil {
		return 0
	}
	return v.Sub[i]
}

// Dec128 returns the unscaled value of row i of a KindInt64 or KindInt128 vector.
func (v *Vector) Dec128(i int) Int128 {
	if v.Dict != nil {
		v, i = v.Dict, int(v.Codes[i])
	}
	switch v.Kind {
	case KindInt128:
		return v.I128[i]
	case KindInt32:
		return FromInt64(int64(v.I32[i]))
	}
	return FromInt64(v.I64[i])
}

// NewBitmap returns a bitmap for n rows with every bit set.
func NewBitmap(n int) []uint64 {
	b := make([]uint64, (n+63)/64)
	for i := range b {
		b[i] = ^uint64(0)
	}
	return b
}

// SetNull marks row i null, making the bitmap when there is none.
func (v *Vector) SetNull(i int) {
	if v.Valid == nil {
		v.Valid = NewBitmap(v.N)
	}
	v.Valid[i>>6] &^= 1 << (uint(i) & 63)
}

// NullCount counts the null rows.
func (v *Vector) NullCount() int {
	if v.Valid == nil {
		return 0
	}
	n, full := 0, v.N>>6
	for i := range full {
		n += bits.OnesCount64(v.Valid[i])
	}
	if r := uint(v.N) & 63; r != 0 {
		n += bits.OnesCount64(v.Valid[full] & (1<<r - 1))
	}
	return v.N - n
}

// Batch is a number of rows in columns.
type Batch struct {
	// N is the length of every column.
	N int
	// Cols are the columns.
	Cols []*Vector
	// Sel lists the rows that count; nil = all N. An empty non-nil Sel is an empty batch.
	Sel []uint16
	// Base is the position of row 0 in its data file where the producer is a
	// file reader (rows of a batch are contiguous in the file), else 0.
	Base int64
}

// Rows returns the number of rows that count.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// Row returns the vector index of the k-th row that counts.
func (b *Batch) Row(k int) int {
	if b.Sel != nil {
		return int(b.Sel[k])
	}
	return k
}

var zeroCodes [MaxRows]uint32

// NewConst returns a vector of n <= MaxRows rows that all hold row 0 of one,
// a vector of one row.
func NewConst(one *Vector, n int) *Vector {
	out := &Vector{Kind: one.Kind, N: n, Dict: one, Codes: zeroCodes[:n]}
	if one.IsNull(0) {
		d := *one
		d.Valid = nil
		out.Dict = &d
		out.Valid = make([]uint64, (n+63)/64)
	}
	return out
}

// NewNulls returns a vector of n null rows of the kind, built as a flat vector with children taken from like (a vector whose
// nested shape is copied) or nil for non-nested kinds.
func NewNulls(kind Kind, n int, children ...*Vector) *Vector {
	v := &Vector{Kind: kind, N: n, Valid: make([]uint64, (n+63)/64)}
	switch kind {
	case KindInt32:
		v.I32 = make([]int32, n)
	case KindInt64, KindTimestamp:
		v.I64 = make([]int64, n)
	case KindInt128:
		v.I128 = make([]Int128, n)
	case KindFloat32:
		v.F32 = make([]float32, n)
	case KindFloat64:
		v.F64 = make([]float64, n)
	case KindBytes:
		v.Ref = make([]Ref, n)
	case KindList, KindMap:
		v.Offsets = make([]int32, n+1)
		v.Children = children
	case KindStruct:
		v.Children = children
	}
	return v
}
