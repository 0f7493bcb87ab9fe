package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"text/tabwriter"
	"time"
)

const (
	// latencyWarm are commits that are not measured.
	latencyWarm = 20
	// latencyPause is the time between two commits, varied by up to as much, so that they do not keep step with
	// anything in the server.
	latencyPause = 15 * time.Millisecond
)

// latencyTables are the kinds of tables that are followed.
var latencyTables = []struct{ name, key, options, hint string }{
	{"append", "", "'file.format' = 'parquet'", ""},
	{"primary key, no changelog", ", PRIMARY KEY (id)", "'bucket' = '1'", ""},
	{"primary key, scan.normalize", ", PRIMARY KEY (id)", "'bucket' = '1'", ", 'scan.normalize' = 'true'"},
	{"primary key, lookup changelog", ", PRIMARY KEY (id)", "'bucket' = '1', 'changelog-producer' = 'lookup'", ""},
}

// latencyResult says how long rows take from a COMMIT to a streaming SELECT of another connection.
type latencyResult struct {
	table string
	rows  int
	// sent counts from the sending of COMMIT, answered from its answer: a row may be there before it.
	sent, answered, commit quantiles
}

// quantiles are the 50th and the 99th percentile.
type quantiles struct{ middle, high time.Duration }

func quantilesOf(all []time.Duration) quantiles {
	s := slices.Sorted(slices.Values(all))
	return quantiles{s[len(s)/2], s[len(s)*99/100]}
}

// streams measures how late the rows of a streaming SELECT are.
func (s *settings) streams(ctx context.Context, cache string) (err error) {
	warehouse, err := makeWarehouse(filepath.Join(cache, "streams"))
	if err != nil {
		return err
	}
	server, err := startServer(ctx, s.binary, warehouse, s.threads, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	var all []latencyResult
	for i, t := range latencyTables {
		progress("following a table: " + t.name)
		name := "latency" + strconv.Itoa(i)
		if _, err := server.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+name); err != nil {
			return err
		}
		if _, err := server.db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (id BIGINT NOT NULL, note STRING%s) WITH (%s)", name, t.key, t.options)); err != nil {
			return err
		}
		r, err := s.latency(ctx, server, name, t.hint)
		if err != nil {
			return fmt.Errorf("following a table (%s): %w", t.name, err)
		}
		r.table = t.name
		all = append(all, r)
	}
	return printLatencies(os.Stdout, all)
}

// latency commits rows one by one and waits for each at a streaming SELECT.
func (s *settings) latency(ctx context.Context, server *server, table, hint string) (r latencyResult, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The answer to a SELECT begins with its first rows.
	if _, err := server.db.ExecContext(ctx, "INSERT INTO "+table+" VALUES (-1, 'there before')"); err != nil {
		return r, err
	}
	reader, err := server.pool.Conn(ctx)
	if err != nil {
		return r, err
	}
	defer reader.Close()
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel() // a connection cannot be closed as long as its rows are read
	rows, err := reader.QueryContext(ctx, fmt.Sprintf("SELECT id, note FROM %s /*+ OPTIONS('streaming' = 'true'%s) */", table, hint))
	if err != nil {
		return r, err
	}
	type arrival struct {
		id int64
		at time.Time
	}
	arrivals := make(chan arrival, s.streamRows+latencyWarm)
	ended := make(chan error, 1)
	reading.Go(func() {
		defer rows.Close()
		for rows.Next() {
			var id int64
			var note string
			if err := rows.Scan(&id, &note); err != nil {
				ended <- err
				return
			}
			arrivals <- arrival{id, time.Now()}
		}
		ended <- rows.Err()
	})
	writer, err := server.pool.Conn(ctx)
	if err != nil {
		return r, err
	}
	defer writer.Close()
	var sent, answered, commits []time.Duration
	pause := random(writeSeed)
	select {
	case first := <-arrivals:
		if first.id != -1 {
			return r, fmt.Errorf("the row %d came first", first.id)
		}
	case err := <-ended:
		return r, fmt.Errorf("the stream ended: %w", err)
	}
	for i := range int64(s.streamRows + latencyWarm) {
		for _, q := range []string{"BEGIN", fmt.Sprintf("INSERT INTO %s VALUES (%d, 'a row that is followed')", table, i)} {
			if _, err := writer.ExecContext(ctx, q); err != nil {
				return r, err
			}
		}
		begun := time.Now()
		if _, err := writer.ExecContext(ctx, "COMMIT"); err != nil {
			return r, err
		}
		done := time.Now()
		select {
		case a := <-arrivals:
			if a.id != i {
				return r, fmt.Errorf("the row %d came in place of %d", a.id, i)
			}
			if i >= latencyWarm {
				sent, answered, commits = append(sent, a.at.Sub(begun)), append(answered, max(a.at.Sub(done), 0)), append(commits, done.Sub(begun))
			}
		case err := <-ended:
			return r, fmt.Errorf("the stream ended: %w", err)
		case <-time.After(30 * time.Second):
			return r, fmt.Errorf("the row %d did not come", i)
		}
		time.Sleep(latencyPause + time.Duration(pause.below(int64(latencyPause))))
	}
	r.rows, r.sent, r.answered, r.commit = len(sent), quantilesOf(sent), quantilesOf(answered), quantilesOf(commits)
	return r, nil
}

// printLatencies prints how late rows are.
func printLatencies(w io.Writer, all []latencyResult) error {
	fmt.Fprintln(w, "\nFollowing a table: one connection commits rows one by one, another reads them by a streaming SELECT:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "table\trows\tCOMMIT sent to row: p50 ms\tp99 ms\tCOMMIT answered to row: p50 ms\tp99 ms\tCOMMIT itself: p50 ms\tp99 ms\t")
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", r.table, r.rows, milliseconds(r.sent.middle), milliseconds(r.sent.high),
			milliseconds(r.answered.middle), milliseconds(r.answered.high), milliseconds(r.commit.middle), milliseconds(r.commit.high))
	}
	return t.Flush()
}
