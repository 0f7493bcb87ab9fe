package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tributarydb/tributary/sqlengine"
)

// fakeEngine takes the place of the server.
type fakeEngine struct {
	opts    sqlengine.Options
	serving chan struct{}
}

func (f *fakeEngine) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3307}
}

func (f *fakeEngine) Serve(ctx context.Context) error {
	close(f.serving)
	<-ctx.Done()
	return nil
}

func useFakeEngine(t *testing.T) *fakeEngine {
	t.Helper()
	f := &fakeEngine{serving: make(chan struct{})}
	old := openEngine
	openEngine = func(_ context.Context, o sqlengine.Options) (engineServer, error) {
		f.opts = o
		return f, nil
	}
	t.Cleanup(func() { openEngine = old })
	return f
}

func TestServeUntilSignal(t *testing.T) {
	f := useFakeEngine(t)
	dir := t.TempDir()
	var out, errs bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- run(context.Background(), []string{"serve", "--warehouse", dir, "--read-only"}, streams{nil, &out, &errs})
	}()
	select {
	case <-f.serving:
	case code := <-done:
		t.Fatalf("ended with %d: %s", code, errs.String())
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-done:
		if code != exitOK {
			t.Errorf("exit code %d: %s", code, errs.String())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the signal did not end the server")
	}
	if want := "tributary: ready on 127.0.0.1:3307, warehouse " + dir + "\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if !f.opts.ReadOnly || f.opts.Warehouse != dir || f.opts.Listen != defaultListen || f.opts.User != "root" {
		t.Errorf("options: %+v", f.opts)
	}
}

func TestServeConfigFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.toml")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	std := streams{nil, &bytes.Buffer{}, &bytes.Buffer{}}
	write("warehouse = \"" + dir + "\"\nlisten = \"127.0.0.1:1\"\nread-only = true\ntime-zone = \"UTC\"\nlog-level = \"debug\"\n")
	cfg, err := serveSettings([]string{"--config", file, "--listen", "localhost:2"}, std)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Listen != "localhost:2" || cfg.Warehouse != dir || !cfg.ReadOnly || cfg.TimeZone != "UTC" || cfg.logLevel != -4 {
		t.Errorf("%+v", cfg)
	}
	for text, want := range map[string]string{
		"wharehouse = \"x\"":      `there is no setting "wharehouse"`,
		"config = \"x\"":          `there is no setting "config"`,
		"warehouse = [\"x\"]":     "warehouse must be a text",
		"read-only = \"perhaps\"": "read-only: parse error",
		"warehouse":               "config ",
	} {
		write(text)
		_, err := serveSettings([]string{"--config", file}, std)
		if err == nil || !strings.Contains(err.Error(), want) || exitCode(err, std) != exitUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestServeChecks(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "file")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		want string // "" = accepted
	}{
		{[]string{"--warehouse", dir}, ""},
		{[]string{"--warehouse", dir, "--listen", "[::1]:0"}, ""},
		{[]string{"--warehouse", dir, "--listen", "localhost:0"}, ""},
		{[]string{"--warehouse", dir, "--listen", ":3306", "--password-file", "p"}, ""},
		{[]string{"--warehouse", dir, "--listen", "0.0.0.0:3306", "--users-file", "u"}, ""},
		{[]string{}, "--warehouse is required"},
		{[]string{"--warehouse", dir, "extra"}, "unexpected argument"},
		{[]string{"--warehouse", filepath.Join(dir, "none")}, "does not exist"},
		{[]string{"--warehouse", plain}, "is not a folder"},
		{[]string{"--warehouse", dir, "--listen", ":3306"}, "reachable from other machines"},
		{[]string{"--warehouse", dir, "--listen", "0.0.0.0:3306"}, "reachable from other machines"},
		{[]string{"--warehouse", dir, "--listen", "[::]:3306"}, "--password-file or --users-file"},
		{[]string{"--warehouse", dir, "--listen", "3306"}, "expected HOST:PORT"},
		{[]string{"--warehouse", dir, "--tls-cert", "c"}, "belong together"},
		{[]string{"--warehouse", dir, "--password-file", "p", "--users-file", "u"}, "exclude each other"},
		{[]string{"--no-such-flag"}, "wrong flags"},
	} {
		_, err := serveSettings(x.args, streams{nil, &bytes.Buffer{}, &bytes.Buffer{}})
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%q: %v", x.args, err)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, x := range []struct {
		args      []string
		code      int
		out, errs string
	}{
		{nil, exitUsage, "", "usage: tributary COMMAND"},
		{[]string{"help"}, exitOK, "usage: tributary COMMAND", ""},
		{[]string{"version"}, exitOK, "tributary ", ""},
		{[]string{"dance"}, exitUsage, "", `no command "dance"`},
		{[]string{"serve"}, exitUsage, "", "--warehouse is required"},
		{[]string{"serve", "-h"}, exitOK, "", "-warehouse"},
		{[]string{"test"}, exitUsage, "", "which scripts?"},
		{[]string{"test", "x.slt", "--protocol", "carrier"}, exitUsage, "", "expected text, binary or both"},
		{[]string{"test", "no-such-file.slt"}, exitFail, "", "no-such-file.slt"},
		{[]string{"sql", "SELECT 1"}, exitUsage, "", "SQL goes after -e"},
	} {
		var out, errs bytes.Buffer
		code := run(context.Background(), x.args, streams{nil, &out, &errs})
		if code != x.code || !strings.Contains(out.String(), x.out) || !strings.Contains(errs.String(), x.errs) {
			t.Errorf("%q: %d\n%s\n%s", x.args, code, out.String(), errs.String())
		}
	}
}

func TestServeReportsOpenError(t *testing.T) {
	old := openEngine
	t.Cleanup(func() { openEngine = old })
	openEngine = func(context.Context, sqlengine.Options) (engineServer, error) {
		return nil, errors.New("address in use")
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"serve", "--warehouse", t.TempDir()}, streams{nil, &out, &errs}); code != exitFail || out.Len() > 0 {
		t.Errorf("%d %s", code, out.String())
	}
	if errs.String() != "tributary: address in use\n" {
		t.Error(errs.String())
	}
}
