package systables

import (
	"context"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// Types of system table columns.
var (
	str         = &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	bigint      = &schema.Type{Root: schema.BigInt}
	integer     = &schema.Type{Root: schema.Int}
	boolean     = &schema.Type{Root: schema.Boolean}
	timestamp3  = &schema.Type{Root: schema.Timestamp, Precision: 3}
	stringArray = &schema.Type{Root: schema.Array, Elem: str}
)

// col makes a NOT NULL column, null a nullable one.
func col(name string, t *schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t.WithNotNull(true)}
}

func null(name string, t *schema.Type) schema.Field { return schema.Field{Name: name, Type: t} }

// fields numbers columns.
func fields(fs ...schema.Field) []schema.Field {
	for i := range fs {
		fs[i].ID = i
	}
	return fs
}

// row is a row being made: one call a column, in order.
type row struct {
	out []*column.Builder
	at  int
}

func (r *row) next() *column.Builder {
	b := r.out[r.at]
	r.at++
	return b
}

func (r *row) text(s string)            { r.next().AppendString(s) }
func (r *row) int(x int64)              { r.next().AppendInt(x) }
func (r *row) bool(x bool)              { r.next().AppendBool(x) }
func (r *row) null()                    { r.next().AppendNull() }
func (r *row) millis(ms int64)          { r.next().AppendInt(ms * 1000) }
func (r *row) builder() *column.Builder { return r.next() }

// textIf appends s, NULL where it is empty.
func (r *row) textIf(s string) {
	if s == "" {
		r.null()
	} else {
		r.text(s)
	}
}

// intIf appends *x, NULL for nil.
func (r *row) intIf(x *int64) {
	if x == nil {
		r.null()
	} else {
		r.int(*x)
	}
}

// memory is a small relation made when it is read.
type memory struct {
	cols []schema.Field
	key  []string
	// fill makes the rows; emit starts the next one.
	fill func(ctx context.Context, emit func() *row) error
}

func (m *memory) Fields() []schema.Field { return m.cols }
func (m *memory) PrimaryKey() []string   { return m.key }
func (m *memory) Comment() string        { return "" }

// Plan implements relation.Relation: one morsel, made when it is opened.
func (m *memory) Plan(_ context.Context, req relation.Request) (*relation.Plan, error) {
	return &relation.Plan{Morsels: []relation.Morsel{&memoryMorsel{m: m, req: req}}, RowCount: -1, Info: []relation.Note{{Key: "system table", Value: "made from metadata"}}}, nil
}

type memoryMorsel struct {
	m   *memory
	req relation.Request
}

func (m *memoryMorsel) Weight() int64 { return 1 }

func (m *memoryMorsel) Open(ctx context.Context) (relation.Reader, error) {
	builders := make([]*column.Builder, len(m.m.cols))
	for i, f := range m.m.cols {
		builders[i] = schema.NewBuilder(f.Type)
	}
	n := 0
	err := m.m.fill(ctx, func() *row {
		n++
		return &row{out: builders}
	})
	if err != nil {
		return nil, err
	}
	r := &memoryReader{rows: n}
	for _, c := range m.req.Columns {
		r.cols = append(r.cols, builders[c].Finish())
	}
	return r, nil
}

// memoryReader cuts vectors into batches.
type memoryReader struct {
	cols []*column.Vector
	rows int
	at   int
}

func (r *memoryReader) Next(ctx context.Context) (*column.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.at == r.rows {
		return nil, io.EOF
	}
	n := min(r.rows-r.at, column.MaxRows)
	b := &column.Batch{N: n}
	for _, c := range r.cols {
		b.Cols = append(b.Cols, column.Slice(c, r.at, r.at+n))
	}
	r.at += n
	return b, nil
}

func (r *memoryReader) Close() error { return nil }
