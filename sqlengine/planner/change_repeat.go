package planner

import (
	"context"
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
)

const (
	// maxChangeTries is how often an UPDATE or DELETE that others outrun is run before it fails with error 1213.
	maxChangeTries = 20
	// freeTries is how often a statement that reads rows to write them again lets the other writers of this server go on. After
	// these tries they wait for it: the more often they commit, the surer they would be faster again and again.
	freeTries = 3
)

// Outrun is the error of an UPDATE or DELETE by itself whose rows others have changed between its reading and its commit.
// Nothing has happened, and it may be planned and run again: see [Engine.Repeat].
type Outrun struct {
	table *insertTable
	err   error
}

// Error implements error.
func (o *Outrun) Error() string { return o.err.Error() }

// Unwrap returns the conflict.
func (o *Outrun) Unwrap() error { return o.err }

// heldKey is the key of the context value that names the table whose place the statement has.
type heldKey struct{}

func changeKey(t *insertTable) string { return t.db + "\x00" + t.object }

// errBusy is why a statement is planned again that had to wait for another one: what it has opened is old.
var errBusy = errors.New("another statement changes rows of the table")

// enterChange takes the table's place among the statements that read rows to write them again.
func (e *Engine) enterChange(ctx *sql.Context, t *insertTable) (leave func(), err error) {
	key := changeKey(t)
	if held, _ := ctx.Value(heldKey{}).(string); held == key {
		return func() {}, nil
	}
	leave, ok := e.upserts.tryLock(key)
	if !ok {
		return nil, &Outrun{t, errBusy}
	}
	return leave, nil
}

// outrun marks a conflict after which the statement can be run again.
func (e *Engine) outrun(t *insertTable, err error) error { return &Outrun{t, err} }

// holdWrites keeps the other writers of this server from a table, for the try-th time that a statement is run and where the catalog can.
func (e *Engine) holdWrites(ctx context.Context, t *insertTable, try int) (held context.Context, release func(), err error) {
	h, ok := e.catalog.(WriteHolder)
	if !ok || try <= freeTries {
		return ctx, func() {}, nil
	}
	return h.HoldWrites(ctx, t.db, t.object)
}

// Repeat says whether a statement that ended with err is to be run again, for the try-th time, under the returned context. It
// waits until no other statement of this server changes rows of the table; leave, which is never nil, must be called once the
// statement has ended. A context of an earlier Repeat keeps the place that it has.
func (e *Engine) Repeat(ctx context.Context, err error, try int) (next context.Context, leave func(), again bool) {
	var o *Outrun
	none := func() {}
	if !errors.As(err, &o) || try > maxChangeTries || ctx.Err() != nil {
		return ctx, none, false
	}
	key := changeKey(o.table)
	leavePlace := none
	switch held, _ := ctx.Value(heldKey{}).(string); held {
	case key:
	case "":
		if leavePlace, err = e.upserts.lock(ctx, key); err != nil {
			return ctx, none, false
		}
		ctx = context.WithValue(ctx, heldKey{}, key)
	default:
		return ctx, none, false
	}
	next, release, err := e.holdWrites(ctx, o.table, try+1)
	if err != nil {
		leavePlace()
		return ctx, none, false
	}
	return next, func() { release(); leavePlace() }, true
}
