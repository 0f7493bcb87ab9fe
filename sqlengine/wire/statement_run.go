package wire

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/result"
)

// runnable is one parsed statement with its parameters.
type runnable struct {
	text string
	stmt sqlparser.Statement
	// bind is nil for a statement that was not prepared.
	bind map[string]sql.Expression
	// binary asks for rows of the binary protocol.
	binary bool
	// cursor, where set, keeps the result open for COM_STMT_FETCH.
	cursor *statement
	// more announces another statement's result.
	more bool
}

// run executes a statement and sends its result or its error. ok is false
// after an error: statements that follow are not run. err ends the connection.
func (c *conn) run1(r runnable) (ok bool, err error) {
	failure := c.repeated(r)
	if failure == nil {
		return true, c.w.err
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.abort()
	if c.w.err != nil {
		return false, c.w.err
	}
	c.writeError(failure)
	return false, nil
}

// repeated executes a statement, once more where others outran it.
func (c *conn) repeated(r runnable) error {
	ctx := c.ctx
	for try := 1; ; try++ {
		failure := c.execute(ctx, r)
		if failure == nil || c.srv.cfg.Repeat == nil {
			return failure
		}
		next, leave, again := c.srv.cfg.Repeat(ctx, failure, try)
		defer leave() // of the few times most have nothing to leave
		if !again {
			return failure
		}
		ctx = next
	}
}

// execute runs a statement under the process list and sends its result.
func (c *conn) execute(base context.Context, r runnable) (err error) {
	c.srv.stats.statements.Add(1)
	if kill, ok := r.stmt.(*sqlparser.Kill); ok {
		return c.executeKill(kill, r)
	}
	head := &resultHead{conn: c}
	defer head.end()
	ctx := c.newContext(result.OnWait(base, head.waits), r.text)
	if err := sql.SessionCommandBegin(c.session); err != nil {
		return err
	}
	defer sql.SessionCommandEnd(c.session)
	sql.IncrementStatusVariable(ctx, "Questions", 1)
	ctx, err = ctx.ProcessList.BeginQuery(ctx, r.text)
	if err != nil {
		return err
	}
	defer ctx.ProcessList.EndQuery(ctx)
	ctx, cancel := c.limitTime(ctx, r.stmt)
	defer cancel()
	var o opened
	defer func() {
		if p := recover(); p != nil {
			err = c.panicked("statement", p)
		}
		if err != nil {
			c.failed(ctx, o, &err)
		}
	}()
	before := c.session.GetCurrentDatabase()
	p, err := c.plan(ctx, r.text, r.stmt, r.bind)
	if err != nil {
		return err
	}
	if r.cursor != nil && resultHasRows(p.node.Schema()) {
		return c.openCursor(ctx, r, p)
	}
	if o, err = c.open(ctx, p); err != nil {
		return err
	}
	if !resultHasRows(o.schema) {
		return c.sendOutcome(ctx, r, &o, before)
	}
	return c.sendRows(ctx, r, p, &o, head)
}

// failed cleans up after a failed statement and gives the error its final form.
func (c *conn) failed(ctx *sql.Context, o opened, err *error) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.cfg.Logger.Error("cleaning up a failed statement", "connection", c.id, "error", c.panicked("clean-up", p))
		}
	}()
	c.logPanic(*err)
	*err = interruption(ctx, *err)
	c.closeFailed(ctx, o)
	c.endTransaction(ctx)
	c.readStatus(ctx)
}

// resultHasRows tells result sets from statements that answer OK.
func resultHasRows(s sql.Schema) bool {
	return len(s) > 0 && !gms.IsOkResultSchema(s)
}

