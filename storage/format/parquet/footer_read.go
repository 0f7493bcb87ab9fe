package parquet

import (
	"encoding/binary"
	"fmt"
)

// physicalType is Parquet's Type.
type physicalType int8

const (
	typeBoolean physicalType = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeByteArray
	typeFixed
	typeNone physicalType = -1 // a group
)

var physicalNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

func (t physicalType) String() string {
	if t >= 0 && int(t) < len(physicalNames) {
		return physicalNames[t]
	}
	if t == typeNone {
		return "group"
	}
	return fmt.Sprintf("type %d", int8(t))
}

// repetition is FieldRepetitionType.
type repetition int8

const (
	required repetition = iota
	optional
	repeated
)

// codec is CompressionCodec.
type codec int8

const (
	codecNone codec = iota
	codecSnappy
	codecGzip
	codecLZO
	codecBrotli
	codecLZ4
	codecZstd
	codecLZ4Raw
)

var codecNames = [...]string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}

func (c codec) String() string {
	if c >= 0 && int(c) < len(codecNames) {
		return codecNames[c]
	}
	return fmt.Sprintf("codec %d", int8(c))
}

// encoding is Encoding.
type encoding int8

const (
	encPlain           encoding = 0
	encPlainDictionary encoding = 2
	encRLE             encoding = 3
	encBitPacked       encoding = 4
	encDeltaBinary     encoding = 5
	encDeltaLength     encoding = 6
	encDeltaByteArray  encoding = 7
	encRLEDictionary   encoding = 8
	encByteStreamSplit encoding = 9
)

// logicalKind is the annotation of a schema element, from LogicalType or ConvertedType.
type logicalKind int8

const (
	logicalNone logicalKind = iota
	logicalString
	logicalMap
	logicalList
	logicalDecimal
	logicalDate
	logicalTime
	logicalTimestamp
	logicalInteger
	logicalVariant
	logicalUUID
	logicalOther
)

// timeUnit of TIME and TIMESTAMP annotations.
type timeUnit int8

const (
	unitNone timeUnit = iota
	unitMillis
	unitMicros
	unitNanos
)

// logical is a schema element's annotation.
type logical struct {
	kind     logicalKind
	unit     timeUnit
	unsigned bool
	// utc says that a TIME or TIMESTAMP is adjusted to UTC.
	utc bool
	// bits is the width of an integer, 0 = that of its type.
	bits int8
	// scale and precision of a decimal.
	scale, precision int32
}

// element is SchemaElement.
type element struct {
	typ         physicalType
	typeLength  int32
	rep         repetition
	name        string
	numChildren int32
	logical     logical
}

// chunkStats is Statistics. Bounds are views of the footer.
type chunkStats struct {
	nulls    int64 // -1 unknown
	min, max []byte
	// hasBounds is set where min and max come from min_value and max_value.
	hasBounds bool
	// legacyBounds: min and max are the deprecated fields, whose order is signed.
	legacyBounds bool
}

// chunk is ColumnChunk with its ColumnMetaData.
type chunk struct {
	typ                                physicalType
	codec                              codec
	numValues                          int64
	uncompressed, compressed           int64
	dataOffset, dictOffset             int64 // dictOffset 0 = none
	stats                              chunkStats
	bloomOffset                        int64
	bloomLength                        int32
	offsetIndexOffset, columnIdxOffset int64
	offsetIndexLength, columnIdxLength int32
	otherFile                          bool
	encrypted                          bool
}

// start returns the offset of the chunk's first page.
func (c *chunk) start() int64 {
	if c.dictOffset > 0 && c.dictOffset < c.dataOffset {
		return c.dictOffset
	}
	return c.dataOffset
}

// rowGroup is RowGroup.
type rowGroup struct {
	chunks   []chunk
	rows     int64
	firstRow int64
	bytes    int64
	// split says that the row group makes more than one section.
	split bool
}

// footer is FileMetaData.
type footer struct {
	elements []element
	rows     int64
	groups   []rowGroup
	// typeOrder[i] says that leaf i's min_value and max_value follow the type's order.
	typeOrder []bool
}

