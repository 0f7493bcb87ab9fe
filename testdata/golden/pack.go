//go:build ignore

// Pack makes the golden archives from a folder of warehouses:
//
//	go run testdata/golden/pack.go [-check] SOURCE [NAME…]
//
// SOURCE holds one folder NAME for each case with warehouse/, cases.slt and
// build.slt or ORIGIN.md. Archives are deterministic: packing an unchanged
// warehouse again gives the same bytes. Every archive is read back and compared
// with its source byte for byte; with -check nothing is written, only compared.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tributarydb/tributary/sqltests/golden"
)

func main() {
	check := flag.Bool("check", false, "compare the archives with the source, write nothing")
	flag.Parse()
	if flag.NArg() < 1 {
		fmt.Fprintln(os.Stderr, "usage: go run testdata/golden/pack.go [-check] SOURCE [NAME…]")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Args()[1:], *check); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(source string, names []string, check bool) error {
	root, err := golden.Root()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		entries, err := os.ReadDir(source)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	total := 0
	for _, name := range names {
		n, err := one(filepath.Join(source, name), filepath.Join(root, name), check)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		total += n
	}
	fmt.Printf("%d warehouses, %d bytes of archives\n", len(names), total)
	return nil
}

// one packs a case, or only checks it, and returns the size of its archive.
func one(source, dest string, check bool) (int, error) {
	warehouse := filepath.Join(source, golden.FolderName)
	archive := filepath.Join(dest, golden.ArchiveName)
	if !check {
		if err := os.MkdirAll(dest, 0o755); err != nil {
			return 0, err
		}
		var b bytes.Buffer
		if err := golden.Pack(&b, warehouse); err != nil {
			return 0, err
		}
		if err := os.WriteFile(archive, b.Bytes(), 0o644); err != nil {
			return 0, err
		}
	}
	for _, name := range []string{golden.ScriptName, "build.slt", "ORIGIN.md"} {
		b, err := os.ReadFile(filepath.Join(source, name))
		if os.IsNotExist(err) && name != golden.ScriptName {
			continue
		}
		if err != nil {
			return 0, err
		}
		if !check {
			if err := os.WriteFile(filepath.Join(dest, name), b, 0o644); err != nil {
				return 0, err
			}
			continue
		}
		have, err := os.ReadFile(filepath.Join(dest, name))
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(b, have) {
			return 0, fmt.Errorf("%s differs from the source: %w", name, fs.ErrInvalid)
		}
	}
	temp, err := os.MkdirTemp("", "golden-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp)
	if err := golden.Unpack(archive, temp); err != nil {
		return 0, err
	}
	diff, err := golden.Difference(warehouse, temp)
	if err != nil {
		return 0, err
	}
	if diff != "" {
		return 0, fmt.Errorf("the archive differs from its source: %s", diff)
	}
	info, err := os.Stat(archive)
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}
