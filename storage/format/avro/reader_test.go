package avro

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustOpen(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := openBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustDump(t *testing.T, f *File, opts format.ReadOptions) []string {
	t.Helper()
	lines, err := dump(f, opts)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func compareLines(t *testing.T, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: row %d:\n got %s\nwant %s", name, i, got[i], want[i])
			return
		}
	}
}

// TestPaimonFiles reads files of Apache Paimon and pypaimon and compares every
// value with fastavro's reading.
func TestPaimonFiles(t *testing.T) {
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(readFile(t, "testdata/expected.txt.zst"), nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{}
	files := 0
	for _, part := range strings.Split(string(raw), "# ")[1:] {
		lines := strings.Split(strings.TrimSuffix(part, "\n"), "\n")
		warehouse, rest, _ := strings.Cut(lines[0], "/")
		dir := folders[warehouse]
		if dir == "" {
			dir = t.TempDir()
			if err := golden.Unpack(filepath.Join(root, warehouse, "warehouse.tar.zst"), dir); err != nil {
				t.Fatal(err)
			}
			folders[warehouse] = dir
		}
		path := filepath.Join(dir, rest)
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(dir, "warehouse", rest)
		}
		f := mustOpen(t, readFile(t, path))
		got := mustDump(t, f, format.ReadOptions{Columns: inferFields(f.record)})
		compareLines(t, lines[0], got, lines[1:])
		if f.Rows() != int64(len(got)) {
			t.Errorf("%s says it has %d rows", lines[0], f.Rows())
		}
		files++
	}
	if files < 50 {
		t.Errorf("only %d files were compared", files)
	}
}

// oddColumns are the columns of the fastavro files in the order of fastavro.txt.
func oddColumns(f *File) []schema.Field {
	var out []schema.Field
	for _, n := range []string{"id", "swapped", "only", "color", "five", "amount", "m", "kv", "again", "deep"} {
		typ := inferType(f.record.field(n))
		if n == "amount" {
			typ = &schema.Type{Root: schema.Decimal, Precision: 38}
		}
		out = append(out, schema.Field{Name: n, Type: typ})
	}
	return out
}

func TestCodecsAndShapes(t *testing.T) {
	want := strings.Split(strings.TrimSpace(string(readFile(t, "testdata/fastavro.txt"))), "\n")
	for _, codec := range []string{"null", "deflate", "snappy", "zstandard", "bzip2"} {
		f := mustOpen(t, readFile(t, "testdata/fastavro_"+codec+".avro"))
		if f.codec != codec {
			t.Errorf("codec %s", f.codec)
		}
		got := mustDump(t, f, format.ReadOptions{Columns: oddColumns(f)})
		rows := 60
		if codec == "zstandard" {
			rows = 1000
		}
		compareLines(t, codec, got, want[:rows])
		if n := len(mustDump(t, f, format.ReadOptions{})); n != rows {
			t.Errorf("%s: counted %d rows", codec, n)
		}
	}
	if _, err := openBytes(readFile(t, "testdata/fastavro_xz.avro")); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "xz") {
		t.Errorf("xz: %v", err)
	}
}

// sectioned splits the blocks of a file into sections of their own.
func sectioned(f *File, t *testing.T) {
	t.Helper()
	var out []section
	whole := f.sections[0]
	at, row := whole.from, int64(0)
	for at < whole.to {
		d := decoder{b: f.src.(memFile)[at:]}
		rows, size, err := d.blockHeader()
		if err != nil {
			t.Fatal(err)
		}
		next := at + int64(d.pos) + size + syncLen
		out = append(out, section{Section: format.Section{FirstRow: row, Rows: rows}, from: at, to: next})
		at, row = next, row+rows
	}
	f.sections = out
}

func TestSections(t *testing.T) {
	f := mustOpen(t, readFile(t, "testdata/fastavro_zstandard.avro"))
	cols := oddColumns(f)
	want := mustDump(t, f, format.ReadOptions{Columns: cols})
	sectioned(f, t)
	if len(f.Sections()) < 3 {
		t.Fatalf("%d sections", len(f.Sections()))
	}
	compareLines(t, "all sections", mustDump(t, f, format.ReadOptions{Columns: cols}), want)
	var got []string
	for i, s := range f.Sections() {
		part := mustDump(t, f, format.ReadOptions{Columns: cols, FromSection: i, ToSection: i + 1})
		if int64(len(part)) != s.Rows {
			t.Fatalf("section %d: %d rows, want %d", i, len(part), s.Rows)
		}
		r, err := f.Read(context.Background(), format.ReadOptions{Columns: cols[:1], FromSection: i, ToSection: i + 1})
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Next(context.Background())
		if err != nil || b.Base != s.FirstRow {
			t.Fatalf("section %d starts at %d, want %d: %v", i, b.Base, s.FirstRow, err)
		}
		got = append(got, part...)
	}
	compareLines(t, "single sections", got, want)
}

