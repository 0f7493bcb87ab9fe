package parquet

import (
	"hash/crc32"
)

// pageType is PageType.
type pageType int8

const (
	pageData       pageType = 0
	pageIndex      pageType = 1
	pageDictionary pageType = 2
	pageDataV2     pageType = 3
)

// pageHeader is PageHeader. Sizes have been checked to be not negative.
type pageHeader struct {
	typ                      pageType
	uncompressed, compressed int
	crc                      uint32
	hasCRC                   bool
	// values counts the level entries of a data page, the entries of a dictionary page.
	values int
	enc    encoding
	// defEnc and repEnc are the level encodings of a v1 data page.
	defEnc, repEnc encoding
	// defLen and repLen are the byte lengths of a v2 data page's levels.
	defLen, repLen int
	// plainData says that a v2 page's values are not compressed.
	plainData bool
	// rows and nulls of a v2 data page.
	rows, nulls int
	// headerLen is the length of the header itself.
	headerLen int
}

// parsePageHeader decodes the header at the start of b, which may hold more.
func parsePageHeader(b []byte) (h pageHeader, err error) {
	r := thriftReader{b: b}
	h.typ = -1
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			h.typ = pageType(r.enumField(typ))
		case 2:
			h.uncompressed = r.countField(typ)
		case 3:
			h.compressed = r.countField(typ)
		case 4:
			h.crc, h.hasCRC = uint32(r.int32Field(typ)), true
		case 5:
			if r.want(typ, thriftStruct) {
				r.dataPageV1(&h)
			}
		case 7:
			if r.want(typ, thriftStruct) {
				r.fields(func(id int16, typ byte) {
					switch id {
					case 1:
						h.values = r.countField(typ)
					case 2:
						h.enc = encoding(r.enumField(typ))
					default:
						r.skip(typ)
					}
				})
			}
		case 8:
			if r.want(typ, thriftStruct) {
				r.dataPageV2(&h)
			}
		default:
			r.skip(typ)
		}
	})
	h.headerLen = r.pos
	return h, r.err
}

func (r *thriftReader) dataPageV1(h *pageHeader) {
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			h.values = r.countField(typ)
		case 2:
			h.enc = encoding(r.enumField(typ))
		case 3:
			h.defEnc = encoding(r.enumField(typ))
		case 4:
			h.repEnc = encoding(r.enumField(typ))
		default:
			r.skip(typ)
		}
	})
}

func (r *thriftReader) dataPageV2(h *pageHeader) {
	r.fields(func(id int16, typ byte) {
		switch id {
		case 1:
			h.values = r.countField(typ)
		case 2:
			h.nulls = r.countField(typ)
		case 3:
			h.rows = r.countField(typ)
		case 4:
			h.enc = encoding(r.enumField(typ))
		case 5:
			h.defLen = r.countField(typ)
		case 6:
			h.repLen = r.countField(typ)
		case 7:
			h.plainData = !r.boolField(typ)
		default:
			r.skip(typ)
		}
	})
}

// countField reads an i32 that must not be negative.
func (r *thriftReader) countField(typ byte) int {
	x := r.int32Field(typ)
	if x < 0 {
		r.fail()
		return 0
	}
	return int(x)
}

// checkCRC verifies the checksum that a writer may have put over the stored bytes of a page.
func (h *pageHeader) checkCRC(stored []byte) bool {
	return !h.hasCRC || crc32.ChecksumIEEE(stored) == h.crc
}
