package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
)

// settings are the command line.
type settings struct {
	rows             int64
	rounds, threads  int
	binary, cache    string
	python, profiles string
	generateOnly     bool
	// reads and writes choose the parts; rowsWrite is the number of rows that are written, smallTime how long single rows are inserted.
	reads, writing bool
	rowsWrite      int64
	smallTime      time.Duration
	// following measures streaming SELECTs, minutes, where positive, a long one and nothing else.
	following  bool
	streamRows int
	minutes    time.Duration
	// upserts measures upserts and what they leave, and nothing else: rounds of them into a table of upsertKeys keys.
	upserts                bool
	upsertRounds           int
	upsertRows, upsertKeys int64
}

func main() {
	var s settings
	flag.Int64Var(&s.rows, "rows", 10_000_000, "`number` of rows of each table")
	flag.IntVar(&s.rounds, "rounds", 5, "`number` of rounds that count")
	flag.IntVar(&s.threads, "threads", 2, "`number` of threads of each engine")
	flag.StringVar(&s.binary, "binary", "build/tributary", "the server's `file`")
	flag.StringVar(&s.cache, "cache", "build/bench", "`folder` for data and installed peers")
	flag.StringVar(&s.python, "python", "python3", "`program` that makes the peers' environment")
	flag.StringVar(&s.profiles, "profile", "", "write CPU profiles into this `folder` and measure nothing")
	flag.BoolVar(&s.generateOnly, "generate", false, "only make the tables")
	flag.BoolVar(&s.reads, "reads", true, "measure reading")
	flag.BoolVar(&s.writing, "writes", true, "measure writing")
	flag.Int64Var(&s.rowsWrite, "rows-write", 5_000_000, "`number` of rows that are written")
	flag.DurationVar(&s.smallTime, "small-time", 4*time.Second, "how long single rows are inserted, for each number of connections")
	flag.BoolVar(&s.following, "streams", true, "measure streaming SELECTs")
	flag.IntVar(&s.streamRows, "stream-rows", 300, "`number` of rows of each table that is followed")
	flag.DurationVar(&s.minutes, "soak", 0, "follow a table for this `time` and measure nothing else")
	flag.BoolVar(&s.upserts, "upserts", false, "measure upserts with compactions beside them, and nothing else")
	flag.IntVar(&s.upsertRounds, "upsert-rounds", 60, "`number` of statements that upsert")
	flag.Int64Var(&s.upsertRows, "upsert-rows", 100_000, "`number` of rows of each of them")
	flag.Int64Var(&s.upsertKeys, "upsert-keys", 2_000_000, "`number` of keys that they meet")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// progress tells a step on standard error, so that standard output is the report.
func progress(line string) { fmt.Fprintln(os.Stderr, "bench:", line) }

func (s *settings) run(ctx context.Context) error {
	if s.upsertRounds < 1 || s.upsertRows < 1 || s.upsertKeys < s.upsertRows {
		return errors.New("upsert-rounds and upsert-rows must be positive, and upsert-keys not less than upsert-rows")
	}
	if s.rows < 1 || s.rowsWrite < 1 || s.streamRows < 1 || s.rounds < 1 || s.threads < 1 || flag.NArg() > 0 {
		return errors.New("rows, stream-rows, rounds and threads must be positive numbers, and there are no other arguments")
	}
	cache, err := filepath.Abs(s.cache)
	if err != nil {
		return err
	}
	switch {
	case s.minutes > 0:
		return s.soak(ctx, cache)
	case s.upserts:
		return s.measureUpserts(ctx, cache)
	}
	if s.reads || s.generateOnly {
		if err := s.measureReads(ctx, cache); err != nil || s.generateOnly {
			return err
		}
	}
	if s.writing {
		if err := s.writes(ctx, cache); err != nil {
			return err
		}
	}
	if s.following && s.profiles == "" {
		return s.streams(ctx, cache)
	}
	return nil
}

// measureReads is the read part of the benchmark.
func (s *settings) measureReads(ctx context.Context, cache string) error {
	w, err := generate.Make(ctx, filepath.Join(cache, "rows-"+strconv.FormatInt(s.rows, 10)), s.rows, runtime.GOMAXPROCS(0), progress)
	if err != nil || s.generateOnly {
		return err
	}
	if s.profiles != "" {
		return profile(ctx, s.profiles, w, s.threads, progress)
	}
	engines, err := s.engines(ctx, cache, w)
	if err != nil {
		return err
	}
	all, err := measure(ctx, engines, w.Tables, s.rounds, progress)
	_, peak, memoryError := memory(engines[0].process())
	for _, e := range engines {
		e.close()
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d rows, %d threads each, median of %d rounds after %d to warm up; every answer is checked\n", s.rows, s.threads, s.rounds, warmups)
	for _, e := range engines {
		fmt.Printf("%s: %s\n", e.name(), e.version())
	}
	fmt.Printf("Below 1 is faster than the peer. DuckDB reads the base Parquet files only: of %s no deletions, of %s no updates.\n\n", generate.Vectors, generate.Merge)
	if err := printRatios(os.Stdout, engines, all, s.rows); err != nil {
		return err
	}
	if memoryError == nil {
		fmt.Printf("peak memory of the server in these rounds: %d MiB\n\n", peak>>20)
	}
	readings, err := s.readTables(ctx, w)
	if err != nil {
		return err
	}
	return printReadings(os.Stdout, readings)
}

// engines starts the server and the peers that can be had.
func (s *settings) engines(ctx context.Context, cache string, w *generate.Warehouse) ([]engine, error) {
	ours, err := startServer(ctx, s.binary, w.Dir, s.threads, true)
	if err != nil {
		return nil, err
	}
	engines := []engine{ours}
	interpreter, err := python(ctx, s.python, filepath.Join(cache, "venv"))
	if err != nil {
		fmt.Printf("no peers: %v\n", err)
		return engines, nil
	}
	scripts, err := scriptFolder()
	if err != nil {
		return nil, errors.Join(err, ours.close())
	}
	for i := range peerKinds {
		k := &peerKinds[i]
		progress("starting " + k.name)
		err := k.install(ctx, interpreter)
		var p *peer
		if err == nil {
			p, err = startPeer(ctx, k, interpreter, filepath.Join(scripts, k.script), strconv.Itoa(s.threads), w.Dir)
		}
		if err != nil {
			fmt.Printf("no %s: %v\n", k.name, err)
			continue
		}
		engines = append(engines, p)
	}
	return engines, nil
}

// scriptFolder finds the peers' programs in the source tree.
func scriptFolder() (string, error) {
	const dir = "sqltests/bench/peers"
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("run this in the root of the source tree: %w", err)
	}
	return dir, nil
}

// readTables reads every table whole, each from a fresh server.
func (s *settings) readTables(ctx context.Context, w *generate.Warehouse) ([]reading, error) {
	var all []reading
	for i := range w.Tables {
		t := &w.Tables[i]
		progress("reading all rows of " + t.Name)
		r, err := s.readTable(ctx, w, t)
		if err != nil {
			return nil, fmt.Errorf("reading all rows of %s: %w", t.Name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func (s *settings) readTable(ctx context.Context, w *generate.Warehouse, t *generate.Table) (r reading, err error) {
	server, err := startServer(ctx, s.binary, w.Dir, s.threads, true)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	r.table = t.Name
	if err := server.db.PingContext(ctx); err != nil {
		return r, err
	}
	if r.before, _, err = memory(server.process()); err != nil {
		return r, err
	}
	start, processor := time.Now(), processorTime(server.process())
	if r.rows, r.bytes, err = server.readAll(ctx, "SELECT * FROM "+t.Name); err != nil {
		return r, err
	}
	r.took, r.processor = time.Since(start), processorTime(server.process())-processor
	if r.rows != t.Expected.Rows {
		return r, fmt.Errorf("%d rows instead of %d", r.rows, t.Expected.Rows)
	}
	_, r.peak, err = memory(server.process())
	return r, err
}
