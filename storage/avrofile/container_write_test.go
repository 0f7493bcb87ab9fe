package avrofile

import (
	"bytes"
	"math/rand"
	"testing"
)

func TestWriterRoundTrip(t *testing.T) {
	type rec struct {
		A int64  `avro:"a"`
		B string `avro:"b"`
	}
	const text = `{"type":"record","name":"r","fields":[{"name":"a","type":"long"},{"name":"b","type":"string"}]}`
	for _, codec := range []string{"null", "deflate", "snappy", "zstandard"} {
		for _, n := range []int{0, 1, 20000} {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, text, codec, 1, rand.New(rand.NewSource(1)))
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if err := w.Append(func(dst []byte) []byte {
					return AppendString(AppendLong(dst, int64(i-5)), "text")
				}); err != nil {
					t.Fatal(err)
				}
			}
			size, err := w.Close()
			if err != nil || size != int64(buf.Len()) {
				t.Fatalf("%s: size %d, %d bytes, %v", codec, size, buf.Len(), err)
			}
			f, err := Open("x", buf.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			err = Decode(f, func(r *rec) error {
				if r.A != int64(got-5) || r.B != "text" {
					t.Fatalf("record %d is %+v", got, r)
				}
				got++
				return nil
			})
			if err != nil || got != n {
				t.Fatalf("%s: %d of %d records, %v", codec, got, n, err)
			}
		}
	}
	if _, err := NewWriter(&bytes.Buffer{}, text, "xz", 0, rand.New(rand.NewSource(1))); err == nil {
		t.Fatal("xz was accepted")
	}
}
