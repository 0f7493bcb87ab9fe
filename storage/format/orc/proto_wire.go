package orc

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

var errProto = errors.New("malformed protobuf message")

// protoField is one field of a message: v holds varint and fixed values, p
// the bytes of a length-delimited one (nil otherwise).
type protoField struct {
	num protowire.Number
	v   uint64
	p   []byte
}

// eachField calls f for the fields of a message in order.
func eachField(b []byte, f func(protoField) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errProto
		}
		b = b[n:]
		x := protoField{num: num}
		switch typ {
		case protowire.VarintType:
			x.v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			x.v, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			x.v = uint64(v)
		case protowire.BytesType:
			x.p, n = protowire.ConsumeBytes(b)
			if n >= 0 && x.p == nil {
				x.p = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return errProto
		}
		b = b[n:]
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// uints appends the values of a repeated integer field, packed or not; at
// most limit in all.
func (x protoField) uints(dst []uint64, limit int) ([]uint64, error) {
	if x.p == nil {
		dst = append(dst, x.v)
	}
	for p := x.p; len(p) > 0; {
		v, n := protowire.ConsumeVarint(p)
		if n < 0 {
			return dst, errProto
		}
		p = p[n:]
		if len(dst) >= limit {
			return dst, errProto
		}
		dst = append(dst, v)
	}
	if len(dst) > limit {
		return dst, errProto
	}
	return dst, nil
}

// zigzag undoes the coding of signed integers.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