func TestProjection(t *testing.T) {
	f := mustOpen(t, readFile(t, "testdata/fastavro_null.avro"))
	x := []schema.Field{{Name: "x", Type: &schema.Type{Root: schema.BigInt}}, {Name: "gone", Type: &schema.Type{Root: schema.Varchar}}}
	cols := []schema.Field{
		{Name: "deep", Type: &schema.Type{Root: schema.Row, Fields: x}}, {Name: "gone", Type: &schema.Type{Root: schema.Array, Elem: x[0].Type}},
		{Name: "id", Type: &schema.Type{Root: schema.Int}}, {Name: "id", Type: &schema.Type{Root: schema.BigInt}},
	}
	full := mustDump(t, f, format.ReadOptions{Columns: oddColumns(f)})
	for i, l := range mustDump(t, f, format.ReadOptions{Columns: cols}) {
		parts := strings.Split(full[i], "|")
		deep := parts[len(parts)-1]
		want := "N"
		if deep != "N" {
			want = "(" + strings.TrimSuffix(deep[strings.LastIndexByte(deep, ',')+1:], ")") + ",N)"
		}
		if l != want+"|N|"+parts[0]+"|"+parts[0] {
			t.Fatalf("row %d: %s, full %s", i, l, full[i])
		}
	}
	if !f.HasColumn("skipme") || f.HasColumn("gone") {
		t.Error("HasColumn is wrong")
	}
}

func TestWrongTypes(t *testing.T) {
	f := mustOpen(t, readFile(t, "testdata/fastavro_null.avro"))
	for name, root := range map[string]schema.Root{"id": schema.Varchar, "swapped": schema.Int, "only": schema.Float, "m": schema.Array, "kv": schema.Row, "deep": schema.Map, "color": schema.Variant} {
		typ := &schema.Type{Root: root, Elem: &schema.Type{Root: schema.Int}, Key: &schema.Type{Root: schema.Int}}
		_, err := f.Read(context.Background(), format.ReadOptions{Columns: []schema.Field{{Name: name, Type: typ}}})
		if !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "test.avro") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A map with text keys cannot have integer keys.
	typ := &schema.Type{Root: schema.Map, Key: &schema.Type{Root: schema.Int}, Elem: &schema.Type{Root: schema.Float}}
	if _, err := f.Read(context.Background(), format.ReadOptions{Columns: []schema.Field{{Name: "m", Type: typ}}}); !errs.Is(err, errs.Corrupt) {
		t.Errorf("map keys: %v", err)
	}
}

// tryRead reads everything of a file that may be damaged.
func tryRead(data []byte) error {
	f, err := openBytes(data)
	if err != nil {
		return err
	}
	_, err = dump(f, format.ReadOptions{Columns: inferable(f.record, 0), ToSection: 1})
	return err
}

// inferable is inferFields without the recursive types, which Paimon has not.
func inferable(t *typ, depth int) []schema.Field {
	var out []schema.Field
	for _, f := range t.fields {
		if finite(f.typ, depth) {
			if k := inferType(f.typ); k != nil {
				out = append(out, schema.Field{Name: f.name, Type: k})
			}
		}
	}
	return out
}

// finite reports whether t ends within a few levels and has a Paimon type at each.
func finite(t *typ, depth int) bool {
	switch {
	case depth > 6 || t.shape == shapeNull:
		return false
	case t.shape == shapeUnion:
		_, other, err := nullable(t)
		return err == nil && other != nil && finite(other, depth+1)
	case t.shape == shapeArray && t.logical == "map":
		return t.elem.shape == shapeRecord && len(t.elem.fields) == 2 && finite(t.elem, depth+1)
	case t.shape == shapeArray || t.shape == shapeMap:
		return finite(t.elem, depth+1)
	}
	for _, f := range t.fields {
		if !finite(f.typ, depth+1) {
			return false
		}
	}
	return true
}

func classified(err error) bool {
	switch errs.ClassOf(err) {
	case errs.Corrupt, errs.Unsupported, errs.Limit:
		return strings.Contains(err.Error(), "test.avro")
	}
	return false
}

func TestDamage(t *testing.T) {
	for _, codec := range []string{"null", "deflate", "snappy", "bzip2"} {
		data := readFile(t, "testdata/fastavro_"+codec+".avro")
		if err := tryRead(data); err != nil {
			t.Fatal(err)
		}
		blocks := mustOpen(t, data).sections[0].from
		whole := mustDump(t, mustOpen(t, data), format.ReadOptions{Columns: inferable(mustOpen(t, data).record, 0)})
		for n := 0; n < len(data); n += 23 {
			err := tryRead(data[:n])
			if int64(n) == blocks && err == nil {
				continue // a file without blocks is whole
			}
			f, openErr := openBytes(data[:n])
			if openErr == nil && f.Rows() < int64(len(whole)) && err == nil {
				continue // cut between two blocks: only the size of the manifest tells
			}
			if !classified(err) {
				t.Fatalf("%s cut at %d: %v", codec, n, err)
			}
		}
		for i := 0; i < len(data); i += 11 {
			bad := bytes.Clone(data)
			bad[i] ^= 0x55
			if err := tryRead(bad); err != nil && !classified(err) {
				t.Fatalf("%s, byte %d: %v", codec, i, err)
			}
		}
		if _, err := open(context.Background(), memFile(data), "test.avro", int64(len(data))+1); !errs.Is(err, errs.Corrupt) {
			t.Errorf("size: %v", err)
		}
	}
	for name, s := range map[string]string{"empty": "", "magic": "Obj\x01", "other": "PAR1 and more", "no schema": "Obj\x01\x00" + strings.Repeat("x", 16)} {
		if err := tryRead([]byte(s)); !errs.Is(err, errs.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, codec := range []string{"null", "deflate", "snappy"} {
		f.Add(readFile(f, "testdata/fastavro_"+codec+".avro")[:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := tryRead(data); err != nil && !classified(err) {
			t.Fatalf("%v", err)
		}
	})
}
