package planner

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// ownRows is a relation as a transaction sees it that has written to it: rows that it replaced or removed are left out, and
// its own are added.
type ownRows struct {
	relation.Relation
	// fields are those of the relation that are shown.
	fields []schema.Field
	// keys are the columns that identify rows of the relation.
	keys []int
	of   *pendingWrite

	// gone are the rows that are left out, rows those that are added, with the columns of the relation: once somebody reads.
	once sync.Once
	gone map[string]bool
	rows []*column.Batch
}

var _ Described = (*ownRows)(nil)

// ownFile is the ordinal of the data file of rows that are in none yet: their position counts the transaction's rows.
const ownFile = -1

// seenByOwner is a relation as the statement's transaction sees it; a statement that reads what the transaction has written
// in a way that cannot be told before COMMIT is refused by refuseOwnWrites. name is the object's with its branch.
func seenByOwner(ctx *sql.Context, c Catalog, db, name string, opts OpenOptions, rel relation.Relation) (relation.Relation, error) {
	tx, _ := ctx.GetTransaction().(*Transaction)
	if tx == nil || !tx.hasWrites() {
		return rel, nil
	}
	plain := opts
	plain.ForChange = false
	if !plainOpen(plain) {
		return rel, nil
	}
	table, system := dataName(name)
	if system != "" {
		return rel, nil
	}
	writes := tx.writesOf(db, table)
	d, ok := rel.(Described)
	if len(writes) == 0 || !ok {
		return rel, nil
	}
	p := writes[0]
	if p.flushes > 0 || p.opts.Overwrite || !tellsOwnRows(d.TableOptions(), len(rel.PrimaryKey()) > 0) {
		return rel, nil
	}
	shown := len(rel.Fields())
	if p.opts.Positions && !opts.ForChange {
		opts.ForChange = true
		var err error
		if rel, err = pinned(ctx, c, db, name, opts); err != nil {
			return nil, err
		}
	}
	return newOwnRows(rel, shown, p), nil
}

// tellsOwnRows reports whether the rows of a table after a transaction can be told from those before it and what was written.
func tellsOwnRows(options map[string]string, keyed bool) bool {
	if ofSeveralBranches(options) != "" || optionSet(options, optRowKindField) || optionSet(options, optSequenceField) || optionSet(options, optIgnoreDelete) {
		return false
	}
	engine := strings.ToLower(strings.TrimSpace(options[optionMergeEngine]))
	return !keyed || (engine == "" || engine == engineDeduplicate) && strings.TrimSpace(options[optionBucket]) != postponeBucket
}

// newOwnRows shows the first fields of a relation together with what is staged.
func newOwnRows(rel relation.Relation, shown int, p *pendingWrite) *ownRows {
	fields := rel.Fields()
	o := &ownRows{Relation: rel, fields: fields[:shown], of: p}
	for _, k := range rel.PrimaryKey() {
		o.keys = append(o.keys, schema.IndexOf(fields, k))
	}
	for i, f := range fields {
		if isPosition(f.Name) {
			o.keys = append(o.keys, i)
		}
	}
	return o
}

// read looks at what the transaction has written before the statement.
func (o *ownRows) read() {
	fields := o.Relation.Fields()
	keyed := len(o.Relation.PrimaryKey()) > 0
	o.gone = map[string]bool{}
	k := keyColumns{fields: fields, cols: o.keys}
	live := map[string]rowRef{}
	var order []string
	var out keptRows
	number := int64(0)
	// Nothing in it fails.
	_ = o.of.staged.each(func(b *column.Batch) error {
		rows, kinds := b, b.Cols[len(b.Cols)-1]
		if len(b.Cols) > len(fields) {
			rows = &column.Batch{N: b.N, Cols: b.Cols[:len(fields)]}
		}
		for i := range b.N {
			v, at := kinds.At(i)
			retracts := relation.IsRetract(v.I32[at])
			r := rowRef{rows, i}
			if !keyed && !retracts {
				r = ownPlace(fields, r, number)
			}
			number++
			if len(o.keys) == 0 {
				out.add(r)
				continue
			}
			key := string(k.key(r))
			o.gone[key] = true
			delete(live, key)
			if !retracts {
				live[key] = r
				order = append(order, key)
			}
		}
		return nil
	})
	for _, key := range order {
		if r, ok := live[key]; ok {
			delete(live, key)
			out.add(r)
		}
	}
	out.seal()
	o.rows = out.batches
}

// ownPlace gives a new row of an append table its place among the transaction's rows.
func ownPlace(fields []schema.Field, r rowRef, number int64) rowRef {
	n := len(fields)
	for n > 0 && isPosition(fields[n-1].Name) {
		n--
	}
	if n == len(fields) {
		return r
	}
	out := &column.Batch{N: 1}
	for _, v := range r.batch.Cols[:n] {
		out.Cols = append(out.Cols, column.Slice(v, r.at, r.at+1))
	}
	out.Cols = append(out.Cols,
		column.FromScalar(column.IntScalar(column.KindInt32, ownFile)), column.FromScalar(column.IntScalar(column.KindInt64, number)))
	return rowRef{out, 0}
}

