package orc_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// rowsFields are the columns of the files testdata/rows_*.orc.
func rowsFields(t testing.TB) []schema.Field {
	t.Helper()
	list := func(text string) *schema.Type { return &schema.Type{Root: schema.Array, Elem: parse(t, text)} }
	st := &schema.Type{Root: schema.Row, Fields: []schema.Field{{Name: "x", Type: parse(t, "INT")}, {Name: "y", Type: &schema.Type{Root: schema.Array,
		Elem: &schema.Type{Root: schema.Row, Fields: []schema.Field{{Name: "k", Type: parse(t, "STRING")}, {Name: "v", Type: parse(t, "DOUBLE")}}}}}}}
	out := []schema.Field{}
	for _, f := range strings.Split("id BIGINT,b BOOLEAN,ti TINYINT,si SMALLINT,i INT,patched BIGINT,mono BIGINT,rnd BIGINT,rep BIGINT,f FLOAT,d DOUBLE,sd STRING,su STRING,bin BYTES,ch CHAR(6),vc VARCHAR(10),dt DATE,"+
		"d9 DECIMAL(9;2),d18 DECIMAL(18;4),d38 DECIMAL(38;10),ts TIMESTAMP(9),tz TIMESTAMP_LTZ(9),li,mp,st,nul INT,full INT,txt STRING", ",") {
		name, text, ok := strings.Cut(f, " ")
		field := schema.Field{Name: name}
		switch {
		case ok:
			field.Type = parse(t, strings.ReplaceAll(text, ";", ", "))
		case name == "li":
			field.Type = list("INT")
		case name == "mp":
			field.Type = &schema.Type{Root: schema.Map, Key: parse(t, "STRING"), Elem: parse(t, "BIGINT")}
		case name == "st":
			field.Type = st
		}
		out = append(out, field)
	}
	return out
}

func parse(t testing.TB, text string) *schema.Type {
	t.Helper()
	typ, err := schema.ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// jsonValue is a value in the form of testdata/rows.sums.
func jsonValue(v *column.Vector, t *schema.Type, i int) any {
	if v.IsNull(i) {
		return nil
	}
	kids := schema.ChildTypes(t)
	switch t.Root {
	case schema.Char, schema.Varchar:
		return string(v.Bytes(i))
	case schema.Varbinary:
		return hex.EncodeToString(v.Bytes(i))
	case schema.Float:
		return fmt.Sprintf("%08x", math.Float32bits(float32(v.Float(i))))
	case schema.Double:
		return fmt.Sprintf("%016x", math.Float64bits(v.Float(i)))
	case schema.Decimal:
		return string(column.AppendDecimal(nil, v.Dec128(i), t.Scale))
	case schema.Timestamp, schema.TimestampLTZ:
		return fmt.Sprintf("%d/%d", v.Int(i), v.SubNanos(i))
	case schema.Array, schema.Map:
		out := []any{}
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			e := jsonValue(v.Children[0], kids[0], int(j))
			if t.Root == schema.Map {
				e = []any{e, jsonValue(v.Children[1], kids[1], int(j))}
			}
			out = append(out, e)
		}
		return out
	case schema.Row:
		out := []any{}
		for j := range t.Fields {
			out = append(out, jsonValue(v.Children[j], kids[j], i))
		}
		return out
	}
	return v.Int(i)
}

// eachBatch reads a file and calls f for its batches.
func eachBatch(t testing.TB, name string, opts format.ReadOptions, f func(*column.Batch)) {
	t.Helper()
	ctx := context.Background()
	file, err := format.Open(ctx, fileio.NewLocal(), name, -1, "orc")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := file.Read(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f(b)
	}
}

func rowsFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "rows_*.orc"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

// TestRows compares every type in every version, encoding and compression with another reader's values.
func TestRows(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "rows.sums"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		name, sum, _ := strings.Cut(s.Text(), " ")
		want[name] = sum
	}
	fields := rowsFields(t)
	if len(want) != len(fields) {
		t.Fatalf("sums of %d columns, want %d", len(want), len(fields))
	}
	for _, name := range rowsFiles(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			sums := make([]hash.Hash, len(fields))
			encoders := make([]*json.Encoder, len(fields))
			for i := range sums {
				sums[i] = sha256.New()
				encoders[i] = json.NewEncoder(sums[i])
				encoders[i].SetEscapeHTML(false)
			}
			eachBatch(t, name, format.ReadOptions{Columns: fields}, func(b *column.Batch) {
				for c, v := range b.Cols {
					for i := range b.N {
						if err := encoders[c].Encode(jsonValue(v, fields[c].Type, i)); err != nil {
							t.Fatal(err)
						}
					}
				}
			})
			for i, s := range sums {
				if got := hex.EncodeToString(s.Sum(nil)); got != want[fields[i].Name] {
					t.Errorf("column %s has the sum %s, want %s", fields[i].Name, got, want[fields[i].Name])
				}
			}
		})
	}
}

