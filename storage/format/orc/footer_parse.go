package orc

import (
	"fmt"
	"math"
)

// kind is the kind of an ORC type.
type kind uint8

// The kinds, by their numbers in the file.
const (
	kindBoolean kind = iota
	kindByte
	kindShort
	kindInt
	kindLong
	kindFloat
	kindDouble
	kindString
	kindBinary
	kindTimestamp
	kindList
	kindMap
	kindStruct
	kindUnion
	kindDecimal
	kindDate
	kindVarchar
	kindChar
	kindTimestampInstant
	kindCount
)

var kindNames = [...]string{"boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "timestamp",
	"array", "map", "struct", "uniontype", "decimal", "date", "varchar", "char", "timestamp with local time zone"}

// streamKind is the kind of a stream of a stripe.
type streamKind uint32

// The stream kinds that are read.
const (
	streamPresent         streamKind = 0
	streamData            streamKind = 1
	streamLength          streamKind = 2
	streamDictionaryData  streamKind = 3
	streamSecondary       streamKind = 5
	streamRowIndex        streamKind = 6
	streamBloomFilterUTF8 streamKind = 8
)

// encodingKind is how a column is encoded in a stripe.
type encodingKind uint8

const (
	encodingDirect encodingKind = iota
	encodingDictionary
	encodingDirectV2
	encodingDictionaryV2
	encodingCount
)

// Numbers of the footer's "writer" and of the postscript's "writerVersion".
const (
	// writerJava is the writer id of ORC's Java library, and of files without one.
	writerJava = 0
	// writerVersionTrusted (ORC-135) is the first whose statistics are all
	// usable: string bounds in byte order, time bounds in UTC.
	writerVersionTrusted = 6
)

type postscript struct {
	footerLength   uint64
	compression    uint64
	blockSize      uint64
	version        []uint64
	metadataLength uint64
	writerVersion  uint64
	magic          string
}

func parsePostscript(b []byte) (ps postscript, err error) {
	err = eachField(b, func(f protoField) (err error) {
		switch f.num {
		case 1:
			ps.footerLength = f.v
		case 2:
			ps.compression = f.v
		case 3:
			ps.blockSize = f.v
		case 4:
			ps.version, err = f.uints(ps.version, 2)
		case 5:
			ps.metadataLength = f.v
		case 6:
			ps.writerVersion = f.v
		case 8000:
			ps.magic = string(f.p)
		}
		return err
	})
	return ps, err
}

// stripeInfo is where a stripe lies: index streams, data streams, footer.
type stripeInfo struct {
	offset, indexLength, dataLength, footerLength, rows uint64
	firstRow                                            int64
}

// orcType is a node of the file's schema; children are indexes of types.
type orcType struct {
	id               int
	kind             kind
	children         []int
	names            []string
	precision, scale int
	// last is the greatest id below this type.
	last int
}

func (t *orcType) String() string {
	if t.kind == kindDecimal {
		return fmt.Sprintf("decimal(%d,%d)", t.precision, t.scale)
	}
	return kindNames[t.kind]
}

type footer struct {
	stripes   []stripeInfo
	types     []orcType
	rows      uint64
	stride    uint64
	writer    uint64
	encrypted bool
	// stats are the file's column statistics, unparsed.
	stats [][]byte
}

func parseFooter(b []byte) (ft footer, err error) {
	err = eachField(b, func(f protoField) error {
		switch f.num {
		case 3:
			if len(ft.stripes) >= maxStripes {
				return fmt.Errorf("more than %d stripes", maxStripes)
			}
			s, err := parseStripeInfo(f.p)
			ft.stripes = append(ft.stripes, s)
			return err
		case 4:
			if len(ft.types) >= maxTypes {
				return fmt.Errorf("more than %d columns", maxTypes)
			}
			t, err := parseType(f.p)
			t.id = len(ft.types)
			ft.types = append(ft.types, t)
			return err
		case 6:
			ft.rows = f.v
		case 7:
			if len(ft.stats) < maxTypes {
				ft.stats = append(ft.stats, f.p)
			}
		case 8:
			ft.stride = f.v
		case 9:
			ft.writer = f.v
		case 10:
			ft.encrypted = true
		}
		return nil
	})
	return ft, err
}

func parseStripeInfo(b []byte) (s stripeInfo, err error) {
	err = eachField(b, func(f protoField) error {
		switch f.num {
		case 1:
			s.offset = f.v
		case 2:
			s.indexLength = f.v
		case 3:
			s.dataLength = f.v
		case 4:
			s.footerLength = f.v
		case 5:
			s.rows = f.v
		}
		return nil
	})
	return s, err
}

func parseType(b []byte) (t orcType, err error) {
	var kids []uint64
	err = eachField(b, func(f protoField) (err error) {
		switch f.num {
		case 1:
			if f.v >= uint64(kindCount) {
				return fmt.Errorf("type kind %d is not known", f.v)
			}
			t.kind = kind(f.v)
		case 2:
			kids, err = f.uints(kids, maxTypes)
		case 3:
			if len(t.names) >= maxTypes {
				return errProto
			}
			t.names = append(t.names, string(f.p))
		case 5:
			t.precision = int(min(f.v, math.MaxInt32))
		case 6:
			t.scale = int(min(f.v, math.MaxInt32))
		}
		return err
	})
	for _, k := range kids {
		if k >= maxTypes {
			return t, fmt.Errorf("column number %d", k)
		}
		t.children = append(t.children, int(k))
	}
	return t, err
}

