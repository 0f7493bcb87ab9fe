package orc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// bytesFile is a fileio.File in memory.
type bytesFile struct{ *bytes.Reader }

func (bytesFile) Close() error { return nil }

// typeOf returns a Paimon type that the ORC type reads as.
func typeOf(f *file, id int) *schema.Type {
	t := &f.footer.types[id]
	roots := map[kind]schema.Root{kindBoolean: schema.Boolean, kindByte: schema.TinyInt, kindShort: schema.SmallInt, kindInt: schema.Int,
		kindLong: schema.BigInt, kindFloat: schema.Float, kindDouble: schema.Double, kindString: schema.Varchar, kindBinary: schema.Varbinary,
		kindTimestamp: schema.Timestamp, kindList: schema.Array, kindMap: schema.Map, kindStruct: schema.Row, kindDecimal: schema.Decimal,
		kindDate: schema.Date, kindVarchar: schema.Varchar, kindChar: schema.Char, kindTimestampInstant: schema.TimestampLTZ}
	root, ok := roots[t.kind]
	if !ok {
		return nil
	}
	out := &schema.Type{Root: root, Precision: t.precision, Scale: t.scale}
	for i, c := range t.children {
		k := typeOf(f, c)
		if k == nil {
			return nil
		}
		switch {
		case root == schema.Row:
			out.Fields = append(out.Fields, schema.Field{Name: t.names[i], Type: k})
		case root == schema.Map && i == 0:
			out.Key = k
		default:
			out.Elem = k
		}
	}
	return out
}

// allColumns returns the columns of a file that can be read.
func allColumns(f *file) (out []schema.Field) {
	root := &f.footer.types[0]
	for i, c := range root.children {
		if t := typeOf(f, c); t != nil {
			out = append(out, schema.Field{Name: root.names[i], Type: t})
		}
	}
	return out
}

// checkVector fails where a vector breaks the rules of package column.
func checkVector(t *testing.T, v *column.Vector, typ *schema.Type, n int) {
	if v.N != n || v.Kind != schema.KindOf(typ) {
		t.Fatalf("vector of %d rows and kind %d, want %d of %d", v.N, v.Kind, n, schema.KindOf(typ))
	}
	if v.Valid != nil && len(v.Valid) < (n+63)/64 {
		t.Fatalf("bitmap of %d words for %d rows", len(v.Valid), n)
	}
	if v.Dict != nil {
		if len(v.Codes) != n {
			t.Fatalf("%d codes for %d rows", len(v.Codes), n)
		}
		for _, c := range v.Codes {
			if int(c) >= v.Dict.N {
				t.Fatalf("code %d of %d", c, v.Dict.N)
			}
		}
		checkVector(t, v.Dict, typ, v.Dict.N)
		return
	}
	lengths := map[column.Kind]int{column.KindInt32: len(v.I32), column.KindInt64: len(v.I64), column.KindInt128: len(v.I128), column.KindFloat32: len(v.F32),
		column.KindFloat64: len(v.F64), column.KindTimestamp: len(v.I64), column.KindBytes: len(v.Ref), column.KindList: len(v.Offsets) - 1, column.KindMap: len(v.Offsets) - 1, column.KindStruct: n}
	if lengths[v.Kind] != n {
		t.Fatalf("%d values of kind %d for %d rows", lengths[v.Kind], v.Kind, n)
	}
	if v.Sub != nil && len(v.Sub) != n {
		t.Fatalf("%d nanoseconds for %d rows", len(v.Sub), n)
	}
	for _, r := range v.Ref {
		if uint64(r.Off)+uint64(r.Len) > uint64(len(v.Data)) {
			t.Fatalf("bytes %d+%d of %d", r.Off, r.Len, len(v.Data))
		}
	}
	kids := schema.ChildTypes(typ)
	switch v.Kind {
	case column.KindList, column.KindMap:
		for i := range n {
			if v.Offsets[i] > v.Offsets[i+1] {
				t.Fatalf("offsets fall at row %d", i)
			}
		}
		for i, c := range v.Children {
			checkVector(t, c, kids[i], c.N)
			if c.N < int(v.Offsets[n]) {
				t.Fatalf("%d elements, offsets up to %d", c.N, v.Offsets[n])
			}
		}
	case column.KindStruct:
		for i, c := range v.Children {
			checkVector(t, c, kids[i], n)
		}
	}
}

// seeds returns the real files of testdata, small ones only.
func seeds(t testing.TB) map[string][]byte {
	names, err := filepath.Glob(filepath.Join("testdata", "*.orc"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	out := map[string][]byte{}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) <= 20<<10 {
			out[n] = b
		}
	}
	return out
}

// classified fails for an error that is not of a class for bad files.
func classified(t *testing.T, err error) {
	if c := errs.ClassOf(err); c != errs.Corrupt && c != errs.Unsupported && c != errs.Limit {
		t.Fatalf("an error of class %v: %v", c, err)
	}
}

