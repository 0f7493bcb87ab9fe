package planner

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// Exists is EXISTS, in the place of go-mysql-server's, which runs a subquery again for every row even
// where it does not depend on the row.
type Exists struct {
	query *plan.Subquery
	orig  sql.Expression

	// answer is that of a query that does not depend on the outer row; nil before it is known.
	mu     *sync.Mutex
	answer any
}

var (
	_ sql.Expression         = (*Exists)(nil)
	_ sql.CollationCoercible = (*Exists)(nil)
	_ sql.Disposable         = (*Exists)(nil)
)

// Children implements sql.Expression.
func (e *Exists) Children() []sql.Expression { return []sql.Expression{e.query} }

// WithChildren implements sql.Expression.
func (e *Exists) WithChildren(kids ...sql.Expression) (sql.Expression, error) {
	o, err := e.orig.WithChildren(kids...)
	if err != nil {
		return nil, err
	}
	return &Exists{query: kids[0].(*plan.Subquery), orig: o, mu: &sync.Mutex{}}, nil
}

// Resolved implements sql.Expression.
func (e *Exists) Resolved() bool { return e.query.Resolved() }

// Type implements sql.Expression.
func (e *Exists) Type() sql.Type { return gms.Boolean }

// IsNullable implements sql.Expression.
func (e *Exists) IsNullable() bool { return false }

// CollationCoercibility implements sql.CollationCoercible.
func (e *Exists) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (e *Exists) String() string { return e.orig.String() }

// Dispose implements sql.Disposable.
func (e *Exists) Dispose() { e.query.Dispose() }

// Eval implements sql.Expression.
func (e *Exists) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if !e.query.CanCacheResults() {
		return e.query.HasResultRow(ctx, row)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.answer == nil {
		found, err := e.query.HasResultRow(ctx, row)
		if err != nil {
			return nil, err
		}
		e.answer = found
	}
	return e.answer, nil
}
