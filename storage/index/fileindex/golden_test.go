package fileindex_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	_ "github.com/tributarydb/tributary/storage/format/avro"
	_ "github.com/tributarydb/tributary/storage/format/orc"
	_ "github.com/tributarydb/tributary/storage/format/parquet"
	"github.com/tributarydb/tributary/storage/index/fileindex"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// TestGoldenIndexes evaluates every file index of the golden tables against
// the rows of its data file: no matching row may be left out, and the exact
// kinds must leave out all others.
func TestGoldenIndexes(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Skip(err)
	}
	cases, err := golden.List(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if strings.HasPrefix(c.Name, "bug-") || !strings.HasPrefix(c.Name, "file-index") && !strings.HasPrefix(c.Name, "legacy") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := golden.Unpack(c.Archive, dir); err != nil {
				t.Fatal(err)
			}
			w := walker{t: t, fio: fileio.NewLocal(), done: map[string]bool{}, counts: map[string]int{}}
			w.warehouse(dir)
			t.Log(w.counts)
			if strings.HasPrefix(c.Name, "file-index") && len(w.counts) == 0 {
				t.Error("no index was found")
			}
		})
	}
}

type walker struct {
	t      *testing.T
	fio    fileio.FileIO
	done   map[string]bool
	counts map[string]int
}

