package orc

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
)

// binaryWriter writes BINARY and VARBINARY: bytes and lengths.
type binaryWriter struct {
	colWriter
	stream, second outStream
	lengths        intWriter
	vals           []int64
}

func (w *binaryWriter) open() {
	w.newStream(&w.stream, streamData)
	w.newInts(&w.lengths, &w.second, streamLength, false)
}

func (w *binaryWriter) write(v *column.Vector, at []int32) error {
	v, at, err := w.values(v, at)
	if err != nil {
		return err
	}
	w.vals = slices.Grow(w.vals[:0], len(at))[:len(at)]
	for k, i := range at {
		r := v.Ref[i]
		b := v.Data[r.Off : r.Off+r.Len]
		w.stream.buf = append(w.stream.buf, b...)
		w.vals[k] = int64(r.Len)
		w.group.sum += int64(r.Len)
		if w.bloom != nil {
			w.bloom.add(murmur64(b))
		}
		if len(w.stream.buf) > settleBytes {
			w.stream.settle()
		}
	}
	w.stream.settle()
	w.lengths.write(w.vals)
	return nil
}

// settleBytes is how much of long values is gathered before it is packed.
const settleBytes = 4 << 20

func (w *binaryWriter) position(dst []uint64) []uint64 {
	return w.lengths.position(w.stream.position(dst))
}
func (w *binaryWriter) finish() { w.lengths.flush() }

// stringWriter writes STRING, VARCHAR and CHAR: codes of a dictionary of the stripe, or
// bytes and lengths. Which one is decided once for the file: by the first
// row group, or by the first stripe (org.apache.orc.impl.writer.StringBaseTreeWriter).
type stringWriter struct {
	colWriter
	// stream has the codes or the bytes, second the lengths of values or entries, third the entries.
	stream, second, third outStream
	codes, lengths        intWriter
	// limit is the length in characters of VARCHAR and CHAR, 0 = none; pad fills CHAR up to it.
	limit int
	pad   bool
	// threshold is the greatest part of the values that may be distinct with a dictionary.
	threshold      float64
	coded, decided bool
	dict           dictionary
	size           int // of the finished dictionary
	// rows are the values of the stripe that are not written yet, as entries; starts their number where each group starts.
	rows   []int32
	starts []int
	// cache are the entries of the codes of a vector, -1 where they are not looked up yet.
	cache  []int32
	padded []byte
	vals   []int64
}

func (w *stringWriter) open() {
	w.newStream(&w.stream, streamData)
	w.newInts(&w.lengths, &w.second, streamLength, false)
	w.newStream(&w.third, streamDictionaryData)
	w.codes.s, w.codes.aligned = &w.stream, w.out.opts.aligned
	w.coded, w.decided = w.threshold > 0, w.threshold <= 0
}

// text is a value as it is stored.
func (w *stringWriter) text(b []byte) ([]byte, error) {
	if w.limit == 0 || len(b) <= w.limit && !w.pad {
		return b, nil
	}
	if w.pad {
		b = bytes.TrimRight(b, " ")
	}
	n := utf8.RuneCount(b)
	if n > w.limit {
		return nil, errs.Invalidf("column '%s': a value of %d characters is longer than the type's %d, which ORC files cannot store", w.path, n, w.limit)
	}
	if !w.pad || n == w.limit {
		return b, nil
	}
	w.padded = append(w.padded[:0], b...)
	for ; n < w.limit; n++ {
		w.padded = append(w.padded, ' ')
	}
	return w.padded, nil
}

func (w *stringWriter) write(v *column.Vector, at []int32) error {
	at, err := w.mask(v, at)
	if err != nil {
		return err
	}
	if w.coded && v.Dict != nil && v.Dict.N <= 2*len(at) {
		return w.writeCoded(v, at)
	}
	v, at = w.plain(v, at)
	w.vals = w.vals[:0]
	for _, i := range at {
		r := v.Ref[i]
		b, err := w.text(v.Data[r.Off : r.Off+r.Len])
		if err != nil {
			return err
		}
		w.group.addString(b)
		w.group.sum += int64(len(b))
		w.hash(b)
		if w.coded {
			w.rows = append(w.rows, w.dict.add(b))
			continue
		}
		w.stream.buf = append(w.stream.buf, b...)
		w.vals = append(w.vals, int64(len(b)))
		if len(w.stream.buf) > settleBytes {
			w.stream.settle()
		}
	}
	if !w.coded {
		w.stream.settle()
		w.lengths.write(w.vals)
	}
	return nil
}

// hash puts a text into the Bloom filter; CHAR with its padding and without, as readers may ask for either.
func (w *stringWriter) hash(b []byte) {
	if w.bloom == nil {
		return
	}
	w.bloom.add(murmur64(b))
	if w.pad {
		w.bloom.add(murmur64(bytes.TrimRight(b, " ")))
	}
}

// writeCoded looks at each value of the vector's dictionary once.
func (w *stringWriter) writeCoded(v *column.Vector, at []int32) error {
	d := v.Dict
	w.cache = slices.Grow(w.cache[:0], d.N)[:d.N]
	for i := range w.cache {
		w.cache[i] = -1
	}
	for _, i := range at {
		code := v.Codes[i]
		id := w.cache[code]
		if id < 0 {
			b, err := w.text(d.Bytes(int(code)))
			if err != nil {
				return err
			}
			id = w.dict.add(b)
			w.cache[code] = id
			w.group.addString(b)
			w.hash(b)
		}
		w.group.sum += int64(w.dict.length(id))
		w.rows = append(w.rows, id)
	}
	return nil
}

