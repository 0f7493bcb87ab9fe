package blob

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// memFiles serves one file from memory.
type memFiles struct {
	fileio.FileIO
	data []byte
}

type memFile struct{ *strings.Reader }

func (m memFiles) Open(context.Context, string) (fileio.File, error) {
	return memFile{strings.NewReader(string(m.data))}, nil
}
func (m memFile) Close() error { return nil }
func (m memFile) Size() int64  { return m.Reader.Size() }

// encode writes a blob file; nil is a null.
func encode(values [][]byte) []byte {
	var out, index []byte
	last := int64(0)
	for _, v := range values {
		l := int64(nullLength)
		if v != nil {
			start := len(out)
			out = binary.LittleEndian.AppendUint32(out, recordMagic)
			out = append(out, v...)
			l = int64(len(v)) + recordLen
			out = binary.LittleEndian.AppendUint64(out, uint64(l))
			out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
		}
		index = binary.AppendVarint(index, l-last)
		last = l
	}
	out = append(out, index...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(index)))
	return append(out, fileVersion)
}

var blobType = &schema.Type{Root: schema.Blob}

func readAll(data []byte) (values []string, err error) {
	f, err := Open(context.Background(), memFiles{data: data}, "test.blob", -1)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := f.Read(context.Background(), format.ReadOptions{Columns: []schema.Field{{Name: "b", Type: blobType}}})
	if err != nil {
		return nil, err
	}
	for {
		b, err := r.Next(context.Background())
		if err == io.EOF {
			return values, nil
		}
		if err != nil {
			return values, err
		}
		for i := range b.N {
			if b.Cols[0].IsNull(i) {
				values = append(values, "NULL")
			} else {
				values = append(values, string(b.Cols[0].Bytes(i)))
			}
		}
	}
}

func TestReadValues(t *testing.T) {
	in := [][]byte{[]byte("one"), nil, {}, []byte(strings.Repeat("x", 100000)), nil}
	got, err := readAll(encode(in))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "NULL", "", strings.Repeat("x", 100000), "NULL"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Fatalf("got %q", got)
	}
	many := make([][]byte, 10000)
	for i := range many {
		many[i] = []byte{byte(i), byte(i >> 8)}
	}
	if got, err = readAll(encode(many)); err != nil || len(got) != len(many) || got[9999] != string(many[9999]) {
		t.Fatalf("%d rows, %v", len(got), err)
	}
}

func TestDamage(t *testing.T) {
	good := encode([][]byte{[]byte("one"), []byte("two")})
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x41
		got, err := readAll(bad)
		if err == nil {
			t.Errorf("byte %d changed: read %q", i, got)
		} else if c := errs.ClassOf(err); c != errs.Corrupt && c != errs.Unsupported || !strings.Contains(err.Error(), "test.blob") {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	for i := range good {
		if _, err := readAll(good[:i]); err == nil {
			t.Errorf("cut at %d: no error", i)
		}
	}
	if _, err := Open(context.Background(), memFiles{data: good}, "test.blob", 7); !errs.Is(err, errs.Corrupt) {
		t.Errorf("size: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode([][]byte{[]byte("one"), nil, {}}))
	f.Add(encode(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := readAll(data); err != nil && errs.ClassOf(err) == errs.Unknown {
			t.Fatalf("unclassified: %v", err)
		}
	})
}
