package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

const (
	// changesTable has the rows of all rounds, one partition a round.
	changesTable   = "changes"
	changesColumns = "step INT NOT NULL, id BIGINT NOT NULL, quantity INT, amount DECIMAL(15, 2), city STRING, note STRING"
	upsertColumns  = "id BIGINT NOT NULL, quantity INT, amount DECIMAL(15, 2), city STRING, note STRING, PRIMARY KEY (id)"
	// upsertQuery asks for what upsertTotals tell.
	upsertQuery = "SELECT COUNT(*), SUM(id), SUM(quantity), SUM(amount), SUM(LENGTH(city)), SUM(LENGTH(note)) FROM "
	// roundStride keeps the keys of a round from being those of the next one.
	roundStride = 7
)

// upsertMaker makes the rows of the rounds; a round has each of its keys once, so that the order of its rows does not matter.
type upsertMaker struct {
	rounds int
	rows   int64
	last   []upsertRow
}

// upsertRow is what a key has at the end.
type upsertRow struct {
	there                             bool
	quantity, cents, cityLen, noteLen int64
}

func newUpsertMaker(rounds int, rows, keys int64) *upsertMaker {
	return &upsertMaker{rounds: rounds, rows: rows, last: make([]upsertRow, keys)}
}

// write writes the rows as CSV and counts them; w nil only counts.
func (m *upsertMaker) write(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriterSize(io.Discard, 1<<20)
	if w != nil {
		out.Reset(w)
	}
	var line []byte
	for round := range m.rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range m.rows {
			id := (uint64(round)*roundStride*uint64(m.rows) + uint64(i)) * keyMultiple % uint64(len(m.last))
			r := random(writeSeed + uint64(round)<<40 + uint64(i)*0x632be59bd9b4e019)
			row := upsertRow{there: true, quantity: r.below(quantities), cents: r.below(maxCents)}
			city := saleWords[r.below(int64(len(saleWords)))]
			line = append(strconv.AppendInt(line[:0], int64(round), 10), ',')
			line = append(strconv.AppendUint(line, id, 10), ',')
			line = append(strconv.AppendInt(line, row.quantity, 10), ',')
			line = append(strconv.AppendInt(line, row.cents/100, 10), '.', byte('0'+row.cents%100/10), byte('0'+row.cents%10), ',')
			line = append(append(line, city...), ',')
			from, want := len(line), int(minNote+r.below(maxNote-minNote+1))
			for len(line)-from < want {
				line = append(append(line, saleWords[r.below(int64(len(saleWords)))]...), ' ')
			}
			line = append(line[:from+want], '\n')
			row.cityLen, row.noteLen = int64(len(city)), int64(want)
			m.last[id] = row
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// totals are the answer to upsertQuery.
func (m *upsertMaker) totals() []string {
	var n, ids, quantity, cents, city, note int64
	for id, r := range m.last {
		if r.there {
			n, ids, quantity, cents, city, note = n+1, ids+int64(id), quantity+r.quantity, cents+r.cents, city+r.cityLen, note+r.noteLen
		}
	}
	text := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{text(n), text(ids), text(quantity), fmt.Sprintf("%d.%02d", cents/100, cents%100), text(city), text(note)}
}

// upsertBench measures upserts.
type upsertBench struct {
	s         *settings
	warehouse string
	server    *server
	want      []string
}

// upsertResult is how an engine upserted.
type upsertResult struct {
	engine engine
	failed error
	// took is the time of all statements, drained the time until the compactions beside them had ended as well.
	took, drained, processor time.Duration
	each                     quantiles
	files, runs, bytes       int64
}

// measureUpserts is the part of upserts: how fast they are with compactions beside them, what reading costs of what they
// leave, and queries of the same rows merged, with deletion vectors and compacted.
func (s *settings) measureUpserts(ctx context.Context, cache string) (err error) {
	dir := filepath.Join(cache, fmt.Sprintf("upserts-%d-%d-%d", s.upsertRounds, s.upsertRows, s.upsertKeys))
	b := &upsertBench{s: s}
	if b.warehouse, err = makeWarehouse(dir); err != nil {
		return err
	}
	progress("making the rows to upsert")
	m := newUpsertMaker(s.upsertRounds, s.upsertRows, s.upsertKeys)
	csv := filepath.Join(dir, "changes.csv")
	f, err := os.Create(csv)
	if err != nil {
		return err
	}
	if err := errors.Join(m.write(ctx, f), f.Close()); err != nil {
		return err
	}
	b.want = m.totals()
	if b.server, err = startServer(ctx, s.binary, b.warehouse, s.threads, false); err != nil {
		return err
	}
	defer func() {
		if b.server != nil {
			err = errors.Join(err, b.server.close())
		}
	}()
	if err := b.prepare(ctx, csv); err != nil {
		return err
	}
	results := []*upsertResult{{engine: b.server}}
	if scripts, err := scriptFolder(); err != nil {
		fmt.Printf("no peer: %v\n", err)
	} else if p, err := startFlink(ctx, cache, scripts, b.warehouse, s.threads); err != nil {
		fmt.Printf("no %s: %v\n", flinkKind.name, err)
	} else {
		defer func() { err = errors.Join(err, p.close()) }()
		results = append(results, &upsertResult{engine: p})
	}
	for i, r := range results {
		progress("upserts by " + r.engine.name())
		if r.failed = b.upsert(ctx, r, "upserted"+strconv.Itoa(i), "'bucket' = '4'"); r.failed != nil && i == 0 {
			return r.failed
		}
	}
	fmt.Printf("Upserts: %d statements of %d rows, %d keys, 4 buckets, %d threads each; every table is checked\n", s.upsertRounds, s.upsertRows, s.upsertKeys, s.threads)
	if err := printUpserts(os.Stdout, results, float64(s.upsertRounds)*float64(s.upsertRows)); err != nil {
		return err
	}
	states, err := b.amplification(ctx)
	if err != nil {
		return err
	}
	if err := printStates(os.Stdout, states); err != nil {
		return err
	}
	return b.threeStates(ctx, cache)
}

// prepare loads the rows of all rounds.
func (b *upsertBench) prepare(ctx context.Context, csv string) error {
	load := &writeBench{csv: csv, server: b.server}
	return load.load(ctx, changesTable, changesColumns, " PARTITIONED BY (step)")
}

// upsert runs the rounds by an engine into a new table, waits for the compactions and checks the table.
func (b *upsertBench) upsert(ctx context.Context, r *upsertResult, table, options string) error {
	if _, err := b.server.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
		return err
	}
	if _, err := b.server.db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s) WITH (%s)", table, upsertColumns, options)); err != nil {
		return err
	}
	processor, start := processorTime(r.engine.process()), time.Now()
	var each []time.Duration
	for round := range b.s.upsertRounds {
		begun := time.Now()
		text := fmt.Sprintf("INSERT INTO %s SELECT id, quantity, amount, city, note FROM %s WHERE step = %d", table, changesTable, round)
		var err error
		if s, ok := r.engine.(*server); ok {
			_, err = s.db.ExecContext(ctx, text)
		} else {
			_, err = r.engine.query(ctx, text)
		}
		if err != nil {
			return fmt.Errorf("%s, round %d: %w", r.engine.name(), round, err)
		}
		each = append(each, time.Since(begun))
	}
	r.took, r.each = time.Since(start), quantilesOf(each)
	if err := b.idle(ctx); err != nil {
		return err
	}
	r.drained, r.processor = time.Since(start), processorTime(r.engine.process())-processor
	if err := b.check(ctx, table); err != nil {
		return fmt.Errorf("%s: %w", r.engine.name(), err)
	}
	return b.server.db.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(SUM(file_size_in_bytes), 0), COALESCE(SUM(level = 0), 0) + COUNT(DISTINCT CASE WHEN level > 0 THEN CONCAT(bucket, '/', level) END) FROM `"+table+"$files`").Scan(&r.files, &r.bytes, &r.runs)
}

