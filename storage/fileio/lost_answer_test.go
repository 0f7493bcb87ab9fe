package fileio_test

import (
	"context"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// TestLostAnswers makes each change with an answer that is lost, with a failure, and with both where looking fails too.
func TestLostAnswers(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		op   fileio.Op
		do   func(fio fileio.FileIO) error
		done func(has func(string) bool) bool
	}{
		{"remove", fileio.OpDelete, func(f fileio.FileIO) error { return fileio.Remove(ctx, f, "/d/a") }, func(has func(string) bool) bool { return !has("/d/a") }},
		{"replace", fileio.OpOverwrite, func(f fileio.FileIO) error { return fileio.Replace(ctx, f, "/d/b", []byte("b")) }, func(has func(string) bool) bool { return has("/d/b") }},
		{"move", fileio.OpRename, func(f fileio.FileIO) error { return fileio.Move(ctx, f, "/d/a", "/d/c") }, func(has func(string) bool) bool { return has("/d/c") }},
		{"make", fileio.OpMkdirAll, func(f fileio.FileIO) error { return fileio.MakeDir(ctx, f, "/e") }, func(has func(string) bool) bool { return has("/e") }},
	} {
		for _, after := range []bool{false, true} {
			for _, blind := range []bool{false, true} {
				mem := fileio.NewMemory()
				if err := mem.Overwrite(ctx, "/d/a", []byte("a")); err != nil {
					t.Fatal(err)
				}
				f := fileio.NewFaulty(mem)
				f.Inject(fileio.Fault{Op: c.op, Nth: 1, After: after})
				if blind {
					f.Inject(fileio.Fault{Op: fileio.OpStat, Nth: 1})
					f.Inject(fileio.Fault{Op: fileio.OpReadFile, Nth: 1})
				}
				err := c.do(f)
				done := c.done(func(p string) bool { _, err := mem.Stat(ctx, p); return err == nil })
				if blind && !errs.Is(err, errs.Uncertain) || !blind && (err == nil) != after || done != after {
					t.Errorf("%s, after %v, blind %v: done %v, %v", c.name, after, blind, done, err)
				}
				if !after && !blind {
					if err := c.do(f); err != nil {
						t.Errorf("%s again: %v", c.name, err)
					}
				}
			}
		}
	}
	mem := fileio.NewMemory()
	f := fileio.NewFaulty(mem)
	f.Inject(fileio.Fault{Op: fileio.OpDeleteAll, Nth: 1})
	if err := mem.Overwrite(ctx, "/d/a", nil); err != nil {
		t.Fatal(err)
	}
	if err := fileio.RemoveTree(ctx, f, "/d"); err != nil {
		t.Error(err)
	}
	if _, err := mem.Stat(ctx, "/d"); !errs.Is(err, errs.NotFound) {
		t.Error(err)
	}
}
