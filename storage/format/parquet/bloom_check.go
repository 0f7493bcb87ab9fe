package parquet

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
)

const (
	// bloomHeaderGuess is what a bloom filter's header takes at most.
	bloomHeaderGuess = 128
	// maxBloomLiterals bounds the literals of an IN that are looked up.
	maxBloomLiterals = 64
	// bloomBlock is the size of a block of a split-block bloom filter.
	bloomBlock = 32
)

var bloomSalt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// bloomMayMatch checks the equalities of a filter with the bloom filters of a row group.
func (r *reader) bloomMayMatch(p predicate.Predicate, g *rowGroup) (bool, error) {
	switch p := p.(type) {
	case *predicate.And:
		for _, c := range p.Children {
			if may, err := r.bloomMayMatch(c, g); err != nil || !may {
				return false, err
			}
		}
	case *predicate.Or:
		for _, c := range p.Children {
			if may, err := r.bloomMayMatch(c, g); err != nil || may {
				return may, err
			}
		}
		return false, nil
	case *predicate.Leaf:
		return r.bloomLeaf(p, g)
	}
	return true, nil
}

func (r *reader) bloomLeaf(l *predicate.Leaf, g *rowGroup) (bool, error) {
	if l.Op != predicate.Eq && l.Op != predicate.In || len(l.Literals) > maxBloomLiterals || l.Column < 0 || l.Column >= len(r.cols) {
		return true, nil
	}
	c := r.cols[l.Column]
	if c.flat == nil {
		return true, nil
	}
	ch := &g.chunks[c.p.node.leaf]
	if ch.bloomOffset <= 0 {
		return true, nil
	}
	var f *bloomFilter
	for i := range l.Literals {
		plain, ok := plainBytes(c.p.node, c.p.conv, c.kind, &l.Literals[i])
		if !ok {
			return true, nil
		}
		if f == nil {
			var err error
			if f, err = r.f.openBloom(ch); err != nil || f == nil {
				return true, unlessIndex(err)
			}
		}
		if may, err := f.mayHold(plain); err != nil || may {
			return may, err
		}
	}
	return false, nil
}

// bloomFilter is a split-block bloom filter in the file, of which only the
// blocks that are asked about are read.
type bloomFilter struct {
	f      *File
	offset int64
	blocks uint64
}

// openBloom reads a bloom filter's header; nil for a kind that is not known,
// errIndex for one that makes no sense.
func (f *File) openBloom(ch *chunk) (*bloomFilter, error) {
	if ch.bloomOffset >= f.size {
		return nil, errIndex
	}
	b, err := f.readMeta(ch.bloomOffset, int(min(bloomHeaderGuess, f.size-ch.bloomOffset)))
	if err != nil {
		return nil, err
	}
	r := &thriftReader{b: b}
	size := int64(-1)
	known := 0
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			size = int64(r.int32Field(typ))
		case 2, 3, 4: // algorithm, hash, compression: the first variant of each is the one there is
			if !r.want(typ, thriftStruct) {
				return
			}
			r.fields(func(id int16, typ byte) {
				if id == 1 {
					known++
				}
				r.skip(typ)
			})
		default:
			r.skip(typ)
		}
	})
	if r.err != nil {
		return nil, errIndex
	}
	if known != 3 {
		return nil, nil
	}
	at := ch.bloomOffset + int64(r.pos)
	if size < bloomBlock || size%bloomBlock != 0 || size > f.size-at {
		return nil, errIndex
	}
	return &bloomFilter{f: f, offset: at, blocks: uint64(size / bloomBlock)}, nil
}

// mayHold reports whether a value may be in the filter; plain is its plain encoding.
func (b *bloomFilter) mayHold(plain []byte) (bool, error) {
	h := xxhash.Sum64(plain)
	i := (h >> 32) * b.blocks >> 32
	block, err := b.f.readMeta(b.offset+int64(i)*bloomBlock, bloomBlock)
	if err != nil {
		return false, err
	}
	for w, salt := range bloomSalt {
		bit := uint32(1) << (uint32(h) * salt >> 27)
		if binary.LittleEndian.Uint32(block[w*4:])&bit == 0 {
			return false, nil
		}
	}
	return true, nil
}

// plainBytes returns the plain encoding that a literal has in column n; ok is
// false where there is not exactly one.
func plainBytes(n *node, c conversion, kind column.Kind, x *column.Scalar) (b []byte, ok bool) {
	if x.Kind != kind || x.Null {
		return nil, false
	}
	i := x.I
	switch c {
	case convBytes:
		return x.B, true
	case convFixedBytes:
		return x.B, len(x.B) == int(n.typeLength)
	case convInt32, convInt32To64:
		return binary.LittleEndian.AppendUint32(nil, uint32(i)), i >= math.MinInt32 && i <= math.MaxInt32
	case convInt64:
		return binary.LittleEndian.AppendUint64(nil, uint64(i)), true
	case convMicros:
		return binary.LittleEndian.AppendUint64(nil, uint64(i)), x.Sub == 0
	case convMillis:
		return binary.LittleEndian.AppendUint64(nil, uint64(floorDiv(i, 1000))), x.Sub == 0 && i%1000 == 0
	case convFixedDec64, convFixedDec128:
		d := x.D
		if c == convFixedDec64 {
			d = column.FromInt64(i)
		}
		var full [16]byte
		binary.BigEndian.PutUint64(full[:], uint64(d.Hi))
		binary.BigEndian.PutUint64(full[8:], d.Lo)
		w := int(n.typeLength)
		if w > len(full) {
			return nil, false
		}
		back, _ := column.FromBigEndian(full[16-w:])
		return full[16-w:], back == d
	}
	return nil, false
}
