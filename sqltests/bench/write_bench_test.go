package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
)

// startWrites starts a server inside the test with rows to write.
func startWrites(t testing.TB, rows int64) *writeBench {
	dir := t.TempDir()
	b := &writeBench{rows: rows, valuesRows: min(rows, 4*valuesRows), rounds: 1, csv: filepath.Join(dir, "sales.csv")}
	warehouse, err := makeWarehouse(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b.totals, err = makeSales(context.Background(), b.csv, rows); err != nil {
		t.Fatal(err)
	}
	s, err := embedded.Start(context.Background(), sqlengine.Options{Warehouse: warehouse})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	b.server = &server{received: &atomic.Int64{}}
	if b.server.db, b.server.pool, err = connectAll(s.Target.Network, s.Target.Address, s.Target.User, s.Target.Password, b.server.received); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.server.db.Close(); b.server.pool.Close(); mysql.DeregisterLocalFile(b.csv) })
	if err := b.prepare(context.Background(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWriteJobs writes a few rows in every way and checks them.
func TestWriteJobs(t *testing.T) {
	t.Parallel()
	b := startWrites(t, 20_000)
	ctx := context.Background()
	for i := range writeJobs {
		j := &writeJobs[i]
		name := fmt.Sprintf("j%d", i)
		if err := b.create(ctx, name, j.key, j.options); err != nil {
			t.Fatal(err)
		}
		if _, err := b.write(ctx, j, b.server, name); err != nil {
			if strings.Contains(err.Error(), "cannot be written here") {
				continue
			}
			t.Fatalf("%s into %s: %v", j.statement, j.table, err)
		}
		want := b.totals
		if j.kind == fromValues {
			want = b.valuesTotals
		}
		if err := b.check(ctx, name, want); err != nil {
			t.Errorf("%s into %s: %v", j.statement, j.table, err)
		}
		wrong := *want
		wrong.ratio++
		if b.check(ctx, name, &wrong) == nil {
			t.Error("a wrong sum passed")
		}
	}
}

// BenchmarkWrites runs the write jobs over the protocol, client included.
func BenchmarkWrites(b *testing.B) {
	const rows = 1_000_000
	w := startWrites(b, rows)
	ctx := context.Background()
	for i := range writeJobs {
		j := &writeJobs[i]
		n := int64(rows)
		if j.kind == fromValues {
			n = w.valuesRows
		}
		name := map[jobKind]string{fromSelect: "InsertSelect", fromFile: "LoadData", fromValues: "Values"}[j.kind]
		b.Run(name+"/"+strings.NewReplacer(" ", "", ",", "-").Replace(j.table), func(b *testing.B) {
			processor := processorTime(os.Getpid())
			for b.Loop() {
				b.StopTimer()
				w.tables++
				table := fmt.Sprintf("w%d", w.tables)
				if err := w.create(ctx, table, j.key, j.options); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := w.write(ctx, j, w.server, table); err != nil {
					if strings.Contains(err.Error(), "cannot be written here") {
						b.Skip(err)
					}
					b.Fatal(err)
				}
				b.StopTimer()
				if _, err := w.server.db.ExecContext(ctx, "DROP TABLE "+table); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(processorTime(os.Getpid())-processor)/float64(n)/float64(b.N), "cpu-ns/row")
		})
	}
}
