package parquet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// row is one row of a file with its position.
type filterRow struct {
	pos  int64
	vals []column.Scalar // null for nested columns
	text string
}

// readRows reads the rows that a reader counts.
func readRows(f *File, opts format.ReadOptions) (rows []filterRow, err error) {
	r, err := f.Read(context.Background(), opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	last := int64(-1)
	for {
		b, err := r.Next(context.Background())
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if b.Base <= last {
			return nil, fmt.Errorf("a batch at %d after row %d", b.Base, last)
		}
		last = b.Base + int64(b.N) - 1
		if b.Rows() == 0 {
			return nil, fmt.Errorf("an empty batch at %d", b.Base)
		}
		prev := -1
		for k := range b.Rows() {
			i := b.Row(k)
			if i <= prev {
				return nil, fmt.Errorf("the selection of the batch at %d is not ascending", b.Base)
			}
			prev = i
			row := filterRow{pos: b.Base + int64(i)}
			var sb strings.Builder
			for c, v := range b.Cols {
				if opts.Columns[c].Type.IsNested() {
					row.vals = append(row.vals, column.NullScalar(column.KindInt32))
				} else {
					row.vals = append(row.vals, column.ScalarAt(v, i))
				}
				sb.WriteByte('|')
				text(&sb, opts.Columns[c].Type, v, i)
			}
			row.text = sb.String()
			rows = append(rows, row)
		}
	}
}

// randomFilter makes a predicate with literals that occur in rows or nearly so.
func randomFilter(r *rand.Rand, cols []schema.Field, rows []filterRow, depth int) predicate.Predicate {
	if depth > 0 && r.IntN(3) > 0 {
		var ch []predicate.Predicate
		for range 1 + r.IntN(3) {
			ch = append(ch, randomFilter(r, cols, rows, depth-1))
		}
		if r.IntN(3) > 0 {
			return &predicate.And{Children: ch}
		}
		return &predicate.Or{Children: ch}
	}
	if r.IntN(4) == 0 {
		return randomKeys(r, cols, rows)
	}
	col := flatColumnOf(r, cols)
	kind := schema.KindOf(cols[col].Type)
	literal := func() column.Scalar {
		for range 50 {
			if x := rows[r.IntN(len(rows))].vals[col]; !x.Null {
				if r.IntN(4) == 0 {
					x.I++
				}
				return x
			}
		}
		return column.Scalar{Kind: kind}
	}
	l := &predicate.Leaf{Column: col, Op: predicate.Op(r.IntN(int(predicate.NotIn) + 1))}
	if r.IntN(2) == 0 {
		l.Op = []predicate.Op{predicate.Eq, predicate.Lt, predicate.In}[r.IntN(3)]
	}
	n := 1
	switch l.Op {
	case predicate.IsNull, predicate.IsNotNull:
		n = 0
	case predicate.In, predicate.NotIn:
		n = 1 + r.IntN(5)
	}
	for range n {
		l.Literals = append(l.Literals, literal())
	}
	return l
}

func flatColumnOf(r *rand.Rand, cols []schema.Field) int {
	for {
		if col := r.IntN(len(cols)); !cols[col].Type.IsNested() {
			return col
		}
	}
}

// randomKeys makes a list of keys of one to three columns that occur in rows.
func randomKeys(r *rand.Rand, cols []schema.Field, rows []filterRow) predicate.Predicate {
	p := &predicate.Keys{}
	for range 1 + r.IntN(3) {
		p.Columns = append(p.Columns, flatColumnOf(r, cols))
	}
	var keys [][]column.Scalar
	for range r.IntN(10) {
		row := rows[r.IntN(len(rows))]
		var key []column.Scalar
		for _, c := range p.Columns {
			if !row.vals[c].Null {
				key = append(key, row.vals[c])
			}
		}
		if len(key) == len(p.Columns) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b []column.Scalar) int { return slices.CompareFunc(a, b, column.Scalar.Compare) })
	p.Values = make([][]column.Scalar, len(p.Columns))
	for _, k := range keys {
		for i, x := range k {
			p.Values[i] = append(p.Values[i], x)
		}
	}
	return p
}

// checkFilters compares filtered reads with the filtered result of a full read.
func checkFilters(t *testing.T, name string, f *File, rounds int) (skipped int) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, uint64(rounds)))
	cols := allColumns(f)
	cols = append(cols, schema.Field{Name: "a column the file lacks", Type: &schema.Type{Root: schema.Int}})
	all, err := readRows(f, format.ReadOptions{Columns: cols})
	if err != nil {
		t.Fatal(err)
	}
	for range rounds {
		p := randomFilter(r, cols, all, 2)
		got, err := readRows(f, format.ReadOptions{Columns: cols, Filter: p})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		i := 0
		for _, row := range all {
			if i < len(got) && got[i].pos == row.pos {
				if got[i].text != row.text {
					t.Fatalf("%s: row %d:\n got %s\nwant %s", name, row.pos, got[i].text, row.text)
				}
				i++
				continue
			}
			skipped++
			if predicate.Matches(p, func(c int) column.Scalar { return row.vals[c] }) {
				t.Fatalf("%s: row %d matches and was left out: %s", name, row.pos, row.text)
			}
		}
		if i != len(got) {
			t.Fatalf("%s: %d rows too many", name, len(got)-i)
		}
	}
	return skipped
}

