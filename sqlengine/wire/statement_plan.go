package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/result"
)

// planned is an analysed statement.
type planned struct {
	node    sql.Node
	flags   *sql.QueryFlags
	origins []columnOrigin
}

// plan binds and analyses a statement. bind holds the parameters' values, nil
// for a statement that was not prepared.
func (c *conn) plan(ctx *sql.Context, text string, stmt sqlparser.Statement, bind map[string]sql.Expression) (planned, error) {
	eng := c.srv.cfg.Engine
	var p planned
	if err := c.session.ValidateSession(ctx); err != nil {
		return p, err
	}
	if err := beginTransaction(ctx); err != nil {
		return p, err
	}
	binder := planbuilder.New(ctx, eng.Analyzer.Catalog, eng.EventScheduler, c.srv.cfg.Parser)
	if bind != nil {
		binder.SetBindingsWithExpr(bind)
	}
	// Binding makes warnings that must outlive the clearing of the last statement's.
	before := len(ctx.Session.Warnings())
	bound, flags, err := binder.BindOnly(stmt, text, nil)
	if err != nil {
		return p, err
	}
	if named, ok := bound.(*plan.ExecuteQuery); ok {
		if bound, flags, binder, err = c.bindNamed(ctx, text, named); err != nil {
			return p, err
		}
	}
	warnings := ctx.Session.Warnings()
	warnings = warnings[:max(len(warnings)-before, 0)]
	clearWarnings(ctx, bound)
	for i := len(warnings) - 1; i >= 0; i-- {
		ctx.Session.Warn(warnings[i])
	}
	p.origins = originsOf(bound)
	p.flags = flags
	switch n := bound.(type) {
	case *plan.PrepareQuery:
		p.node, err = n, c.prepareNamed(ctx, n)
	case *plan.DeallocateQuery:
		if _, ok := eng.PreparedDataCache.GetCachedStmt(c.id, n.Name); !ok {
			return p, errmap.New(1243, "HY000", "Unknown prepared statement handler (%s) given to DEALLOCATE PREPARE", n.Name)
		}
		eng.PreparedDataCache.UncacheStmt(c.id, n.Name)
		delete(c.named, n.Name)
		p.node = n
	default:
		p.node, err = eng.Analyzer.Analyze(ctx, bound, nil, flags)
	}
	if err != nil {
		return p, err
	}
	if bc := binder.BindCtx(); bc != nil && len(bc.UnusedBindings()) > 0 {
		return p, errmap.New(1210, "HY000", "Incorrect arguments to EXECUTE")
	}
	if eng.IsReadOnly() && !plan.IsReadOnly(p.node) {
		return p, sql.ErrReadOnly.New()
	}
	if eng.IsServerLocked && !plan.IsReadOnly(p.node) {
		return p, sql.ErrDatabaseWriteLocked.New()
	}
	if plan.NodeRepresentsSelect(p.node) {
		sql.IncrementStatusVariable(ctx, "Com_select", 1)
	}
	return p, nil
}

// beginTransaction starts the implicit transaction of a statement.
func beginTransaction(ctx *sql.Context) error {
	ts, ok := ctx.Session.(sql.TransactionSession)
	if !ok || ctx.GetTransaction() != nil {
		return nil
	}
	tx, err := ts.StartTransaction(ctx, sql.ReadWrite)
	if err != nil {
		return err
	}
	ctx.SetTransaction(tx)
	return nil
}

// endTransaction undoes the implicit transaction of a statement that failed.
func (c *conn) endTransaction(ctx *sql.Context) {
	if c.session.GetIgnoreAutoCommit() {
		return
	}
	if auto, err := plan.IsSessionAutocommit(ctx); err != nil || !auto {
		return
	}
	c.rollback(c.newContext(context.WithoutCancel(c.ctx), ""))
}

// clearWarnings forgets the last statement's warnings, except for SHOW WARNINGS.
func clearWarnings(ctx *sql.Context, n sql.Node) {
	switch n := n.(type) {
	case *plan.Offset, *plan.Limit:
		clearWarnings(ctx, n.Children()[0])
	case plan.ShowWarnings:
		ctx.ClearWarningCount()
	default:
		ctx.ClearWarnings()
	}
}

