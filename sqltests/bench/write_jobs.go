package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
)

const (
	// sourceTable has the rows that INSERT … SELECT writes into other tables.
	sourceTable = "sales"
	// valuesRows and valuesStatements are the size of the statements of INSERT … VALUES, and how many are measured.
	valuesRows, valuesStatements = 5000, 40
)

// jobKind says how the rows come.
type jobKind int

const (
	fromSelect jobKind = iota
	fromFile
	fromValues
)

// writeJob is one way to write the rows into one kind of table.
type writeJob struct {
	statement, table string
	kind             jobKind
	// clause ends the definition of the table: its key and options.
	key, options string
}

const fourBuckets = "'bucket' = '4', 'write-only' = 'true'"

var writeJobs = []writeJob{
	{"INSERT … SELECT", "append, Parquet", fromSelect, "", "'file.format' = 'parquet'"},
	{"INSERT … SELECT", "append, ORC", fromSelect, "", "'file.format' = 'orc'"},
	{"INSERT … SELECT", "append, Avro", fromSelect, "", "'file.format' = 'avro'"},
	{"INSERT … SELECT", "primary key, 4 buckets", fromSelect, ", PRIMARY KEY (id)", fourBuckets},
	{"LOAD DATA", "append, Parquet", fromFile, "", "'file.format' = 'parquet'"},
	{"LOAD DATA", "primary key, 4 buckets", fromFile, ", PRIMARY KEY (id)", fourBuckets},
	{fmt.Sprintf("INSERT … VALUES (%d rows)", valuesRows), "append, Parquet", fromValues, "", "'file.format' = 'parquet'"},
}

// writeResult is a job by all engines, ours first.
type writeResult struct {
	job   *writeJob
	rows  int64
	cells []cell
}

// writeBench measures writing.
type writeBench struct {
	rows, valuesRows int64
	rounds           int
	csv              string
	totals           *writeTotals
	valuesTotals     *writeTotals
	values           []string
	server           *server
	engines          []engine
	tables           int
}

// loadText is the LOAD DATA statement of a table.
func (b *writeBench) loadText(table string) string {
	return fmt.Sprintf("LOAD DATA LOCAL INFILE '%s' INTO TABLE %s FIELDS TERMINATED BY ','", b.csv, table)
}

// create makes an empty table with the columns.
func (b *writeBench) create(ctx context.Context, name, key, options string) error {
	_, err := b.server.db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s%s) WITH (%s)", name, writeColumns, key, options))
	return err
}

// check asks our server whether a table has the rows.
func (b *writeBench) check(ctx context.Context, table string, want *writeTotals) error {
	a, err := b.server.query(ctx, totalsQuery+table)
	if err != nil {
		return err
	}
	return want.check(a.rows)
}

// prepare makes the rows, the source table and the statements.
func (b *writeBench) prepare(ctx context.Context, progress func(string)) error {
	if err := b.allowFiles(ctx); err != nil {
		return err
	}
	if b.check(ctx, sourceTable, b.totals) != nil {
		progress("loading the source table")
		if err := b.load(ctx, sourceTable, writeColumns, ""); err != nil {
			return err
		}
		if err := b.check(ctx, sourceTable, b.totals); err != nil {
			return fmt.Errorf("the source table: %w", err)
		}
	}
	m := newSaleMaker(b.rows)
	for from := int64(0); from < b.valuesRows; from += valuesRows {
		b.values = append(b.values, m.valuesText(from, min(from+valuesRows, b.valuesRows)))
	}
	b.valuesTotals = &m.totals
	return nil
}

// allowFiles lets connections that are opened afterwards load the CSV file.
func (b *writeBench) allowFiles(ctx context.Context) error {
	mysql.RegisterLocalFile(b.csv)
	_, err := b.server.pool.ExecContext(ctx, "SET GLOBAL local_infile = 1")
	return err
}