// TestSkippedRows compares reads with a filter, which skip stripes and row groups, with the
// rows of a whole read that match it.
func TestSkippedRows(t *testing.T) {
	fields := rowsFields(t)
	filtered := []int{}
	for i, f := range fields {
		if !f.Type.IsNested() {
			filtered = append(filtered, i)
		}
	}
	for _, name := range rowsFiles(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			// The whole table, by row: the key and, for every column, its value as text.
			var texts [][]string
			values := make([][]column.Scalar, len(fields))
			eachBatch(t, name, format.ReadOptions{Columns: fields}, func(b *column.Batch) {
				for i := range b.N {
					row := make([]string, len(fields))
					for c, v := range b.Cols {
						s, err := json.Marshal(jsonValue(v, fields[c].Type, i))
						if err != nil {
							t.Fatal(err)
						}
						row[c] = string(s)
						if !fields[c].Type.IsNested() {
							values[c] = append(values[c], column.ScalarAt(v, i))
						}
					}
					texts = append(texts, row)
				}
			})
			skipped := 0
			check := func(p predicate.Predicate, columns []int) {
				opts := format.ReadOptions{Filter: predicate.RemapColumns(p, func(c int) int {
					for i, x := range columns {
						if x == c {
							return i
						}
					}
					return -1
				})}
				for _, c := range columns {
					opts.Columns = append(opts.Columns, fields[c])
				}
				read := make([]bool, len(texts))
				eachBatch(t, name, opts, func(b *column.Batch) {
					for i := range b.N {
						pos := int(b.Base) + i
						if read[pos] {
							t.Fatalf("row %d comes twice", pos)
						}
						read[pos] = true
						for k, c := range columns {
							if fields[c].Type.IsNested() {
								if s, _ := json.Marshal(jsonValue(b.Cols[k], fields[c].Type, i)); string(s) != texts[pos][c] {
									t.Fatalf("filter %+v: row %d column %s is %s, in a whole read %s", p, pos, fields[c].Name, s, texts[pos][c])
								}
							} else if x := column.ScalarAt(b.Cols[k], i); x.Compare(values[c][pos]) != 0 {
								t.Fatalf("filter %+v: row %d column %s is %v, in a whole read %v", p, pos, fields[c].Name, x, values[c][pos])
							}
						}
					}
				})
				for pos := range texts {
					if !read[pos] {
						skipped++
						if predicate.Matches(p, func(c int) column.Scalar { return values[c][pos] }) {
							t.Fatalf("filter %v: row %d matches and is skipped", p, pos)
						}
					}
				}
			}
			all := []int{}
			for i := range fields {
				all = append(all, i)
			}
			// Whole rows of single row groups: every decoder seeks.
			for _, id := range []int64{0, 999, 1000, 1999, 2000, 2299} {
				check(&predicate.Leaf{Op: predicate.Eq, Column: 0, Literals: []column.Scalar{column.IntScalar(column.KindInt64, id)}}, all)
			}
			check(&predicate.Or{Children: []predicate.Predicate{
				&predicate.Leaf{Op: predicate.Lt, Column: 0, Literals: []column.Scalar{column.IntScalar(column.KindInt64, 3)}},
				&predicate.Leaf{Op: predicate.Gt, Column: 0, Literals: []column.Scalar{column.IntScalar(column.KindInt64, 2200)}}}}, all)
			for _, c := range filtered {
				for pos := 5; pos < len(texts); pos += 577 {
					x := values[c][pos]
					if x.Null {
						check(&predicate.Leaf{Op: predicate.IsNull, Column: c}, []int{c, 0})
						check(&predicate.Leaf{Op: predicate.IsNotNull, Column: c}, []int{c, 0})
						continue
					}
					for _, op := range []predicate.Op{predicate.Eq, predicate.Ne, predicate.Le, predicate.Gt, predicate.In} {
						check(&predicate.Leaf{Op: op, Column: c, Literals: []column.Scalar{x}}, []int{0, c})
					}
				}
			}
			if skipped < 8*1000 {
				t.Errorf("only %d rows skipped", skipped)
			}
		})
	}
}

