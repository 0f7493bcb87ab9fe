package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFillWarehouse(t *testing.T) {
	dir := t.TempDir()
	chosen, beside := filepath.Join(dir, "chosen"), filepath.Join(dir, "beside")
	writeFile(t, filepath.Join(chosen, "default.db", "chosen"), "")
	writeFile(t, filepath.Join(beside, "warehouse", "default.db", "folder"), "")
	packed := filepath.Join(dir, "packed")
	writeFile(t, filepath.Join(packed, "source", "default.db", "archive"), "")
	var b bytes.Buffer
	if err := golden.Pack(&b, filepath.Join(packed, "source")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(packed, golden.ArchiveName), b.String())
	for _, x := range []struct{ chosen, script, want string }{
		{chosen, filepath.Join(beside, "cases.slt"), "default.db/chosen"},
		{"", filepath.Join(beside, "cases.slt"), "default.db/folder"},
		{"", filepath.Join(packed, "cases.slt"), "default.db/archive"},
		{"", filepath.Join(dir, "cases.slt"), "default.db"},
	} {
		into := t.TempDir()
		if err := fillWarehouse(into, x.chosen, x.script); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(into, x.want)); err != nil {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

func TestScriptFiles(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"b.slt", "a/c.slt", "a/build.slt", "a/notes.md"} {
		writeFile(t, filepath.Join(dir, f), "")
	}
	got, err := scriptFiles([]string{filepath.Join(dir, "b.slt"), dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "b.slt"), filepath.Join(dir, "a", "c.slt"), filepath.Join(dir, "b.slt")}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q", got)
		}
	}
	if _, err := scriptFiles([]string{t.TempDir()}); err == nil {
		t.Error("a folder without scripts was accepted")
	}
}

func TestReadPassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p")
	writeFile(t, file, "geheim \r\nsecond line\n")
	if p, err := readPassword(file); p != "geheim " || err != nil {
		t.Errorf("%q %v", p, err)
	}
	if p, err := readPassword(""); p != "" || err != nil {
		t.Errorf("%q %v", p, err)
	}
	if _, err := readPassword(file + "x"); err == nil {
		t.Error("a missing file was accepted")
	}
}