func TestFilters(t *testing.T) {
	files := map[string]*File{}
	for _, n := range []string{"pyarrow_v1", "pyarrow_v2", "pyarrow_encodings", "pyarrow_int96"} {
		files[n] = openFile(t, "testdata/"+n+".parquet")
	}
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := golden.Unpack(filepath.Join(root, "parquet-pages", "warehouse.tar.zst"), dir); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"small_groups", "no_dict", "pages_v2", "pages_v2_dict", "row_limit"} {
		paths, _ := filepath.Glob(filepath.Join(dir, "*", table, "bucket-0", "*.parquet"))
		more, _ := filepath.Glob(filepath.Join(dir, "*", "*", table, "bucket-0", "*.parquet"))
		for _, p := range append(paths, more...) {
			files[table] = openFile(t, p)
		}
	}
	if len(files) != 9 {
		t.Fatalf("%d files", len(files))
	}
	for name, f := range files {
		if skipped := checkFilters(t, name, f, 12); skipped == 0 {
			t.Errorf("%s: no row was ever skipped", name)
		}
	}
}

type sortedRow struct {
	ID   int64   `parquet:"id"`
	Name string  `parquet:"name"`
	Opt  *int32  `parquet:"opt,optional"`
	Tags []int64 `parquet:"tags,list"`
}

