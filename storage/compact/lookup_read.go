package compact

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// DefaultLookupKeys is as many as a few megabytes hold. With more of them, hardly a page of the files above has none.
	DefaultLookupKeys = 1 << 17
	// maxLookupBytes bounds the values of these keys.
	maxLookupBytes = 16 << 20
)

// freshKeys are the keys that have a record among the new ones.
type freshKeys struct {
	cols []*column.Vector
	list *read.KeySet
}

// freshKeys reads the keys of the new files, if there are other files to look them up in; nil where there are none, and where the
// keys are too many or too long.
func (t *task) freshKeys(ctx context.Context, fresh []*scan.File, b before) (*freshKeys, error) {
	rows := int64(0)
	for _, f := range fresh {
		rows += f.Meta.RowCount
	}
	if len(b.files) == 0 || rows > t.opts.lookupKeys {
		return nil, nil
	}
	c, err := t.newest(ctx, fresh, columnsOf{}, nil)
	if err != nil {
		return nil, err
	}
	var cols []*column.Builder
	for _, k := range t.keys {
		cols = append(cols, schema.NewBuilder(t.src.Schema.Fields[k].Type))
	}
	size := 0
	err = each(ctx, c.r, func(b *column.Batch) error {
		for i, k := range c.keys {
			v := b.Cols[k]
			for r := range b.Rows() {
				if v.Kind == column.KindBytes {
					size += len(v.Bytes(b.Row(r)))
				}
				cols[i].Append(v, b.Row(r))
			}
		}
		if size > maxLookupBytes {
			return io.EOF
		}
		return nil
	})
	if err != nil || size > maxLookupBytes {
		return nil, err
	}
	k := &freshKeys{}
	for _, c := range cols {
		k.cols = append(k.cols, c.Finish())
	}
	k.list = read.NewKeySet(k.cols)
	return k, nil
}

// set is nil where the keys are not known.
func (k *freshKeys) set() *read.KeySet {
	if k == nil {
		return nil
	}
	return k.list
}

// cursor goes through the keys.
func (k *freshKeys) cursor() *cursor {
	c := &cursor{r: ended{}, b: &column.Batch{N: k.list.Len(), Cols: k.cols}}
	for i := range k.cols {
		c.keys = append(c.keys, i)
	}
	return c
}

// ended is a reader without rows.
type ended struct{}

func (ended) Next(context.Context) (*column.Batch, error) { return nil, io.EOF }
func (ended) Close() error                                { return nil }

// holding leaves out the files that have none of the keys by their bounds; keys nil = no file.
func (b before) holding(keys *freshKeys) before {
	if keys == nil {
		return b
	}
	var out before
	for i, f := range b.files {
		if keys.list.AnyBetween(f.MinKey, f.MaxKey) {
			out.files = append(out.files, f)
			if i < b.inside {
				out.inside++
			}
		}
	}
	return out
}

// columnsOf says what is read of the newest records beside the key columns, that of record-level.expire-time and the row kind.
type columnsOf struct {
	// all asks for the table's other columns, in its order, and after the kind for the sequence number.
	all bool
	// places asks for the position in the file, and the file's place in the list.
	places bool
}

