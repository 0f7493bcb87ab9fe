package parquet

import "github.com/tributarydb/tributary/storage/column"

// joiner copies rows of several pages together, to memory that is reused.
type joiner struct {
	vec   column.Vector
	valid []uint64
	codes []uint32
	s     scratch
	data  []byte
}

// read returns the next n rows of f. While the pages share one dictionary, the
// codes are kept. The vector is valid until the next call.
func (j *joiner) read(f *flatColumn, n int) (*column.Vector, error) {
	j.codes = j.codes[:0]
	j.data = j.data[:0]
	valid := grow(&j.valid, (n+63)/64)
	clear(valid)
	var dict *column.Vector
	got, nulls, flat := 0, false, false
	for got < n {
		left, err := f.pageRows()
		if err != nil {
			return nil, err
		}
		k := min(left, n-got)
		v, err := f.read(k)
		if err != nil {
			return nil, err
		}
		if v.Valid == nil {
			setBits(valid, got, k)
		} else {
			nulls = true
			orBits(valid, got, v.Valid, k)
		}
		if !flat && v.Dict != nil && (dict == nil || dict == v.Dict) {
			dict = v.Dict
			j.codes = append(j.codes, v.Codes...)
			got += k
			continue
		}
		if !flat {
			flat = true
			j.start(f.kind, n)
			if got > 0 {
				coded := column.Vector{Kind: f.kind, N: got, Dict: dict, Codes: j.codes}
				if err := j.add(&coded, 0); err != nil {
					return nil, err
				}
			}
		}
		if err := j.add(v, got); err != nil {
			return nil, err
		}
		got += k
	}
	if !flat {
		j.vec = column.Vector{Kind: f.kind, N: n, Dict: dict, Codes: j.codes}
	}
	if nulls {
		j.vec.Valid = valid
	}
	return &j.vec, nil
}

// start makes vec a flat vector of n rows to be filled by add.
func (j *joiner) start(kind column.Kind, n int) {
	j.vec = column.Vector{Kind: kind, N: n}
	switch kind {
	case column.KindInt32:
		j.vec.I32 = grow(&j.s.i32, n)
	case column.KindInt64, column.KindTimestamp:
		j.vec.I64 = grow(&j.s.i64, n)
	case column.KindInt128:
		j.vec.I128 = grow(&j.s.i128, n)
	case column.KindFloat32:
		j.vec.F32 = grow(&j.s.f32, n)
	case column.KindFloat64:
		j.vec.F64 = grow(&j.s.f64, n)
	case column.KindBytes:
		j.vec.Ref = grow(&j.s.refs, n)
	}
}

// add copies the values of v to the rows from at on.
func (j *joiner) add(v *column.Vector, at int) error {
	d, codes := v, v.Codes
	if v.Dict != nil {
		d = v.Dict
	}
	switch v.Kind {
	case column.KindInt32:
		put(j.vec.I32[at:], d.I32, codes)
	case column.KindInt64:
		put(j.vec.I64[at:], d.I64, codes)
	case column.KindTimestamp:
		put(j.vec.I64[at:], d.I64, codes)
		if d.Sub != nil && j.vec.Sub == nil {
			j.vec.Sub = grow(&j.s.sub, j.vec.N)
			clear(j.vec.Sub)
		}
		if d.Sub != nil {
			put(j.vec.Sub[at:], d.Sub, codes)
		} else if j.vec.Sub != nil {
			clear(j.vec.Sub[at : at+v.N])
		}
	case column.KindInt128:
		put(j.vec.I128[at:], d.I128, codes)
	case column.KindFloat32:
		put(j.vec.F32[at:], d.F32, codes)
	case column.KindFloat64:
		put(j.vec.F64[at:], d.F64, codes)
	case column.KindBytes:
		for i := range v.N {
			if v.IsNull(i) {
				j.vec.Ref[at+i] = column.Ref{}
				continue
			}
			b := v.Bytes(i)
			if len(j.data)+len(b) > maxBatchBytes {
				return errBatchSize
			}
			j.vec.Ref[at+i] = column.Ref{Off: uint32(len(j.data)), Len: uint32(len(b))}
			j.data = append(j.data, b...)
		}
		j.vec.Data = j.data
	}
	return nil
}

// put copies src, or the entries of it that codes name, to the start of dst.
func put[T any](dst, src []T, codes []uint32) {
	if codes == nil {
		copy(dst, src)
		return
	}
	for i, c := range codes {
		dst[i] = src[c]
	}
}

// orBits ors the first n bits of src into dst from bit at.
func orBits(dst []uint64, at int, src []uint64, n int) {
	for i := 0; i < n; i += 64 {
		k := min(64, n-i)
		w := src[i>>6] & (^uint64(0) >> (64 - uint(k)))
		off := uint(at+i) & 63
		dst[(at+i)>>6] |= w << off
		if off > 0 && int(off)+k > 64 {
			dst[(at+i)>>6+1] |= w >> (64 - off)
		}
	}
}