// readAll reads every column of a file, batches up to a number, and checks the vectors.
func readAll(t *testing.T, data []byte, filter bool) {
	ctx := context.Background()
	f, err := open(ctx, bytesFile{bytes.NewReader(data)}, "fuzz.orc", -1)
	if err != nil {
		classified(t, err)
		return
	}
	for _, c := range allColumns(f) {
		opts := format.ReadOptions{Columns: []schema.Field{c}, LegacyTimestampLTZ: true}
		if k := schema.KindOf(c.Type); filter && !c.Type.IsNested() {
			opts.Filter = &predicate.Or{Children: []predicate.Predicate{
				&predicate.Leaf{Op: predicate.Gt, Literals: []column.Scalar{{Kind: k, I: 17, F: 17, B: []byte("k")}}},
				&predicate.Leaf{Op: predicate.Eq, Literals: []column.Scalar{{Kind: k, B: []byte("a")}}}}}
		}
		r, err := f.Read(ctx, opts)
		if err != nil {
			classified(t, err)
			continue
		}
		for range 20 {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				classified(t, err)
				break
			}
			checkVector(t, b.Cols[0], c.Type, b.N)
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b, false)
		f.Add(b, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, filter bool) { readAll(t, data, filter) })
}

// FuzzStripe damages the stripes of real files, whose footers stay whole: deeper than FuzzFile gets.
func FuzzStripe(f *testing.F) {
	var files [][]byte
	for _, b := range seeds(f) {
		files = append(files, b)
	}
	for i := range files {
		f.Add(i, 3, []byte{0xff, 0})
		f.Add(i, 500, []byte{0x40, 0x80, 0xc0, 1})
	}
	f.Fuzz(func(t *testing.T, n, at int, patch []byte) {
		if n < 0 || n >= len(files) || at < 3 {
			return
		}
		b := bytes.Clone(files[n])
		if at < len(b) {
			copy(b[at:], patch)
		}
		readAll(t, b, at%2 == 0)
	})
}

func FuzzIntRuns(f *testing.F) {
	f.Add([]byte{0x0a, 0x27, 0x10}, true, false)
	f.Add([]byte{0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef}, true, false)
	f.Add([]byte{0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8}, true, false)
	f.Add([]byte{0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46}, true, false)
	f.Add([]byte{0x61, 0x00, 0x07, 0xfb, 0x02, 0x03, 0x04, 0x07, 0x0b}, false, true)
	f.Fuzz(func(t *testing.T, data []byte, v2, signed bool) {
		env := &readEnv{file: &file{f: bytesFile{bytes.NewReader(data)}, blockSize: defaultCompressionBlock}, ctx: context.Background(), pieceBytes: minPieceBytes, workspace: new(workspace)}
		r := &intReader{s: &stream{env: env, length: int64(len(data))}, v2: v2, signed: signed}
		s := &intReader{s: &stream{env: env, length: int64(len(data))}, v2: v2, signed: signed}
		one := make([]int64, 700)
		all := make([]int64, 0, 1<<16)
		for len(all) < 1<<16-len(one) {
			n := 1 + len(all)%len(one)
			if err := r.read(one[:n]); err != nil {
				break
			}
			all = append(all, one[:n]...)
		}
		// Skipping and reading give the same numbers.
		if half := len(all) / 2; half > 0 {
			if err := s.skip(half); err != nil {
				t.Fatalf("skip(%d): %v", half, err)
			}
			rest := make([]int64, len(all)-half)
			if err := s.read(rest); err != nil {
				t.Fatal(err)
			}
			for i := range rest {
				if rest[i] != all[half+i] {
					t.Fatalf("value %d is %d, or %d after a skip", half+i, all[half+i], rest[i])
				}
			}
		}
	})
}

func FuzzBlocks(f *testing.F) {
	f.Add(byte(codecLZO), []byte{0x15, 'a', 'b', 'c', 'd', 0x11, 0, 0})
	f.Add(byte(codecLZ4), []byte{0x40, 'a', 'b', 'c', 'd'})
	f.Add(byte(codecSnappy), []byte{4, 12, 'a', 'b', 'c', 'd'})
	f.Add(byte(codecZlib), []byte{0x4b, 0x4c, 0x4a, 0x4e, 0x01, 0x00})
	f.Add(byte(codecZstd), []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x21, 0x00, 0x00, 'a', 'b', 'c', 'd'})
	f.Fuzz(func(t *testing.T, c byte, data []byte) {
		const limit = 4096
		out, err := codec(c%byte(codecCount)).decompress(make([]byte, 0, limit), data)
		if err == nil && len(out) > limit {
			t.Fatalf("%d bytes, the limit is %d", len(out), limit)
		}
	})
}
