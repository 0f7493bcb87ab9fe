package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"

	"github.com/tributarydb/tributary/sqlengine"
)

const defaultListen = "127.0.0.1:3306"

// maxCompactionWorkers bounds --compaction-workers.
const maxCompactionWorkers = 256

// serveConfig holds the settings of "tributary serve".
type serveConfig struct {
	sqlengine.Options
	logLevel slog.Level
}

// serveFlags makes the flag set of "tributary serve". The names are also the
// keys of a configuration file.
func serveFlags(cfg *serveConfig) *flag.FlagSet {
	fs := flag.NewFlagSet("tributary serve", flag.ContinueOnError)
	fs.StringVar(&cfg.Warehouse, "warehouse", "", "`folder` of the Paimon warehouse (required)")
	fs.StringVar(&cfg.Listen, "listen", defaultListen, "`HOST:PORT` to listen on; port 0 takes a free one")
	fs.StringVar(&cfg.Socket, "socket", "", "`path` of a Unix socket to listen on as well")
	fs.StringVar(&cfg.User, "user", "root", "`name` of the only user, unless there is a users file")
	fs.StringVar(&cfg.PasswordFile, "password-file", "", "`file` whose first line is the user's password")
	fs.StringVar(&cfg.UsersFile, "users-file", "", "`file` with several users")
	fs.StringVar(&cfg.TLSCert, "tls-cert", "", "PEM `file` of the certificate; makes TLS available")
	fs.StringVar(&cfg.TLSKey, "tls-key", "", "PEM `file` of the certificate's key")
	fs.BoolVar(&cfg.ReadOnly, "read-only", false, "refuse every statement that writes")
	fs.StringVar(&cfg.TimeZone, "time-zone", "", "`zone` new sessions start with, as Europe/Vienna or +02:00 (default UTC)")
	fs.IntVar(&cfg.CompactionWorkers, "compaction-workers", sqlengine.DefaultCompactionWorkers, "`number` of compactions at a time beside statements; 0: statements that write run them")
	fs.TextVar(&cfg.logLevel, "log-level", slog.LevelInfo, "`level` of log lines on standard error: debug, info, warn, error")
	return fs
}

// serve runs the server until a signal or the end of ctx.
func serve(ctx context.Context, args []string, std streams) error {
	cfg, err := serveSettings(args, std)
	if err != nil {
		return err
	}
	cfg.Log = slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: cfg.logLevel}))

	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal drains; after it the default action is back, so that a
	// second one ends the process at once.
	context.AfterFunc(ctx, stop)

	server, err := openEngine(ctx, cfg.Options)
	if err != nil {
		return err
	}
	where := server.Addr().String()
	if cfg.Socket != "" {
		where += " and " + cfg.Socket
	}
	fmt.Fprintf(std.out, "tributary: ready on %s, warehouse %s\n", where, cfg.Warehouse)
	return server.Serve(ctx)
}

// serveSettings combines command line and configuration file and checks them.
func serveSettings(args []string, std streams) (*serveConfig, error) {
	cfg := &serveConfig{}
	fs := serveFlags(cfg)
	file := fs.String("config", "", "TOML `file` with the same names as the flags; flags win")
	rest, err := parseFlags(fs, args, std)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, usagef("serve: unexpected argument %q", rest[0])
	}
	if *file != "" {
		if err := applyConfig(fs, *file); err != nil {
			return nil, err
		}
	}
	return cfg, checkServe(cfg)
}

// applyConfig sets the flags that the command line has not set from a TOML file.
func applyConfig(fs *flag.FlagSet, file string) error {
	values := map[string]any{}
	if _, err := toml.DecodeFile(file, &values); err != nil {
		return usagef("config %s: %v", file, err)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, v := range values {
		if name == "config" || fs.Lookup(name) == nil {
			return usagef("config %s: there is no setting %q", file, name)
		}
		switch v.(type) {
		case string, bool, int64:
		default:
			return usagef("config %s: %s must be a text, a number or true/false", file, name)
		}
		if given[name] {
			continue
		}
		if err := fs.Set(name, fmt.Sprint(v)); err != nil {
			return usagef("config %s: %s: %v", file, name, err)
		}
	}
	return nil
}

func checkServe(cfg *serveConfig) error {
	if cfg.Warehouse == "" {
		return usagef("serve: --warehouse is required: the folder that holds the databases (NAME.db)")
	}
	if !strings.Contains(cfg.Warehouse, "://") {
		info, err := os.Stat(cfg.Warehouse)
		switch {
		case os.IsNotExist(err):
			return fmt.Errorf("the warehouse %s does not exist; create the folder first", cfg.Warehouse)
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("the warehouse %s is not a folder", cfg.Warehouse)
		}
		if abs, err := filepath.Abs(cfg.Warehouse); err == nil {
			cfg.Warehouse = abs
		}
	}
	if cfg.CompactionWorkers < 0 || cfg.CompactionWorkers > maxCompactionWorkers {
		return usagef("serve: --compaction-workers %d: expected 0 to %d", cfg.CompactionWorkers, maxCompactionWorkers)
	}
	if (cfg.TLSCert == "") != (cfg.TLSKey == "") {
		return usagef("serve: --tls-cert and --tls-key belong together")
	}
	if cfg.PasswordFile != "" && cfg.UsersFile != "" {
		return usagef("serve: --password-file and --users-file exclude each other")
	}
	host, _, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return usagef("serve: --listen %q: expected HOST:PORT", cfg.Listen)
	}
	if cfg.PasswordFile == "" && cfg.UsersFile == "" && !isLoopback(host) {
		return usagef("serve: --listen %s is reachable from other machines, but user %q has no password: "+
			"give --password-file or --users-file, or listen on 127.0.0.1", cfg.Listen, cfg.User)
	}
	return nil
}

// isLoopback reports whether every address of the host is local to the machine.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	if host == "" {
		return false // all interfaces
	}
	addrs, err := net.LookupIP(host)
	if err != nil || len(addrs) == 0 {
		return false
	}
	for _, ip := range addrs {
		if !ip.IsLoopback() {
			return false
		}
	}
	return true
}
