package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// counter is a worker: it runs its i-th statement.
type counter func(ctx context.Context, i int) error

// countTogether lets workers run statements at once, rounds of them each, and says how many of each worker came through. A statement
// may fail with error 1213, which says to repeat it.
func countTogether(t *testing.T, rounds int, workers ...counter) []int {
	t.Helper()
	done := make([]int, len(workers))
	var wg sync.WaitGroup
	for w, run := range workers {
		wg.Go(func() {
			for i := range rounds {
				err := run(t.Context(), i)
				var my *mysql.MySQLError
				if errors.As(err, &my) && my.Number == 1213 {
					continue
				}
				if err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
				done[w]++
			}
		})
	}
	wg.Wait()
	return done
}

// inTransaction runs a statement with the keys 2 and 1, in one transaction.
func inTransaction(ctx context.Context, db *sql.DB, query string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // an error after COMMIT
	for _, k := range []int{2, 1} {
		if _, err := tx.ExecContext(ctx, query, k); err != nil {
			return err
		}
	}
	return tx.Commit()
}
