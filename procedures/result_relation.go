package procedures

import (
	"context"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// Types of result columns.
var (
	stringType = &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	bigintType = &schema.Type{Root: schema.BigInt}
)

// result is what a procedure returns: a few rows in memory.
type result struct {
	fields []schema.Field
	cols   []*column.Builder
	done   []*column.Vector
}

// newResult returns an empty result; columns are "name" (STRING) or "name BIGINT", all nullable.
func newResult(list string) *result {
	r := &result{}
	for i, p := range params(list) {
		f := schema.Field{ID: i, Name: p.name, Type: stringType}
		if p.kind == integer {
			f.Type = bigintType
		}
		r.fields = append(r.fields, f)
		r.cols = append(r.cols, schema.NewBuilder(f.Type))
	}
	return r
}

// add appends a row of string, int64, *string, *int64 (nil = NULL) values.
func (r *result) add(values ...any) *result {
	for i, v := range values {
		switch x := v.(type) {
		case string:
			r.cols[i].AppendString(x)
		case int64:
			r.cols[i].AppendInt(x)
		case *int64:
			if x == nil {
				r.cols[i].AppendNull()
			} else {
				r.cols[i].AppendInt(*x)
			}
		case *string:
			if x == nil {
				r.cols[i].AppendNull()
			} else {
				r.cols[i].AppendString(*x)
			}
		default:
			panic("procedures: a result value of an unknown type")
		}
	}
	return r
}

// success is the result of procedures that only do something.
func success() *result { return newResult("result").add("Success") }

// lines is a result of one text column.
func lines(column string, rows []string) *result {
	r := newResult(column)
	for _, s := range rows {
		r.add(s)
	}
	return r
}

func (r *result) Fields() []schema.Field { return r.fields }
func (r *result) PrimaryKey() []string   { return nil }
func (r *result) Comment() string        { return "" }

// Plan implements relation.Relation.
func (r *result) Plan(_ context.Context, req relation.Request) (*relation.Plan, error) {
	if r.done == nil {
		for _, c := range r.cols {
			r.done = append(r.done, c.Finish())
		}
	}
	rows := 0
	if len(r.done) > 0 {
		rows = r.done[0].N
	}
	m := &resultMorsel{rows: rows}
	for _, c := range req.Columns {
		m.cols = append(m.cols, r.done[c])
	}
	return &relation.Plan{Morsels: []relation.Morsel{m}, RowCount: int64(rows)}, nil
}

type resultMorsel struct {
	cols []*column.Vector
	rows int
}

func (m *resultMorsel) Weight() int64 { return int64(m.rows) }

func (m *resultMorsel) Open(context.Context) (relation.Reader, error) {
	return &resultReader{m: m}, nil
}

type resultReader struct {
	m  *resultMorsel
	at int
}

func (r *resultReader) Next(ctx context.Context) (*column.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.at == r.m.rows {
		return nil, io.EOF
	}
	n := min(r.m.rows-r.at, column.MaxRows)
	b := &column.Batch{N: n}
	for _, c := range r.m.cols {
		b.Cols = append(b.Cols, column.Slice(c, r.at, r.at+n))
	}
	r.at += n
	return b, nil
}

func (r *resultReader) Close() error { return nil }