// prepareNamed is PREPARE name FROM: it parses the text and keeps it for EXECUTE.
func (c *conn) prepareNamed(ctx *sql.Context, n *plan.PrepareQuery) error {
	text := n.PrepStmt.Expr
	if name, ok := strings.CutPrefix(text, "@"); ok {
		val, err := expression.NewUserVar(name).Eval(ctx, nil)
		if err != nil {
			return err
		}
		switch val := val.(type) {
		case string:
			text = val
		case []byte:
			text = string(val)
		default:
			return errmap.New(1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'NULL' at line 1")
		}
	}
	stmt, parsed, err := c.parseOne(ctx, text)
	if err != nil {
		return err
	}
	c.srv.cfg.Engine.PreparedDataCache.CacheStmt(c.id, n.Name, stmt)
	if c.named == nil {
		c.named = make(map[string]int)
	}
	c.named[n.Name] = c.countParams(parsed)
	return nil
}

// bindNamed is EXECUTE name USING @a, @b: it binds the named statement.
func (c *conn) bindNamed(ctx *sql.Context, text string, n *plan.ExecuteQuery) (sql.Node, *sql.QueryFlags, *planbuilder.Builder, error) {
	eng := c.srv.cfg.Engine
	stmt, ok := eng.PreparedDataCache.GetCachedStmt(c.id, n.Name)
	if !ok {
		return nil, nil, nil, sql.ErrUnknownPreparedStatement.New(n.Name)
	}
	if want, known := c.named[n.Name]; known && want != len(n.BindVars) {
		return nil, nil, nil, errmap.New(1210, "HY000", "Incorrect arguments to EXECUTE")
	}
	bind := make(map[string]sql.Expression, len(n.BindVars))
	for i, e := range n.BindVars {
		key := fmt.Sprintf("v%d", i+1)
		name, isVar := strings.CutPrefix(e.String(), "@")
		if !isVar {
			bind[key] = e
			continue
		}
		typ, val, err := ctx.GetUserVariable(ctx, name)
		if err != nil {
			return nil, nil, nil, err
		}
		if typ == nil || val == nil {
			typ, val = gms.Null, nil
		} else if v, _, err := typ.Promote().Convert(ctx, val); err == nil {
			typ, val = typ.Promote(), v
		}
		bind[key] = expression.NewLiteral(val, typ)
	}
	binder := planbuilder.New(ctx, eng.Analyzer.Catalog, eng.EventScheduler, c.srv.cfg.Parser)
	binder.SetBindingsWithExpr(bind)
	node, flags, err := binder.BindOnly(stmt, text, nil)
	return node, flags, binder, err
}

// sourceIter stands for a batch source among go-mysql-server's iterators, so
// that commit, process list and disposal work as for every other plan.
type sourceIter struct{ batches result.Iter }

// Next is never called: rows come from batches.
func (*sourceIter) Next(*sql.Context) (sql.Row, error) {
	return nil, errors.New("wire: a batch source has no boxed rows")
}

// Close ends the source.
func (s *sourceIter) Close(ctx *sql.Context) error { return s.batches.Close(ctx) }

// sourceOf unwraps an analysed plan to its batch source.
func sourceOf(n sql.Node) (result.Source, bool) {
	switch n := n.(type) {
	case result.Source:
		return n, true
	case interface{ ResultSource() result.Source }:
		s := n.ResultSource()
		return s, s != nil
	}
	return nil, false
}

// opened is a running plan.
type opened struct {
	schema sql.Schema
	source result.Source
	// batches is nil for boxed rows; iter is the outermost iterator in both cases: it closes everything.
	batches result.Iter
	iter    sql.RowIter
}

// open starts a plan.
func (c *conn) open(ctx *sql.Context, p planned) (opened, error) {
	var o opened
	var err error
	var inner sql.RowIter
	if src, ok := sourceOf(p.node); ok {
		o.source = src
		if o.batches, err = src.Batches(ctx); err != nil {
			return o, err
		}
		inner = &sourceIter{o.batches}
	} else if inner, err = c.srv.cfg.Engine.Analyzer.ExecBuilder.Build(ctx, p.node, nil); err != nil {
		return o, err
	}
	if o.iter, o.schema, err = rowexec.FinalizeIters(ctx, p.node, p.flags, inner); err != nil {
		return o, errors.Join(err, inner.Close(ctx))
	}
	if o.schema == nil {
		o.schema = p.node.Schema()
	}
	return o, nil
}

// closeFailed closes a plan whose statement failed, without committing.
func (c *conn) closeFailed(ctx *sql.Context, o opened) {
	if o.iter == nil {
		return
	}
	ignoring := c.session.GetIgnoreAutoCommit()
	c.session.SetIgnoreAutoCommit(true)
	defer c.session.SetIgnoreAutoCommit(ignoring)
	if err := o.iter.Close(ctx); err != nil && ctx.Err() == nil {
		c.srv.cfg.Logger.Debug("closing a failed statement", "connection", c.id, "error", err)
	}
}

// interruption replaces an error by the reason why the statement was stopped, if it was.
func interruption(ctx context.Context, err error) error {
	switch ctx.Err() {
	case nil:
		return err
	case context.DeadlineExceeded:
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// limitTime applies max_execution_time (milliseconds) to SELECT.
func (c *conn) limitTime(ctx *sql.Context, stmt sqlparser.Statement) (*sql.Context, context.CancelFunc) {
	if _, ok := stmt.(sqlparser.SelectStatement); !ok {
		return ctx, func() {}
	}
	ms := c.intVariable("max_execution_time", 0)
	if ms <= 0 {
		return ctx, func() {}
	}
	limited, cancel := context.WithTimeout(ctx.Context, time.Duration(ms)*time.Millisecond)
	return ctx.WithContext(limited), cancel
}
