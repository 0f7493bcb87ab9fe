package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
	"github.com/tributarydb/tributary/sqltests/golden"
)

// stateReading is what reading a whole table costs in one state of its files.
type stateReading struct {
	state              string
	files, size        int64
	rows, result, read int64
	took               time.Duration
}

// amplification reads the upserted rows before any compaction, as compactions beside the upserts leave them, and compacted.
func (b *upsertBench) amplification(ctx context.Context) ([]stateReading, error) {
	r := &upsertResult{engine: b.server}
	progress("upserts without compactions")
	if err := b.upsert(ctx, r, "raw", "'bucket' = '4', 'write-only' = 'true'"); err != nil {
		return nil, err
	}
	var all []stateReading
	for _, x := range []struct{ state, table, before string }{
		{"not compacted", "raw", ""},
		{"compacted beside the upserts", "upserted0", ""},
		{"fully compacted", "raw", "CALL sys.compact(`table` => '" + generate.Database + ".raw', compact_strategy => 'full')"},
	} {
		if x.before != "" {
			if err := b.run(ctx, x.before); err != nil {
				return nil, err
			}
		}
		progress("reading all rows, " + x.state)
		one, err := b.readState(ctx, x.state, x.table)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// run runs a statement, and reads what it answers.
func (b *upsertBench) run(ctx context.Context, text string) error {
	_, err := b.server.query(ctx, text)
	return err
}

// readState reads a table whole from a fresh server.
func (b *upsertBench) readState(ctx context.Context, state, table string) (r stateReading, err error) {
	server, err := startServer(ctx, b.s.binary, b.warehouse, b.s.threads, true)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	r.state = state
	if err := server.db.QueryRowContext(ctx, "SELECT COUNT(*), SUM(file_size_in_bytes) FROM `"+table+"$files`").Scan(&r.files, &r.size); err != nil {
		return r, err
	}
	start, before := time.Now(), readBytes(server.process())
	if r.rows, r.result, err = server.readAll(ctx, "SELECT * FROM "+table); err != nil {
		return r, err
	}
	r.took, r.read = time.Since(start), readBytes(server.process())-before
	return r, nil
}

// readBytes is how many bytes a process has read by system calls, from the page cache too; 0 where that cannot be known.
func readBytes(process int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", process))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if n, ok := strings.CutPrefix(string(line), "rchar: "); ok {
			v, _ := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
			return v
		}
	}
	return 0
}

// printStates prints what reading costs.
func printStates(w io.Writer, all []stateReading) error {
	fmt.Fprintln(w, "\nReading all rows of them, each from a fresh server:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "state\tfiles\tMiB of files\trows\tMiB of the result\tMiB read\tbytes read a byte of the result\ts\t")
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%d\t%.1f\t%.1f\t%.2f\t%.2f\t\n", r.state, r.files, mebibytes(r.size), r.rows, mebibytes(r.result), mebibytes(r.read),
			float64(r.read)/float64(max(r.result, 1)), r.took.Seconds())
	}
	return t.Flush()
}

const (
	// stateUpdates and stateShare: the tables of the three states are updated so many times, each time one in so many orders, by
	// the rows that they have already, so that the answers stay those of the generator.
	stateUpdates, stateShare = 4, 50
)

// threeStates measures the queries on the same rows and updates merged while reading, with deletion vectors, and fully compacted.
func (b *upsertBench) threeStates(ctx context.Context, cache string) error {
	s := b.s
	w, err := generate.Make(ctx, filepath.Join(cache, "rows-"+strconv.FormatInt(s.rows, 10)), s.rows, s.threads, progress)
	if err != nil {
		return err
	}
	var base *generate.Table
	for i := range w.Tables {
		if w.Tables[i].Name == generate.Append {
			base = &w.Tables[i]
		}
	}
	database := generate.Database + ".db"
	into := filepath.Join(b.warehouse, database, generate.Append)
	if err := os.RemoveAll(into); err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o777); err != nil {
		return err
	}
	if err := golden.CopyFolder(filepath.Join(w.Dir, database, generate.Append), into); err != nil {
		return err
	}
	const key = "'primary-key' = 'l_orderkey,l_linenumber', 'bucket' = '4'"
	full := func(table string) string {
		return fmt.Sprintf("CALL sys.compact(`table` => '%s.%s', compact_strategy => 'full')", generate.Database, table)
	}
	states := []struct {
		state, table, options string
		compacted             bool
	}{
		{"merged while reading", "state_merge", ", 'write-only' = 'true'", false},
		{"deletion vectors", "state_vectors", ", 'deletion-vectors.enabled' = 'true'", false},
		{"fully compacted", "state_compacted", ", 'write-only' = 'true'", true},
	}
	for _, x := range states {
		progress("writing the table: " + x.state)
		steps := []string{"DROP TABLE IF EXISTS " + x.table,
			fmt.Sprintf("CREATE TABLE %s WITH (%s%s) AS SELECT * FROM %s", x.table, key, x.options, generate.Append), full(x.table)}
		for i := range stateUpdates {
			steps = append(steps, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s WHERE l_orderkey %% %d = %d", x.table, generate.Append, stateShare, i))
		}
		if x.compacted {
			steps = append(steps, full(x.table))
		}
		for _, q := range steps {
			if err := b.run(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
	}
	times := make([][]cell, len(states))
	for i := range times {
		times[i] = make([]cell, len(queries))
	}
	for round := -warmups; round < s.rounds; round++ {
		for k := range states {
			i := (k + round + warmups) % len(states)
			for j := range queries {
				c := &times[i][j]
				processor := processorTime(b.server.process())
				a, err := b.server.query(ctx, fmt.Sprintf(queries[j].text, states[i].table))
				if err == nil {
					err = queries[j].check(a.rows, base.Expected)
				}
				if err != nil {
					return fmt.Errorf("%s, %s: %w", queries[j].name, states[i].state, err)
				}
				if round >= 0 {
					c.times = append(c.times, a.took)
					c.processor += processorTime(b.server.process()) - processor
				}
			}
		}
	}
	fmt.Printf("\nQueries of the same %d rows, %d updates of one in %d orders, median of %d rounds; every answer is checked:\n", s.rows, stateUpdates, stateShare, s.rounds)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "state\t")
	for _, q := range queries {
		fmt.Fprintf(t, "%s ms\tby fully compacted\t(CPU)\t", q.name)
	}
	fmt.Fprintln(t)
	last := len(states) - 1
	for i, x := range states {
		fmt.Fprintf(t, "%s\t", x.state)
		for j := range queries {
			c, compacted := times[i][j], times[last][j]
			fmt.Fprintf(t, "%.1f\t%.2f\t%.2f\t", milliseconds(median(c.times)), float64(median(c.times))/float64(median(compacted.times)), c.processor.Seconds()/max(compacted.processor.Seconds(), tick.Seconds()))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
