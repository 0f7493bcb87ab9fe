package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// errMalformed is the failure of every parser of this package.
var errMalformed = errors.New("malformed communication packet")

// payload reads the fields of one packet. After the first field that the
// packet is too short for, bad is set and every read gives zero.
type payload struct {
	b   []byte
	bad bool
}

func (p *payload) fail() {
	p.bad = true
	p.b = nil
}

func (p *payload) take(n int) []byte {
	if n < 0 || n > len(p.b) {
		p.fail()
		return nil
	}
	r := p.b[:n:n]
	p.b = p.b[n:]
	return r
}

func (p *payload) u8() byte {
	if len(p.b) < 1 {
		p.fail()
		return 0
	}
	r := p.b[0]
	p.b = p.b[1:]
	return r
}

func (p *payload) u16() uint16 {
	if b := p.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (p *payload) u32() uint32 {
	if b := p.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (p *payload) u64() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// lenenc reads a length-encoded integer; NULL (0xfb) and 0xff are malformed here.
func (p *payload) lenenc() uint64 {
	switch c := p.u8(); c {
	case 0xfb, 0xff:
		p.fail()
		return 0
	case 0xfc:
		return uint64(p.u16())
	case 0xfd:
		b := p.take(3)
		if b == nil {
			return 0
		}
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case 0xfe:
		return p.u64()
	default:
		return uint64(c)
	}
}

// lenencBytes reads a length-encoded string, not a copy.
func (p *payload) lenencBytes() []byte {
	n := p.lenenc()
	if n > uint64(len(p.b)) || n > math.MaxInt32 {
		p.fail()
		return nil
	}
	return p.take(int(n))
}

// nulString reads up to a zero byte, which it skips.
func (p *payload) nulString() string {
	i := bytes.IndexByte(p.b, 0)
	if i < 0 {
		p.fail()
		return ""
	}
	s := string(p.b[:i])
	p.b = p.b[i+1:]
	return s
}

// nulStringOrRest is nulString where the zero byte may be missing at the end.
func (p *payload) nulStringOrRest() string {
	if bytes.IndexByte(p.b, 0) < 0 {
		s := string(p.b)
		p.b = nil
		return s
	}
	return p.nulString()
}

// appendLenenc appends a length-encoded integer.
func appendLenenc(dst []byte, n uint64) []byte {
	switch {
	case n < 0xfb:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	dst = append(dst, 0xfe)
	return binary.LittleEndian.AppendUint64(dst, n)
}

// appendLenencString appends a length-encoded string.
func appendLenencString[T string | []byte](dst []byte, s T) []byte {
	dst = appendLenenc(dst, uint64(len(s)))
	return append(dst, s...)
}
