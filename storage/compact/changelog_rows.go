package compact

import (
	"context"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/write"
)

// changelog collects the rows of changelog files (section 11.2 of the format).
type changelog struct {
	out *write.LevelFiles
	// columns are those of the table, then row kind and sequence number.
	columns []*column.Builder
	n       int
	// compare are the columns that tell whether an update changes anything; nil = it always does.
	compare []int
}

func newChangelog(t *task, out *write.LevelFiles) *changelog {
	l := &changelog{out: out}
	s := t.src.Schema
	for _, f := range s.Fields {
		l.columns = append(l.columns, schema.NewBuilder(f.Type))
	}
	l.columns = append(l.columns, column.NewBuilder(column.KindInt32), column.NewBuilder(column.KindInt64))
	if t.opts.deduplicate {
		l.compare = []int{}
		for i, f := range s.Fields {
			if !slices.Contains(t.opts.deduplicateIgnore, f.Name) {
				l.compare = append(l.compare, i)
			}
		}
	}
	return l
}

// add writes what a key's result is after its row before; old is nil where there was none.
func (l *changelog) add(ctx context.Context, old, now *cursor) error {
	kind := len(l.columns) - 2
	is := func(c *cursor) bool { return !lsm.IsRetract(int32(c.b.Cols[kind].Int(c.row()))) }
	switch {
	case old == nil || !is(old):
		if is(now) {
			l.append(now, lsm.Insert)
		}
	case !is(now):
		l.append(old, lsm.Delete)
	case !l.same(old, now):
		l.append(old, lsm.UpdateBefore)
		l.append(now, lsm.UpdateAfter)
	}
	if l.n < column.MaxRows-1 {
		return nil
	}
	return l.flush(ctx)
}

// same reports whether an update changes nothing that counts.
func (l *changelog) same(old, now *cursor) bool {
	if l.compare == nil {
		return false
	}
	for _, c := range l.compare {
		if !column.EqualRows(old.b.Cols[c], old.row(), now.b.Cols[c], now.row()) {
			return false
		}
	}
	return true
}

func (l *changelog) append(c *cursor, kind int32) {
	n := len(l.columns) - 2
	for i := range n {
		l.columns[i].Append(c.b.Cols[i], c.row())
	}
	l.columns[n].AppendInt(int64(kind))
	l.columns[n+1].AppendInt(c.b.Cols[n+1].Int(c.row()))
	l.n++
}

// flush writes what is collected.
func (l *changelog) flush(ctx context.Context) error {
	if l.n == 0 {
		return nil
	}
	b := &column.Batch{N: l.n}
	for _, c := range l.columns {
		b.Cols = append(b.Cols, c.Finish())
	}
	if err := l.out.WriteKeyed(ctx, b); err != nil {
		return err
	}
	for _, c := range l.columns {
		c.Reset()
	}
	l.n = 0
	return nil
}
