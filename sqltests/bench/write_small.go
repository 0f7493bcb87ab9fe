package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// smallColumns are the columns of the tables that get single rows.
const smallColumns = "id BIGINT NOT NULL, quantity INT, amount DECIMAL(15, 2), sold_at DATETIME(3), city STRING"

// smallConnections are the numbers of connections that insert at the same time.
var smallConnections = []int{1, 8, 64}

// smallResult is how single-row INSERTs went.
type smallResult struct {
	table       string
	connections int
	statements  int
	snapshots   int64
	took        time.Duration
	processor   time.Duration
	// middle and high are the 50th and 99th percentile of the latency.
	middle, high time.Duration
}

// smallInserts inserts single rows by prepared statements that commit by themselves, from several connections.
func (b *writeBench) smallInserts(ctx context.Context, each time.Duration, progress func(string)) ([]smallResult, error) {
	var all []smallResult
	for _, kind := range []struct{ name, key, options string }{
		{"append", "", "'file.format' = 'parquet'"},
		{"primary key, 1 bucket", ", PRIMARY KEY (id)", "'bucket' = '1', 'write-only' = 'true'"},
	} {
		for _, n := range smallConnections {
			b.tables++
			table := fmt.Sprintf("w%d", b.tables)
			if _, err := b.server.db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s%s) WITH (%s)", table, smallColumns, kind.key, kind.options)); err != nil {
				return nil, err
			}
			r, err := b.insertSingles(ctx, table, n, each)
			if err != nil {
				return nil, fmt.Errorf("single rows into a table (%s) from %d connections: %w", kind.name, n, err)
			}
			r.table = kind.name
			progress(fmt.Sprintf("single rows, %s, %d connections: %.0f statements/s", kind.name, n, float64(r.statements)/r.took.Seconds()))
			all = append(all, r)
			if _, err := b.server.db.ExecContext(ctx, "DROP TABLE "+table); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (b *writeBench) insertSingles(ctx context.Context, table string, connections int, each time.Duration) (smallResult, error) {
	r := smallResult{connections: connections}
	var next atomic.Int64
	var mu sync.Mutex
	var latencies []time.Duration
	var failed error
	statements := make([]*sql.Stmt, connections)
	for i := range statements {
		conn, err := b.server.pool.Conn(ctx)
		if err != nil {
			return r, err
		}
		defer conn.Close()
		if statements[i], err = conn.PrepareContext(ctx, "INSERT INTO "+table+" VALUES (?, ?, ?, ?, ?)"); err != nil {
			return r, err
		}
	}
	sold := time.Date(2024, 5, 6, 7, 8, 9, 10_000_000, time.UTC)
	var wg sync.WaitGroup
	processor, start := processorTime(b.server.process()), time.Now()
	for _, s := range statements {
		wg.Go(func() {
			var own []time.Duration
			var err error
			for err == nil && time.Since(start) < each {
				id := next.Add(1)
				before := time.Now()
				_, err = s.ExecContext(ctx, id, id%1000, "12.50", sold, "harbour")
				own = append(own, time.Since(before))
			}
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, own...)
			failed = errors.Join(failed, err)
		})
	}
	wg.Wait()
	r.took, r.processor = time.Since(start), processorTime(b.server.process())-processor
	if failed != nil {
		return r, failed
	}
	r.statements = len(latencies)
	slices.Sort(latencies)
	r.middle, r.high = latencies[len(latencies)/2], latencies[len(latencies)*99/100]
	var rows, sum int64
	if err := b.server.db.QueryRowContext(ctx, "SELECT COUNT(*), SUM(id) FROM "+table).Scan(&rows, &sum); err != nil {
		return r, err
	}
	if n := int64(r.statements); rows != n || sum != n*(n+1)/2 {
		return r, fmt.Errorf("%d rows with the sum %d after %d statements", rows, sum, n)
	}
	err := b.server.db.QueryRowContext(ctx, "SELECT MAX(snapshot_id) FROM `"+table+"$snapshots`").Scan(&r.snapshots)
	return r, err
}
