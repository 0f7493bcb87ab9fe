package planner

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// stagedBytes is how many bytes of rows a transaction keeps in memory for one
// table. More go into the table's sink, from which no savepoint brings them back.
const stagedBytes = 64 << 20

// pendingWrite are the rows of a table that wait for COMMIT: all statements of the transaction share a sink, and so a snapshot.
// Staged batches have one more column than the sink's, the row kinds.
type pendingWrite struct {
	db, table string
	opts      relation.SinkOptions
	sink      relation.Sink
	// staged are rows that the sink has not got.
	staged stagedRows
	// flushes counts how often staged rows went into the sink.
	flushes int
}

// statementSink takes the rows of one statement: for a sink that it commits itself, or for the transaction's.
type statementSink struct {
	// sink is the statement's own; nil in a transaction.
	sink relation.Sink

	tx     *Transaction
	pend   *pendingWrite
	staged stagedRows
	// direct: rows of the statement are in the transaction's sink already.
	direct bool
	ended  bool
}

// openStatement starts the writing of a statement.
func openStatement(ctx *sql.Context, w WritableCatalog, db, table string, opts relation.SinkOptions) (*statementSink, error) {
	tx, _ := ctx.GetTransaction().(*Transaction)
	if tx == nil || autocommits(ctx) {
		sink, err := w.OpenSink(ctx, db, table, opts)
		if err != nil {
			return nil, err
		}
		return &statementSink{sink: sink}, nil
	}
	if err := tx.check(); err != nil {
		return nil, err
	}
	p, err := tx.pending(ctx, w, db, table, opts)
	if err != nil {
		return nil, err
	}
	return &statementSink{tx: tx, pend: p}, nil
}

// pending finds or opens the sink of a table.
func (t *Transaction) pending(ctx context.Context, w WritableCatalog, db, table string, opts relation.SinkOptions) (*pendingWrite, error) {
	if old := t.writesOf(db, table); len(old) > 0 {
		p := old[0]
		if opts.Positions && !p.opts.Positions && p.flushes == 0 {
			with := p.opts
			with.Positions = true
			sink, err := w.OpenSink(ctx, db, table, with)
			if err != nil {
				return nil, err
			}
			p.sink.Abort()
			p.sink, p.opts = sink, with
		}
		opts.Positions = p.opts.Positions
		if !sameOptions(p.opts, opts) || opts.Overwrite {
			return nil, errs.Unsupportedf("table %s.%s has rows of this transaction that are not committed, and a transaction writes a table in one way only: "+
				"INSERT OVERWRITE, a PARTITION clause or OPTIONS after another INSERT need a COMMIT before", db, table)
		}
		return p, nil
	}
	sink, err := w.OpenSink(ctx, db, table, opts)
	if err != nil {
		return nil, err
	}
	p := &pendingWrite{db: db, table: table, opts: opts, sink: sink}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes = append(t.writes, p)
	return p, nil
}

func sameOptions(a, b relation.SinkOptions) bool {
	return a.Overwrite == b.Overwrite && a.Operation == b.Operation && maps.Equal(a.Options, b.Options) &&
		maps.EqualFunc(a.Static, b.Static, func(x, y *string) bool { return x == y || x != nil && y != nil && *x == *y })
}

// fields are the table's columns.
func (s *statementSink) fields() []schema.Field {
	all := s.columns()
	for len(all) > 0 && isPosition(all[len(all)-1].Name) {
		all = all[:len(all)-1]
	}
	return all
}

// columns are those of the sink: the table's, and those that say where a row lies, where the sink takes them.
func (s *statementSink) columns() []schema.Field {
	if s.sink != nil {
		return s.sink.Fields()
	}
	return s.pend.sink.Fields()
}

// write takes a batch of new rows; owned says that nobody changes its vectors afterwards.
func (s *statementSink) write(ctx context.Context, b *column.Batch, owned bool) error {
	return s.writeKind(ctx, b, relation.Insert, owned)
}

