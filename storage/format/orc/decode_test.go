package orc

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
)

// streamOf makes a stream over plain bytes, which come in pieces of a few bytes.
func streamOf(data []byte, piece int) *stream {
	env := &readEnv{file: &file{f: bytesFile{bytes.NewReader(data)}, blockSize: defaultCompressionBlock}, ctx: context.Background(), pieceBytes: piece, workspace: new(workspace)}
	return &stream{env: env, length: int64(len(data))}
}

// TestIntRuns decodes the examples of the ORC specification.
func TestIntRuns(t *testing.T) {
	repeat := func(v int64, n int) (out []int64) {
		for range n {
			out = append(out, v)
		}
		return out
	}
	var descending []int64
	for v := int64(100); v > 0; v-- {
		descending = append(descending, v)
	}
	for _, c := range []struct {
		name       string
		v2, signed bool
		data       []byte
		want       []int64
	}{
		{"v1 run", false, false, []byte{0x61, 0x00, 0x07}, repeat(7, 100)},
		{"v1 descending", false, false, []byte{0x61, 0xff, 0x64}, descending},
		{"v1 literals", false, false, []byte{0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b}, []int64{2, 3, 6, 7, 11}},
		{"short repeat", true, false, []byte{0x0a, 0x27, 0x10}, repeat(10000, 5)},
		{"direct", true, false, []byte{0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef}, []int64{23713, 43806, 57005, 48879}},
		{"patched base", true, false, []byte{0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8},
			[]int64{2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130, 2140, 2150, 2160, 2170, 2180, 2190}},
		{"delta", true, false, []byte{0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46}, []int64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}},
		{"signed short repeat", true, true, []byte{0x00, 0x03}, repeat(-2, 3)},
	} {
		for _, piece := range []int{1, 3, 1000} {
			r := &intReader{s: streamOf(c.data, piece), v2: c.v2, signed: c.signed}
			got := make([]int64, len(c.want))
			for i := range got {
				if err := r.read(got[i : i+1]); err != nil {
					t.Fatalf("%s: value %d: %v", c.name, i, err)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			if err := r.read(got[:1]); !errors.Is(err, errTruncated) {
				t.Errorf("%s: a value behind the end: %v", c.name, err)
			}
		}
	}
}

func TestUnpack(t *testing.T) {
	for width := 1; width <= 64; width++ {
		if closestWidth(width) != width {
			continue
		}
		const n = 37
		want := make([]int64, n)
		packed := make([]byte, (n*width+7)/8)
		for i := range want {
			v := uint64(i)*0x9e3779b97f4a7c15 + 12345
			v >>= 64 - width
			want[i] = int64(v)
			for b := range width {
				if v>>(width-1-b)&1 != 0 {
					p := i*width + b
					packed[p>>3] |= 0x80 >> (p & 7)
				}
			}
		}
		got := make([]int64, n)
		unpack(got, packed, width)
		if !slices.Equal(got, want) {
			t.Errorf("width %d: %v, want %v", width, got, want)
		}
	}
	for code := byte(0); code < 32; code++ {
		if w := bitWidth(code); closestWidth(w) != w {
			t.Errorf("code %d gives width %d", code, w)
		}
	}
}

func TestBytesAndBits(t *testing.T) {
	// The examples of the specification: 100 zeros; 0x44 0x45; the bits of 0x80.
	r := &byteReader{s: streamOf([]byte{0x61, 0x00, 0xfe, 0x44, 0x45}, 1)}
	got := make([]byte, 102)
	if err := r.read(got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, append(make([]byte, 100), 0x44, 0x45)) {
		t.Errorf("bytes %v", got)
	}
	// Bits come alike however they are asked for.
	data := []byte{0xf8, 0x80, 0x01, 0xff, 0x55, 0xaa, 0x13, 0x00, 0xc4}
	for _, steps := range [][]int{{64}, {1, 63}, {8, 8, 48}, {3, 5, 7, 49}, {61, 3}} {
		b := &bitReader{b: byteReader{s: streamOf(data, 2)}}
		var all uint64
		at := 0
		for _, n := range steps {
			var w [1]uint64
			ones, err := b.read(w[:], n)
			if err != nil {
				t.Fatal(err)
			}
			count := 0
			for i := range n {
				count += int(w[0] >> i & 1)
			}
			if count != ones {
				t.Errorf("%d ones, want %d", ones, count)
			}
			all |= w[0] << at
			at += n
		}
		var want uint64
		for i := range 64 {
			want |= uint64(data[1+i/8]>>(7-i%8)&1) << i
		}
		if all != want {
			t.Errorf("steps %v: %x, want %x", steps, all, want)
		}
	}
}

func TestVarint128(t *testing.T) {
	most := column.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
	for _, c := range []struct {
		data []byte
		want column.Int128
		n    int
	}{
		{[]byte{0x00}, column.Int128{}, 1},
		{[]byte{0x01, 0xff}, column.FromInt64(-1), 1},
		{[]byte{0xac, 0x02}, column.FromInt64(150), 2},
		{append(bytes.Repeat([]byte{0xff}, 9), 0x01), column.FromInt64(math.MinInt64), 10},
		{append(append([]byte{0xfe}, bytes.Repeat([]byte{0xff}, 17)...), 0x03), most, 19},
		{append(bytes.Repeat([]byte{0xff}, 18), 0x03), column.Int128{Hi: math.MinInt64}, 19},
		{[]byte{0x80}, column.Int128{}, 0},
	} {
		v, n, err := varint128(c.data)
		if v != c.want || n != c.n || err != nil {
			t.Errorf("%x: %v of %d bytes, %v; want %v of %d", c.data, v, n, err, c.want, c.n)
		}
	}
	if _, _, err := varint128(append(bytes.Repeat([]byte{0xff}, 18), 0x04)); err == nil {
		t.Error("129 bits pass")
	}
}

func TestRescale(t *testing.T) {
	for _, c := range []struct {
		v    int64
		n    int
		want string
		ok   bool
	}{{-15, 2, "-1500", true}, {7, 0, "7", true}, {1, 37, "1" + string(bytes.Repeat([]byte("0"), 37)), true}, {1, 38, "", false}, {math.MinInt64, 20, "", false}} {
		v, ok := rescale(column.FromInt64(c.v), c.n)
		if ok != c.ok || ok && string(column.AppendDecimal(nil, v, 0)) != c.want {
			t.Errorf("%d * 10^%d: %s, %v", c.v, c.n, column.AppendDecimal(nil, v, 0), ok)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct{ in, want string }{{"ab   ", "ab"}, {"     ", ""}, {"a\x01   ", "a"}, {"a \x1fb", "a"}, {"é  ", "é"}} {
		if got := string(charLowerBound([]byte(c.in))); got != c.want {
			t.Errorf("lower bound of %q is %q, want %q", c.in, got, c.want)
		}
	}
	for _, c := range []struct {
		in    string
		scale int
		want  int64
		ok    bool
	}{{"1.5", 2, 150, true}, {"-0.5", 1, -5, true}, {"12", 0, 12, true}, {"1.234", 2, 0, false}, {"1E5", 2, 0, false}, {"", 2, 0, false}, {"0x1", 0, 0, false}} {
		v, ok := parseDecimal(c.in, c.scale)
		if ok != c.ok || ok && v != column.FromInt64(c.want) {
			t.Errorf("%q with scale %d: %v, %v", c.in, c.scale, v, ok)
		}
	}
}

func TestZoneNames(t *testing.T) {
	for _, c := range []struct {
		name string
		base int64
		ok   bool
	}{
		{"", epoch2015, true}, {"UTC", epoch2015, true}, {"GMT", epoch2015, true}, {"Asia/Shanghai", epoch2015 - 8*3600, true},
		{"America/New_York", epoch2015 + 5*3600, true}, {"GMT+08:00", epoch2015 - 8*3600, true}, {"GMT-0330", epoch2015 + 3*3600 + 1800, true},
		{"PST", epoch2015 + 8*3600, true}, {"GMT+5", epoch2015 - 5*3600, true}, {"Local", 0, false}, {"../UTC", 0, false}, {"Mars/Phobos", 0, false}, {"GMT+99:00", 0, false},
	} {
		z, err := loadZone(c.name)
		if (err == nil) != c.ok || err == nil && z.base2015 != c.base {
			t.Errorf("%q: %+v, %v", c.name, z, err)
		}
	}
}

// TestBlockSizes checks that no codec yields more than the block size.
func TestBlockSizes(t *testing.T) {
	zeros := map[codec][]byte{
		codecZlib:   {0x63, 0x60, 0x18, 0x05, 0xa3, 0x60, 0x14, 0x0c, 0x37, 0x00, 0x00},
		codecSnappy: {0x80, 0x08, 0x00, 0x00, 0xfe, 0x01, 0x00},
		codecLZ4:    {0x1f, 0x00, 0x01, 0x00, 0xff, 0xff, 0xff, 0x50, 0x50, 0, 0, 0, 0, 0},
	}
	for c, data := range zeros {
		if out, err := c.decompress(make([]byte, 0, 32), data); err == nil {
			t.Errorf("codec %d: %d bytes into 32", c, len(out))
		}
	}
	if _, err := codecZlib.decompressAll([]byte{0xff, 0xff, 0xff}, 1024, 1<<20); err == nil {
		t.Error("a block without its bytes passes")
	}
	if _, err := codecZlib.decompressAll(append([]byte{0x01, 0x10, 0x00}, make([]byte, 2048)...), 1024, 1<<20); !errors.Is(err, errBlockTooLarge) {
		t.Errorf("a block of 2048 bytes in a file of 1024: %v", err)
	}
}
