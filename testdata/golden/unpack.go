//go:build ignore

// Unpack unpacks a golden warehouse:
//
//	go run testdata/golden/unpack.go NAME FOLDER
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tributarydb/tributary/sqltests/golden"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run testdata/golden/unpack.go NAME FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "unpack:", err)
		os.Exit(1)
	}
}

func run(name, folder string) error {
	root, err := golden.Root()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return golden.Unpack(filepath.Join(root, name, golden.ArchiveName), folder)
}