// TestBloomFilters asks for values that are within the bounds of every row
// group: only the Bloom filters can tell that they are absent.
func TestBloomFilters(t *testing.T) {
	fields := rowsFields(t)
	name := filepath.Join("testdata", "rows_v12_zstd_bloom.orc")
	for _, c := range []struct {
		column string
		absent column.Scalar
	}{
		{"sd", column.BytesScalar([]byte("word1zz"))},
		{"su", column.BytesScalar([]byte("unique-ü-5zz"))},
		{"i", column.IntScalar(column.KindInt32, 1234567)},
		{"dt", column.IntScalar(column.KindInt32, -29999)},
	} {
		opts := format.ReadOptions{Columns: schema.Select(fields, []string{c.column})}
		opts.Filter = &predicate.Leaf{Op: predicate.Eq, Literals: []column.Scalar{c.absent}}
		rows := 0
		eachBatch(t, name, opts, func(b *column.Batch) { rows += b.N })
		if rows > 1000 {
			t.Errorf("%s: %d rows read for a value that does not occur", c.column, rows)
		}
	}
}

// TestColumnsAskedFor covers subsets of columns, fields of rows, missing columns, and no columns at all.
func TestColumnsAskedFor(t *testing.T) {
	fields := rowsFields(t)
	name := filepath.Join("testdata", "rows_v12_zstd_bloom.orc")
	whole := map[int64]string{}
	eachBatch(t, name, format.ReadOptions{Columns: schema.Select(fields, []string{"st"})}, func(b *column.Batch) {
		for i := range b.N {
			if v := b.Cols[0]; !v.IsNull(i) {
				s, _ := json.Marshal(jsonValue(v.Children[0], parse(t, "INT"), i))
				whole[b.Base+int64(i)] = string(s)
			}
		}
	})
	sub := &schema.Type{Root: schema.Row, Fields: []schema.Field{{Name: "x", Type: parse(t, "INT")}}}
	columns := []schema.Field{{Name: "missing", Type: fields[24].Type}, {Name: "st", Type: sub}, {Name: "gone", Type: parse(t, "DECIMAL(20, 2)")}}
	rows := 0
	eachBatch(t, name, format.ReadOptions{Columns: columns}, func(b *column.Batch) {
		for i := range b.N {
			if !b.Cols[0].IsNull(i) || !b.Cols[2].IsNull(i) {
				t.Fatal("a value in a column that is not there")
			}
			text, ok := whole[b.Base+int64(i)]
			if v := b.Cols[1]; ok == v.IsNull(i) {
				t.Fatalf("row %d: null %v", b.Base+int64(i), v.IsNull(i))
			} else if s, _ := json.Marshal(jsonValue(v.Children[0], parse(t, "INT"), i)); ok && string(s) != text {
				t.Fatalf("row %d: %s, want %s", b.Base+int64(i), s, text)
			}
		}
		rows += b.N
	})
	counted := 0
	eachBatch(t, name, format.ReadOptions{}, func(b *column.Batch) { counted += b.N })
	sections := 0
	eachBatch(t, name, format.ReadOptions{Columns: columns[1:2], FromSection: 1, ToSection: 2}, func(b *column.Batch) {
		if sections == 0 && b.Base != 2000 {
			t.Errorf("section 1 starts at %d", b.Base)
		}
		sections += b.N
	})
	if rows != 2300 || counted != 2300 || sections != 300 {
		t.Errorf("%d rows, %d counted, %d in section 1", rows, counted, sections)
	}
	// A column that the file lacks is null everywhere: nothing matches.
	matched := 0
	eachBatch(t, name, format.ReadOptions{Columns: columns[2:], Filter: &predicate.Leaf{Op: predicate.IsNotNull}}, func(b *column.Batch) { matched += b.N })
	if matched != 0 {
		t.Errorf("%d rows read for IS NOT NULL of a missing column", matched)
	}
}