func (w *walker) warehouse(dir string) {
	ctx := context.Background()
	cat := catalog.NewFilesystem(w.fio, dir, nil)
	dbs, err := cat.Databases(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, db := range dbs {
		tables, err := cat.Tables(ctx, db)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, name := range tables {
			tab, err := cat.Load(ctx, db, name, "")
			if err != nil {
				w.t.Fatal(err)
			}
			w.table(ctx, tab)
		}
	}
}

func (w *walker) table(ctx context.Context, tab *catalog.Table) {
	states, err := snapshot.NewManager(w.fio, tab.Dir, "").List(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	store := manifest.NewStore(w.fio, tab.Dir, manifest.NewCache(64<<20))
	for _, s := range states {
		var infos []manifest.FileInfo
		for _, n := range []string{s.BaseManifestList, s.DeltaManifestList} {
			x, err := store.ReadList(ctx, n)
			if err != nil {
				w.t.Fatal(err)
			}
			infos = append(infos, x...)
		}
		live, err := store.Live(ctx, infos, tab.Schema.PartitionTypes(), nil)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range live {
			fs, err := tab.Schemas.Get(ctx, e.File.SchemaID)
			if err != nil {
				w.t.Fatal(err)
			}
			// Names are unique: find the file wherever its partition is.
			var data string
			_ = filepath.WalkDir(tab.Dir, func(p string, d os.DirEntry, err error) error {
				if err == nil && d.Name() == e.File.Name {
					data = p
				}
				return err
			})
			if e.File.EmbeddedIndex != nil {
				w.index(ctx, "embedded in "+e.File.Name, e.File.EmbeddedIndex, data, e.File, fs)
			}
			for _, x := range e.File.ExtraFiles {
				if strings.HasSuffix(x, ".index") {
					b, err := os.ReadFile(filepath.Join(path.Dir(data), x))
					if err != nil {
						w.t.Fatal(err)
					}
					w.index(ctx, x, b, data, e.File, fs)
				}
			}
		}
	}
}

func (w *walker) index(ctx context.Context, name string, b []byte, data string, f *manifest.DataFile, fs *schema.TableSchema) {
	if w.done[name] {
		return
	}
	w.done[name] = true
	c, err := fileindex.Parse(name, b)
	if err != nil {
		w.t.Error(err)
		return
	}
	byColumn := map[string][]fileindex.Index{}
	for _, ix := range c.Indexes() {
		byColumn[ix.Column] = append(byColumn[ix.Column], ix)
	}
	for col, list := range byColumn {
		i := fs.Index(col)
		if i < 0 {
			w.counts["not a plain column"]++
			continue
		}
		field := fs.Fields[i]
		vals := w.column(ctx, data, f, field)
		for _, ix := range list {
			w.counts[ix.Type]++
			one := rebuild(ix)
			w.check(one, ix, field, vals)
			w.build(ix, field, vals, fs)
		}
	}
}

// build makes the index anew and compares it with Paimon's: of a bitmap index the length,
// as the order of the bitmaps is another one, and the answers.
func (w *walker) build(ix fileindex.Index, field schema.Field, vals []column.Scalar, fs *schema.TableSchema) {
	specs, err := fileindex.Specs(fs.Options)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range specs {
		if s.Column != field.Name || s.Type != ix.Type || s.Nested {
			continue
		}
		if ix.Type == fileindex.Bitmap && ix.Data[0] == 1 {
			s.Options["version"] = "1" // the default of old releases
		}
		b, err := fileindex.NewBuilder([]fileindex.Spec{s}, []schema.Field{field})
		if err != nil {
			w.t.Error(err)
			return
		}
		for from := 0; from < len(vals); from += column.MaxRows {
			bld := schema.NewBuilder(field.Type)
			for _, v := range vals[from:min(from+column.MaxRows, len(vals))] {
				bld.AppendScalar(v)
			}
			v := bld.Finish()
			if err := b.Add(&column.Batch{N: v.N, Cols: []*column.Vector{v}}); err != nil {
				w.t.Fatal(err)
			}
		}
		data, err := b.Finish()
		if err != nil {
			w.t.Fatal(err)
		}
		c, err := fileindex.Parse("built", data)
		if err != nil {
			w.t.Fatal(err)
		}
		got := c.Indexes()[0]
		if ix.Type == fileindex.Bitmap {
			w.check(data, got, field, vals)
			if len(got.Data) != len(ix.Data) {
				w.t.Errorf("the bitmap index of %s has %d bytes, Paimon's %d", field.Name, len(got.Data), len(ix.Data))
			}
		} else if !bytes.Equal(got.Data, ix.Data) {
			w.t.Errorf("the %s index of %s is not what Paimon made", ix.Type, field.Name)
		}
		w.counts["made again"]++
		return
	}
	w.counts["without option"]++
}

// rebuild makes a container of one index, so that each is tested by itself.
func rebuild(ix fileindex.Index) []byte {
	var head []byte
	i32 := func(dst []byte, n int) []byte { return append(dst, byte(n>>24), byte(n>>16), byte(n>>8), byte(n)) }
	utf := func(dst []byte, s string) []byte {
		return append(append(dst, byte(len(s)>>8), byte(len(s))), s...)
	}
	head = utf(head, ix.Column)
	head = i32(head, 1)
	head = utf(head, ix.Type)
	total := 8 + 4 + 4 + 4 + len(head) + 8 + 4
	if ix.Empty {
		head = i32(i32(head, -1), 0)
	} else {
		head = i32(i32(head, total), len(ix.Data))
	}
	out := []byte{0, 0x05, 0x4e, 0x4f, 0x14, 0x0b, 0xa7, 0xee}
	magic := uint64(1493475289347502)
	for i := range 8 {
		out[i] = byte(magic >> (56 - 8*i))
	}
	out = i32(out, 1)
	out = i32(out, total)
	out = i32(out, 1)
	out = append(out, head...)
	out = i32(out, 0)
	return append(out, ix.Data...)
}

func (w *walker) column(ctx context.Context, data string, f *manifest.DataFile, field schema.Field) []column.Scalar {
	file, err := format.Open(ctx, w.fio, data, f.Size, format.NameOf(f.Name))
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	r, err := file.Read(ctx, format.ReadOptions{Columns: []schema.Field{field}, LegacyTimestampLTZ: true})
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Close()
	var out []column.Scalar
	for {
		b, err := r.Next(ctx)
		if err == io.EOF {
			return out
		}
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range b.N {
			out = append(out, column.ScalarAt(b.Cols[0], i))
		}
	}
}

func (w *walker) check(container []byte, ix fileindex.Index, field schema.Field, vals []column.Scalar) {
	c, err := fileindex.Parse("rebuilt", container)
	if err != nil {
		w.t.Fatal(err)
	}
	// Literals: values of the column, and others beside them.
	var lits []column.Scalar
	for k := 0; k < len(vals); k += max(1, len(vals)/12) {
		v := vals[k]
		if v.Null {
			continue
		}
		lits = append(lits, v)
		o := v
		o.B = append([]byte("!"), v.B...)
		o.F += 0.37
		o.I++
		if field.Type.Root == schema.Boolean {
			o.I = 1 - v.I
		}
		if (field.Type.Root == schema.Timestamp || field.Type.Root == schema.TimestampLTZ) && field.Type.Precision <= 3 {
			o.I = v.I + 1000
		}
		if field.Type.Root == schema.Float {
			o.F = float64(float32(o.F))
		}
		lits = append(lits, o)
	}
	ops := []predicate.Op{predicate.Eq, predicate.Ne, predicate.Lt, predicate.Le, predicate.Gt, predicate.Ge, predicate.In, predicate.NotIn, predicate.IsNull, predicate.IsNotNull}
	exact := map[string]string{
		fileindex.Bitmap:      "Eq Ne In NotIn IsNull IsNotNull",
		fileindex.BSI:         "Eq Ne Lt Le Gt Ge In NotIn IsNull IsNotNull",
		fileindex.RangeBitmap: "Eq Ne Lt Le Gt Ge In NotIn IsNull IsNotNull",
	}[ix.Type]
	names := map[predicate.Op]string{predicate.Eq: "Eq", predicate.Ne: "Ne", predicate.Lt: "Lt", predicate.Le: "Le", predicate.Gt: "Gt", predicate.Ge: "Ge", predicate.In: "In", predicate.NotIn: "NotIn", predicate.IsNull: "IsNull", predicate.IsNotNull: "IsNotNull"}
	for _, op := range ops {
		for k := range max(1, len(lits)) {
			l := &predicate.Leaf{Op: op}
			switch op {
			case predicate.IsNull, predicate.IsNotNull:
				if k > 0 {
					continue
				}
			case predicate.In, predicate.NotIn:
				if k+2 >= len(lits) {
					continue
				}
				l.Literals = lits[k : k+2]
			default:
				if k >= len(lits) {
					continue
				}
				l.Literals = lits[k : k+1]
			}
			rows, err := c.Evaluate(l, []schema.Field{field}, int64(len(vals)))
			if err != nil {
				w.t.Errorf("%s over %s: %v", ix.Type, field.Name, err)
				return
			}
			for i, v := range vals {
				want := predicate.Matches(l, func(int) column.Scalar { return v })
				got := rows.Contains(int64(i))
				if want && !got {
					w.t.Fatalf("%s over %s: %s %v leaves out row %d: %v", ix.Type, field.Name, names[op], l.Literals, i, v)
				}
				if got && !want && !ix.Empty && strings.Contains(" "+exact+" ", " "+names[op]+" ") && !(v.Kind == column.KindFloat64 && v.F == 0) && !(v.Kind == column.KindFloat32 && v.F == 0) {
					w.t.Fatalf("%s over %s: %s %v keeps row %d: %v", ix.Type, field.Name, names[op], l.Literals, i, v)
				}
			}
			if ix.Type == fileindex.BloomFilter && rows.None() {
				w.counts["bloom filter misses"]++
			}
			w.counts["evaluations"]++
		}
	}
}
