package wire

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/result"
)

// openCursor starts a plan for COM_STMT_FETCH. The result stays open, in a
// context of its own, while other commands run; the implicit transaction ends
// now, because the next statement's must not wait for the cursor.
func (c *conn) openCursor(ctx *sql.Context, r runnable, p planned) (err error) {
	own, cancel := context.WithCancel(c.ctx)
	idle := make(chan struct{}, 1)
	cctx := c.newContext(result.OnWait(own, func() {
		select {
		case idle <- struct{}{}:
		default:
		}
	}), r.text)
	unlink := context.AfterFunc(ctx, cancel)
	var o opened
	var s *rowStream
	defer func() {
		if err != nil {
			cancel()
			if s != nil {
				s.settle()
			}
			c.closeFailed(cctx, o)
		}
	}()
	if o, err = c.open(cctx, p); err != nil {
		return err
	}
	if s, err = c.stream(cctx, r, p, &o); err != nil {
		return err
	}
	s.idle = idle
	// The first rows are made now, so that sorts and aggregates run, fail and are stopped here, as
	// in MySQL, which fills its cursor when it opens it.
	if err := s.prime(); err != nil {
		return err
	}
	if !unlink() {
		return context.Canceled
	}
	if err := c.commitNow(ctx); err != nil {
		return err
	}
	r.cursor.cursor = &cursor{stream: s, opened: o, cancel: cancel}
	c.readStatus(ctx)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.writeDefs(s.defs, statusCursorExists)
	if c.caps&capDeprecateEOF != 0 {
		// Without an EOF after the definitions this packet carries the status.
		c.writeRowsEnd(okPacket{warnings: c.session.WarningCount(), cursor: statusCursorExists})
	}
	return nil
}

// commitNow ends the implicit transaction of an autocommit statement.
func (c *conn) commitNow(ctx *sql.Context) error {
	ts, ok := c.session.(sql.TransactionSession)
	tx := c.session.GetTransaction()
	if c.session.GetIgnoreAutoCommit() || c.status&statusAutocommit == 0 || !ok || tx == nil {
		return nil
	}
	if err := ts.CommitTransaction(ctx, tx); err != nil {
		return err
	}
	c.session.SetTransaction(nil)
	return nil
}

// closeCursor ends an open cursor.
func (c *conn) closeCursor(st *statement) {
	cur := st.cursor
	if cur == nil {
		return
	}
	st.cursor = nil
	defer func() {
		if p := recover(); p != nil {
			c.srv.cfg.Logger.Error("closing a cursor", "connection", c.id, "error", c.panicked("cursor", p))
		}
	}()
	cur.cancel()
	cur.stream.settle()
	c.closeFailed(cur.stream.ctx, cur.opened)
}

// commandFetch is COM_STMT_FETCH.
func (c *conn) commandFetch(body []byte) error {
	p := payload{b: body}
	id, n := p.u32(), p.u32()
	if p.bad {
		return c.malformed()
	}
	st := c.stmts[id]
	if st == nil {
		return c.answer(unknownStatement(id, "mysqld_stmt_fetch"))
	}
	if st.cursor == nil {
		return c.answer(errmap.New(1421, "HY000", "The statement (%d) has no open cursor.", id))
	}
	ok, err := c.fetch(st, int64(n))
	if err != nil {
		return c.fetchFailed(st, err)
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.writeRowsEnd(ok)
	return nil
}

func (c *conn) fetchFailed(st *statement, err error) error {
	err = interruption(st.cursor.stream.ctx, err)
	c.closeCursor(st)
	if c.w.err != nil {
		return c.w.err
	}
	return c.answer(err)
}

// fetch sends up to n rows of a cursor and gives the packet that ends them.
func (c *conn) fetch(st *statement, n int64) (ok okPacket, err error) {
	cur := st.cursor
	ctx := c.newContext(c.ctx, st.text)
	if err := sql.SessionCommandBegin(c.session); err != nil {
		return ok, err
	}
	defer sql.SessionCommandEnd(c.session)
	if ctx, err = ctx.ProcessList.BeginQuery(ctx, st.text); err != nil {
		return ok, err
	}
	defer ctx.ProcessList.EndQuery(ctx)
	defer func() {
		if p := recover(); p != nil {
			err = c.panicked("fetch", p)
		}
	}()
	unlink := context.AfterFunc(ctx, cur.cancel)
	if err := cur.stream.emit(c.w, n); err != nil {
		return ok, err
	}
	// Looking ahead tells whether that were the last rows.
	idle, err := cur.stream.advance()
	if err != nil {
		return ok, err
	}
	if !unlink() {
		return ok, context.Canceled
	}
	ok.warnings = c.session.WarningCount()
	ok.cursor = statusCursorExists
	if !idle && cur.stream.empty() {
		ok.cursor = statusLastRowSent
		c.closeCursor(st)
	}
	return ok, nil
}
