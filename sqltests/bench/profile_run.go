package main

import (
	"context"
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
		for _, q := range queries {
			text := fmt.Sprintf(q.text, w.Tables[i].Name)
			if _, err := ask(ctx, db, text); err != nil { // warm
				return err
			}
			path := filepath.Join(dir, q.name+"-"+w.Tables[i].Name+".pprof")
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(f); err != nil {
				return err
			}
			runs, start := 0, time.Now()
			for time.Since(start) < profileTime && err == nil {
				_, err = ask(ctx, db, text)
				runs++
			}
			took := time.Since(start)
			pprof.StopCPUProfile()
			if e := f.Close(); err == nil {
				err = e
			}
			if err != nil {
				return err
			}
			progress(fmt.Sprintf("%s: %d runs of %.1f ns/row", path, runs, float64(took)/float64(runs)/float64(w.Rows)))
		}
	}
	return nil
}
