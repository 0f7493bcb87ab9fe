package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tributarydb/tributary/sqltests/runner"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "exchange:", err)
		os.Exit(1)
	}
}

func run() error {
	server := flag.String("server", "", "address of the Tributary server")
	user := flag.String("user", "root", "its user")
	second := flag.String("second-server", "", "address of another Tributary server of the same warehouse, which writes beside the first one and Paimon")
	span := flag.Duration("together", 20*time.Second, "for how long they write")
	rounds := flag.Int("rounds", 0, "for how many rounds the Tributary server and Paimon write and compact the same keyed tables in turn")
	passwordFile := flag.String("password-file", "", "file with the user's password")
	x := &exchange{engines: map[string]*process{}, order: []string{tributary}, print: func(s string) { fmt.Println(s) }}
	commands := map[string][]string{}
	flag.Func("engine", "another engine as NAME=COMMAND, split at spaces", func(v string) error {
		name, command, ok := strings.Cut(v, "=")
		if !ok || command == "" {
			return fmt.Errorf("want NAME=COMMAND")
		}
		commands[name] = strings.Fields(command)
		if !slices.Contains(named, name) {
			x.order = append(x.order, name)
		}
		return nil
	})
	flag.Parse()
	var password string
	if *passwordFile != "" {
		b, err := os.ReadFile(*passwordFile)
		if err != nil {
			return err
		}
		password = strings.TrimSuffix(string(b), "\n")
	}
	db, err := runner.Connect(runner.Target{Network: "tcp", Address: *server, User: *user, Password: password, Database: "default"})
	if err != nil {
		return err
	}
	defer db.Close()
	// One session, so that SET and USE of one record hold for the next.
	db.SetMaxOpenConns(1)
	x.db = db
	defer func() {
		for _, p := range x.engines {
			p.stop()
		}
	}()
	for name, command := range commands {
		if x.engines[name], err = startProcess(name, command); err != nil {
			return err
		}
	}
	ctx := context.Background()
	for _, q := range runner.SessionSetup {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	for _, path := range flag.Args() {
		s, err := runner.ParseFile(path)
		if err != nil {
			return err
		}
		for _, v := range variants(s) {
			before := x.Summary
			if err := x.run(ctx, v); err != nil {
				return err
			}
			if x.Failed == before.Failed && x.Passed > before.Passed {
				fmt.Printf("ok: %s: %d records\n", strings.TrimSuffix(filepath.Base(v.Name), ".slt"), x.Passed-before.Passed)
			}
		}
	}
	if *rounds > 0 {
		if err := x.alternate(ctx, *rounds); err != nil {
			x.Failed++
			fmt.Println("FAIL: tables written in turn:", err)
		}
	}
	if *second != "" {
		var servers []runner.Target
		for _, a := range []string{*server, *second} {
			servers = append(servers, runner.Target{Network: "tcp", Address: a, User: *user, Password: password, Database: "default"})
		}
		if err := x.contest(ctx, servers, *span); err != nil {
			x.Failed++
			fmt.Println("FAIL: concurrent writers:", err)
		}
	}
	fmt.Println("exchange:", x.Summary)
	if x.Failed > 0 {
		return fmt.Errorf("%d records differ", x.Failed)
	}
	return nil
}
