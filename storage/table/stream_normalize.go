package table

import (
	"context"
	"errors"
	"slices"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// optNormalize completes a stream without changelog files by the rows of each key. It is our own: in Flink an operator of
// the job does it (ChangelogNormalize).
const optNormalize = "scan.normalize"

const (
	// DefaultNormalizeBytes bounds the keys and rows that a normalising read keeps.
	DefaultNormalizeBytes = 256 << 20
	// normalizeOverhead is what a key costs beside its bytes, about.
	normalizeOverhead = 96
)

// normalizes reports whether the options ask for a complete changelog where the table has none, and it can be told.
func (p *planner) normalizes(start *streamStart, producer string) (bool, error) {
	s := p.t.schema
	v, ok := s.Options[optNormalize]
	if !ok {
		return false, nil
	}
	on, err := schema.ParseBool(v)
	if err != nil {
		return false, errs.Invalidf("option '%s' has the value '%s': %w", optNormalize, v, err)
	}
	if !on || s.HasPrimaryKey() && producer != "none" {
		return false, nil // changelog files are complete by themselves
	}
	refuse := func(why string) (bool, error) {
		return false, errs.Unsupportedf("table %s: option '%s' %s", p.t.Label(), optNormalize, why)
	}
	engine := schema.OptMergeEngine.Value(s.Options)
	switch {
	case !s.HasPrimaryKey():
		return refuse("needs a primary key: the rows of an append table are a complete changelog already")
	case engine != "deduplicate":
		return refuse("cannot tell what the rows of merge engine '" + engine + "' become; use the option 'changelog-producer' = 'lookup'")
	case s.Options[schema.OptSequenceField.Key()] != "":
		return refuse("cannot tell which row is newer by option 'sequence.field'; use the option 'changelog-producer' = 'lookup'")
	case p.want.Sequence || p.want.RowID:
		return refuse("does not go together with sequence numbers or row ids")
	case start.createdAfter != nil:
		return refuse("needs all rows of the state that it begins with: use another 'scan.mode'")
	}
	return true, nil
}

// normalizeMorsel completes what a stream shows.
type normalizeMorsel struct {
	stream *streamMorsel
	// out is what is shown; the stream reads key columns and kinds besides.
	out read.Want
	// types are those of the stream's columns, keys the columns of the key among these, keyTypes their types.
	types    []*schema.Type
	keys     []int
	keyTypes []*schema.Type
}

// newNormalize wraps a stream, and makes it read what is needed.
func (p *planner) newNormalize(m *streamMorsel) *normalizeMorsel {
	n := &normalizeMorsel{stream: m, out: p.want}
	in := read.Want{Columns: slices.Clone(p.want.Columns), Kind: true}
	// A row that moves to another partition is one that goes and one that comes.
	for _, name := range slices.Concat(p.t.schema.PrimaryKeys, p.t.schema.PartitionKeys) {
		c := p.t.schema.Index(name)
		at := slices.Index(in.Columns, c)
		if at < 0 {
			at = len(in.Columns)
			in.Columns = append(in.Columns, c)
		}
		if slices.Contains(n.keys, at) {
			continue
		}
		n.keys = append(n.keys, at)
		n.keyTypes = append(n.keyTypes, p.t.schema.Fields[c].Type)
	}
	for _, c := range in.Columns {
		n.types = append(n.types, p.t.schema.Fields[c].Type)
	}
	// A condition must see the row before as well: it is left to the statement.
	p.want = in
	m.req.Filter, m.req.KeepDeletes = nil, true
	return n
}

// Weight is not known.
func (m *normalizeMorsel) Weight() int64 { return 0 }

// Open starts reading.
func (m *normalizeMorsel) Open(ctx context.Context) (relation.Reader, error) {
	in, err := m.stream.Open(ctx)
	if err != nil {
		return nil, err
	}
	r := &normalizeReader{m: m, in: in.(*streamReader), rows: map[string][]byte{}, most: m.stream.p.t.env.NormalizeBytes}
	if r.most <= 0 {
		r.most = DefaultNormalizeBytes
	}
	if err := r.load(ctx); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return r, nil
}

// normalizeReader keeps the last row of each key.
type normalizeReader struct {
	m    *normalizeMorsel
	in   *streamReader
	rows map[string][]byte
	// size is what they take, about, most the limit.
	size, most int64
	// b is the batch being read, k the next of its rows.
	b        *column.Batch
	k        int
	key, row []byte
}

// load reads the state before a stream that begins with changes.
func (r *normalizeReader) load(ctx context.Context) error {
	t, start := r.in.t, r.m.stream.start
	if start.full != nil || start.next <= snapshot.FirstID {
		return nil
	}
	before, err := t.snaps.Get(ctx, start.next-1)
	if errs.Is(err, errs.NotFound) {
		return errs.NotFoundf("table %s: The snapshot with id %d has expired: option '%s' needs the state before the first changes; begin with a later snapshot", t.Label(), start.next-1, optNormalize)
	}
	if err != nil {
		return err
	}
	plan, err := t.Source().Plan(ctx, before, scan.Request{KeepDeletes: true, Levels: r.m.stream.req.Levels, Postponed: r.m.stream.req.Postponed})
	if err != nil {
		return err
	}
	for _, sp := range plan.Splits {
		for _, m := range read.Morsels(r.m.stream.p.handles, sp, r.m.stream.p.want) {
			err := eachBatch(ctx, m, func(b *column.Batch) error {
				for k := range b.Rows() {
					if _, _, err := r.replace(b, b.Row(k)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// replace takes a row in and returns the bytes of the row of its key before, nil for none, and after, nil for a retract.
func (r *normalizeReader) replace(b *column.Batch, i int) (before, after []byte, err error) {
	m := r.m
	cols := make([]*column.Vector, len(m.keys))
	for k, c := range m.keys {
		cols[k] = b.Cols[c]
	}
	r.key = binrow.AppendRowOf(r.key[:0], m.keyTypes, cols, i)
	before = r.rows[string(r.key)]
	if lsm.IsRetract(int32(b.Cols[len(m.types)].Int(i))) {
		if before != nil {
			delete(r.rows, string(r.key))
			r.size -= int64(len(r.key)+len(before)) + normalizeOverhead
		}
		return before, nil, nil
	}
	r.row = binrow.AppendRowOf(r.row[:0], m.types, b.Cols[:len(m.types)], i)
	if before != nil && string(before) == string(r.row) {
		return before, before, nil
	}
	after = slices.Clone(r.row)
	if before == nil {
		r.size += int64(len(r.key)) + normalizeOverhead
	}
	r.size += int64(len(after) - len(before))
	if r.size > r.most {
		return nil, nil, errs.Limitf("table %s: option '%s' keeps the last row of each key, and those of %d keys take more than %d MiB: use the option 'changelog-producer' = 'lookup', which writes complete changelogs, or read fewer columns",
			r.in.t.Label(), optNormalize, len(r.rows), r.most>>20)
	}
	r.rows[string(r.key)] = after
	return before, after, nil
}

// Next returns the changes of the next rows, where they change anything.
func (r *normalizeReader) Next(ctx context.Context) (*column.Batch, error) {
	m := r.m
	for {
		if r.b == nil || r.k >= r.b.Rows() {
			b, err := r.in.Next(ctx)
			if err != nil {
				return nil, err
			}
			r.b, r.k = b, 0
		}
		out := make([]*column.Builder, len(m.types))
		for i, t := range m.types {
			out[i] = schema.NewBuilder(t)
		}
		kinds := column.NewBuilder(column.KindInt32)
		show := func(row []byte, kind int32) error {
			if lsm.IsRetract(kind) && !m.out.Kind {
				return nil
			}
			x, err := binrow.NewRow(row, len(m.types))
			if err == nil {
				err = x.Append(m.types, out)
			}
			kinds.AppendInt(int64(kind))
			return err
		}
		// The rows of an update stay together.
		for ; r.k < r.b.Rows() && kinds.Len()+2 <= column.MaxRows; r.k++ {
			before, after, err := r.replace(r.b, r.b.Row(r.k))
			switch {
			case err != nil:
			case before == nil && after == nil:
			case before == nil:
				err = show(after, lsm.Insert)
			case after == nil:
				err = show(before, lsm.Delete)
			case &before[0] != &after[0]:
				if err = show(before, lsm.UpdateBefore); err == nil {
					err = show(after, lsm.UpdateAfter)
				}
			}
			if err != nil {
				return nil, err
			}
		}
		if kinds.Len() == 0 {
			continue
		}
		b := &column.Batch{N: kinds.Len()}
		for _, x := range out[:len(m.out.Columns)] {
			b.Cols = append(b.Cols, x.Finish())
		}
		if m.out.Kind {
			b.Cols = append(b.Cols, kinds.Finish())
		}
		return b, nil
	}
}

// Close ends the read.
func (r *normalizeReader) Close() error {
	r.rows, r.b = nil, nil
	return r.in.Close()
}
