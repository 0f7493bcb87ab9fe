package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
)

// flinkPaimon is the release of Apache Paimon that is compared.
const flinkPaimon = "2.0.0"

var (
	flinkKind       = peerKind{name: "Paimon on Flink", script: "FlinkPeer.java"}
	writePythonKind = []peerKind{
		{name: "pypaimon-rust", distribution: "pypaimon-rust", version: "0.4.0", also: []string{"pyarrow"}, script: "paimon_peer.py"},
		{name: "pypaimon", distribution: "pypaimon", version: "2.1.0", script: "pypaimon_peer.py"},
	}
)

// writePeers starts the peers that can be had, and names the others.
func (s *settings) writePeers(ctx context.Context, cache, warehouse string) []*peer {
	scripts, err := scriptFolder()
	if err != nil {
		fmt.Printf("no peers: %v\n", err)
		return nil
	}
	var out []*peer
	add := func(name string, start func() (*peer, error)) {
		progress("starting " + name)
		p, err := start()
		if err != nil {
			fmt.Printf("no %s: %v\n", name, err)
			return
		}
		out = append(out, p)
	}
	add(flinkKind.name, func() (*peer, error) { return startFlink(ctx, cache, scripts, warehouse, s.threads) })
	interpreter, err := python(ctx, s.python, filepath.Join(cache, "venv-writes"))
	for i := range writePythonKind {
		k := &writePythonKind[i]
		add(k.name, func() (*peer, error) {
			if err != nil {
				return nil, err
			}
			if err := k.install(ctx, interpreter); err != nil {
				return nil, err
			}
			return startPeer(ctx, k, interpreter, filepath.Join(scripts, k.script), strconv.Itoa(s.threads), warehouse, generate.Database)
		})
	}
	return out
}

// startFlink compiles and starts the Flink program.
func startFlink(ctx context.Context, cache, scripts, warehouse string, threads int) (*peer, error) {
	for _, program := range []string{"java", "javac"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not installed", program)
		}
	}
	classPath, err := flinkClassPath(ctx, filepath.Join(cache, "flink"))
	if err != nil {
		return nil, err
	}
	classes := filepath.Join(cache, "flink", "classes")
	if err := run(ctx, "javac", "-nowarn", "-d", classes, "-cp", classPath, filepath.Join(scripts, flinkKind.script)); err != nil {
		return nil, err
	}
	// Buffers for sorting are the greater part of the memory.
	args := []string{"-Duser.timezone=UTC"}
	for _, p := range []string{"util", "lang", "time", "nio"} {
		args = append(args, "--add-opens=java.base/java."+p+"=ALL-UNNAMED")
	}
	args = append(args, "-cp", classes+string(os.PathListSeparator)+classPath, "FlinkPeer", strconv.Itoa(threads), warehouse, generate.Database, flinkPaimon)
	return startPeer(ctx, &flinkKind, "java", "-Xmx4g", args...)
}

// flinkClassPath returns the class path of Paimon on Flink, which it fetches once.
func flinkClassPath(ctx context.Context, dir string) (string, error) {
	known := filepath.Join(dir, "classpath")
	if b, err := os.ReadFile(known); err == nil {
		return strings.TrimSpace(string(b)), nil
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		return "", errors.New("mvn is not installed, which fetches it")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	pom, err := os.ReadFile("sqltests/interop/exchange/pom.xml")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), pom, 0o666); err != nil {
		return "", err
	}
	if err := run(ctx, "mvn", "-q", "-B", "dependency:copy", "-Dartifact=org.apache.paimon:paimon-flink-2.0:"+flinkPaimon, "-DoutputDirectory="+dir, "-Dmdep.stripVersion=false"); err != nil {
		return "", err
	}
	if err := run(ctx, "mvn", "-q", "-B", "-f", filepath.Join(dir, "pom.xml"), "dependency:build-classpath", "-Dmdep.outputFile="+known+".new"); err != nil {
		return "", err
	}
	b, err := os.ReadFile(known + ".new")
	if err != nil {
		return "", err
	}
	all := filepath.Join(dir, "paimon-flink-2.0-"+flinkPaimon+".jar") + string(os.PathListSeparator) + strings.TrimSpace(string(b))
	return all, os.WriteFile(known, []byte(all+"\n"), 0o666)
}