// writeSorted makes a file sorted by id (even numbers) with small pages, page
// index and bloom filters.
func writeSorted(t testing.TB, rows int) []byte {
	var buf bytes.Buffer
	w := pq.NewGenericWriter[sortedRow](&buf, pq.PageBufferSize(1000), pq.MaxRowsPerRowGroup(int64(rows/3+1)), pq.Compression(&pq.Snappy),
		pq.BloomFilters(pq.SplitBlockFilter(10, "id"), pq.SplitBlockFilter(10, "name")))
	for i := range rows {
		row := sortedRow{ID: int64(2 * i), Name: fmt.Sprintf("name %d", i)}
		if i%5 > 0 {
			x := int32(i % 100)
			row.Opt = &x
		}
		for j := range i % 4 {
			row.Tags = append(row.Tags, int64(j))
		}
		if _, err := w.Write([]sortedRow{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// countingFile counts the bytes read.
type countingFile struct {
	memFile
	read int64
}

func (c *countingFile) ReadAt(p []byte, off int64) (int, error) {
	c.read += int64(len(p))
	return c.memFile.ReadAt(p, off)
}

func TestPruning(t *testing.T) {
	data := writeSorted(t, 30000)
	src := &countingFile{memFile: data}
	f, err := open(src, "sorted.parquet", int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	checkFilters(t, "sorted", f, 6)
	cols := allColumns(f)
	intLit := func(x int64) []column.Scalar { return []column.Scalar{column.IntScalar(column.KindInt64, x)} }
	read := func(p predicate.Predicate) ([]filterRow, int64) {
		src.read = 0
		rows, err := readRows(f, format.ReadOptions{Columns: cols, Filter: p})
		if err != nil {
			t.Fatal(err)
		}
		return rows, src.read
	}
	_, full := read(nil)
	// A present key: one row, found by the page index.
	rows, n := read(&predicate.Leaf{Op: predicate.Eq, Column: 0, Literals: intLit(31234)})
	if len(rows) != 1 || rows[0].pos != 15617 || n > full*2/3 {
		t.Errorf("rows %+v, %d of %d bytes", rows, n, full)
	}
	// An absent key between two present ones: only the bloom filter can tell.
	rows, n = read(&predicate.Leaf{Op: predicate.Eq, Column: 0, Literals: intLit(31235)})
	if len(rows) != 0 || n > full/20 {
		t.Errorf("absent key: %d rows, %d of %d bytes", len(rows), n, full)
	}
	rows, n = read(&predicate.Leaf{Op: predicate.In, Column: 1, Literals: []column.Scalar{column.BytesScalar([]byte("no such name")), column.BytesScalar([]byte("nor this"))}})
	if len(rows) != 0 || n > full/20 {
		t.Errorf("absent names: %d rows, %d of %d bytes", len(rows), n, full)
	}
	rows, n = read(predicate.NewAnd(&predicate.Leaf{Op: predicate.Ge, Column: 0, Literals: intLit(2000)}, &predicate.Leaf{Op: predicate.Lt, Column: 0, Literals: intLit(2200)}))
	if len(rows) != 100 || n > full*2/3 {
		t.Errorf("range: %d rows, %d of %d bytes", len(rows), n, full)
	}
	rows, n = read(&predicate.Leaf{Op: predicate.Gt, Column: 0, Literals: intLit(1 << 40)})
	if len(rows) != 0 || n != 0 {
		t.Errorf("beyond the greatest key: %d rows, %d bytes", len(rows), n)
	}
}

// TestLateReading checks that columns without a condition are not decoded
// where no row is wanted: their pages are damaged there.
func TestLateReading(t *testing.T) {
	type lateRow struct {
		A int64  `parquet:"a,plain"`
		B string `parquet:"b,plain"`
	}
	var buf bytes.Buffer
	w := pq.NewGenericWriter[lateRow](&buf, pq.PageBufferSize(4000), pq.Compression(&pq.Snappy))
	for i := range 20000 {
		if _, err := w.Write([]lateRow{{A: int64(i * 7919 % 20011), B: fmt.Sprintf("text %d", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := buf.Bytes()
	f, err := openBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	ch := f.meta.groups[0].chunks[1]
	clear(data[ch.dataOffset+ch.compressed/2 : ch.dataOffset+ch.compressed*3/4])
	cols := allColumns(f)
	if _, err := readRows(f, format.ReadOptions{Columns: cols}); err == nil {
		t.Fatal("the damage was not noticed")
	}
	want := int64(100 * 7919 % 20011)
	rows, err := readRows(f, format.ReadOptions{Columns: cols, Filter: &predicate.Leaf{Op: predicate.Eq, Literals: []column.Scalar{column.IntScalar(column.KindInt64, want)}}})
	if err != nil || len(rows) != 1 || rows[0].pos != 100 {
		t.Fatalf("%v %v", rows, err)
	}
}

// TestSplitSections reads a large row group by its parts, with and without a filter.
func TestSplitSections(t *testing.T) {
	type wideRow struct {
		ID   int64   `parquet:"id,plain"`
		Code string  `parquet:"code,dict"`
		Opt  *int64  `parquet:"opt,optional,plain"`
		Tags []int32 `parquet:"tags,list"`
	}
	const rows = 600000
	var buf bytes.Buffer
	w := pq.NewGenericWriter[wideRow](&buf, pq.PageBufferSize(50000), pq.Compression(&pq.Snappy))
	part := make([]wideRow, 0, 1000)
	for i := range rows {
		row := wideRow{ID: int64(i), Code: fmt.Sprintf("code %d", i%1000)}
		if i%3 > 0 {
			row.Opt = &row.ID
		}
		if i%50 == 0 {
			row.Tags = []int32{int32(i), int32(i + 1)}
		}
		if part = append(part, row); len(part) == cap(part) {
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
	if len(f.meta.groups) != 1 || len(f.Sections()) < 2 {
		t.Fatalf("%d row groups, %d sections", len(f.meta.groups), len(f.Sections()))
	}
	cols := allColumns(f)
	next := int64(0)
	dicts := map[*column.Vector]bool{}
	for i, s := range f.Sections() {
		if s.FirstRow != next {
			t.Fatalf("section %d starts at %d", i, s.FirstRow)
		}
		r, err := f.Read(context.Background(), format.ReadOptions{Columns: cols, FromSection: i, ToSection: i + 1})
		if err != nil {
			t.Fatal(err)
		}
		for next < s.FirstRow+s.Rows {
			b, err := r.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if b.Base != next {
				t.Fatalf("batch at %d, want %d", b.Base, next)
			}
			id, code, opt, tags := b.Cols[indexOf(cols, "id")], b.Cols[indexOf(cols, "code")], b.Cols[indexOf(cols, "opt")], b.Cols[indexOf(cols, "tags")]
			dicts[code.Dict] = true
			for k := range b.N {
				row := next + int64(k)
				if id.Int(k) != row || string(code.Bytes(k)) != fmt.Sprintf("code %d", row%1000) || opt.IsNull(k) != (row%3 == 0) || !opt.IsNull(k) && opt.Int(k) != row {
					t.Fatalf("row %d is wrong", row)
				}
				want := 0
				if row%50 == 0 {
					want = 2
				}
				if n := int(tags.Offsets[k+1] - tags.Offsets[k]); n != want || n > 0 && tags.Children[0].Int(int(tags.Offsets[k])) != row {
					t.Fatalf("tags of row %d are wrong", row)
				}
			}
			next += int64(b.N)
		}
		if _, err := r.Next(context.Background()); err != io.EOF {
			t.Fatalf("behind section %d: %v", i, err)
		}
		r.Close()
	}
	if next != rows {
		t.Fatalf("%d rows", next)
	}
	if len(dicts) != 1 {
		t.Errorf("%d dictionaries for one chunk", len(dicts))
	}
	lit := []column.Scalar{column.IntScalar(column.KindInt64, 399999)}
	got, err := readRows(f, format.ReadOptions{Columns: cols, Filter: &predicate.Leaf{Op: predicate.Ge, Column: indexOf(cols, "id"), Literals: lit}})
	if err != nil || len(got) != rows-399999 || got[0].pos != 399999 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
}

func indexOf(cols []schema.Field, name string) int {
	for i := range cols {
		if cols[i].Name == name {
			return i
		}
	}
	return -1
}
