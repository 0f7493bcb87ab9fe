package wire

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// statement is a prepared statement of a connection.
type statement struct {
	id   uint32
	text string
	stmt sqlparser.Statement
	// types are the parameters' types as last bound, nil before the first time.
	types []paramType
	n     int
	// long holds parameters sent with COM_STMT_SEND_LONG_DATA, longBytes in all; tooLong that they met max_allowed_packet.
	long      map[int][]byte
	longBytes int
	tooLong   bool
	cursor    *cursor
}

// cursor is an open read-only cursor.
type cursor struct {
	stream *rowStream
	opened opened
	cancel context.CancelFunc
}

// commandPrepare is COM_STMT_PREPARE.
func (c *conn) commandPrepare(text string) error {
	st, defs, err := c.prepare(text)
	if err != nil {
		return c.answer(err)
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	w := c.w
	w.begin()
	w.buf = append(w.buf, headerOK, byte(st.id), byte(st.id>>8), byte(st.id>>16), byte(st.id>>24),
		byte(len(defs)), byte(len(defs)>>8), byte(st.n), byte(st.n>>8), 0)
	warnings := c.session.WarningCount()
	w.buf = append(w.buf, byte(warnings), byte(warnings>>8))
	if c.caps&capOptionalMetadata != 0 {
		w.buf = append(w.buf, 1)
	}
	w.end()
	if st.n > 0 {
		param := columnDef{name: "?", charset: collationBinary, typ: typeVarString, flags: flagBinary}
		for range st.n {
			w.begin()
			w.buf = param.append(w.buf, false)
			w.end()
		}
		c.writeDefsEnd(0)
	}
	if len(defs) > 0 {
		for i := range defs {
			w.begin()
			w.buf = defs[i].append(w.buf, false)
			w.end()
		}
		c.writeDefsEnd(0)
	}
	return nil
}

// prepare parses a statement and finds its parameters and columns.
func (c *conn) prepare(text string) (*statement, []columnDef, error) {
	if len(c.stmts) >= maxStatements {
		return nil, nil, errmap.New(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", maxStatements)
	}
	r, rest, err := c.parseNext(text)
	if err != nil {
		return nil, nil, err
	}
	if !blankSQL(rest) {
		return nil, nil, errmap.New(1064, "42000",
			"You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line 1",
			firstChars(strings.TrimSpace(rest)))
	}
	st := &statement{text: r.text, stmt: r.stmt, n: c.countParams(r.text)}
	if st.n > maxParameters {
		return nil, nil, errmap.New(1390, "HY000", "Prepared statement contains too many placeholders")
	}
	var defs []columnDef
	err = c.withOperation(func(ctx *sql.Context) (err error) {
		defs, err = c.describe(ctx, st)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	c.lastStmt++
	for c.stmts[c.lastStmt] != nil || c.lastStmt == 0 {
		c.lastStmt++
	}
	st.id = c.lastStmt
	c.stmts[st.id] = st
	return st, defs, nil
}

// describe binds a statement without values, to report its columns. Where the
// planner cannot do that (it panics at parameters in some places), a statement
// with its parameters left out is described, and at worst no columns are
// reported: clients get the columns with the result in any case.
func (c *conn) describe(ctx *sql.Context, st *statement) ([]columnDef, error) {
	switch st.stmt.(type) {
	case *sqlparser.Kill, *sqlparser.Prepare, *sqlparser.Execute, *sqlparser.Deallocate:
		return nil, nil
	}
	bound, err, panicked := c.tryBind(ctx, st.text, st.stmt)
	if panicked {
		stmt, ok := c.withoutAsOf(ctx, st.text)
		if !ok {
			return nil, nil
		}
		if bound, err, panicked = c.tryBind(ctx, st.text, stmt); panicked || err != nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	switch bound.(type) {
	case *plan.InsertInto, *plan.Update, *plan.UpdateJoin, *plan.DeleteFrom, *plan.Call:
		return nil, nil
	}
	sch := bound.Schema()
	if !resultHasRows(sch) {
		return nil, nil
	}
	return defineColumns(ctx, sch, nil, originsOf(bound), charsetOf(c.session)), nil
}

// tryBind binds a statement without values; panicked tells that the planner panicked.
func (c *conn) tryBind(ctx *sql.Context, text string, stmt sqlparser.Statement) (bound sql.Node, err error, panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.cfg.Logger.Debug("planner panic at prepare", "connection", c.id, "panic", fmt.Sprint(p), "statement", text)
			panicked = true
		}
	}()
	eng := c.srv.cfg.Engine
	binder := planbuilder.New(ctx, eng.Analyzer.Catalog, eng.EventScheduler, c.srv.cfg.Parser)
	bound, _, err = binder.BindOnly(stmt, text, nil)
	return bound, err, false
}

// withoutAsOf parses text anew and drops the AS OF clauses that hold parameters.
func (c *conn) withoutAsOf(ctx *sql.Context, text string) (sqlparser.Statement, bool) {
	stmt, _, err := c.parseOne(ctx, text)
	if err != nil {
		return nil, false
	}
	changed := false
	err = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		t, ok := n.(*sqlparser.AliasedTableExpr)
		if ok && t.AsOf != nil && (hasParam(t.AsOf.Time) || hasParam(t.AsOf.Start) || hasParam(t.AsOf.End)) {
			t.AsOf = nil
			changed = true
		}
		return true, nil
	}, stmt)
	return stmt, err == nil && changed
}

func hasParam(e sqlparser.Expr) bool {
	n := 0
	if e == nil {
		return false
	}
	walkParams(e, func(string) { n++ })
	return n > 0
}

// walkParams calls f with the name (":v1") of each parameter below n.
func walkParams(n sqlparser.SQLNode, f func(name string)) {
	err := sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.SQLVal:
			if n.Type == sqlparser.ValArg {
				f(string(n.Val))
			}
		case sqlparser.ListArg:
			f(string(n))
		case *sqlparser.AliasedTableExpr:
			// The walk of the parser leaves AS OF out.
			if n.AsOf != nil {
				for _, e := range []sqlparser.Expr{n.AsOf.Time, n.AsOf.Start, n.AsOf.End} {
					if e != nil {
						walkParams(e, f)
					}
				}
			}
		case sqlparser.InjectedStatement:
			for _, e := range n.Children {
				walkParams(e, f)
			}
		}
		return true, nil
	}, n)
	if err != nil {
		return
	}
}