// parseFooter decodes the file metadata.
func parseFooter(b []byte) (*footer, error) {
	r := &thriftReader{b: b}
	f := &footer{}
	encrypted := false
	r.fields(func(id int16, typ byte) {
		switch id {
		case 2:
			if !r.want(typ, thriftList) {
				return
			}
			n := r.structList()
			f.elements = make([]element, 0, min(n, 1024))
			for i := 0; i < n && r.err == nil; i++ {
				f.elements = append(f.elements, r.element())
			}
		case 3:
			f.rows = r.int64Field(typ)
		case 4:
			if !r.want(typ, thriftList) {
				return
			}
			n := r.structList()
			for i := 0; i < n && r.err == nil; i++ {
				f.groups = append(f.groups, r.rowGroup())
			}
		case 7:
			if !r.want(typ, thriftList) {
				return
			}
			n := r.structList()
			for i := 0; i < n && r.err == nil; i++ {
				ok := false
				r.fields(func(id int16, typ byte) { ok = ok || id == 1; r.skip(typ) })
				f.typeOrder = append(f.typeOrder, ok)
			}
		case 8:
			encrypted = true
			r.skip(typ)
		default:
			r.skip(typ)
		}
	})
	if r.err != nil {
		return nil, r.err
	}
	if encrypted {
		return nil, errEncrypted
	}
	return f, nil
}

func (r *thriftReader) element() element {
	e := element{typ: typeNone}
	converted := int32(-1)
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			e.typ = physicalType(int8(r.enumField(typ)))
		case 2:
			e.typeLength = r.int32Field(typ)
		case 3:
			e.rep = repetition(int8(r.enumField(typ)))
		case 4:
			e.name = string(r.bytesField(typ))
		case 5:
			e.numChildren = r.int32Field(typ)
		case 6:
			converted = r.enumField(typ)
		case 7:
			e.logical.scale = r.int32Field(typ)
		case 8:
			e.logical.precision = r.int32Field(typ)
		case 10:
			if r.want(typ, thriftStruct) {
				r.logicalType(&e.logical)
			}
		default:
			r.skip(typ)
		}
	})
	if e.logical.kind == logicalNone && converted >= 0 {
		e.logical.fromConverted(converted)
	}
	return e
}

// enumField reads an enum, clipped to what fits the small types above.
func (r *thriftReader) enumField(typ byte) int32 {
	x := r.int32Field(typ)
	if x < 0 || x > 100 {
		r.fail()
		return 0
	}
	return x
}

func (l *logical) fromConverted(c int32) {
	switch c {
	case 0, 4, 19, 20: // UTF8, ENUM, JSON, BSON
		l.kind = logicalString
	case 1, 2: // MAP, MAP_KEY_VALUE
		l.kind = logicalMap
	case 3:
		l.kind = logicalList
	case 5:
		l.kind = logicalDecimal
	case 6:
		l.kind = logicalDate
	case 7, 8:
		l.kind, l.unit, l.utc = logicalTime, unitMillis+timeUnit(c-7), true
	case 9, 10:
		l.kind, l.unit, l.utc = logicalTimestamp, unitMillis+timeUnit(c-9), true
	case 11, 12, 13, 14:
		l.kind, l.unsigned, l.bits = logicalInteger, true, 8<<(c-11)
	case 15, 16, 17, 18:
		l.kind, l.bits = logicalInteger, 8<<(c-15)
	default:
		l.kind = logicalOther
	}
}

func (r *thriftReader) logicalType(l *logical) {
	r.fields(func(id int16, typ byte) {
		if !r.want(typ, thriftStruct) {
			return
		}
		switch id {
		case 1, 4, 12, 13: // STRING, ENUM, JSON, BSON
			l.kind = logicalString
			r.skip(typ)
		case 2:
			l.kind = logicalMap
			r.skip(typ)
		case 3:
			l.kind = logicalList
			r.skip(typ)
		case 5:
			l.kind = logicalDecimal
			r.fields(func(id int16, typ byte) {
				switch id {
				case 1:
					l.scale = r.int32Field(typ)
				case 2:
					l.precision = r.int32Field(typ)
				default:
					r.skip(typ)
				}
			})
		case 6:
			l.kind = logicalDate
			r.skip(typ)
		case 7, 8:
			l.kind = logicalTime
			if id == 8 {
				l.kind = logicalTimestamp
			}
			r.fields(func(id int16, typ byte) {
				if id == 1 {
					l.utc = r.boolField(typ)
					return
				}
				if id != 2 {
					r.skip(typ)
					return
				}
				if r.want(typ, thriftStruct) {
					r.fields(func(id int16, typ byte) {
						if id >= 1 && id <= 3 {
							l.unit = timeUnit(id)
						}
						r.skip(typ)
					})
				}
			})
		case 10:
			l.kind = logicalInteger
			r.fields(func(id int16, typ byte) {
				switch {
				case id == 1 && typ == thriftByte:
					l.bits = int8(r.byte())
				case id == 2:
					l.unsigned = !r.boolField(typ)
				default:
					r.skip(typ)
				}
			})
		case 14:
			l.kind = logicalUUID
			r.skip(typ)
		case 16:
			l.kind = logicalVariant
			r.skip(typ)
		default:
			l.kind = logicalOther
			r.skip(typ)
		}
	})
}

