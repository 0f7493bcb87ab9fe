package wire_test

import (
	"crypto/sha256"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqlengine/wire"
)

func selfSigned(t testing.TB) options {
	t.Helper()
	c, err := wire.SelfSigned("db.example")
	if err != nil {
		t.Fatal(err)
	}
	return options{tls: c}
}

func TestAuthPlugins(t *testing.T) {
	s := start(t, selfSigned(t))
	for _, c := range []struct {
		name, user, password, params string
		number                       uint16
	}{
		{"sha2", "u", "secret", "", 0},
		{"sha2 TLS", "u", "secret", "tls=skip-verify", 0},
		{"root", "root", "", "", 0},
		{"root TLS", "root", "", "tls=skip-verify", 0},
		{"wrong", "u", "wrong", "", 1045},
		{"wrong TLS", "u", "wrong", "tls=skip-verify", 1045},
		{"none", "u", "", "", 1045},
		{"nobody", "nobody", "x", "", 1045},
		{"root with password", "root", "x", "", 1045},
	} {
		err := s.open(c.user, c.password, c.params).Ping()
		switch {
		case c.number == 0 && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.number != 0 && err == nil:
			t.Errorf("%s: got in", c.name)
		case c.number != 0:
			wantError(t, err, c.number, "28000")
			using := "NO"
			if c.password != "" {
				using = "YES"
			}
			if want := "Access denied for user '" + c.user + "'@'127.0.0.1' (using password: " + using + ")"; !strings.Contains(err.Error(), want) {
				t.Errorf("%s: message %q, want %q", c.name, err, want)
			}
		}
	}
	db := s.open("u", "secret", "tls=skip-verify")
	if got := query(t, db, "show status like 'Ssl_version'"); got != "Ssl_version|TLSv1.3" {
		t.Errorf("Ssl_version: %q", got)
	}
	if got := query(t, s.open("u", "secret", ""), "show status like 'Ssl_cipher'"); got != "Ssl_cipher|" {
		t.Errorf("Ssl_cipher without TLS: %q", got)
	}
}

func TestAuthRaw(t *testing.T) {
	s := start(t, options{})
	for _, plugin := range []string{"mysql_native_password", "caching_sha2_password", "mysql_clear_password", "unknown_plugin"} {
		rawDial(t, s.addr, rawOptions{user: "u", password: "secret", plugin: plugin}).query("select 1")
		if _, err := rawConnect(t, s.addr, rawOptions{user: "u", password: "no", plugin: plugin}); err == nil {
			t.Errorf("%s: a wrong password got in", plugin)
		}
	}
	c := rawDial(t, s.addr, rawOptions{user: "u", password: "secret", plugin: "mysql_native_password", caps: capAttrs})
	if c.id == 0 {
		t.Error("connection ids start at 1")
	}
	c = rawDial(t, s.addr, rawOptions{user: "u", password: "secret", old: true})
	auth := c.scramble("mysql_native_password", "secret", c.salt)
	c.command(0x11, []byte("u\x00\x14"+string(auth)+"other\x00")...)
	c.ok()
	if rows := c.query("select database()"); string(rows[0]) != "\x05other" {
		t.Errorf("old client changes user: %q", rows[0])
	}
}

// checked is an authenticator that knows no hash, only a check.
type checked struct{ calls int }

func (a *checked) Account(user string, _ net.Addr, _ bool) (wire.Account, bool) {
	sum := sha256.Sum256([]byte("secret"))
	return wire.Account{User: user, Host: "%", Check: func(p string) bool {
		a.calls++
		return sha256.Sum256([]byte(p)) == sum
	}}, user == "u"
}

func TestAuthFullSha2(t *testing.T) {
	for _, way := range []string{"rsa", "tls", "socket"} {
		auth := &checked{}
		o := selfSigned(t)
		sock := filepath.Join(t.TempDir(), "s")
		o.change = func(c *wire.Config) { c.Authenticator, c.Socket = auth, sock }
		s := start(t, o)
		addr := s.addr
		if way == "socket" {
			addr = sock
		}
		ro := rawOptions{user: "u", password: "secret", useTLS: way == "tls"}
		if _, err := rawConnect(t, addr, rawOptions{user: "u", password: "nope", useTLS: way == "tls"}); err == nil {
			t.Errorf("%s: a wrong password got in", way)
		}
		rawDial(t, addr, ro).query("select 1")
		if auth.calls != 2 {
			t.Errorf("%s: %d checks, want 2", way, auth.calls)
		}
		rawDial(t, addr, ro).query("select 1")
		if auth.calls != 2 {
			t.Errorf("%s: the second login did not use the cache", way)
		}
		// A client of the old plugin is switched.
		ro.plugin = "mysql_native_password"
		rawDial(t, addr, ro).query("select 1")
	}
}

func TestRequireTLS(t *testing.T) {
	o := selfSigned(t)
	o.change = func(c *wire.Config) { c.RequireTLS = true }
	s := start(t, o)
	wantError(t, s.open("u", "secret", "").Ping(), 3159, "HY000")
	if err := s.open("u", "secret", "tls=skip-verify").Ping(); err != nil {
		t.Error(err)
	}
}

func TestHandshakeDatabase(t *testing.T) {
	s := start(t, options{})
	_, err := rawConnect(t, s.addr, rawOptions{db: "nosuch"})
	if e, ok := err.(rawError); !ok || e.code != 1049 || e.msg != "Unknown database 'nosuch'" {
		t.Errorf("got %v, want 1049", err)
	}
	_, err = rawConnect(t, s.addr, rawOptions{user: "root", password: "x"})
	if e, ok := err.(rawError); !ok || e.code != 1045 {
		t.Errorf("got %v, want 1045", err)
	}
}

func TestPasswordFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(name, []byte("hunter2\r\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := wire.ReadPasswordFile(name); err != nil || p != "hunter2" {
		t.Errorf("got %q, %v", p, err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := wire.ReadPasswordFile(name); err == nil {
		t.Error("an empty file has no password")
	}
}

func TestUnixSocket(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "my.sock")
	// A socket file that a dead server left is taken over.
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := start(t, options{change: func(c *wire.Config) { c.Socket = sock }})
	db := openDSN(t, "u:secret@unix("+sock+")/test")
	if got := query(t, db, "select 1"); got != "1" {
		t.Errorf("got %q", got)
	}
	if _, err := wire.New(wire.Config{Engine: s.engine, SessionBuilder: nil}); err == nil {
		t.Error("a config without session builder is accepted")
	}
}
