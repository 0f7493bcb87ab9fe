package enginetest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/runner"
)

var (
	failuresFile = flag.String("failures", "", "write the failures that are not listed to this file")
	suiteNames   = flag.String("suite", "", "run the suites whose names match this regular expression only")
	otherServer  = flag.String("server", "", "ask the server at this USER@HOST:PORT, without a password, instead of ours: drops its databases")
)

// shardSize is how many tests of a suite run one after the other on one server.
const shardSize = 60

// setupName is the name of the statements that make a suite's tables, in skipFile.
const setupName = "setup"

// TestSuites runs all suites, see doc.go.
func TestSuites(t *testing.T) {
	skips, err := readSkips(skipFile)
	if err != nil {
		t.Fatal(err)
	}
	only, err := regexp.Compile("^(" + *suiteNames + ")$")
	if err != nil {
		t.Fatal(err)
	}
	log := openFailures(t)
	known := map[string]bool{}
	for _, s := range suites() {
		known[s.name] = true
		if *suiteNames != "" && !only.MatchString(s.name) || len(s.cases) == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			parallel(t)
			r := &suiteRun{suite: s, skips: skips, log: log, ran: map[string]bool{}}
			r.run(t)
		})
	}
	for entry := range skips.reasons {
		if name, _, _ := strings.Cut(entry, suiteMark); !known[name] {
			t.Errorf("%s names a suite that does not exist: %s", skipFile, entry)
		}
	}
}

// suiteRun is a suite that runs.
type suiteRun struct {
	suite
	skips *skipList
	log   *failureLog

	mu  sync.Mutex
	ran map[string]bool
	// left is set where a test did not run, as by -run.
	left bool
}

// run runs the tests in shards, on one server or, where they write, one server each.
func (r *suiteRun) run(t *testing.T) {
	size := shardSize
	if r.mode == carried {
		size = len(r.cases)
	}
	t.Cleanup(func() { r.skips.check(t, r.name, r.ran, !r.left) })
	var target runner.Target
	if r.mode == shared {
		target = start(t)
		s := connect(t, target)
		r.prepare(t, s, "")
		s.close()
	}
	for from := 0; from < len(r.cases); from += size {
		cases := r.cases[from:min(from+size, len(r.cases))]
		ran := false
		t.Run(fmt.Sprintf("from_%d", from), func(t *testing.T) {
			ran = true
			parallel(t)
			target := target
			if r.mode != shared {
				target = start(t)
			}
			r.runShard(t, target, cases)
		})
		if !ran {
			r.left = true
		}
	}
}

// parallel lets tests run at once, where each has a server of its own.
func parallel(t *testing.T) {
	if *otherServer == "" {
		t.Parallel()
	}
}

