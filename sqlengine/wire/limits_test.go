package wire_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/sqlengine/wire"
)

func TestKill(t *testing.T) {
	s := start(t, options{})
	admin := s.root()
	victim := s.open("root", "", "")
	var id int
	if err := victim.QueryRow("select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	run := func() chan error {
		done := make(chan error, 1)
		go func() {
			_, err := queryErr(victim, "select * from fake_source('hang', 1)")
			done <- err
		}()
		waitFor(t, func() bool {
			return strings.Contains(query(t, admin, "select group_concat(info) from information_schema.processlist"), "hang', 1")
		})
		return done
	}
	done := run()
	begin := time.Now()
	mustExec(t, admin, "kill query "+itoa(id))
	wantError(t, <-done, 1317, "70100")
	if d := time.Since(begin); d > 100*time.Millisecond {
		t.Errorf("KILL QUERY took %v", d)
	}
	if got := query(t, victim, "select connection_id()"); got != itoa(id) {
		t.Errorf("KILL QUERY ended the connection")
	}
	done = run()
	mustExec(t, admin, "kill "+itoa(id))
	if err := <-done; err == nil {
		t.Error("KILL: no error")
	}
	waitFor(t, func() bool { return s.srv.Stats().Open == 1 })

	// COM_PROCESS_KILL, of another connection and of the own one.
	c, d := rawDial(t, s.addr, rawOptions{}), rawDial(t, s.addr, rawOptions{})
	c.command(0x0c, u32(d.id)...)
	c.ok()
	if _, err := d.tryRead(); err == nil {
		t.Error("COM_PROCESS_KILL: the victim lives")
	}
	c.command(0x0c, u32(4711)...)
	c.wantErr(1094)
	c.command(0x0c, u32(c.id)...)
	c.wantErr(1317)
	if _, err := c.tryRead(); err == nil {
		t.Error("the own connection lives after KILL")
	}
}

func waitFor(t testing.TB, f func() bool) {
	t.Helper()
	for range 500 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}

func TestDisconnectCancels(t *testing.T) {
	s := start(t, options{})
	for _, q := range []string{"select * from fake_source('hang', 1)", "select count(*) from fake_source('hang', 1)", "select sleep(100)"} {
		c := rawDial(t, s.addr, rawOptions{})
		c.command(3, []byte(q)...)
		time.Sleep(50 * time.Millisecond)
		begin := time.Now()
		if err := c.nc.Close(); err != nil {
			t.Fatal(err)
		}
		for s.srv.Stats().Open > 0 {
			if time.Since(begin) > 5*time.Second {
				t.Fatalf("%s: runs on", q)
			}
			time.Sleep(time.Millisecond)
		}
		if d := time.Since(begin); d > 100*time.Millisecond {
			t.Errorf("%s: stopped after %v", q, d)
		}
	}
	db := s.root()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := db.QueryContext(ctx, "select * from fake_source('hang', 1)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("context: %v", err)
	}
	if got := query(t, db, "select 1"); got != "1" {
		t.Errorf("got %q", got)
	}
}

func TestMaxExecutionTime(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	mustExec(t, db, "set max_execution_time = 50")
	_, err := queryErr(db, "select * from fake_source('hang', 1)")
	wantError(t, err, 3024, "HY000")
	if got := query(t, db, "select 1"); got != "1" {
		t.Errorf("got %q", got)
	}
}

func TestStreaming(t *testing.T) {
	s := start(t, options{})
	for _, q := range []string{"select * from fake_source('slow', 4)", "select c0 + 1 from fake_source('slow', 4)"} {
		c := rawDial(t, s.addr, rawOptions{})
		c.command(3, []byte(q)...)
		c.columns()
		begin := time.Now()
		c.read()
		// Rows come every 50 ms; the first must not wait for the fourth.
		if d := time.Since(begin); d > 120*time.Millisecond {
			t.Errorf("%s: the first row came after %v", q, d)
		}
		c.rows()
	}
}

func TestIdleTimeout(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	c.command(3, []byte("set wait_timeout = 1")...)
	c.ok()
	c.seq = 0
	begin := time.Now()
	c.wantErr(4031)
	if d := time.Since(begin); d < 900*time.Millisecond || d > 3*time.Second {
		t.Errorf("timed out after %v", d)
	}
}

