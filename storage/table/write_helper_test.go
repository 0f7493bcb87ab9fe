package table_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

var textType = &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}

// lakes counts the warehouses: each makes names of its own.
var lakes atomic.Int64

// lake is a warehouse in memory.
type lake struct {
	t   testing.TB
	mem *fileio.Memory
	fio fileio.FileIO
	env *table.Env
	cat *catalog.Filesystem
}

func newLake(t testing.TB) *lake {
	t.Helper()
	mem := fileio.NewMemory()
	return openLake(t, mem, mem)
}

// openLake opens a warehouse over files that may be there already.
func openLake(t testing.TB, mem *fileio.Memory, fio fileio.FileIO) *lake {
	t.Helper()
	l := &lake{t: t, mem: mem, fio: fio, cat: catalog.NewFilesystem(fio, "/lake", &schema.Cache{})}
	l.env = table.NewEnv(fio, l.cat, nil)
	l.env.Writing.Rand = rand.New(rand.NewSource(lakes.Add(1)))
	l.env.Writing.TempDir = t.TempDir()
	if ok, _ := fio.Stat(context.Background(), "/lake/default.db"); ok.Name == "" {
		if err := l.cat.CreateDatabase(context.Background(), "default"); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// create makes a table: columns as `name TYPE`, keys as comma lists, options in pairs.
func (l *lake) create(name, columns, primary, partition string, options ...string) {
	l.t.Helper()
	def := schema.Definition{Options: map[string]string{}}
	for _, c := range strings.Split(columns, ";") {
		n, typ, _ := strings.Cut(strings.TrimSpace(c), " ")
		typ, def0, has := strings.Cut(typ, " DEFAULT ")
		ty, err := schema.ParseType(typ)
		if err != nil {
			l.t.Fatal(err)
		}
		f := schema.Field{Name: n, Type: ty}
		if has {
			f.Default = &def0
		}
		def.Fields = append(def.Fields, f)
	}
	list := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, ",")
	}
	def.PrimaryKeys, def.PartitionKeys = list(primary), list(partition)
	for i := 0; i < len(options); i += 2 {
		def.Options[options[i]] = options[i+1]
		def.OptionKeys = append(def.OptionKeys, options[i])
	}
	if err := l.cat.CreateTable(context.Background(), "default", name, def); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lake) open(name string) *table.Table {
	l.t.Helper()
	tb, err := table.Open(context.Background(), l.env, "default", name, table.OpenOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	return tb
}

// batchOf makes a batch of rows of texts: `1|a|NULL`, a leading row kind in `+I`, `-D`, … and a space is taken off.
func batchOf(fields []schema.Field, rows []string) (*column.Batch, []int32, error) {
	texts := make([]*column.Builder, len(fields))
	for i := range texts {
		texts[i] = column.NewBuilder(column.KindBytes)
	}
	kinds, any := make([]int32, len(rows)), false
	for r, row := range rows {
		for k, p := range []string{"+I ", "-U ", "+U ", "-D "} {
			if rest, ok := strings.CutPrefix(row, p); ok {
				row, kinds[r], any = rest, int32(k), any || k > 0
				break
			}
		}
		cells := strings.Split(row, "|")
		if len(cells) != len(fields) {
			return nil, nil, fmt.Errorf("row %q has %d cells, the table %d columns", row, len(cells), len(fields))
		}
		for i, c := range cells {
			if c == "NULL" {
				texts[i].AppendNull()
			} else {
				texts[i].AppendString(c)
			}
		}
	}
	b := &column.Batch{N: len(rows)}
	for i, f := range fields {
		v, err := fromTexts(texts[i].Finish(), f.Type)
		if err != nil {
			return nil, nil, err
		}
		b.Cols = append(b.Cols, v)
	}
	if !any {
		kinds = nil
	}
	return b, kinds, nil
}

// fromTexts converts texts to a type; of nested types those that look like `[1, 2]`, `{a -> 1}` and `{1, x}`.
func fromTexts(v *column.Vector, t *schema.Type) (*column.Vector, error) {
	if !t.IsNested() {
		conv, err := cast.New(textType, t)
		if err != nil {
			return nil, err
		}
		return conv(v)
	}
	kids := schema.ChildTypes(t)
	parts := make([]*column.Builder, len(kids))
	for i := range parts {
		parts[i] = column.NewBuilder(column.KindBytes)
	}
	offsets := []int32{0}
	for i := range v.N {
		if v.IsNull(i) {
			if t.Root == schema.Row {
				for _, p := range parts {
					p.AppendNull()
				}
			}
			offsets = append(offsets, int32(parts[0].Len()))
			continue
		}
		in := string(v.Bytes(i))
		for j, item := range strings.Split(in[1:len(in)-1], ", ") {
			k, x, isMap := strings.Cut(item, " -> ")
			switch {
			case item == "":
			case isMap:
				parts[0].AppendString(k)
				parts[1].AppendString(x)
			case t.Root == schema.Row:
				parts[j].AppendString(item)
			default:
				parts[0].AppendString(item)
			}
		}
		offsets = append(offsets, int32(parts[0].Len()))
	}
	out := &column.Vector{Kind: schema.KindOf(t), N: v.N, Valid: v.Valid}
	if t.Root != schema.Row {
		out.Offsets = offsets
	}
	for i, p := range parts {
		c, err := fromTexts(p.Finish(), kids[i])
		if err != nil {
			return nil, err
		}
		out.Children = append(out.Children, c)
	}
	return out, nil
}

func writeRows(ctx context.Context, s relation.Sink, rows []string) error {
	for len(rows) > 0 {
		n := min(len(rows), column.MaxRows)
		b, kinds, err := batchOf(s.Fields(), rows[:n])
		if err != nil {
			return err
		}
		if err := s.Write(ctx, b, kinds); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// tryInsert writes rows as one statement.
func (l *lake) tryInsert(ctx context.Context, name string, o relation.SinkOptions, rows ...string) (relation.Committed, error) {
	tb, err := table.Open(ctx, l.env, "default", name, table.OpenOptions{})
	if err != nil {
		return relation.Committed{}, err
	}
	s, err := tb.OpenSink(ctx, o)
	if err != nil {
		return relation.Committed{}, err
	}
	defer s.Abort()
	if err := writeRows(ctx, s, rows); err != nil {
		return relation.Committed{}, err
	}
	return s.Commit(ctx)
}

func (l *lake) insert(name string, rows ...string) relation.Committed {
	l.t.Helper()
	c, err := l.tryInsert(context.Background(), name, relation.SinkOptions{}, rows...)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func (l *lake) overwrite(name string, o relation.SinkOptions, rows ...string) relation.Committed {
	l.t.Helper()
	o.Overwrite = true
	c, err := l.tryInsert(context.Background(), name, o, rows...)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

// rows reads a table, sorted.
func (l *lake) rows(name string) []string {
	l.t.Helper()
	out, err := readRows(context.Background(), l.open(name))
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

// textsOf prints the rows of a batch that count.
func textsOf(t testing.TB, fields []schema.Field, b *column.Batch) []string {
	t.Helper()
	out, err := printRows(fields, b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func printRows(fields []schema.Field, b *column.Batch) ([]string, error) {
	texts := make([]*column.Vector, len(b.Cols))
	for i, c := range b.Cols {
		conv, err := cast.New(fields[i].Type, textType)
		if err != nil {
			return nil, err
		}
		if texts[i], err = conv(c); err != nil {
			return nil, err
		}
	}
	var out []string
	for k := range b.Rows() {
		cells := make([]string, len(texts))
		for i, c := range texts {
			cells[i] = "NULL"
			if !c.IsNull(b.Row(k)) {
				cells[i] = string(c.Bytes(b.Row(k)))
			}
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out, nil
}

func readRows(ctx context.Context, r relation.Relation) ([]string, error) {
	req := relation.Request{}
	for i := range r.Fields() {
		req.Columns = append(req.Columns, i)
	}
	plan, err := r.Plan(ctx, req)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range plan.Morsels {
		err := eachBatch(ctx, m, func(b *column.Batch) error {
			rows, err := printRows(r.Fields(), b)
			out = append(out, rows...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	sort.Strings(out)
	return out, nil
}

func (l *lake) expect(name string, want ...string) {
	l.t.Helper()
	sort.Strings(want)
	if got := l.rows(name); strings.Join(got, "\n") != strings.Join(want, "\n") {
		l.t.Fatalf("table %s has\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// files lists the paths below a directory.
func (l *lake) files(dir string) []string {
	var out []string
	infos, err := l.mem.List(context.Background(), dir)
	if err != nil {
		return nil
	}
	for _, i := range infos {
		if i.IsDir {
			out = append(out, l.files(dir+"/"+i.Name)...)
		} else {
			out = append(out, dir+"/"+i.Name)
		}
	}
	return out
}

// eachBatch reads a morsel.
func eachBatch(ctx context.Context, m relation.Morsel, fn func(*column.Batch) error) error {
	rd, err := m.Open(ctx)
	if err != nil {
		return err
	}
	for {
		b, err := rd.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rd.Close()
		}
		if err == nil {
			err = fn(b)
		}
		if err != nil {
			return errors.Join(err, rd.Close())
		}
	}
}
