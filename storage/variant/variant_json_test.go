package variant

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
)

// meta builds a dictionary with one-byte offsets.
func meta(names ...string) []byte {
	b := []byte{1, byte(len(names)), 0}
	off := 0
	for _, n := range names {
		off += len(n)
		b = append(b, byte(off))
	}
	return append(b, strings.Join(names, "")...)
}

func prim(kind int, payload ...byte) []byte { return append([]byte{byte(kind << 2)}, payload...) }

func short(s string) []byte { return append([]byte{byte(len(s)<<2 | basicShortString)}, s...) }

func container(head byte, ids []byte, vals ...[]byte) []byte {
	b := append([]byte{head, byte(len(vals))}, ids...)
	off := 0
	b = append(b, 0)
	for _, v := range vals {
		off += len(v)
		b = append(b, byte(off))
	}
	for _, v := range vals {
		b = append(b, v...)
	}
	return b
}

func le(v uint64, n int) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return b[:n]
}

func samples() map[string][2][]byte {
	m := meta("a", "b", "é")
	neg := int64(-3)
	return map[string][2][]byte{
		"null":                                   {prim(primNull), m},
		"true":                                   {prim(primTrue), m},
		"-3":                                     {prim(primInt8, le(uint64(neg), 1)...), m},
		"-129":                                   {prim(primInt16, le(^uint64(128), 2)...), m},
		"65536":                                  {prim(primInt32, le(65536, 4)...), m},
		"-9223372036854775808":                   {prim(primInt64, le(1<<63, 8)...), m},
		"1.0":                                    {prim(primDouble, le(math.Float64bits(1), 8)...), m},
		"1e+21":                                  {prim(primDouble, le(math.Float64bits(1e21), 8)...), m},
		"0.1":                                    {prim(primFloat, le(uint64(math.Float32bits(0.1)), 4)...), m},
		`"NaN"`:                                  {prim(primDouble, le(math.Float64bits(math.NaN()), 8)...), m},
		"12.34":                                  {prim(primDecimal4, append([]byte{2}, le(1234, 4)...)...), m},
		"-0.01":                                  {prim(primDecimal8, append([]byte{2}, le(^uint64(0), 8)...)...), m},
		"-1":                                     {prim(primDecimal16, append([]byte{0}, append(le(^uint64(0), 8), le(^uint64(0), 8)...)...)...), m},
		`"1970-01-02"`:                           {prim(primDate, le(1, 4)...), m},
		`"1970-01-01 00:00:01.5Z"`:               {prim(primTimestamp, le(1500000, 8)...), m},
		`"1970-01-01 00:00:01.5"`:                {prim(primTimestampNTZ, le(1500000, 8)...), m},
		`"00:00:01.5"`:                           {prim(primTime, le(1500000, 8)...), m},
		`"AQI="`:                                 {prim(primBinary, append(le(2, 4), 1, 2)...), m},
		`"x\"\n"`:                                {prim(primString, append(le(3, 4), "x\"\n"...)...), m},
		`"hi"`:                                   {short("hi"), m},
		`[]`:                                     {container(basicArray, nil), m},
		`[null, "x", [true]]`:                    {container(basicArray, nil, prim(primNull), short("x"), container(basicArray, nil, prim(primTrue))), m},
		`{"a": 1, "é": {"b": null}}`:             {container(basicObject, []byte{0, 2}, prim(primInt8, 1), container(basicObject, []byte{1}, prim(primNull))), m},
		`"00010203-0405-0607-0809-0a0b0c0d0e0f"`: {prim(primUUID, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), m},
	}
}

func TestAppendJSON(t *testing.T) {
	for want, in := range samples() {
		got, err := AppendJSON(nil, in[0], in[1])
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestDamaged(t *testing.T) {
	m := meta("a")
	deep := prim(primNull)
	for range maxDepth + 2 {
		deep = append([]byte{basicArray, 1, 0, 0}, deep...)
	}
	twice := []byte{basicArray, 3, 0, 0, 0, 0, byte(primNull << 2)}
	for name, in := range map[string][2][]byte{
		"empty":         {nil, m},
		"no metadata":   {prim(primNull), nil},
		"cut metadata":  {prim(primNull), []byte{1, 9, 0}},
		"cut int":       {prim(primInt64, 1, 2), m},
		"cut string":    {prim(primString, le(9, 4)...), m},
		"huge string":   {prim(primString, 255, 255, 255, 255), m},
		"key":           {container(basicObject, []byte{7}, prim(primNull)), m},
		"huge array":    {[]byte{basicArray | 1<<4, 255, 255, 255, 255, 0}, m},
		"deep":          {deep, m},
		"shared values": {twice, m},
		"scale":         {prim(primDecimal4, 99, 0, 0, 0, 0), m},
	} {
		if _, err := AppendJSON(nil, in[0], in[1]); !errs.Is(err, errs.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := AppendJSON(nil, prim(primNull), []byte{2, 0, 0}); !errs.Is(err, errs.Unsupported) {
		t.Errorf("version: %v", err)
	}
	if _, err := AppendJSON(nil, prim(60), m); !errs.Is(err, errs.Unsupported) {
		t.Errorf("primitive: %v", err)
	}
}

func FuzzAppendJSON(f *testing.F) {
	for _, in := range samples() {
		f.Add(in[0], in[1])
	}
	f.Fuzz(func(t *testing.T, value, metadata []byte) {
		out, err := AppendJSON(nil, value, metadata)
		if err == nil && !json.Valid(out) {
			t.Fatalf("not JSON: %q", out)
		}
	})
}
