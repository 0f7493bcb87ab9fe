package parquet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	pq "github.com/parquet-go/parquet-go"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// expectedFiles returns the rows of the test files as another reader reads
// them, by file name.
func expectedFiles(t *testing.T) map[string][]string {
	t.Helper()
	packed, err := os.ReadFile("testdata/expected.txt.zst")
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	name := ""
	for _, l := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		if n, ok := strings.CutPrefix(l, "# "); ok {
			name = n
			out[name] = nil
			continue
		}
		out[name] = append(out[name], l)
	}
	return out
}

func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(context.Background(), diskFiles{}, path, -1)
	if err != nil {
		t.Fatal(err)
	}
	return f.(*File)
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

// TestFilesOfOtherWriters reads files of Apache Paimon, pypaimon and pyarrow
// and compares every value with pyarrow's reading.
func TestFilesOfOtherWriters(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{}
	files, rows := 0, 0
	for name, want := range expectedFiles(t) {
		path := filepath.Join("testdata", name)
		if warehouse, rest, ok := strings.Cut(name, "/"); ok {
			dir := folders[warehouse]
			if dir == "" {
				dir = t.TempDir()
				if err := golden.Unpack(filepath.Join(root, warehouse, "warehouse.tar.zst"), dir); err != nil {
					t.Fatal(err)
				}
				folders[warehouse] = dir
			}
			path = filepath.Join(dir, rest)
			if _, err := os.Stat(path); err != nil {
				path = filepath.Join(dir, "warehouse", rest)
			}
		}
		f := openFile(t, path)
		got := mustDump(t, f, format.ReadOptions{Columns: allColumns(f)})
		if len(want) > 0 && strings.HasPrefix(want[0], "!") {
			if int64(len(got)) != f.Rows() || len(got) == 0 {
				t.Errorf("%s: %d rows of %d", name, len(got), f.Rows())
			}
			continue
		}
		compareLines(t, name, got, want)
		files++
		rows += len(got)
	}
	if files < 100 || rows < 20000 {
		t.Errorf("only %d files with %d rows were compared", files, rows)
	}
}

func TestSectionsAndProjection(t *testing.T) {
	f := openFile(t, "testdata/pyarrow_v1.parquet")
	all := allColumns(f)
	want := mustDump(t, f, format.ReadOptions{Columns: all})
	var got []string
	next := int64(0)
	for i, s := range f.Sections() {
		if s.FirstRow != next || s.Bytes <= 0 {
			t.Fatalf("section %d: %+v", i, s)
		}
		next += s.Rows
		part := mustDump(t, f, format.ReadOptions{Columns: all, FromSection: i, ToSection: i + 1})
		if int64(len(part)) != s.Rows {
			t.Fatalf("section %d has %d rows, %d were read", i, s.Rows, len(part))
		}
		got = append(got, part...)
	}
	if len(f.Sections()) < 2 || next != f.Rows() {
		t.Fatalf("%d sections, %d rows", len(f.Sections()), next)
	}
	compareLines(t, "sections", got, want)

	// Each column on its own, and none.
	for i, c := range all {
		lines := mustDump(t, f, format.ReadOptions{Columns: []schema.Field{c}})
		if i == 0 && lines[5] != "5" {
			t.Errorf("id of row 5 is %s", lines[5])
		}
		for r, l := range lines {
			if !strings.Contains("|"+want[r]+"|", "|"+l+"|") {
				t.Fatalf("column %s, row %d: %s is not part of %s", c.Name, r, l, want[r])
			}
		}
	}
	if n := len(mustDump(t, f, format.ReadOptions{})); int64(n) != f.Rows() {
		t.Errorf("without columns: %d rows of %d", n, f.Rows())
	}
	if !f.HasColumn("id") || f.HasColumn("ID") || f.HasColumn("x") {
		t.Error("HasColumn is wrong")
	}
}

func TestPrunedAndMissingFields(t *testing.T) {
	f := openFile(t, "testdata/pyarrow_v1.parquet")
	str := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	full := mustDump(t, f, format.ReadOptions{Columns: []schema.Field{{Name: "r", Type: inferType(f.root.child("r"))}}})
	row := &schema.Type{Root: schema.Row, Fields: []schema.Field{{Name: "y", Type: str}, {Name: "gone", Type: &schema.Type{Root: schema.Int}}}}
	none := &schema.Type{Root: schema.Row, Fields: []schema.Field{{Name: "gone", Type: str}}}
	deep := &schema.Type{Root: schema.Array, Elem: &schema.Type{Root: schema.Row, Fields: []schema.Field{{Name: "gone", Type: &schema.Type{Root: schema.Array, Elem: str}}}}}
	lists := mustDump(t, f, format.ReadOptions{Columns: []schema.Field{{Name: "lr", Type: inferType(f.root.child("lr"))}}})
	got := mustDump(t, f, format.ReadOptions{Columns: []schema.Field{
		{Name: "r", Type: row}, {Name: "gone", Type: deep}, {Name: "r", Type: none}, {Name: "lr", Type: deep},
	}})
	for i, l := range got {
		parts := strings.Split(l, "|")
		wantY, wantNone := "N", "N"
		if full[i] != "N" {
			wantY = "(" + strings.Split(strings.Trim(full[i], "()"), ",")[1] + ",N)"
			wantNone = "(N)"
		}
		if parts[0] != wantY || parts[1] != "N" || parts[2] != wantNone {
			t.Fatalf("row %d: %s, full %s", i, l, full[i])
		}
		// The list keeps its length and its null elements.
		depth, elems, nulls := 0, 0, 0
		for j, c := range lists[i] {
			switch {
			case c == '(' || c == '[':
				if depth == 1 && c == '(' {
					elems++
				}
				depth++
			case c == ')' || c == ']':
				depth--
			case c == 'N' && depth == 1 && j > 0:
				elems++
				nulls++
			}
		}
		if lists[i] == "N" {
			if parts[3] != "N" {
				t.Fatalf("row %d: %s for a null list", i, parts[3])
			}
		} else if strings.Count(parts[3], "(N)") != elems-nulls || strings.Count(parts[3], "N") != elems {
			t.Fatalf("row %d: %s for %s", i, parts[3], lists[i])
		}
	}
}

