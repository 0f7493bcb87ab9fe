package sqltests

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// scenariosLater lists the scripts of scenarios/ that need what the server does
// not do yet: "NAME | what is missing".
var scenariosLater = filepath.Join("scenarios", "later.txt")

func readScenariosLater(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(scenariosLater)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, ok := strings.Cut(line, " | ")
		if !ok || why == "" || out[name] != "" {
			t.Fatalf("%s: %q is no line of its own with a reason", scenariosLater, line)
		}
		out[name] = why
	}
	return out
}

// TestScenarios runs each script of scenarios/TOPIC on an empty warehouse, in both
// protocols. A listed script has to fail, so that the list is true.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("scenarios", "*", "*.slt"))
	if err != nil || len(files) < 185 {
		t.Fatal(len(files), err)
	}
	later := readScenariosLater(t)
	seen := map[string]bool{}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".slt")
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := runner.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []runner.Protocol{runner.Text, runner.Binary} {
				report := runEmpty(t, script, p)
				switch {
				case later[name] != "" && report.Failed == 0:
					t.Errorf("%s: passes and has to leave %s (%s)", p, scenariosLater, later[name])
				case later[name] == "":
					for _, r := range report.Results {
						if r.Outcome == runner.Failed {
							t.Errorf("%s: %s: %s\n%s", p, r.Record.Pos(), r.Record.SQL, r.Detail)
						}
					}
				}
			}
		})
	}
	for name := range later {
		if !seen[name] {
			t.Errorf("%s lists %s, which is no script", scenariosLater, name)
		}
	}
}

// runEmpty runs a script against a server over an empty warehouse.
func runEmpty(t *testing.T, script *runner.Script, p runner.Protocol) *runner.Report {
	t.Helper()
	ctx := context.Background()
	server, err := embedded.Start(ctx, sqlengine.Options{Warehouse: t.TempDir(), TimeZone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	target := server.Target
	target.Database = "default"
	db, err := runner.Connect(target)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	report, err := runner.Run(ctx, db, script, runner.Options{Protocol: p, Setup: runner.SessionSetup})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