func (w *stringWriter) position(dst []uint64) []uint64 {
	if w.coded {
		w.starts = append(w.starts, len(w.rows))
		return dst // known when the stripe is written
	}
	return w.lengths.position(w.stream.position(dst))
}

// decide gives the dictionary up where too many values are distinct.
func (w *stringWriter) decide() {
	if w.decided {
		return
	}
	w.decided = true
	opts := w.out.opts
	ratio := 0.0
	if len(w.rows) > 0 {
		ratio = float64(float32(w.dict.size()) / float32(len(w.rows)))
	}
	if ratio <= w.threshold && (opts.maxDictionary <= 0 || w.dict.memory() <= opts.maxDictionary) {
		return
	}
	// The values so far are written as they are.
	w.coded = false
	group := 0
	w.vals = w.vals[:0]
	for i := 0; ; i++ {
		for group < len(w.starts) && w.starts[group] == i {
			w.lengths.write(w.vals)
			w.vals = w.vals[:0]
			w.stream.settle()
			g := &w.groups[group]
			g.positions = w.lengths.position(w.stream.position(g.positions))
			group++
		}
		if i == len(w.rows) {
			break
		}
		b := w.dict.bytes(w.rows[i])
		w.stream.buf = append(w.stream.buf, b...)
		w.vals = append(w.vals, int64(len(b)))
		if len(w.stream.buf) > settleBytes {
			w.stream.settle()
		}
	}
	w.lengths.write(w.vals)
	w.stream.settle()
	w.dict, w.rows, w.starts = dictionary{}, nil, nil
}

func (w *stringWriter) endGroup() {
	if w.out.opts.earlyCheck && w.out.opts.stride > 0 {
		w.decide()
	}
}

func (w *stringWriter) finish() {
	w.decide()
	if !w.coded {
		w.lengths.flush()
		return
	}
	// Entries are written in order; rank is the place of each.
	order, rank := w.dict.sorted()
	for _, id := range order {
		b := w.dict.bytes(id)
		w.third.buf = append(w.third.buf, b...)
		w.lengths.add(int64(len(b)))
		if len(w.third.buf) > settleBytes {
			w.third.settle()
		}
	}
	w.lengths.flush()
	group := 0
	for i := 0; ; i++ {
		for group < len(w.starts) && w.starts[group] == i {
			w.stream.settle()
			g := &w.groups[group]
			g.positions = w.codes.position(g.positions)
			group++
		}
		if i == len(w.rows) {
			break
		}
		w.codes.add(int64(rank[w.rows[i]]))
	}
	w.codes.flush()
	w.size = len(order)
}

func (w *stringWriter) encoding() (encodingKind, int) {
	if w.coded {
		return encodingDictionaryV2, w.size
	}
	return encodingDirectV2, 0
}

func (w *stringWriter) reset() {
	w.dict.reset()
	w.rows, w.starts = w.rows[:0], w.starts[:0]
}

func (w *stringWriter) memory() (packed, open int64) {
	packed, open = w.colWriter.memory()
	return packed, open + w.dict.memory() + 4*int64(len(w.rows))
}

// dictionary gives distinct texts numbers.
type dictionary struct {
	seed  maphash.Seed
	table []int32 // numbers plus one by hash; a power of two
	ends  []int   // where each text ends in data
	data  []byte
}

// minTable is the size of the smallest hash table.
const minTable = 256

func (d *dictionary) size() int { return len(d.ends) }

func (d *dictionary) memory() int64 {
	return int64(len(d.data)) + 8*int64(len(d.ends)) + 4*int64(len(d.table))
}

func (d *dictionary) bytes(id int32) []byte {
	from := 0
	if id > 0 {
		from = d.ends[id-1]
	}
	return d.data[from:d.ends[id]]
}

func (d *dictionary) length(id int32) int { return len(d.bytes(id)) }

// add returns the number of a text.
func (d *dictionary) add(b []byte) int32 {
	if 2*len(d.ends) >= len(d.table) {
		d.grow()
	}
	mask := uint64(len(d.table) - 1)
	at := maphash.Bytes(d.seed, b) & mask
	for ; d.table[at] != 0; at = (at + 1) & mask {
		if id := d.table[at] - 1; bytes.Equal(d.bytes(id), b) {
			return id
		}
	}
	id := int32(len(d.ends))
	d.table[at] = id + 1
	d.data = append(d.data, b...)
	d.ends = append(d.ends, len(d.data))
	return id
}

func (d *dictionary) grow() {
	if d.table == nil {
		d.seed = maphash.MakeSeed()
	}
	d.table = make([]int32, max(minTable, 2*len(d.table)))
	mask := uint64(len(d.table) - 1)
	for id := range d.ends {
		at := maphash.Bytes(d.seed, d.bytes(int32(id))) & mask
		for d.table[at] != 0 {
			at = (at + 1) & mask
		}
		d.table[at] = int32(id) + 1
	}
}

// sorted returns the numbers in the order of their texts, and the place of each number.
func (d *dictionary) sorted() (order, rank []int32) {
	order, rank = make([]int32, len(d.ends)), make([]int32, len(d.ends))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return bytes.Compare(d.bytes(a), d.bytes(b)) })
	for i, id := range order {
		rank[id] = int32(i)
	}
	return order, rank
}

func (d *dictionary) reset() {
	clear(d.table)
	d.ends, d.data = d.ends[:0], d.data[:0]
}