func (r *thriftReader) rowGroup() rowGroup {
	var g rowGroup
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			if !r.want(typ, thriftList) {
				return
			}
			n := r.structList()
			g.chunks = make([]chunk, 0, min(n, 1024))
			for i := 0; i < n && r.err == nil; i++ {
				g.chunks = append(g.chunks, r.columnChunk())
			}
		case 2:
			g.bytes = r.int64Field(typ)
		case 3:
			g.rows = r.int64Field(typ)
		default:
			r.skip(typ)
		}
	})
	return g
}

func (r *thriftReader) columnChunk() chunk {
	c := chunk{typ: typeNone, stats: chunkStats{nulls: -1}}
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			c.otherFile = len(r.bytesField(typ)) > 0
		case 3:
			if r.want(typ, thriftStruct) {
				r.columnMetaData(&c)
			}
		case 4:
			c.offsetIndexOffset = r.int64Field(typ)
		case 5:
			c.offsetIndexLength = r.int32Field(typ)
		case 6:
			c.columnIdxOffset = r.int64Field(typ)
		case 7:
			c.columnIdxLength = r.int32Field(typ)
		case 8, 9:
			c.encrypted = true
			r.skip(typ)
		default:
			r.skip(typ)
		}
	})
	return c
}

func (r *thriftReader) columnMetaData(c *chunk) {
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			c.typ = physicalType(int8(r.enumField(typ)))
		case 4:
			c.codec = codec(int8(r.enumField(typ)))
		case 5:
			c.numValues = r.int64Field(typ)
		case 6:
			c.uncompressed = r.int64Field(typ)
		case 7:
			c.compressed = r.int64Field(typ)
		case 9:
			c.dataOffset = r.int64Field(typ)
		case 11:
			c.dictOffset = r.int64Field(typ)
		case 12:
			if r.want(typ, thriftStruct) {
				c.stats = r.statistics()
			}
		case 14:
			c.bloomOffset = r.int64Field(typ)
		case 15:
			c.bloomLength = r.int32Field(typ)
		default:
			r.skip(typ)
		}
	})
}

func (r *thriftReader) statistics() chunkStats {
	s := chunkStats{nulls: -1}
	var oldMin, oldMax, newMin, newMax []byte
	var has [4]bool
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			oldMax, has[0] = r.bytesField(typ), true
		case 2:
			oldMin, has[1] = r.bytesField(typ), true
		case 3:
			s.nulls = r.int64Field(typ)
		case 5:
			newMax, has[2] = r.bytesField(typ), true
		case 6:
			newMin, has[3] = r.bytesField(typ), true
		default:
			r.skip(typ)
		}
	})
	switch {
	case has[2] && has[3]:
		s.min, s.max, s.hasBounds = newMin, newMax, true
	case has[0] && has[1]:
		s.min, s.max, s.hasBounds, s.legacyBounds = oldMin, oldMax, true, true
	}
	return s
}

// footerTail reads the last 8 bytes of a file: the length of the footer and
// the magic.
func footerTail(tail []byte) (length int64, err error) {
	if len(tail) != 8 {
		return 0, errNoMagic
	}
	switch string(tail[4:]) {
	case "PAR1":
	case "PARE":
		return 0, errEncrypted
	default:
		return 0, errNoMagic
	}
	return int64(binary.LittleEndian.Uint32(tail)), nil
}
