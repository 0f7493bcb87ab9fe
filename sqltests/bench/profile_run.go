package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/bench/generate"
	"github.com/tributarydb/tributary/sqltests/embedded"
)

// profileTime is how long each query is profiled.
const profileTime = 10 * time.Second

// profile runs every query on every table in a server inside this process and
// writes one CPU profile each into dir.
func profile(ctx context.Context, dir string, w *generate.Warehouse, threads int, progress func(string)) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	s, err := embedded.Start(ctx, sqlengine.Options{Warehouse: w.Dir, ReadOnly: true})
	if err != nil {
		return err
	}
	defer s.Stop()
	db, err := connect(s.Target.Network, s.Target.Address, s.Target.User, s.Target.Password, &atomic.Int64{})
	if err != nil {
		return err
	}
	defer db.Close()
	for i := range w.Tables {
		name := w.Tables[i].Name
		for _, q := range queries {
			text := fmt.Sprintf(q.text, name)
			line, err := profileRuns(filepath.Join(dir, q.name+"-"+name+".pprof"), w.Rows, func() error { _, err := ask(ctx, db, text); return err })
			if err != nil {
				return err
			}
			progress(line)
		}
		line, err := profileRuns(filepath.Join(dir, "all-"+name+".pprof"), w.Rows, func() error { _, err := readRows(ctx, db, "SELECT * FROM "+name); return err })
		if err != nil {
			return err
		}
		progress(line)
	}
	return nil
}

// profileRuns profiles fn again and again, after one run to warm up.
func profileRuns(path string, rows int64, fn func() error) (string, error) {
	if err := fn(); err != nil {
		return "", err
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return "", errors.Join(err, f.Close())
	}
	runs, start, processor := 0, time.Now(), processorTime(os.Getpid())
	for time.Since(start) < profileTime && err == nil {
		err = fn()
		runs++
	}
	took := time.Since(start)
	processor = processorTime(os.Getpid()) - processor
	pprof.StopCPUProfile()
	each := float64(runs) * float64(rows)
	return fmt.Sprintf("%s: %d runs, %.1f ns/row, of processor time %.1f", path, runs, float64(took)/each, float64(processor)/each), errors.Join(err, f.Close())
}