// TestTypeMismatch asks for columns under types that the file does not hold.
func TestTypeMismatch(t *testing.T) {
	ctx := context.Background()
	name := filepath.Join("testdata", "rows_v12_zstd_bloom.orc")
	f, err := format.Open(ctx, fileio.NewLocal(), name, -1, "orc")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct{ column, typ string }{
		{"id", "INT"}, {"i", "BIGINT"}, {"sd", "BYTES"}, {"bin", "STRING"}, {"ts", "DATE"}, {"tz", "TIMESTAMP(3)"}, {"d9", "DECIMAL(9, 3)"},
		{"d9", "DECIMAL(10, 2)"}, {"f", "DOUBLE"}, {"st", "INT"}, {"li", "STRING"}, {"b", "TINYINT"},
	} {
		_, err := f.Read(ctx, format.ReadOptions{Columns: []schema.Field{{Name: c.column, Type: parse(t, c.typ)}}})
		if !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "column "+c.column+" ") {
			t.Errorf("%s as %s: %v", c.column, c.typ, err)
		}
	}
	_, err = f.Read(ctx, format.ReadOptions{Columns: []schema.Field{{Name: "id", Type: &schema.Type{Root: schema.Variant}}}})
	if !errs.Is(err, errs.Unsupported) {
		t.Errorf("VARIANT: %v", err)
	}
	if _, err = f.Read(ctx, format.ReadOptions{FromSection: 1, ToSection: 9}); !errs.Is(err, errs.Invalid) {
		t.Errorf("sections [1, 9): %v", err)
	}
}

// TestDamagedFiles cuts a file at every length and changes its size in the manifest.
func TestDamagedFiles(t *testing.T) {
	ctx := context.Background()
	data, err := os.ReadFile(filepath.Join("testdata", "seed_v12_zstd.orc"))
	if err != nil {
		t.Fatal(err)
	}
	fio := fileio.NewMemory()
	open := func(b []byte, size int64) error {
		const path = "/t/damaged.orc"
		if err := fio.Overwrite(ctx, path, b); err != nil {
			t.Fatal(err)
		}
		f, err := format.Open(ctx, fio, path, size, "orc")
		if err != nil {
			if !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), path) {
				t.Fatalf("not a class and name of a damaged file: %v", err)
			}
			return err
		}
		return f.Close()
	}
	if err := fio.MkdirAll(ctx, "/t"); err != nil {
		t.Fatal(err)
	}
	if err := open(data, int64(len(data))); err != nil {
		t.Fatal(err)
	}
	if open(data, int64(len(data))+1) == nil {
		t.Error("a wrong size passes")
	}
	for n := 0; n < len(data); n += 1 + n/40 {
		if open(data[:n], -1) == nil {
			t.Errorf("a file cut to %d of %d bytes passes", n, len(data))
		}
	}
	bad := append([]byte("PAR"), data[3:]...)
	if open(bad, -1) == nil {
		t.Error("a wrong magic passes")
	}
	if open(make([]byte, 5000), -1) == nil {
		t.Error("zero bytes pass")
	}
}

// TestReadErrors checks that a failing disk is not taken for a damaged file.
func TestReadErrors(t *testing.T) {
	ctx := context.Background()
	disk := errors.New("input/output error")
	name := filepath.Join("testdata", "rows_v12_zstd_bloom.orc")
	for nth := 1; nth <= 6; nth++ {
		fio := fileio.NewFaulty(fileio.NewLocal())
		fio.Inject(fileio.Fault{Op: fileio.OpReadAt, Nth: nth, Err: disk})
		err := func() error {
			f, err := format.Open(ctx, fio, name, -1, "orc")
			if err != nil {
				return err
			}
			defer f.Close()
			r, err := f.Read(ctx, format.ReadOptions{Columns: rowsFields(t), Filter: &predicate.Leaf{Op: predicate.IsNotNull, Column: 3}})
			if err != nil {
				return err
			}
			defer r.Close()
			for err == nil {
				_, err = r.Next(ctx)
			}
			return err
		}()
		if !errors.Is(err, disk) || errs.Is(err, errs.Corrupt) {
			t.Errorf("failure of read %d: class %v: %v", nth, errs.ClassOf(err), err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	f, err := format.Open(ctx, fileio.NewLocal(), name, -1, "orc")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Read(ctx, format.ReadOptions{Columns: rowsFields(t)})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
}
