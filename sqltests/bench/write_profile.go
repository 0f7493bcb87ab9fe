package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/bench/generate"
	"github.com/tributarydb/tributary/sqltests/embedded"
)

// profile runs every job in a server inside this process and writes one CPU profile each into dir. The client's share of
// the processor is in it.
func (b *writeBench) profile(ctx context.Context, dir, warehouse string, threads int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	s, err := embedded.Start(ctx, sqlengine.Options{Warehouse: warehouse})
	if err != nil {
		return err
	}
	defer s.Stop()
	b.server = &server{received: &atomic.Int64{}}
	if b.server.db, b.server.pool, err = connectAll(s.Target.Network, s.Target.Address, s.Target.User, s.Target.Password, b.server.received); err != nil {
		return err
	}
	defer b.server.db.Close()
	defer b.server.pool.Close()
	if err := b.prepare(ctx, progress); err != nil {
		return err
	}
	for i := range writeJobs {
		j := &writeJobs[i]
		rows := b.rows
		if j.kind == fromValues {
			rows = b.valuesRows
		}
		once := func() error {
			b.tables++
			name := fmt.Sprintf("w%d", b.tables)
			if err := b.create(ctx, name, j.key, j.options); err != nil {
				return err
			}
			_, err := b.write(ctx, j, b.server, name)
			_, dropped := b.server.db.ExecContext(ctx, "DROP TABLE "+name)
			return errors.Join(err, dropped)
		}
		file := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, "write-"+j.statement+"-"+j.table)
		line, err := profileRuns(filepath.Join(dir, file+".pprof"), rows, once)
		if err != nil {
			progress(fmt.Sprintf("left out: %s into %s.%s: %v", j.statement, generate.Database, j.table, err))
			continue
		}
		progress(line)
	}
	return nil
}
