package sqltests

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// TestDiffersBelongToCases checks that no file of differs/ is left behind.
func TestDiffersBelongToCases(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("differs", "*.slt"))
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".slt")
		script, err := runner.ParseFile(filepath.Join(root, name, golden.ScriptName))
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		d, err := runner.ParseFile(f)
		if err == nil {
			err = script.ReplaceAnswers(d)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

var goldenName = flag.String("golden", "", "run only the golden case of this name")

// maxShownFailures bounds the failures printed for one script.
const maxShownFailures = 20

// TestGolden runs the script of every golden warehouse through a server, in the
// text and in the binary protocol.
func TestGolden(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := golden.List(root)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var total runner.Summary
	t.Cleanup(func() { t.Logf("golden records: %s", total) })
	found := false
	for _, c := range cases {
		if *goldenName != "" && c.Name != *goldenName {
			continue
		}
		found = true
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			script, err := runner.ParseFile(c.Script)
			if err != nil {
				t.Fatal(err)
			}
			differs := filepath.Join("differs", c.Name+".slt")
			if _, err := os.Stat(differs); err == nil {
				d, err := runner.ParseFile(differs)
				if err != nil {
					t.Fatal(err)
				}
				if err := script.ReplaceAnswers(d); err != nil {
					t.Fatal(err)
				}
			}
			// Both protocols share a warehouse that the script does not change.
			shared := !writes(script)
			var server *embedded.Server
			for _, p := range []runner.Protocol{runner.Text, runner.Binary} {
				if server == nil || !shared {
					server = startOver(t, c)
				}
				t.Run(p.String(), func(t *testing.T) {
					sum := runScript(t, server, script, p)
					mu.Lock()
					total.Add(sum)
					mu.Unlock()
				})
			}
		})
	}
	if !found {
		t.Fatalf("there is no golden case %q", *goldenName)
	}
}

// writes reports whether a script does more than query.
func writes(s *runner.Script) bool {
	for i := range s.Records {
		if s.Records[i].Kind == runner.StatementOK || s.Records[i].Kind == runner.StatementError {
			return true
		}
	}
	return false
}

// startOver starts a server over a copy of the case's warehouse; both end with
// the test.
func startOver(t *testing.T, c golden.Case) *embedded.Server {
	t.Helper()
	dir := t.TempDir()
	if err := golden.Unpack(c.Archive, dir); err != nil {
		t.Fatal(err)
	}
	server, err := embedded.Start(context.Background(), sqlengine.Options{Warehouse: dir, TimeZone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return server
}

// runScript reports what a script's records get otherwise than they want; setup is sent before them.
func runScript(t *testing.T, server *embedded.Server, script *runner.Script, p runner.Protocol, setup ...string) runner.Summary {
	t.Helper()
	target := server.Target
	target.Database = "default"
	db, err := runner.Connect(target)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	opts := runner.Options{Protocol: p, Setup: append(slices.Clone(runner.SessionSetup), setup...)}
	canWrite, err := serverWrites()
	if err != nil {
		t.Fatal(err)
	}
	skipper := &writeSkipper{}
	if !canWrite {
		opts.Skip = skipper.skip
	}
	report, err := runner.Run(context.Background(), db, script, opts)
	if err != nil {
		t.Fatal(err)
	}
	failures := report.Failures()
	for _, f := range failures[:min(len(failures), maxShownFailures)] {
		t.Error(f)
	}
	if n := len(failures) - maxShownFailures; n > 0 {
		t.Errorf("and %d more failures", n)
	}
	if lost := report.Skipped - skipper.skipped; lost > 0 {
		t.Errorf("%d records were not run", lost)
	}
	t.Log(report.Summary)
	return report.Summary
}
