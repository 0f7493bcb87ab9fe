package column

// Size estimates the memory of the batch's values in bytes; what several
// vectors share counts once each.
func (b *Batch) Size() int64 {
	n := int64(2 * len(b.Sel))
	for _, c := range b.Cols {
		n += c.Size()
	}
	return n
}

// Size estimates the memory of the vector's values in bytes, its dictionary and children included.
func (v *Vector) Size() int64 {
	n := int64(len(v.Data)) + 8*int64(len(v.Valid)+len(v.I64)+len(v.F64)+len(v.Ref)) +
		4*int64(len(v.I32)+len(v.F32)+len(v.Offsets)+len(v.Codes)) + 16*int64(len(v.I128)) + 2*int64(len(v.Sub))
	for _, c := range v.Children {
		n += c.Size()
	}
	if v.Dict != nil {
		n += v.Dict.Size()
	}
	return n
}
