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

func (s *statementSink) fields() []schema.Field {
	if s.sink != nil {
		return s.sink.Fields()
	}
	return s.pend.sink.Fields()
}

// write takes a batch; owned says that nobody changes its vectors afterwards.
func (s *statementSink) write(ctx context.Context, b *column.Batch, owned bool) error {
	if s.sink != nil {
		return s.sink.Write(ctx, b, nil)
	}
	if s.direct {
		return s.pend.sink.Write(ctx, b, nil)
	}
	if !owned {
		b = copyBatch(b)
	}
	s.staged.add(b)
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
	return s.pend.take(ctx, &staged)
}

// flush moves staged rows into the sink.
func (p *pendingWrite) flush(ctx context.Context) error {
	if p.staged.rows == 0 {
		return nil
	}
	p.flushes++
	staged := p.staged
	p.staged = stagedRows{}
	return p.take(ctx, &staged)
}

func (p *pendingWrite) take(ctx context.Context, rows *stagedRows) error {
	return rows.each(func(b *column.Batch) error { return p.sink.Write(ctx, b, nil) })
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