// writeKind takes a batch of rows of one row kind.
func (s *statementSink) writeKind(ctx context.Context, b *column.Batch, kind int32, owned bool) error {
	if s.sink != nil || s.direct {
		sink := s.sink
		if sink == nil {
			sink = s.pend.sink
			b = s.pend.padded(b)
		}
		return sink.Write(ctx, b, kindsOf(b.N, kind))
	}
	if !owned || b.Sel != nil {
		b = copyBatch(b)
	}
	b = s.pend.padded(b)
	kinds := column.NewBuilder(column.KindInt32)
	kinds.AppendInt(int64(kind))
	s.staged.add(&column.Batch{N: b.N, Cols: append(slices.Clip(b.Cols), column.NewConst(kinds.Finish(), b.N))})
	if s.pend.staged.bytes+s.staged.bytes <= stagedBytes {
		return nil
	}
	// From here on the statement cannot be undone without the transaction.
	s.direct = true
	if err := s.pend.flush(ctx); err != nil {
		return err
	}
	s.pend.flushes++
	staged := s.staged
	s.staged = stagedRows{}
	return s.pend.take(ctx, &staged, false)
}

// flush moves staged rows into the sink.
func (p *pendingWrite) flush(ctx context.Context) error {
	if p.staged.rows == 0 {
		return nil
	}
	p.flushes++
	staged := p.staged
	p.staged = stagedRows{}
	return p.take(ctx, &staged, true)
}

// take gives the sink rows; all says that these are all of the transaction so far, among which those may be that are removed again.
func (p *pendingWrite) take(ctx context.Context, rows *stagedRows, all bool) error {
	dead, err := p.removedAgain(rows, all)
	if err != nil {
		return err
	}
	number := int64(0)
	return rows.each(func(b *column.Batch) error {
		n := len(b.Cols) - 1
		kinds := make([]int32, b.N)
		var sel []uint16
		for i := range kinds {
			v, at := b.Cols[n].At(i)
			kinds[i] = v.I32[at]
			if !dead[number] {
				sel = append(sel, uint16(i))
			}
			number++
		}
		out := &column.Batch{N: b.N, Cols: b.Cols[:n:n]}
		if len(sel) < b.N {
			if len(sel) == 0 {
				return nil
			}
			out.Sel = sel
		}
		return p.sink.Write(ctx, p.padded(out), kinds)
	})
}

// removedAgain numbers the rows that the transaction has written and removed again, and the removals.
func (p *pendingWrite) removedAgain(rows *stagedRows, all bool) (map[int64]bool, error) {
	file := schema.IndexOf(p.sink.Fields(), relation.FileColumn)
	if file < 0 {
		return nil, nil
	}
	dead := map[int64]bool{}
	number := int64(0)
	err := rows.each(func(b *column.Batch) error {
		n := len(b.Cols) - 1
		for i := range b.N {
			number++
			kinds, at := b.Cols[n].At(i)
			if n <= file+1 || !relation.IsRetract(kinds.I32[at]) || b.Cols[file].Int(i) != ownFile {
				continue
			}
			if !all {
				return errs.Limitf("the transaction has written more than %d MiB to table %s.%s, and changes what it has written itself: it needs a COMMIT before", stagedBytes>>20, p.db, p.table)
			}
			dead[number-1], dead[b.Cols[file+1].Int(i)] = true, true
		}
		return nil
	})
	return dead, err
}

// kindsOf are the kinds of n rows that are all of one; nil for new rows.
func kindsOf(n int, kind int32) []int32 {
	if kind == relation.Insert {
		return nil
	}
	kinds := make([]int32, n)
	for i := range kinds {
		kinds[i] = kind
	}
	return kinds
}

// padded gives new rows the columns that say where a row lies, which an UPDATE or DELETE of the transaction needs.
func (p *pendingWrite) padded(b *column.Batch) *column.Batch {
	of := p.sink.Fields()
	if len(b.Cols) == len(of) {
		return b
	}
	out := &column.Batch{N: b.N, Sel: b.Sel, Cols: slices.Clip(b.Cols)}
	for _, f := range of[len(b.Cols):] {
		out.Cols = append(out.Cols, nulls(f.Type, b.N))
	}
	return out
}

// finish ends a statement whose rows are complete.
func (s *statementSink) finish(ctx context.Context) error {
	s.ended = true
	if s.sink != nil {
		_, err := s.sink.Commit(ctx)
		return err
	}
	s.pend.staged.addAll(&s.staged)
	return nil
}

