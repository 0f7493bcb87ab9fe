package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// Run tests the file system below root, an existing empty directory.
func Run(t *testing.T, fio fileio.FileIO, root string) {
	ctx := context.Background()
	path := func(s string) string { return root + "/" + s }
	write := func(t *testing.T, p, content string) {
		t.Helper()
		if err := fio.Overwrite(ctx, path(p), []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(t *testing.T, p string) string {
		t.Helper()
		b, err := fio.ReadFile(ctx, path(p))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	missing := func(t *testing.T, what string, err error) {
		t.Helper()
		if !errs.Is(err, errs.NotFound) {
			t.Errorf("%s of a missing path: %v, want a not-found error", what, err)
		}
	}
	names := func(t *testing.T, dir string) string {
		t.Helper()
		infos, err := fio.List(ctx, path(dir))
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, i := range infos {
			out += i.Name
			if i.IsDir {
				out += "/"
			}
			out += " "
		}
		return out
	}

	t.Run("missing", func(t *testing.T) {
		_, err := fio.Open(ctx, path("nothing"))
		missing(t, "Open", err)
		_, err = fio.ReadFile(ctx, path("nothing"))
		missing(t, "ReadFile", err)
		_, err = fio.Stat(ctx, path("nothing/below"))
		missing(t, "Stat", err)
		_, err = fio.List(ctx, path("nothing"))
		missing(t, "List", err)
		missing(t, "Rename", fio.Rename(ctx, path("nothing"), path("other")))
		if err := fio.Delete(ctx, path("nothing")); err != nil {
			t.Errorf("Delete of a missing file: %v", err)
		}
		if err := fio.DeleteAll(ctx, path("nothing")); err != nil {
			t.Errorf("DeleteAll of a missing directory: %v", err)
		}
	})

	t.Run("read", func(t *testing.T) {
		write(t, "r/one", "0123456789")
		f, err := fio.Open(ctx, path("r/one"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Size() != 10 {
			t.Errorf("size %d", f.Size())
		}
		b := make([]byte, 4)
		if n, err := f.ReadAt(b, 3); n != 4 || err != nil || string(b) != "3456" {
			t.Errorf("ReadAt: %d %v %q", n, err, b)
		}
		if n, err := f.ReadAt(b, 8); n != 2 || err != io.EOF {
			t.Errorf("ReadAt beyond the end: %d %v", n, err)
		}
		// An open file survives its replacement.
		write(t, "r/one", "new")
		if n, err := f.ReadAt(b, 0); n != 4 || err != nil || string(b) != "0123" {
			t.Errorf("ReadAt after a replacement: %d %v %q", n, err, b)
		}
		if got := read(t, "r/one"); got != "new" {
			t.Errorf("read %q", got)
		}
		i, err := fio.Stat(ctx, path("r/one"))
		if err != nil || i.Name != "one" || i.Size != 3 || i.IsDir || i.ModTime.IsZero() {
			t.Errorf("Stat: %+v %v", i, err)
		}
		if i, err := fio.Stat(ctx, path("r")); err != nil || !i.IsDir {
			t.Errorf("Stat of a directory: %+v %v", i, err)
		}
		if _, err := fio.ReadFile(ctx, path("r")); err == nil {
			t.Error("a directory was read as a file")
		}
	})

	t.Run("create", func(t *testing.T) {
		w, err := fio.Create(ctx, path("c/deep/file"))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := w.Write([]byte("ab")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fio.Stat(ctx, path("c/deep/file")); !errs.Is(err, errs.NotFound) {
			t.Errorf("a file is visible before Close: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := read(t, "c/deep/file"); got != "ababab" {
			t.Errorf("read %q", got)
		}
		if err := w.Close(); err == nil {
			t.Error("a writer was closed twice")
		}
		w, err = fio.Create(ctx, path("c/deep/aborted"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		if got := names(t, "c/deep"); got != "file " {
			t.Errorf("after Abort the directory has %q", got)
		}
		w, err = fio.Create(ctx, path("c/deep/file"))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := read(t, "c/deep/file"); got != "" {
			t.Errorf("Create did not replace: %q", got)
		}
	})

	t.Run("put if absent", func(t *testing.T) {
		ok, err := fio.PutIfAbsent(ctx, path("p/a/x"), []byte("first"))
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		ok, err = fio.PutIfAbsent(ctx, path("p/a/x"), []byte("second"))
		if ok || err != nil {
			t.Fatal(ok, err)
		}
		if got := read(t, "p/a/x"); got != "first" {
			t.Errorf("read %q", got)
		}
		if ok, err := fio.PutIfAbsent(ctx, path("p/a"), []byte("dir")); ok {
			t.Errorf("a directory was replaced by a file: %v", err)
		}
		// Of many at once exactly one wins, and its bytes are there whole.
		const rivals = 16
		var wg sync.WaitGroup
		won := make([]bool, rivals)
		for i := range rivals {
			wg.Add(1)
			go func() {
				defer wg.Done()
				ok, err := fio.PutIfAbsent(ctx, path("p/race"), bytes.Repeat([]byte{byte('a' + i)}, 10000))
				if err != nil {
					t.Error(err)
				}
				won[i] = ok
			}()
		}
		wg.Wait()
		winner := -1
		for i, w := range won {
			if w && winner >= 0 {
				t.Fatalf("both %d and %d won", winner, i)
			}
			if w {
				winner = i
			}
		}
		if winner < 0 {
			t.Fatal("nobody won")
		}
		if got := read(t, "p/race"); got != string(bytes.Repeat([]byte{byte('a' + winner)}, 10000)) {
			t.Error("the file does not hold the winner's bytes")
		}
		if got := names(t, "p"); got != "a/ race " {
			t.Errorf("left over: %q", got)
		}
	})

	t.Run("list", func(t *testing.T) {
		for _, n := range []string{"b", "a", "ü", "B", "sub/x"} {
			write(t, "l/"+n, n)
		}
		if err := fio.MkdirAll(ctx, path("l/empty/deep")); err != nil {
			t.Fatal(err)
		}
		if got := names(t, "l"); got != "B a b empty/ sub/ ü " {
			t.Errorf("listed %q", got)
		}
		if got := names(t, "l/empty/deep"); got != "" {
			t.Errorf("listed %q", got)
		}
		if err := fio.MkdirAll(ctx, path("l/empty/deep")); err != nil {
			t.Errorf("MkdirAll of a directory that is there: %v", err)
		}
	})

	t.Run("rename", func(t *testing.T) {
		write(t, "n/from/a", "A")
		write(t, "n/from/sub/b", "B")
		if err := fio.Rename(ctx, path("n/from"), path("n/new/to")); err != nil {
			t.Fatal(err)
		}
		if read(t, "n/new/to/a") != "A" || read(t, "n/new/to/sub/b") != "B" {
			t.Error("files are lost")
		}
		_, err := fio.Stat(ctx, path("n/from"))
		missing(t, "Stat", err)
		write(t, "n/x", "X")
		write(t, "n/y", "Y")
		if err := fio.Rename(ctx, path("n/x"), path("n/y")); err == nil {
			t.Error("an existing file was replaced")
		}
		if read(t, "n/x") != "X" || read(t, "n/y") != "Y" {
			t.Error("a refused rename changed something")
		}
		if err := fio.Rename(ctx, path("n/x"), path("n/z")); err != nil || read(t, "n/z") != "X" {
			t.Error(err)
		}
	})

	t.Run("delete", func(t *testing.T) {
		write(t, "d/a", "A")
		write(t, "d/b/c/d", "D")
		write(t, "d/bc", "BC")
		if err := fio.Delete(ctx, path("d/a")); err != nil {
			t.Fatal(err)
		}
		if err := fio.DeleteAll(ctx, path("d/b")); err != nil {
			t.Fatal(err)
		}
		if got := names(t, "d"); got != "bc " {
			t.Errorf("left: %q", got)
		}
	})

	t.Run("canceled", func(t *testing.T) {
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		_, err := fio.ReadFile(canceled, path("r/one"))
		_, err2 := fio.List(canceled, path("r"))
		_, err3 := fio.PutIfAbsent(canceled, path("never"), nil)
		for _, err := range []error{err, err2, err3, fio.Overwrite(canceled, path("never"), nil)} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a canceled context gives %v", err)
			}
		}
		_, err = fio.Stat(ctx, path("never"))
		missing(t, "Stat", err)
	})

	t.Run("concurrent overwrite", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 10 {
					if err := fio.Overwrite(ctx, path("o/x"), bytes.Repeat([]byte(strconv.Itoa(i)), 5000)); err != nil {
						t.Error(err)
					}
					b, err := fio.ReadFile(ctx, path("o/x"))
					if err != nil || len(b) != 5000 || !bytes.Equal(b, bytes.Repeat(b[:1], 5000)) {
						t.Errorf("a torn file was read: %d bytes, %v", len(b), err)
					}
				}
			}()
		}
		wg.Wait()
	})
}
