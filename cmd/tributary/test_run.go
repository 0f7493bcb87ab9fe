package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// defaultDatabase is the current database of a script.
const defaultDatabase = "default"

type testConfig struct {
	address, warehouse, user, passwordFile, database, protocol string

	verbose bool
}

// test runs scripts and reports what differs.
func test(ctx context.Context, args []string, std streams) error {
	var cfg testConfig
	flags := flag.NewFlagSet("tributary test", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), `usage: tributary test FILE… [FLAGS]

Runs SQL scripts (.slt; a folder stands for all scripts below it). Without --address every
script gets a server of its own over a copy of a warehouse: the one named by --warehouse, else
the folder warehouse/ or the archive warehouse.tar.zst beside the script, else an empty one.

`)
		flags.PrintDefaults()
	}
	flags.StringVar(&cfg.address, "address", "", "`HOST:PORT` of a running server to use")
	flags.StringVar(&cfg.warehouse, "warehouse", "", "`folder` of the warehouse to copy for each script")
	flags.StringVar(&cfg.user, "user", "root", "user `name` for --address")
	flags.StringVar(&cfg.passwordFile, "password-file", "", "`file` with the password for --address")
	flags.StringVar(&cfg.database, "database", defaultDatabase, "current database at the start, a `name`")
	flags.StringVar(&cfg.protocol, "protocol", "text", "text, binary or both")
	flags.BoolVar(&cfg.verbose, "verbose", false, "report every record, not only failures")
	files, err := parseFlags(flags, args, std)
	if err != nil {
		return err
	}
	protocols := map[string][]runner.Protocol{"text": {runner.Text}, "binary": {runner.Binary}, "both": {runner.Text, runner.Binary}}[cfg.protocol]
	switch {
	case protocols == nil:
		return usagef("test: --protocol %q: expected text, binary or both", cfg.protocol)
	case len(files) == 0:
		return usagef("test: which scripts?")
	case cfg.address != "" && cfg.warehouse != "":
		return usagef("test: --address and --warehouse exclude each other")
	}
	if files, err = scriptFiles(files); err != nil {
		return err
	}
	var total runner.Summary
	for _, file := range files {
		script, err := runner.ParseFile(file)
		if err != nil {
			return err
		}
		for _, p := range protocols {
			report, err := runScript(ctx, &cfg, script, p)
			if report != nil {
				total.Add(report.Summary)
				if err := report.Print(std.out, cfg.verbose); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
		}
	}
	if len(files)*len(protocols) > 1 {
		fmt.Fprintln(std.out, total)
	}
	if total.Failed > 0 {
		return errReported
	}
	return nil
}

// scriptFiles replaces folders by the scripts below them.
func scriptFiles(args []string) ([]string, error) {
	var out []string
	for _, a := range args {
		info, err := os.Stat(a)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, a)
			continue
		}
		var found []string
		err = filepath.WalkDir(a, func(path string, d fs.DirEntry, err error) error {
			// build.slt of a golden warehouse is written for Flink.
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".slt") && d.Name() != "build.slt" {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("no scripts (.slt) below %s", a)
		}
		slices.Sort(found)
		out = append(out, found...)
	}
	return out, nil
}

// runScript runs one script in one protocol, on a server of its own unless an
// address is given.
func runScript(ctx context.Context, cfg *testConfig, script *runner.Script, p runner.Protocol) (*runner.Report, error) {
	if cfg.address == "" {
		return runEmbedded(ctx, cfg, script, p)
	}
	password, err := readPassword(cfg.passwordFile)
	if err != nil {
		return nil, err
	}
	return runAgainst(ctx, runner.Target{Address: cfg.address, User: cfg.user, Password: password}, cfg.database, script, p)
}

func runEmbedded(ctx context.Context, cfg *testConfig, script *runner.Script, p runner.Protocol) (*runner.Report, error) {
	warehouse, err := os.MkdirTemp("", "tributary-test-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(warehouse)
	if err := fillWarehouse(warehouse, cfg.warehouse, script.Name); err != nil {
		return nil, err
	}
	server, err := embedded.Start(ctx, sqlengine.Options{Warehouse: warehouse})
	if err != nil {
		return nil, err
	}
	report, err := runAgainst(ctx, server.Target, cfg.database, script, p)
	return report, errors.Join(err, server.Stop())
}

func runAgainst(ctx context.Context, target runner.Target, database string, script *runner.Script, p runner.Protocol) (*runner.Report, error) {
	target.Database = database
	db, err := runner.Connect(target)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return runner.Run(ctx, db, script, runner.Options{Protocol: p, Setup: runner.SessionSetup})
}

// fillWarehouse puts a copy of the script's warehouse into the empty folder dir.
func fillWarehouse(dir, chosen, script string) error {
	if chosen != "" {
		return golden.CopyFolder(chosen, dir)
	}
	beside := filepath.Dir(script)
	if info, err := os.Stat(filepath.Join(beside, golden.FolderName)); err == nil && info.IsDir() {
		return golden.CopyFolder(filepath.Join(beside, golden.FolderName), dir)
	}
	archive := filepath.Join(beside, golden.ArchiveName)
	if _, err := os.Stat(archive); err == nil {
		return golden.Unpack(archive, dir)
	}
	return os.Mkdir(filepath.Join(dir, defaultDatabase+".db"), 0o755)
}

// readPassword returns the first line of a file, "" without a file.
func readPassword(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}