// newest reads, in key order, the record of the lowest level, or newest file of level 0, that each key has in
// files; of the keys of a set only, if that is not nil.
func (t *task) newest(ctx context.Context, files []*scan.File, cols columnsOf, keys *read.KeySet) (*cursor, error) {
	table := t.src.Schema.Fields
	// Retracts count, whatever is read.
	want := read.Want{Kind: true, Sequence: cols.all, RowID: cols.places, Columns: slices.Clone(t.keys)}
	if cols.all {
		want.Columns = t.want().Columns
	}
	out := &cursor{expiry: -1}
	expiry := t.opts.expiry
	if expiry != nil {
		if out.expiry = slices.Index(want.Columns, expiry.Column); out.expiry < 0 {
			out.expiry = len(want.Columns)
			want.Columns = append(want.Columns, expiry.Column)
		}
		if cols.places && (t.opts.vectors || t.opts.engine == "first-row") {
			expiry = nil // traceSection decides: a key has one row above level 0
		}
	}
	number := map[*scan.File]int{}
	for i, f := range files {
		number[f] = i
	}
	var runs []lsm.RunReader
	for _, run := range runsOf(files) {
		c := &chain{tagged: cols.places}
		for _, f := range run {
			// Numbers of rows in the file are row ids from 0 on.
			copied, meta, zero := *f, *f.Meta, int64(0)
			meta.FirstRowID = &zero
			copied.Meta = &meta
			sp := &scan.Split{Source: t.src, Partition: t.b.partition, Bucket: t.b.id, Mode: scan.Changes, Files: []*scan.File{&copied}}
			c.parts = append(c.parts, func(ctx context.Context) (relation.Reader, error) {
				return t.handles.OpenKeys(ctx, sp, &copied, want, keys)
			})
			c.tags = append(c.tags, number[f])
		}
		runs = append(runs, expiry.Over(c, out.expiry))
	}
	var fields []schema.Field
	for _, c := range want.Columns {
		fields = append(fields, table[c])
	}
	fields = append(fields, schema.KindField())
	if cols.all {
		fields = append(fields, schema.SequenceField())
	}
	if cols.places {
		out.places = len(fields)
		fields = append(fields, schema.RowIDField(), schema.Field{Name: "_FILE", Type: &schema.Type{Root: schema.Int}})
	}
	for _, k := range t.keys {
		out.keys = append(out.keys, slices.Index(want.Columns, k))
	}
	layout := lsm.Layout{Seq: -1, Kind: -1, Keys: out.keys}
	for i := range fields {
		layout.Values, layout.Fields = append(layout.Values, i), append(layout.Fields, i)
	}
	pick, err := lsm.NewEngine(lsm.TableInfo{Fields: fields})
	if err != nil {
		return nil, err
	}
	if out.r, err = lsm.NewMerge(ctx, pick, layout, runs, lsm.MergeOptions{}); err != nil {
		return nil, err
	}
	return out, nil
}

// chain reads files one after the other, as a sorted run.
type chain struct {
	parts  []func(context.Context) (relation.Reader, error)
	tags   []int
	tagged bool
	r      relation.Reader
	tag    int
}

// Next returns the next batch, with the tag of its file as last column.
func (c *chain) Next(ctx context.Context) (*column.Batch, error) {
	for {
		if c.r == nil {
			if len(c.parts) == 0 {
				return nil, io.EOF
			}
			r, err := c.parts[0](ctx)
			if err != nil {
				return nil, err
			}
			c.r, c.tag = r, c.tags[0]
			c.parts, c.tags = c.parts[1:], c.tags[1:]
		}
		b, err := c.r.Next(ctx)
		if err == nil && c.tagged {
			out := *b
			out.Cols = append(slices.Clone(b.Cols), column.NewConst(column.FromScalar(column.IntScalar(column.KindInt32, int64(c.tag))), b.N))
			return &out, nil
		}
		if !errors.Is(err, io.EOF) {
			return b, err
		}
		r := c.r
		c.r = nil
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
}

func (c *chain) Close() error {
	c.parts = nil
	if c.r == nil {
		return nil
	}
	r := c.r
	c.r = nil
	return r.Close()
}

// cursor is a place in a stream of rows in key order.
type cursor struct {
	r relation.Reader
	b *column.Batch
	// at is the number of the present row among those of b that count.
	at   int
	done bool
	// keys are the key columns, expiry is that of the time by which rows expire (-1: none), places that of the row's position in
	// its file, with the file's place behind it.
	keys           []int
	expiry, places int
}

func (c *cursor) row() int { return c.b.Row(c.at) }

func (c *cursor) position() int64 { return c.b.Cols[c.places].Int(c.row()) }

func (c *cursor) file() int { return int(c.b.Cols[c.places+1].Int(c.row())) }

// load reads the next batch where the present one is used up; done is set at the end.
func (c *cursor) load(ctx context.Context) error {
	for !c.done && (c.b == nil || c.at >= c.b.Rows()) {
		b, err := c.r.Next(ctx)
		if errors.Is(err, io.EOF) {
			c.done = true
			return nil
		}
		if err != nil {
			return err
		}
		c.b, c.at = b, 0
	}
	return nil
}

// seek moves to the key of o's present row, and reports whether there is such a row.
func (c *cursor) seek(ctx context.Context, o *cursor) (bool, error) {
	for {
		if err := c.load(ctx); err != nil || c.done {
			return false, err
		}
		cmp := 0
		for i, k := range c.keys {
			if cmp = column.CompareRows(c.b.Cols[k], c.row(), o.b.Cols[o.keys[i]], o.row()); cmp != 0 {
				break
			}
		}
		if cmp >= 0 {
			return cmp == 0, nil
		}
		c.at++
	}
}
