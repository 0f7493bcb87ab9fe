package bitmapio

import (
	"bytes"

	"github.com/RoaringBitmap/roaring/v2"
)

// Append appends the portable form of a set, which it may reorganise.
func Append(dst []byte, set *roaring.Bitmap) []byte {
	set.RunOptimize()
	w := bytes.NewBuffer(dst)
	_, _ = set.WriteTo(w) // a buffer takes everything
	return w.Bytes()
}

// AppendSorted appends the portable form of the set of ascending positions.
func AppendSorted(dst []byte, positions []uint32) []byte {
	set := roaring.New()
	set.AddMany(positions)
	return Append(dst, set)
}