// load makes an append table of the CSV file. clause follows the columns.
func (b *writeBench) load(ctx context.Context, table, columns, clause string) error {
	if err := b.allowFiles(ctx); err != nil {
		return err
	}
	for _, q := range []string{"DROP TABLE IF EXISTS " + table, fmt.Sprintf("CREATE TABLE %s (%s)%s WITH ('file.format' = 'parquet')", table, columns, clause), b.loadText(table)} {
		if _, err := b.server.db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// valuesText is INSERT … VALUES of rows [from, to); %s stands for the table.
func (m *saleMaker) valuesText(from, to int64) string {
	var q strings.Builder
	q.WriteString("INSERT INTO %s VALUES ")
	var line []byte
	for i := from; i < to; i++ {
		line = m.appendRow(line[:0], i)
		for c, field := range strings.Split(strings.TrimSuffix(string(line), "\n"), ",") {
			switch {
			case c == 0 && i == from:
				q.WriteByte('(')
			case c == 0:
				q.WriteString(", (")
			default:
				q.WriteString(", ")
			}
			switch {
			case field == `\N`:
				q.WriteString("NULL")
			case c >= 5 && c <= 8:
				q.WriteString("'" + field + "'")
			default:
				q.WriteString(field)
			}
		}
		q.WriteByte(')')
	}
	return q.String()
}

// measure runs every job by every engine, in turn: once to warm up, then in rounds.
func (b *writeBench) measure(ctx context.Context, progress func(string)) ([]writeResult, error) {
	var all []writeResult
	for i := range writeJobs {
		j := &writeJobs[i]
		r := writeResult{job: j, rows: b.rows, cells: make([]cell, len(b.engines))}
		if j.kind == fromValues {
			r.rows = b.valuesRows
		}
		for round := -1; round < b.rounds; round++ {
			for k := range b.engines {
				e := (k + round + 1) % len(b.engines)
				if e > 0 && j.kind != fromSelect || r.cells[e].failed != nil {
					continue
				}
				if err := b.step(ctx, &r, e, round >= 0); err != nil {
					return nil, err
				}
			}
		}
		if r.cells[0].failed == nil {
			progress(fmt.Sprintf("%s into %s: %.2f M rows/s", j.statement, j.table, float64(r.rows)/median(r.cells[0].times).Seconds()/1e6))
		}
		all = append(all, r)
	}
	return all, nil
}

// step runs a job once into a new table, checks the table and drops it. A failure of ours ends the benchmark, unless the
// format cannot be written; a peer that fails is left out.
func (b *writeBench) step(ctx context.Context, r *writeResult, e int, counts bool) error {
	b.tables++
	name := fmt.Sprintf("w%d", b.tables)
	if err := b.create(ctx, name, r.job.key, r.job.options); err != nil {
		return fmt.Errorf("%s: %w", r.job.table, err)
	}
	defer func() { _, _ = b.server.db.ExecContext(context.WithoutCancel(ctx), "DROP TABLE "+name) }()
	engine := b.engines[e]
	processor := processorTime(engine.process())
	took, err := b.write(ctx, r.job, engine, name)
	processor = processorTime(engine.process()) - processor
	if err == nil {
		want := b.totals
		if r.job.kind == fromValues {
			want = b.valuesTotals
		}
		if err = b.check(ctx, name, want); err != nil {
			err = fmt.Errorf("wrong rows: %w", err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := &r.cells[e]
	if err != nil {
		err = fmt.Errorf("%s, %s into %s: %w", engine.name(), r.job.statement, r.job.table, err)
		var unsupported *mysql.MySQLError
		if e == 0 && !(errors.As(err, &unsupported) && unsupported.Number == errNotSupportedYet) {
			return err
		}
		c.failed, c.times = err, nil
		return nil
	}
	if counts {
		c.times = append(c.times, took)
		c.processor += processor
	}
	return nil
}

// errNotSupportedYet is ER_NOT_SUPPORTED_YET: a format that this build cannot write.
const errNotSupportedYet = 1235

// write writes the rows into a table.
func (b *writeBench) write(ctx context.Context, j *writeJob, e engine, table string) (time.Duration, error) {
	start := time.Now()
	switch j.kind {
	case fromFile:
		_, err := b.server.db.ExecContext(ctx, b.loadText(table))
		return time.Since(start), err
	case fromValues:
		for _, text := range b.values {
			if _, err := b.server.db.ExecContext(ctx, fmt.Sprintf(text, table)); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
	if s, ok := e.(*server); ok {
		_, err := s.db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s", table, sourceTable))
		return time.Since(start), err
	}
	prefix := ""
	if e.name() == "pypaimon-rust" {
		prefix = "paimon." + generate.Database + "."
	}
	a, err := e.query(ctx, fmt.Sprintf("INSERT INTO %s%s SELECT * FROM %s%s", prefix, table, prefix, sourceTable))
	return a.took, err
}

// makeWarehouse makes a warehouse with an empty database below dir.
func makeWarehouse(dir string) (string, error) {
	warehouse := filepath.Join(dir, "warehouse")
	return warehouse, os.MkdirAll(filepath.Join(warehouse, generate.Database+".db"), 0o777)
}

// writes is the write part of the benchmark.
func (s *settings) writes(ctx context.Context, cache string) (err error) {
	dir := filepath.Join(cache, fmt.Sprintf("writes-%d", s.rowsWrite))
	warehouse, err := makeWarehouse(dir)
	if err != nil {
		return err
	}
	progress("making the rows to write")
	b := &writeBench{rows: s.rowsWrite, valuesRows: min(s.rowsWrite, valuesRows*valuesStatements), rounds: min(s.rounds, maxWriteRounds), csv: filepath.Join(dir, "sales.csv")}
	if b.totals, err = makeSales(ctx, b.csv, b.rows); err != nil {
		return err
	}
	if s.profiles != "" {
		return b.profile(ctx, s.profiles, warehouse, s.threads)
	}
	if b.server, err = startServer(ctx, s.binary, warehouse, s.threads, false); err != nil {
		return err
	}
	b.engines = []engine{b.server}
	defer func() {
		for _, e := range b.engines {
			err = errors.Join(err, e.close())
		}
	}()
	if err := b.prepare(ctx, progress); err != nil {
		return err
	}
	peers := s.writePeers(ctx, cache, warehouse)
	for _, p := range peers {
		b.engines = append(b.engines, p)
	}
	all, err := b.measure(ctx, progress)
	if err != nil {
		return err
	}
	_, peak, memoryError := memory(b.server.process())
	fmt.Printf("\nWrites: %d rows of 10 columns, %d threads each, median of %d rounds after 1 to warm up; every table is checked\n", b.rows, s.threads, b.rounds)
	for _, e := range b.engines {
		fmt.Printf("%s: %s\n", e.name(), e.version())
	}
	if err := printWrites(os.Stdout, b.engines, all); err != nil {
		return err
	}
	if memoryError == nil {
		fmt.Printf("peak memory of the server while writing: %d MiB\n", peak>>20)
	}
	small, err := b.smallInserts(ctx, s.smallTime, progress)
	if err != nil {
		return err
	}
	return printSmall(os.Stdout, small)
}

// maxWriteRounds bounds the rounds of the write part, whose statements are long.
const maxWriteRounds = 3
