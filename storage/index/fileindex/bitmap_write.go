package fileindex

import "github.com/tributarydb/tributary/storage/index/bitmapio"

// Defaults of the options of bitmap indexes.
const (
	defaultBitmapVersion = 2
	defaultBlockSize     = 16 << 10
)

// bitmapBuilder makes a bitmap index (BitmapFileIndex). The bitmaps are in the order of the
// values; Paimon's are in that of a hash map.
type bitmapBuilder struct {
	*dictionary
	version   int
	blockSize int
}

func newBitmapBuilder(s *Spec, k keyKind) (*bitmapBuilder, error) {
	version, err := s.integer("version", defaultBitmapVersion, 1, 2)
	if err != nil {
		return nil, err
	}
	size, err := s.size("index-block-size", defaultBlockSize)
	if err != nil {
		return nil, err
	}
	return &bitmapBuilder{newDictionary(k), version, size}, nil
}

// bitmapEntry is where the rows of a value are: an offset into the bitmaps and
// a length, or -1-row and -1 for a single row.
type bitmapEntry struct {
	value          uint32
	offset, length int
}

func (b *bitmapBuilder) finish() ([]byte, bool) {
	starts, positions := b.grouped()
	rowsOf := func(n int) []uint32 { return positions[starts[n]:starts[n+1]] }
	var body []byte
	null := bitmapEntry{}
	if nulls := rowsOf(b.count()); len(nulls) > 0 {
		set := bitmapio.AppendSorted(nil, nulls)
		null.length = len(set)
		if len(nulls) == 1 {
			null.offset = -1 - int(nulls[0])
		} else {
			body = set
		}
	}
	entries := make([]bitmapEntry, 0, b.count())
	for _, n := range b.sorted() {
		e := bitmapEntry{value: n, length: -1}
		if rows := rowsOf(int(n)); len(rows) == 1 {
			e.offset = -1 - int(rows[0])
		} else {
			e.offset = len(body)
			body = bitmapio.AppendSorted(body, rows)
			e.length = len(body) - e.offset
		}
		entries = append(entries, e)
	}
	out := []byte{byte(b.version)}
	out = appendInt(out, len(b.rows))
	out = appendInt(out, len(entries))
	out = appendBool(out, b.nulls > 0)
	if b.nulls > 0 {
		out = appendInt(out, null.offset)
	}
	if b.version == 1 {
		for _, e := range entries {
			out = appendInt(b.appendValue(out, e.value), e.offset)
		}
		return append(out, body...), true
	}
	if b.nulls > 0 {
		out = appendInt(out, null.length)
	}
	out = b.appendBlocks(out, entries)
	return append(out, body...), true
}

// appendBlocks appends the entries in blocks of limited size, and before them the
// first value and the offset of each.
func (b *bitmapBuilder) appendBlocks(out []byte, entries []bitmapEntry) []byte {
	var heads, blocks []byte
	count := 0
	for len(entries) > 0 {
		n, size := 0, 4
		for n < len(entries) {
			more := b.size(entries[n].value) + 8
			if n > 0 && size+more > b.blockSize {
				break
			}
			size += more
			n++
		}
		heads = appendInt(b.appendValue(heads, entries[0].value), len(blocks))
		blocks = appendInt(blocks, n)
		for _, e := range entries[:n] {
			blocks = appendInt(appendInt(b.appendValue(blocks, e.value), e.offset), e.length)
		}
		entries = entries[n:]
		count++
	}
	out = append(appendInt(out, count), heads...)
	return append(appendInt(out, len(blocks)), blocks...)
}