func TestWrongTypes(t *testing.T) {
	f := openFile(t, "testdata/pyarrow_v1.parquet")
	roots := map[string][]schema.Root{
		"i32": {schema.Varchar, schema.Float, schema.Boolean, schema.Array, schema.Row, schema.Map, schema.Variant, schema.Timestamp},
		"s":   {schema.Int, schema.BigInt, schema.Double, schema.Date, schema.Time, schema.Multiset},
		"d":   {schema.Float, schema.BigInt}, "f": {schema.Double}, "li": {schema.Int, schema.Row}, "r": {schema.Array, schema.Map, schema.Variant, schema.Varchar},
		"day": {schema.Int, schema.Timestamp}, "ts_ms": {schema.BigInt, schema.Decimal, schema.Time}, "m": {schema.Row},
	}
	elem := &schema.Type{Root: schema.Int}
	for name, list := range roots {
		for _, root := range list {
			typ := &schema.Type{Root: root, Precision: 10, Elem: elem, Key: elem, Fields: []schema.Field{{Name: "x", Type: &schema.Type{Root: schema.Varchar}}}}
			if root == schema.Decimal {
				typ.Scale = 2
			}
			_, err := f.Read(context.Background(), format.ReadOptions{Columns: []schema.Field{{Name: name, Type: typ}}})
			if !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "pyarrow_v1.parquet") {
				t.Errorf("%s as %s: %v", name, root, err)
			}
		}
	}
	bad := []schema.Field{{Name: "d18", Type: &schema.Type{Root: schema.Decimal, Precision: 18, Scale: 2}}}
	if _, err := f.Read(context.Background(), format.ReadOptions{Columns: bad}); !errs.Is(err, errs.Corrupt) {
		t.Errorf("another scale: %v", err)
	}
}

func TestBatchPositions(t *testing.T) {
	f := openFile(t, "testdata/pyarrow_encodings.parquet")
	id := []schema.Field{{Name: "id", Type: &schema.Type{Root: schema.BigInt}}, {Name: "lls", Type: inferType(f.root.child("lls"))}}
	r, err := f.Read(context.Background(), format.ReadOptions{Columns: id})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := int64(0)
	for next < f.Rows() {
		b, err := r.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if b.Base != next || b.Cols[0].Int(0) != next || b.Cols[0].Int(b.N-1) != next+int64(b.N)-1 {
			t.Fatalf("batch at %d starts with %d", b.Base, b.Cols[0].Int(0))
		}
		next += int64(b.N)
	}
	if _, err := r.Next(context.Background()); err == nil {
		t.Error("no end")
	}
}

func TestCancelled(t *testing.T) {
	f := openFile(t, "testdata/pyarrow_int96.parquet")
	ctx, cancel := context.WithCancel(context.Background())
	r, err := f.Read(ctx, format.ReadOptions{Columns: allColumns(f)})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Next(ctx); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if _, err := f.Read(ctx, format.ReadOptions{}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestConcurrentReaders(t *testing.T) {
	f := openFile(t, "testdata/pyarrow_v1.parquet")
	cols := allColumns(f)
	want := mustDump(t, f, format.ReadOptions{Columns: cols})
	done := make(chan []string)
	for range 4 {
		go func() {
			lines, err := dump(f, format.ReadOptions{Columns: cols})
			if err != nil {
				t.Error(err)
			}
			done <- lines
		}()
	}
	for range 4 {
		if got := <-done; !slices.Equal(got, want) {
			t.Error("concurrent readers disagree")
		}
	}
}

// TestLargeDictionary reads uncompressed pages, which are used where they lie
// in the read window, with a dictionary that is larger than the window.
func TestLargeDictionary(t *testing.T) {
	type dictRow struct {
		Code string `parquet:"code,dict"`
		Text string `parquet:"text,plain"`
	}
	const rows = 400000
	var buf bytes.Buffer
	w := pq.NewGenericWriter[dictRow](&buf, pq.PageBufferSize(200000), pq.Compression(&pq.Uncompressed))
	part := make([]dictRow, 0, 1000)
	for i := range rows {
		part = append(part, dictRow{fmt.Sprintf("code %011d", i%(rows/2)), fmt.Sprint("text ", i)})
		if len(part) == cap(part) {
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
			part = part[:0]
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := openBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	str := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	cols := []schema.Field{{Name: "code", Type: str}, {Name: "text", Type: str}}
	for _, from := range []int{0, 1} {
		r, err := f.Read(context.Background(), format.ReadOptions{Columns: cols, FromSection: from})
		if err != nil {
			t.Fatal(err)
		}
		row := f.Sections()[from].FirstRow
		for row < rows {
			b, err := r.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if b.Cols[0].Dict == nil || b.Cols[0].Dict.N != rows/2 {
				t.Fatal("no dictionary")
			}
			for i := range b.N {
				if got, want := string(b.Cols[0].Bytes(i)), fmt.Sprintf("code %011d", row%(rows/2)); got != want {
					t.Fatalf("row %d: %q, want %q", row, got, want)
				}
				if got, want := string(b.Cols[1].Bytes(i)), fmt.Sprint("text ", row); got != want {
					t.Fatalf("row %d: %q, want %q", row, got, want)
				}
				row++
			}
		}
		r.Close()
	}
}
