package sqltests

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// Files of the client corpus.
var (
	clientCorpus = filepath.Join("..", "testdata", "clients", "corpus.slt")
	clientSample = filepath.Join("..", "testdata", "clients", "warehouse.tar.zst")
	clientsLater = filepath.Join("clients", "later.txt")
)

// laterRecord is a line of later.txt: a record that needs what the server does not do yet.
type laterRecord struct {
	reason string
	sql    string // how its statement starts
}

// readLater reads lines "NUMBER | REASON | START OF THE STATEMENT"; NUMBER is the place of the record in the corpus, from 1.
func readLater(path string) (map[int]laterRecord, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[int]laterRecord{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
			return nil, fmt.Errorf("%s:%d: a line is NUMBER | REASON | START OF THE STATEMENT", path, n)
		}
		number, err := strconv.Atoi(parts[0])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if _, twice := out[number]; twice {
			return nil, fmt.Errorf("%s:%d: record %d is listed twice", path, n, number)
		}
		out[number] = laterRecord{reason: parts[1], sql: parts[2]}
	}
	return out, lines.Err()
}

// clientWarehouse makes the databases that the corpus expects to exist. A server that does not write gets the tables
// that the first group of the corpus would have made.
func clientWarehouse(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	canWrite, err := serverWrites()
	if err != nil {
		t.Fatal(err)
	}
	if !canWrite {
		if err := golden.Unpack(clientSample, dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, db := range []string{"default.db", "test.db"} {
		if err := os.Mkdir(filepath.Join(dir, db), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestClients runs what clients and tools send, in both protocols. The records of later.txt have to fail, so that the list
// holds nothing that already works; all others have to pass.
func TestClients(t *testing.T) {
	script, err := runner.ParseFile(clientCorpus)
	if err != nil {
		t.Fatal(err)
	}
	later, err := readLater(clientsLater)
	if err != nil {
		t.Fatal(err)
	}
	for number, l := range later {
		if number < 1 || number > len(script.Records) {
			t.Fatalf("%s: there is no record %d", clientsLater, number)
		}
		if sql := script.Records[number-1].SQL; !strings.HasPrefix(sql, l.sql) {
			t.Fatalf("%s: record %d (%s) is %s, not %s", clientsLater, number, script.Records[number-1].Pos(), sql, l.sql)
		}
	}
	server, err := embedded.Start(context.Background(), sqlengine.Options{Warehouse: clientWarehouse(t), TimeZone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	for _, p := range []runner.Protocol{runner.Text, runner.Binary} {
		t.Run(p.String(), func(t *testing.T) { runClients(t, server, script, p, later) })
	}
}

// TestClientScripts runs clients/*.slt, what sessions and metadata have to answer beyond the corpus, over its tables.
func TestClientScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("clients", "*.slt"))
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	dir := t.TempDir()
	if err := golden.Unpack(clientSample, dir); err != nil {
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
	for _, f := range files {
		script, err := runner.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []runner.Protocol{runner.Text, runner.Binary} {
			t.Run(filepath.Base(f)+"/"+p.String(), func(t *testing.T) { runScript(t, server, script, p) })
		}
	}
}

func runClients(t *testing.T, server *embedded.Server, script *runner.Script, p runner.Protocol, later map[int]laterRecord) {
	target := server.Target
	target.Database = "default"
	db, err := runner.Connect(target)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	report, err := runner.Run(context.Background(), db, script, runner.Options{Protocol: p})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for i, res := range report.Results {
		l, listed := later[i+1]
		switch {
		case res.Outcome == runner.Skipped:
			t.Errorf("record %d was not run: %s", i+1, res)
		case listed && res.Outcome == runner.Passed:
			t.Errorf("record %d passes and has to leave %s (%s): %s", i+1, clientsLater, l.reason, res.Record.SQL)
		case !listed && res.Outcome == runner.Failed:
			t.Errorf("record %d: %s", i+1, res)
		case res.Outcome == runner.Passed:
			passed++
		}
	}
	t.Logf("%d records pass, %d are listed for later", passed, len(later))
}
