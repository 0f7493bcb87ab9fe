package orc

import (
	"slices"

	"github.com/tributarydb/tributary/storage/column"
)

// structWriter writes ROW, and the root of the file.
type structWriter struct{ colWriter }

func (w *structWriter) write(v *column.Vector, at []int32) error {
	if v.Dict != nil {
		v = column.Flatten(v)
	}
	at, err := w.mask(v, at)
	if err != nil {
		return err
	}
	for i, k := range w.kids {
		if err := k.write(v.Children[i], at); err != nil {
			return err
		}
	}
	return nil
}

func (w *structWriter) encoding() (encodingKind, int) { return encodingDirect, 0 }

// listWriter writes ARRAY, MAP and MULTISET: lengths, and the elements as columns.
type listWriter struct {
	colWriter
	stream  outStream
	lengths intWriter
	vals    []int64
	below   []int32
}

func (w *listWriter) open() { w.newInts(&w.lengths, &w.stream, streamLength, false) }

func (w *listWriter) write(v *column.Vector, at []int32) error {
	if v.Dict != nil {
		v = column.Flatten(v)
	}
	at, err := w.mask(v, at)
	if err != nil {
		return err
	}
	w.vals = slices.Grow(w.vals[:0], len(at))[:len(at)]
	below := w.below[:0]
	for k, i := range at {
		from, to := v.Offsets[i], v.Offsets[i+1]
		w.vals[k] = int64(to - from)
		for ; from < to; from++ {
			below = append(below, from)
		}
	}
	w.below = below
	w.lengths.write(w.vals)
	w.group.addInts(w.vals)
	for i, k := range w.kids {
		if err := k.write(v.Children[i], below); err != nil {
			return err
		}
	}
	return nil
}

func (w *listWriter) position(dst []uint64) []uint64 { return w.lengths.position(dst) }
func (w *listWriter) finish()                        { w.lengths.flush() }