// checkTypes checks that the types are one tree in pre-order with a struct at
// its root, and fills in last.
func checkTypes(types []orcType) error {
	if len(types) == 0 {
		return fmt.Errorf("no types")
	}
	if types[0].kind != kindStruct {
		return fmt.Errorf("the root is a %s, not a struct", types[0].String())
	}
	var walk func(id, depth int) (next int, err error)
	walk = func(id, depth int) (int, error) {
		t := &types[id]
		if depth > maxTypeDepth {
			return 0, fmt.Errorf("types nested deeper than %d", maxTypeDepth)
		}
		want := 0
		switch t.kind {
		case kindList:
			want = 1
		case kindMap:
			want = 2
		case kindStruct:
			want = len(t.names)
		case kindUnion:
			want = len(t.children)
		}
		if len(t.children) != want {
			return 0, fmt.Errorf("type %d (%s) has %d children, expected %d", id, t, len(t.children), want)
		}
		next := id + 1
		for _, c := range t.children {
			if c != next || c >= len(types) {
				return 0, fmt.Errorf("type %d has child %d, expected %d of %d", id, c, next, len(types))
			}
			var err error
			if next, err = walk(c, depth+1); err != nil {
				return 0, err
			}
		}
		t.last = next - 1
		return next, nil
	}
	n, err := walk(0, 0)
	if err == nil && n != len(types) {
		err = fmt.Errorf("%d of %d types belong to no column", len(types)-n, len(types))
	}
	return err
}

// streamInfo is a stream of a stripe, at its position in the file.
type streamInfo struct {
	kind           streamKind
	column         uint64
	offset, length int64
}

type columnEncoding struct {
	kind           encodingKind
	dictionarySize uint64
}

type stripeFooter struct {
	streams   []streamInfo
	encodings []columnEncoding
	zone      string
	encrypted bool
}

// parseStripeFooter parses the footer of stripe s; streams get their offsets.
func parseStripeFooter(b []byte, s stripeInfo, types int) (sf stripeFooter, err error) {
	end := s.offset + s.indexLength + s.dataLength
	at := s.offset
	err = eachField(b, func(f protoField) error {
		switch f.num {
		case 1:
			if len(sf.streams) >= types*maxStreamsPerType {
				return fmt.Errorf("too many streams")
			}
			var st streamInfo
			var length uint64
			err := eachField(f.p, func(f protoField) error {
				switch f.num {
				case 1:
					st.kind = streamKind(min(f.v, math.MaxUint32))
				case 2:
					st.column = f.v
				case 3:
					length = f.v
				}
				return nil
			})
			if err != nil {
				return err
			}
			if length > end-at {
				return fmt.Errorf("stream %d of column %d ends beyond its stripe", st.kind, st.column)
			}
			st.offset, st.length = int64(at), int64(length)
			at += length
			sf.streams = append(sf.streams, st)
		case 2:
			if len(sf.encodings) >= types {
				return fmt.Errorf("encodings for more than %d columns", types)
			}
			var e columnEncoding
			err := eachField(f.p, func(f protoField) error {
				switch f.num {
				case 1:
					if f.v >= uint64(encodingCount) {
						return fmt.Errorf("encoding %d is not known", f.v)
					}
					e.kind = encodingKind(f.v)
				case 2:
					e.dictionarySize = f.v
				}
				return nil
			})
			sf.encodings = append(sf.encodings, e)
			return err
		case 3:
			sf.zone = string(f.p)
		case 4:
			sf.encrypted = true
		}
		return nil
	})
	if err == nil && len(sf.encodings) != types {
		err = fmt.Errorf("encodings for %d of %d columns", len(sf.encodings), types)
	}
	return sf, err
}

// rowIndexEntry is where a row group starts in a column's streams, and what
// is known of its values (unparsed).
type rowIndexEntry struct {
	positions []uint64
	stats     []byte
}

// parseRowIndex parses a row index stream of at most groups entries.
func parseRowIndex(b []byte, groups int) (out []rowIndexEntry, err error) {
	err = eachField(b, func(f protoField) error {
		if f.num != 1 {
			return nil
		}
		if len(out) >= groups {
			return fmt.Errorf("more than %d row groups", groups)
		}
		var e rowIndexEntry
		err := eachField(f.p, func(f protoField) (err error) {
			switch f.num {
			case 1:
				e.positions, err = f.uints(e.positions, maxPositions)
			case 2:
				e.stats = f.p
			}
			return err
		})
		out = append(out, e)
		return err
	})
	return out, err
}

// parseStripeStatistics parses the metadata section: for each stripe the
// unparsed statistics of every column.
func parseStripeStatistics(b []byte, stripes, types int) (out [][][]byte, err error) {
	err = eachField(b, func(f protoField) error {
		if f.num != 1 {
			return nil
		}
		if len(out) >= stripes {
			return fmt.Errorf("statistics for more than %d stripes", stripes)
		}
		var cols [][]byte
		err := eachField(f.p, func(f protoField) error {
			if f.num == 1 {
				if len(cols) >= types {
					return fmt.Errorf("statistics for more than %d columns", types)
				}
				cols = append(cols, f.p)
			}
			return nil
		})
		out = append(out, cols)
		return err
	})
	return out, err
}