// abort ends a statement that failed, unless it is finished.
func (s *statementSink) abort() {
	switch {
	case s.ended:
	case s.sink != nil:
		s.sink.Abort()
	case s.direct:
		s.tx.fail()
	default:
		s.tx.drop(s.pend)
	}
	s.ended = true
}

// fail gives the transaction up: a statement that failed has rows in its sinks.
func (t *Transaction) fail() {
	t.abortWrites()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

// drop forgets a sink that no statement has given rows.
func (t *Transaction) drop(p *pendingWrite) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.staged.rows == 0 && p.flushes == 0 {
		t.writes = slices.DeleteFunc(t.writes, func(x *pendingWrite) bool { return x == p })
		p.sink.Abort()
	}
}

// check refuses statements of a transaction that has been given up.
func (t *Transaction) check() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed {
		return errs.Conflictf("this transaction was rolled back when a statement of more than %d MiB failed in it; ROLLBACK, and begin anew", stagedBytes>>20)
	}
	return nil
}

// mainBranch is the branch that a table without a suffix is.
const mainBranch = "main"

// dataName is a table's name without the suffix of the main branch; system is the name of the system table in it.
func dataName(name string) (table, system string) {
	parts := strings.Split(name, "$")
	table, parts = parts[0], parts[1:]
	if len(parts) > 0 {
		if b, ok := strings.CutPrefix(parts[0], branchPrefix); ok {
			if !strings.EqualFold(b, mainBranch) {
				table += "$" + parts[0]
			}
			parts = parts[1:]
		}
	}
	return table, strings.Join(parts, "$")
}

// branchPrefix begins the suffix that names a branch.
const branchPrefix = "branch_"

func (t *Transaction) writesOf(db, name string) []*pendingWrite {
	table, _ := dataName(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*pendingWrite
	for _, p := range t.writes {
		if pt, _ := dataName(p.table); p.db == db && pt == table {
			out = append(out, p)
		}
	}
	return out
}

// hasWrites reports whether rows wait for COMMIT.
func (t *Transaction) hasWrites() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.writes) > 0
}

// rowTables are the system tables that show the rows of their table; others show what is committed.
var rowTables = map[string]bool{"audit_log": true, "binlog": true, "ro": true, "row_tracking": true}

// wrote reports whether a table shows rows that wait for COMMIT: its own, or those of its fallback branch.
func (t *Transaction) wrote(read *Table) bool {
	table, system := dataName(read.object)
	if system != "" && !rowTables[system] {
		return false
	}
	if len(t.writesOf(read.db, table)) > 0 {
		return true
	}
	d, ok := read.rel.(Described)
	if !ok {
		return false
	}
	base, _, _ := strings.Cut(table, "$")
	fallback := d.TableOptions()["scan.fallback-branch"]
	return fallback != "" && len(t.writesOf(read.db, base+"$"+branchPrefix+fallback)) > 0
}

func (t *Transaction) takeWrites() []*pendingWrite {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.writes
	t.writes = nil
	return out
}

// commitWrites publishes what waits: one snapshot a table, in the order of the tables' names. Where a table fails, those
// before it stay committed, and the error says so.
func (t *Transaction) commitWrites(ctx context.Context) (err error) {
	if err := t.check(); err != nil {
		return err
	}
	writes := t.takeWrites()
	defer func() {
		for _, p := range writes {
			p.sink.Abort() // does nothing to those that are committed
		}
	}()
	slices.SortStableFunc(writes, func(a, b *pendingWrite) int {
		return cmp.Or(cmp.Compare(a.db, b.db), cmp.Compare(a.table, b.table))
	})
	// All rows first: most of what can be wrong is found before anything is published.
	for _, p := range writes {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	for i, p := range writes {
		if _, err := p.sink.Commit(ctx); err != nil {
			if i == 0 {
				return err
			}
			var done []string
			for _, d := range writes[:i] {
				done = append(done, d.db+"."+d.table)
			}
			return errs.New(errs.ClassOf(err), "table %s.%s: %w; what this transaction wrote to %s is committed", p.db, p.table, err, strings.Join(done, ", "))
		}
	}
	return nil
}

func (t *Transaction) abortWrites() {
	for _, p := range t.takeWrites() {
		p.sink.Abort()
	}
}