// sendOutcome runs a statement without a result set and sends OK.
func (c *conn) sendOutcome(ctx *sql.Context, r runnable, o *opened, before string) error {
	var ok okPacket
	found, counted := ctx.GetLastQueryInfoInt(sql.FoundRows), false
	for {
		row, err := o.iter.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(row) == 1 {
			if res, is := row[0].(gms.OkResult); is {
				counted = true
				ok.affected, ok.insertID = res.RowsAffected, res.InsertID
				if res.Info != nil {
					ok.info = res.Info.String()
				}
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	iter := o.iter
	o.iter = nil
	if err := iter.Close(ctx); err != nil {
		return err
	}
	if counted {
		// go-mysql-server takes the row of counts for one that was found.
		ctx.SetLastQueryInfoInt(sql.FoundRows, found)
		ctx.SetLastQueryInfoInt(sql.RowCount, int64(ok.affected))
	}
	c.readStatus(ctx)
	c.limit.Store(c.maxAllowedPacket())
	ok.more = r.more
	ok.warnings = c.session.WarningCount()
	ok.track = c.trackStatement(r.stmt, before)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.writeOK(ok)
	return nil
}

// stream makes the row stream of an open plan.
func (c *conn) stream(ctx *sql.Context, r runnable, p planned, o *opened) (*rowStream, error) {
	cs := charsetOf(c.session)
	s := &rowStream{ctx: ctx, binary: r.binary, batches: o.batches, rows: o.iter}
	if o.batches == nil {
		s.defs = defineColumns(ctx, o.schema, nil, p.origins, cs)
		s.boxed = make([]boxedColumn, len(s.defs))
		for i := range s.boxed {
			s.boxed[i] = newBoxedColumn(o.schema[i], &s.defs[i], cs)
		}
		return s, nil
	}
	cols := o.source.ColumnTypes()
	if len(cols) != len(o.schema) {
		return nil, fmt.Errorf("wire: a source has %d columns and %d types", len(o.schema), len(cols))
	}
	loc, err := c.location()
	if err != nil {
		return nil, err
	}
	s.defs = defineColumns(ctx, o.schema, cols, p.origins, cs)
	s.cols = make([]batchColumn, len(cols))
	for i, t := range cols {
		s.cols[i] = newBatchColumn(t, &s.defs[i], loc, cs)
	}
	return s, nil
}

// writeDefs writes the column count and the definitions.
func (c *conn) writeDefs(defs []columnDef, cursor uint16) {
	w := c.w
	w.begin()
	if c.caps&capOptionalMetadata != 0 {
		w.buf = append(w.buf, 1)
	}
	w.buf = appendLenenc(w.buf, uint64(len(defs)))
	w.end()
	for i := range defs {
		w.begin()
		w.buf = defs[i].append(w.buf, false)
		w.end()
	}
	c.writeDefsEnd(cursor)
}

// sendRows sends a result set, as fast as the plan makes it and the client reads it.
func (c *conn) sendRows(ctx *sql.Context, r runnable, p planned, o *opened, head *resultHead) error {
	s, err := c.stream(ctx, r, p, o)
	if err != nil {
		return err
	}
	head.ready(s.defs)
	if err := s.prime(); err != nil {
		return err
	}
	head.send()
	if err := s.emit(c.w, -1); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	iter := o.iter
	o.iter = nil
	if err := iter.Close(ctx); err != nil {
		return err
	}
	if o.batches != nil {
		ctx.SetLastQueryInfoInt(sql.FoundRows, int64(s.sent))
	}
	c.readStatus(ctx)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.writeRowsEnd(okPacket{warnings: c.session.WarningCount(), more: r.more})
	return nil
}

// executeKill is KILL [QUERY | CONNECTION] id.
func (c *conn) executeKill(k *sqlparser.Kill, r runnable) error {
	id, err := c.killTarget(k, r)
	if err != nil {
		return err
	}
	if err := c.kills(id, k.Connection); err != nil {
		return err
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.writeOK(okPacket{more: r.more})
	return nil
}

// killTarget evaluates KILL's operand: a number, a parameter, an expression of both.
func (c *conn) killTarget(k *sqlparser.Kill, r runnable) (uint64, error) {
	ctx := c.newContext(c.ctx, r.text)
	sel := &sqlparser.Select{SelectExprs: sqlparser.SelectExprs{&sqlparser.AliasedExpr{Expr: k.ConnID}}}
	p, err := c.plan(ctx, r.text, sel, r.bind)
	if err != nil {
		c.endTransaction(ctx)
		return 0, err
	}
	defer c.endTransaction(ctx)
	iter, err := c.srv.cfg.Engine.Analyzer.ExecBuilder.Build(ctx, p.node, nil)
	if err != nil {
		return 0, err
	}
	row, err := iter.Next(ctx)
	if cerr := iter.Close(ctx); err == nil {
		err = cerr
	}
	if err != nil {
		return 0, err
	}
	v, _, err := gms.Uint64.Convert(ctx, row[0])
	id, ok := v.(uint64)
	if err != nil || !ok {
		return 0, errmap.New(1094, "HY000", "Unknown thread id: %v", row[0])
	}
	return id, nil
}
