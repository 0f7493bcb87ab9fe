package fileio_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/fileio/conformance"
)

func TestLocal(t *testing.T) { conformance.Run(t, fileio.NewLocal(), t.TempDir()) }

func TestLocalURI(t *testing.T) { conformance.Run(t, fileio.NewLocal(), "file://"+t.TempDir()) }

func TestMemory(t *testing.T) {
	m := fileio.NewMemory()
	if err := m.MkdirAll(context.Background(), "/root"); err != nil {
		t.Fatal(err)
	}
	conformance.Run(t, m, "/root")
}

func TestFaultyWithoutFaults(t *testing.T) {
	m := fileio.NewMemory()
	if err := m.MkdirAll(context.Background(), "/root"); err != nil {
		t.Fatal(err)
	}
	conformance.Run(t, fileio.NewFaulty(m), "/root")
}

func TestLocalLeavesNoTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	fio := fileio.NewLocal()
	ctx := context.Background()
	for range 3 {
		if _, err := fio.PutIfAbsent(ctx, dir+"/x", []byte("a")); err != nil {
			t.Fatal(err)
		}
		if err := fio.Overwrite(ctx, dir+"/y", []byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v %v", entries, err)
	}
}

func TestLocalTemporaryNameIsHidden(t *testing.T) {
	dir := t.TempDir()
	w, err := fileio.NewLocal().Create(context.Background(), dir+"/snapshot-1")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	names, err := filepath.Glob(dir + "/snapshot-*")
	if err != nil || len(names) != 0 {
		t.Fatalf("%v %v", names, err)
	}
}

func TestForeignScheme(t *testing.T) {
	_, err := fileio.NewLocal().ReadFile(context.Background(), "s3://bucket/key")
	if !errs.Is(err, errs.Unsupported) {
		t.Fatal(err)
	}
}

func TestMemoryCrash(t *testing.T) {
	m := fileio.NewMemory()
	ctx := context.Background()
	w, err := m.Create(ctx, "/a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := m.Overwrite(ctx, "/published", []byte("y")); err != nil {
		t.Fatal(err)
	}
	m.Crash()
	if err := w.Close(); err == nil {
		t.Error("a writer survived the crash")
	}
	if _, err := m.Stat(ctx, "/a"); !errs.Is(err, errs.NotFound) {
		t.Error(err)
	}
	if b, err := m.ReadFile(ctx, "/published"); err != nil || string(b) != "y" {
		t.Error(err)
	}
}

func TestFaultyFailsTheNth(t *testing.T) {
	m := fileio.NewMemory()
	f := fileio.NewFaulty(m)
	ctx := context.Background()
	boom := errors.New("boom")
	f.Inject(fileio.Fault{Op: fileio.OpOverwrite, Nth: 2, Err: boom})
	f.Inject(fileio.Fault{Op: fileio.OpPutIfAbsent, PathHas: "snapshot-", Nth: 1, After: true, Err: boom})
	for i, want := range []error{nil, boom, nil} {
		if err := f.Overwrite(ctx, "/x", []byte{byte(i)}); err != want {
			t.Errorf("Overwrite %d: %v", i, err)
		}
	}
	if b, err := m.ReadFile(ctx, "/x"); err != nil || b[0] != 2 {
		t.Error(b, err)
	}
	if ok, err := f.PutIfAbsent(ctx, "/tag-1", nil); !ok || err != nil {
		t.Error(ok, err)
	}
	// The answer is lost, the file is there.
	if ok, err := f.PutIfAbsent(ctx, "/snapshot-1", []byte("s")); ok || err != boom {
		t.Error(ok, err)
	}
	if b, err := m.ReadFile(ctx, "/snapshot-1"); err != nil || string(b) != "s" {
		t.Error(b, err)
	}
	if n := f.Count(fileio.OpOverwrite); n != 3 {
		t.Errorf("%d overwrites counted", n)
	}
	f.Clear()
	f.Inject(fileio.Fault{Op: fileio.OpReadAt, Nth: 1, Count: -1})
	r, err := f.Open(ctx, "/x")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.ReadAt(make([]byte, 1), 0); err == nil {
			t.Error("no fault")
		}
	}
}
