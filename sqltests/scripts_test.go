package sqltests

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// warehousePrefix begins the first line of a script of scripts/.
const warehousePrefix = "# warehouse: "

// scriptWays are the ways in which every script runs; "rows" is without the vector executor.
var scriptWays = []struct {
	name     string
	protocol runner.Protocol
	setup    []string
}{
	{"text", runner.Text, nil},
	{"binary", runner.Binary, nil},
	{"rows", runner.Text, []string{"SET tributary_vectorized = 0"}},
}

// TestScripts runs scripts/TOPIC/NAME.slt in all ways, each against a server over the golden warehouse that its first line names.
func TestScripts(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("scripts", "*", "*.slt"))
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		t.Run(filepath.ToSlash(strings.TrimSuffix(f, ".slt")), func(t *testing.T) {
			t.Parallel()
			script, err := runner.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			name := warehouseOf(t, f)
			for _, w := range scriptWays {
				server := startOver(t, golden.Case{Name: name, Archive: filepath.Join(root, name, golden.ArchiveName)})
				t.Run(w.name, func(t *testing.T) { runScript(t, server, script, w.protocol, w.setup...) })
			}
		})
	}
}

// warehouseOf reads the first line of a script.
func warehouseOf(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	if !s.Scan() || !strings.HasPrefix(s.Text(), warehousePrefix) {
		t.Fatalf("%s: the first line is not %sNAME (%v)", path, warehousePrefix, s.Err())
	}
	return strings.TrimPrefix(s.Text(), warehousePrefix)
}