func TestConnectionLimit(t *testing.T) {
	s := start(t, options{change: func(c *wire.Config) { c.MaxConnections = 2 }})
	a, _ := rawDial(t, s.addr, rawOptions{}), rawDial(t, s.addr, rawOptions{})
	_, err := rawConnect(t, s.addr, rawOptions{})
	if e, ok := err.(rawError); !ok || e.code != 1040 || e.state != "08004" {
		t.Errorf("got %v, want 1040", err)
	}
	a.nc.Close()
	waitFor(t, func() bool { return s.srv.Stats().Open == 1 })
	rawDial(t, s.addr, rawOptions{}).query("select 1")
}

func TestDrain(t *testing.T) {
	s := start(t, options{})
	idle, busy := rawDial(t, s.addr, rawOptions{}), rawDial(t, s.addr, rawOptions{})
	busy.command(3, []byte("select * from fake_source('slow', 6)")...)
	busy.columns()
	s.stop()
	if _, err := idle.tryRead(); err == nil {
		t.Error("an idle connection lives")
	}
	if rows, _ := busy.rows(); len(rows) != 6 {
		t.Errorf("the running statement gave %d rows, want 6", len(rows))
	}
	if _, err := busy.tryRead(); err == nil {
		t.Error("the connection lives after its statement")
	}
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	s.done <- nil
	if c, err := net.Dial("tcp", s.addr); err == nil {
		c.Close()
		t.Error("still accepting")
	}
}

func TestDrainTimeout(t *testing.T) {
	s := start(t, options{change: func(c *wire.Config) { c.DrainTimeout = 100 * time.Millisecond }})
	c := rawDial(t, s.addr, rawOptions{})
	c.command(3, []byte("select * from fake_source('hang', 6)")...)
	time.Sleep(20 * time.Millisecond)
	begin := time.Now()
	s.stop()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	s.done <- nil
	if d := time.Since(begin); d < 90*time.Millisecond || d > 2*time.Second {
		t.Errorf("drained in %v", d)
	}
}

// TestBackPressure reads nothing of an endless result: the server must hold still, in memory too.
func TestBackPressure(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	c.command(3, []byte("select * from fake_source('four', 1000000000)")...)
	c.columns()
	waitStill := func() uint64 {
		last := s.srv.Stats().BytesOut
		for {
			time.Sleep(200 * time.Millisecond)
			now := s.srv.Stats().BytesOut
			if now == last {
				return now
			}
			last = now
		}
	}
	sent := waitStill()
	if sent > 64<<20 {
		t.Errorf("%d bytes went into an unread connection", sent)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 200000 {
		c.read()
	}
	waitStill()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestPipelining(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	for range 200 {
		c.command(3, []byte("select 1")...)
	}
	for range 200 {
		c.seq = 1
		c.columns()
		c.rows()
	}
	// COM_STMT_CLOSE and COM_QUIT right before the close are an orderly end.
	before := s.srv.Stats().Aborted
	c.command(0x19, u32(1)...)
	c.command(1)
	c.nc.Close()
	waitFor(t, func() bool { return s.srv.Stats().Open == 0 })
	if s.srv.Stats().Aborted != before {
		t.Error("counted as aborted")
	}
}

func TestHostilePackets(t *testing.T) {
	s := start(t, options{change: func(c *wire.Config) { c.ConnectTimeout = 300 * time.Millisecond }})
	// A handshake response of 16 MB, never sent.
	nc := dial(t, s.addr)
	if _, err := nc.Write([]byte{0xff, 0xff, 0xff, 1, 0}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return s.srv.Stats().Connections == 1 && s.srv.Stats().Open == 0 })
	// Garbage.
	nc = dial(t, s.addr)
	if _, err := nc.Write([]byte("\x05\x00\x00\x01GET /")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return s.srv.Stats().Connections == 2 && s.srv.Stats().Open == 0 })
	c := rawDial(t, s.addr, rawOptions{})
	c.command(0x17, 1)
	c.wantErr(1835)
	c.command(0x1c, 1)
	c.wantErr(1835)
	c.command(0x11, 'x')
	c.wantErr(1835)
	c.command(0x1b)
	c.wantErr(1835)
	c.seq = 0
	c.write(nil)
	c.wantErr(1835)
	if _, err := c.tryRead(); err == nil {
		t.Error("the connection survives an empty command")
	}
}