// idle waits until the server has no compaction that waits or runs.
func (b *upsertBench) idle(ctx context.Context) error {
	for {
		var n int
		if err := b.server.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'system user'").Scan(&n); err != nil || n == 0 {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// check compares a table with what the rounds leave.
func (b *upsertBench) check(ctx context.Context, table string) error {
	a, err := b.server.query(ctx, upsertQuery+table)
	if err == nil && (len(a.rows) != 1 || !slices.Equal(a.rows[0], b.want)) {
		err = fmt.Errorf("the table %s answers %v instead of %v", table, a.rows, b.want)
	}
	return err
}

// printUpserts prints rates.
func printUpserts(w io.Writer, all []*upsertResult, rows float64) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "engine\tM upserts/s\t… until compacted\tp50 ms\tp99 ms\tCPU s\tfiles left\tsorted runs left\tMiB left\t")
	for _, r := range all {
		if r.failed != nil {
			fmt.Fprintf(t, "%s\t-\t\t\t\t\t\t\t\t\n", r.engine.name())
			continue
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.0f\t%.0f\t%.1f\t%d\t%d\t%.1f\t\n", r.engine.name(), rows/r.took.Seconds()/1e6, rows/r.drained.Seconds()/1e6,
			milliseconds(r.each.middle), milliseconds(r.each.high), r.processor.Seconds(), r.files, r.runs, mebibytes(r.bytes))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range all {
		if r.failed != nil {
			fmt.Fprintf(w, "left out: %v\n", r.failed)
		}
	}
	return nil
}