// commandExecute is COM_STMT_EXECUTE.
func (c *conn) commandExecute(body []byte) error {
	p := payload{b: body}
	id := p.u32()
	if p.bad {
		return c.malformed()
	}
	st := c.stmts[id]
	if st == nil {
		return c.answer(unknownStatement(id, "mysqld_stmt_execute"))
	}
	c.closeCursor(st)
	long, tooLong := st.long, st.tooLong
	st.forgetLong()
	if tooLong {
		return c.answer(errmap.New(1153, "08S01", "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes"))
	}
	req, err := parseExecute(p.b, c.caps, st.n, st.types, long)
	if err != nil {
		return c.malformed()
	}
	st.types = req.types
	bind := make(map[string]sql.Expression, st.n)
	for i, v := range req.values {
		if v.text != nil && !v.isBytes() {
			v.text = []byte(c.decodeText(v.text))
		}
		e, err := v.expression()
		if err != nil {
			return c.answer(err)
		}
		bind[fmt.Sprintf("v%d", i+1)] = e
	}
	r := runnable{text: st.text, stmt: st.stmt, bind: bind, binary: true}
	if req.cursor {
		r.cursor = st
	}
	_, err = c.run1(r)
	return err
}

func unknownStatement(id uint32, where string) error {
	return errmap.New(1243, "HY000", "Unknown prepared statement handler (%d) given to %s", id, where)
}

// commandSendLongData is COM_STMT_SEND_LONG_DATA, which is not answered.
func (c *conn) commandSendLongData(body []byte) {
	p := payload{b: body}
	st := c.stmts[p.u32()]
	i := int(p.u16())
	if p.bad || st == nil || i >= st.n {
		return
	}
	st.longBytes += len(p.b)
	if st.longBytes > int(c.limit.Load()) {
		st.tooLong = true
		st.long = nil
	}
	if st.tooLong {
		return
	}
	if st.long == nil {
		st.long = make(map[int][]byte)
	}
	st.long[i] = append(st.long[i], p.b...)
	if st.long[i] == nil {
		st.long[i] = []byte{}
	}
}

// forgetLong drops what came with COM_STMT_SEND_LONG_DATA.
func (st *statement) forgetLong() { st.long, st.longBytes, st.tooLong = nil, 0, false }

// closeStatement is COM_STMT_CLOSE, which is not answered.
func (c *conn) closeStatement(id uint32) {
	if st := c.stmts[id]; st != nil {
		c.closeCursor(st)
		delete(c.stmts, id)
	}
}

// commandStmtReset is COM_STMT_RESET: it closes the cursor and forgets long data.
func (c *conn) commandStmtReset(body []byte) error {
	p := payload{b: body}
	id := p.u32()
	if p.bad {
		return c.malformed()
	}
	st := c.stmts[id]
	if st == nil {
		return c.answer(unknownStatement(id, "mysqld_stmt_reset"))
	}
	c.closeCursor(st)
	st.forgetLong()
	return c.answer(nil)
}
