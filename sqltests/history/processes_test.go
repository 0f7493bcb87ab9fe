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

// twoProcesses are two servers over one new warehouse, and clients of both.
type twoProcesses struct {
	t   *testing.T
	dir string
	// connections is the number of clients of a server, the first ones those of the first server; each is how many steps one does.
	connections, each int
	rec               *Recorder
	failed            atomic.Int64
	peers             []*peer
	clients           []*client
}

// startProcesses starts the servers and creates tables. The clients' random numbers begin at seed.
func startProcesses(ctx context.Context, t *testing.T, connections, each int, seed int64, definitions []string) *twoProcesses {
	b := &twoProcesses{t: t, dir: t.TempDir(), connections: connections, each: each, rec: NewRecorder()}
	if err := os.Mkdir(filepath.Join(b.dir, "default.db"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		p := &peer{t: t, dir: b.dir}
		p.start(connections)
		t.Cleanup(func() { _ = p.cmd.Process.Kill() })
		b.peers = append(b.peers, p)
		for k := range connections {
			id := i*connections + k + 1
			b.clients = append(b.clients, &client{t: t, id: id, rec: b.rec, rnd: rand.New(rand.NewSource(seed + int64(id))), db: func() *sql.DB { return p.pool(k) }, failed: &b.failed})
		}
	}
	for _, d := range definitions {
		if _, err := b.clients[0].db().ExecContext(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// all is the number of steps of all clients.
func (b *twoProcesses) all() int { return len(b.clients) * b.each }

// run lets all clients do their steps, and kills the second process twice amid them, after a third and after two thirds.
func (b *twoProcesses) run(step func(*client)) {
	var steps atomic.Int64
	var once [2]sync.Once
	together(b.clients, func(c *client) {
		for range b.each {
			n := steps.Add(1)
			for i := range once {
				if n > int64(b.all()*(i+1)/3) {
					once[i].Do(func() {
						b.peers[1].kill()
						b.peers[1].start(b.connections)
					})
				}
			}
			step(c)
		}
	})
}

// end stops the servers and judges what the clients saw of the tables.
func (b *twoProcesses) end(tables ...string) {
	for _, p := range b.peers {
		p.stop()
	}
	if n := b.failed.Load(); n > int64(2*2*b.connections) {
		b.t.Errorf("%d queries failed", n)
	}
	if _, _, unknown := b.rec.Count(); unknown > b.all()/4 {
		b.t.Errorf("the outcome of %d statements is not known", unknown)
	}
	started := time.Now()
	judge(b.t, b.rec, fileio.NewLocal(), b.dir, tables...)
	b.t.Logf("judged in %s", time.Since(started))
}

// TestProcesses lets two servers write one warehouse on disk at once, four connections each, and kills
// one of them amid that; it then starts anew. Everything that was acknowledged is there.
func TestProcesses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := startProcesses(ctx, t, 4, 40, 0, definitions)
	b.run(func(c *client) { c.step(ctx) })
	b.clients[0].readAll(ctx)
	b.clients[b.connections].readAll(ctx)
	b.end(slices.Concat(logs, keyed)...)
}
