package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peerKind is an engine to compare with.
type peerKind struct {
	// name is shown, package is its name for pip, with the version that is compared.
	name, distribution, version string
	// also are packages that it needs and does not name.
	also []string
	// script is the file below peers/.
	script string
}

var peerKinds = []peerKind{
	{name: "DuckDB", distribution: "duckdb", version: "1.5.6", script: "duckdb_peer.py"},
	{name: "pypaimon-rust", distribution: "pypaimon-rust", version: "0.4.0", also: []string{"pyarrow"}, script: "paimon_peer.py"},
}

// python makes a virtual environment below dir and returns its interpreter.
func python(ctx context.Context, base, dir string) (string, error) {
	interpreter := filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(interpreter); err == nil {
		return interpreter, nil
	}
	if _, err := exec.LookPath(base); err != nil {
		return "", fmt.Errorf("%s is not installed", base)
	}
	return interpreter, run(ctx, base, "-m", "venv", dir)
}

// install makes sure that the environment has the peer.
func (k *peerKind) install(ctx context.Context, interpreter string) error {
	probe := fmt.Sprintf("import importlib.metadata as m; assert m.version(%q) == %q", k.distribution, k.version)
	for _, name := range k.also {
		probe += fmt.Sprintf("; m.version(%q)", name)
	}
	if exec.CommandContext(ctx, interpreter, "-c", probe).Run() == nil {
		return nil
	}
	packages := append([]string{k.distribution + "==" + k.version}, k.also...)
	return run(ctx, interpreter, append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check"}, packages...)...)
}

// run runs a program; an error tells the last line that it printed.
func run(ctx context.Context, program string, args ...string) error {
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, lines[len(lines)-1])
}