// start starts a server over an empty warehouse.
func start(t *testing.T) runner.Target {
	t.Helper()
	if *otherServer != "" {
		user, address, _ := strings.Cut(*otherServer, "@")
		target := runner.Target{Address: address, User: user}
		s := connect(t, target)
		defer s.close()
		reset(t, s)
		return target
	}
	server, err := embedded.Start(context.Background(), sqlengine.Options{Warehouse: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.Target
}

// connect opens a pool with a session.
func connect(t *testing.T, target runner.Target) *session {
	t.Helper()
	pool, err := runner.Connect(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	s := &session{pool: pool}
	if err := s.open(context.Background()); err != nil {
		t.Fatal(err)
	}
	// LOAD DATA sends its files from the client.
	if _, err := s.run(context.Background(), "SET GLOBAL local_infile = 1", nil, true); err != nil {
		t.Fatal(err)
	}
	return s
}

// runShard runs tests one after the other.
func (r *suiteRun) runShard(t *testing.T, target runner.Target, cases []testCase) {
	main := connect(t, target)
	defer main.close()
	switch r.mode {
	case carried:
		r.prepare(t, main, "")
	case shared:
		main.database = r.database()
		if err := main.open(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range cases {
		ran := false
		t.Run(oneLine(c.name), func(t *testing.T) {
			ran = true
			if r.mode == fresh {
				reset(t, main)
				r.prepare(t, main, c.text())
			}
			r.runCase(t, main, c)
		})
		if !ran {
			r.mu.Lock()
			r.left = true
			r.mu.Unlock()
		}
	}
}

// kept are the databases that stay.
var kept = map[string]bool{"information_schema": true, "mysql": true, "performance_schema": true, "sys": true, "default": true}

// reset drops all databases.
func reset(t *testing.T, s *session) {
	t.Helper()
	ctx := context.Background()
	a, err := s.run(ctx, "SHOW DATABASES", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range a.rows {
		if name := row[0].text; !kept[name] {
			if _, err := s.run(ctx, "DROP DATABASE `"+strings.ReplaceAll(name, "`", "``")+"`", nil, true); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// createdTable finds the tables of a setup.
var createdTable = regexp.MustCompile("(?i)create\\s+table\\s+(?:if\\s+not\\s+exists\\s+)?(?:`?\\w+`?\\.)?`?(\\w+)")

// prepare makes the tables of the suite; where text is given, those that it names.
func (r *suiteRun) prepare(t *testing.T, s *session, text string) {
	t.Helper()
	ctx := context.Background()
	text = strings.ToLower(text)
	for _, script := range r.setup {
		tables := createdTable.FindAllStringSubmatch(strings.Join(script, ";\n"), -1)
		used := text == "" || len(tables) == 0
		for _, m := range tables {
			used = used || strings.Contains(text, strings.ToLower(m[1]))
		}
		if !used {
			continue
		}
		for _, q := range script {
			entry := entryOf(r.name, setupName, q)
			r.note(entry)
			if _, err := s.run(ctx, q, nil, true); err != nil {
				r.failed(t, entry, entry, "error: "+err.Error())
				if createdTable.MatchString(q) {
					break // the rest of the script needs the table
				}
			}
		}
	}
}

// runCase runs a test: in a session of its own, or in that of all tests where they share their tables.
func (r *suiteRun) runCase(t *testing.T, main *session, c testCase) {
	ctx := context.Background()
	whole := entryOf(r.name, c.name, "")
	r.note(whole)
	sessions := map[string]*session{}
	if r.mode == shared {
		sessions[""] = main
	}
	defer func() {
		for _, s := range sessions {
			if s != main {
				s.close()
			}
		}
	}()
	of := func(client string, anew bool) *session {
		s := sessions[client]
		if s != nil && !anew && !s.lost {
			return s
		}
		if s == nil {
			s = &session{pool: main.pool, database: r.database()}
			sessions[client] = s
		}
		if err := s.open(ctx); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, q := range c.setup {
		if _, err := of("", false).run(ctx, q, nil, true); err != nil {
			r.failed(t, whole, whole, fmt.Sprintf("setup: error: %v in %s", err, oneLine(q)))
			return
		}
	}
	for _, s := range c.steps {
		entry := whole
		if !c.single {
			entry = entryOf(r.name, c.name, s.query)
		}
		r.note(entry)
		if failure := s.check(ctx, of(s.client, s.newSession)); failure != "" {
			if r.failed(t, whole, entry, failure) {
				return
			}
		}
	}
}

// database is the current database of a test.
func (r *suiteRun) database() string {
	if len(r.setup) == 0 {
		return ""
	}
	return "mydb"
}

// note says that an entry ran.
func (r *suiteRun) note(entry string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran[entry] = true
}

// failed reports a failure that is not listed. It returns whether the whole test is listed, and its rest does not matter.
func (r *suiteRun) failed(t *testing.T, whole, entry, failure string) (stop bool) {
	t.Helper()
	reason, listed := r.skips.find(whole, entry)
	switch {
	case reason == nil:
		r.log.write(entry, failure)
		t.Errorf("%s\n%s", entry, failure)
	case !reason.allows(failure):
		r.log.write(entry, failure)
		t.Errorf("%s\nis listed (%s), but fails otherwise: %s", entry, reason.text, failure)
	default:
		r.skips.fails(listed)
	}
	return reason != nil && listed == whole
}

// failureLog writes failures to a file.
type failureLog struct {
	mu sync.Mutex
	f  *os.File
}

// openFailures opens the file of the flag -failures.
func openFailures(t *testing.T) *failureLog {
	if *failuresFile == "" {
		return &failureLog{}
	}
	f, err := os.Create(*failuresFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &failureLog{f: f}
}

func (l *failureLog) write(entry, failure string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		fmt.Fprintf(l.f, "%s\t%s\n", entry, strings.Join(strings.Fields(failure), " "))
	}
}
