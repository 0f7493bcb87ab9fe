package history

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/runner"
	"github.com/tributarydb/tributary/storage/fileio"
)

// serveVariable makes the test binary a server of the warehouse that it names.
const serveVariable = "TRIBUTARY_TEST_SERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveVariable); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve serves until standard input ends.
func serve(dir string) error {
	s, err := embedded.Start(context.Background(), sqlengine.Options{Warehouse: dir})
	if err != nil {
		return err
	}
	fmt.Println("ready", s.Target.Address, s.Target.User, s.Target.Password)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return s.Stop()
}

// peer is a server in a process of its own.
type peer struct {
	t   *testing.T
	dir string

	mu    sync.Mutex
	cmd   *exec.Cmd
	in    io.Closer
	pools []*sql.DB
}

// start starts the process, and connects as many clients.
func (p *peer) start(clients int) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serveVariable+"="+p.dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	w := strings.Fields(line)
	if err != nil || len(w) != 4 || w[0] != "ready" {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		p.t.Fatalf("the server said %q, %v", line, err)
	}
	var pools []*sql.DB
	for range clients {
		pools = append(pools, connect(p.t, runner.Target{Network: "tcp", Address: w[1], User: w[2], Password: w[3]}))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.in, p.pools = cmd, in, pools
}

func (p *peer) pool(i int) *sql.DB {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pools[i]
}

// kill ends the process without a warning.
func (p *peer) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// stop lets the process end.
func (p *peer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, db := range p.pools {
		_ = db.Close()
	}
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the server ended with %v", err)
	}
}

// TestProcesses lets two servers write one warehouse on disk at once, four connections each, and kills
// one of them amid that; it then starts anew. Everything that was acknowledged is there.
func TestProcesses(t *testing.T) {
	t.Parallel()
	const connections, each = 4, 40
	ctx := context.Background()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "default.db"), 0o755); err != nil {
		t.Fatal(err)
	}
	rec := NewRecorder()
	var failed atomic.Int64
	var clients []*client
	peers := make([]*peer, 2)
	for i := range peers {
		p := &peer{t: t, dir: dir}
		p.start(connections)
		defer func() { _ = p.cmd.Process.Kill() }()
		peers[i] = p
		for k := range connections {
			id := i*connections + k + 1
			clients = append(clients, &client{t: t, id: id, rec: rec, rnd: rand.New(rand.NewSource(int64(id))), db: func() *sql.DB { return p.pool(k) }, failed: &failed})
		}
	}
	for _, d := range definitions {
		if _, err := clients[0].db().ExecContext(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	// The second process is killed twice, after some of all statements.
	var steps atomic.Int64
	const all = 2 * connections * each
	var once [2]sync.Once
	together(clients, func(c *client) {
		for range each {
			n := steps.Add(1)
			for i := range once {
				if n > int64(all*(i+1)/3) {
					once[i].Do(func() {
						peers[1].kill()
						peers[1].start(connections)
					})
				}
			}
			c.step(ctx)
		}
	})
	clients[0].readAll(ctx)
	clients[connections].readAll(ctx)
	for _, p := range peers {
		p.stop()
	}
	if n := failed.Load(); n > 2*2*connections {
		t.Errorf("%d queries failed", n)
	}
	_, _, unknown := rec.Count()
	if unknown > all/4 {
		t.Errorf("the outcome of %d statements is not known", unknown)
	}
	started := time.Now()
	judge(t, rec, fileio.NewLocal(), dir, slices.Concat(logs, keyed)...)
	t.Logf("judged in %s", time.Since(started))
}
