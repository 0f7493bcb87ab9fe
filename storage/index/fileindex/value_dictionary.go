package fileindex

import (
	"bytes"
	"slices"
)

// noCode stands for null in a dictionary's rows.
const noCode = ^uint32(0)

// dictionary numbers the distinct values of a column and keeps the number of every row.
type dictionary struct {
	k     keyKind
	ints  map[int64]uint32
	texts map[string]uint32
	// values by number: codes, or the texts in data.
	codes   []int64
	data    []byte
	offsets []int
	// rows has a number a row, noCode for null.
	rows  []uint32
	nulls int
}

func newDictionary(k keyKind) *dictionary {
	d := &dictionary{k: k}
	if k == keyText {
		d.texts, d.offsets = map[string]uint32{}, []int{0}
	} else {
		d.ints = map[int64]uint32{}
	}
	return d
}

func (d *dictionary) addNull() {
	d.rows = append(d.rows, noCode)
	d.nulls++
}

func (d *dictionary) addCode(code int64) {
	n, ok := d.ints[code]
	if !ok {
		n = uint32(len(d.codes))
		d.ints[code] = n
		d.codes = append(d.codes, code)
	}
	d.rows = append(d.rows, n)
}

func (d *dictionary) addText(b []byte) {
	n, ok := d.texts[string(b)]
	if !ok {
		n = uint32(len(d.offsets) - 1)
		d.texts[string(b)] = n
		d.data = append(d.data, b...)
		d.offsets = append(d.offsets, len(d.data))
	}
	d.rows = append(d.rows, n)
}

// count is the number of distinct values.
func (d *dictionary) count() int {
	if d.k == keyText {
		return len(d.offsets) - 1
	}
	return len(d.codes)
}

// text returns a value's text.
func (d *dictionary) text(n uint32) []byte { return d.data[d.offsets[n]:d.offsets[n+1]] }

// size is the number of bytes of a value's stored form.
func (d *dictionary) size(n uint32) int {
	if d.k == keyText {
		return 4 + len(d.text(n))
	}
	return keyWidth(d.k)
}

// appendValue appends a value's stored form.
func (d *dictionary) appendValue(dst []byte, n uint32) []byte {
	if d.k == keyText {
		t := d.text(n)
		return append(appendInt(dst, len(t)), t...)
	}
	return appendCode(dst, d.k, d.codes[n])
}

// sorted lists the values' numbers in the order of the values.
func (d *dictionary) sorted() []uint32 {
	out := make([]uint32, d.count())
	for i := range out {
		out[i] = uint32(i)
	}
	slices.SortFunc(out, func(a, b uint32) int {
		if d.k == keyText {
			return bytes.Compare(d.text(a), d.text(b))
		}
		return compareCodes(d.k, d.codes[a], d.codes[b])
	})
	return out
}

// grouped lists the rows by value number: those of value n are
// positions[starts[n]:starts[n+1]], ascending; the rows of null come last.
func (d *dictionary) grouped() (starts []int, positions []uint32) {
	n := d.count()
	starts = make([]int, n+2)
	slot := func(code uint32) int {
		if code == noCode {
			return n
		}
		return int(code)
	}
	for _, c := range d.rows {
		starts[slot(c)+1]++
	}
	for i := range n + 1 {
		starts[i+1] += starts[i]
	}
	positions = make([]uint32, len(d.rows))
	next := slices.Clone(starts)
	for row, c := range d.rows {
		s := slot(c)
		positions[next[s]] = uint32(row)
		next[s]++
	}
	return starts, positions
}