// Fields implements relation.Relation.
func (o *ownRows) Fields() []schema.Field { return o.fields }

// PartitionKeys implements Described.
func (o *ownRows) PartitionKeys() []string {
	if d, ok := o.Relation.(Described); ok {
		return d.PartitionKeys()
	}
	return nil
}

// TableOptions implements Described.
func (o *ownRows) TableOptions() map[string]string {
	if d, ok := o.Relation.(Described); ok {
		return d.TableOptions()
	}
	return nil
}

// Plan implements relation.Relation.
func (o *ownRows) Plan(ctx context.Context, req relation.Request) (*relation.Plan, error) {
	o.once.Do(o.read)
	need := slices.Clone(req.Columns)
	at := make([]int, len(o.keys))
	for i, k := range o.keys {
		if at[i] = slices.Index(need, k); at[i] < 0 {
			at[i] = len(need)
			need = append(need, k)
		}
	}
	p, err := o.Relation.Plan(ctx, relation.Request{Columns: need, Filter: req.Filter})
	if err != nil {
		return nil, err
	}
	out := &relation.Plan{RowCount: -1, Info: p.Info}
	if len(o.gone) == 0 && p.RowCount >= 0 {
		out.RowCount = p.RowCount
		for _, b := range o.rows {
			out.RowCount += int64(b.N)
		}
	}
	for _, m := range p.Morsels {
		out.Morsels = append(out.Morsels, &ownMorsel{o: o, in: m, width: len(req.Columns), keys: at})
	}
	if len(o.rows) > 0 {
		out.Morsels = append(out.Morsels, &addedMorsel{rows: o.rows, columns: req.Columns})
	}
	return out, nil
}

// ownMorsel leaves rows out.
type ownMorsel struct {
	o     *ownRows
	in    relation.Morsel
	width int
	// keys are the columns of the identity in the batches.
	keys []int
}

var _ relation.Splitter = (*ownMorsel)(nil)

// Weight implements relation.Morsel.
func (m *ownMorsel) Weight() int64 { return m.in.Weight() }

// Split implements relation.Splitter.
func (m *ownMorsel) Split(ctx context.Context) ([]relation.Morsel, error) {
	s, ok := m.in.(relation.Splitter)
	if !ok {
		return []relation.Morsel{m}, nil
	}
	parts, err := s.Split(ctx)
	for i := range parts {
		c := *m
		c.in = parts[i]
		parts[i] = &c
	}
	return parts, err
}

// Open implements relation.Morsel.
func (m *ownMorsel) Open(ctx context.Context) (relation.Reader, error) {
	r, err := m.in.Open(ctx)
	if err != nil {
		return nil, err
	}
	fields := m.o.Relation.Fields()
	of := make([]schema.Field, 0, len(m.keys))
	for _, k := range m.o.keys {
		of = append(of, fields[k])
	}
	return &ownReader{m: m, in: r, key: keyColumns{fields: of, cols: m.keys}}, nil
}

type ownReader struct {
	m   *ownMorsel
	in  relation.Reader
	key keyColumns
	out column.Batch
	sel []uint16
}

// Next implements relation.Reader.
func (r *ownReader) Next(ctx context.Context) (*column.Batch, error) {
	b, err := r.in.Next(ctx)
	if err != nil {
		return nil, err
	}
	r.out = *b
	r.out.Cols = b.Cols[:r.m.width:r.m.width]
	if len(r.m.o.gone) == 0 {
		return &r.out, nil
	}
	if r.sel == nil { // a selection of nothing is no nil
		r.sel = make([]uint16, 0, column.MaxRows)
	}
	r.sel = r.sel[:0]
	for k := range b.Rows() {
		i := b.Row(k)
		if !r.m.o.gone[string(r.key.key(rowRef{b, i}))] {
			r.sel = append(r.sel, uint16(i))
		}
	}
	r.out.Sel = r.sel
	return &r.out, nil
}

// Close implements relation.Reader.
func (r *ownReader) Close() error { return r.in.Close() }

// addedMorsel gives the transaction's rows.
type addedMorsel struct {
	rows    []*column.Batch
	columns []int
}

// Weight implements relation.Morsel.
func (m *addedMorsel) Weight() (rows int64) {
	for _, b := range m.rows {
		rows += int64(b.N)
	}
	return rows
}

// Open implements relation.Morsel.
func (m *addedMorsel) Open(context.Context) (relation.Reader, error) { return &addedReader{m: m}, nil }

type addedReader struct {
	m    *addedMorsel
	next int
}

// Next implements relation.Reader.
func (r *addedReader) Next(ctx context.Context) (*column.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.next == len(r.m.rows) {
		return nil, io.EOF
	}
	b := r.m.rows[r.next]
	r.next++
	out := &column.Batch{N: b.N}
	for _, c := range r.m.columns {
		out.Cols = append(out.Cols, b.Cols[c])
	}
	return out, nil
}

// Close implements relation.Reader.
func (r *addedReader) Close() error { return nil }
