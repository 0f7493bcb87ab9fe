package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// answer is what an engine says to a query.
type answer struct {
	rows [][]string
	took time.Duration
}

// engine runs queries. A nil error with a wrong answer is for the caller to notice.
type engine interface {
	name() string
	version() string
	// process is the id of the engine's process.
	process() int
	query(ctx context.Context, sql string) (answer, error)
	close() error
}

// peer is a running Python program.
type peer struct {
	kind    *peerKind
	release string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startPeer starts a peer's program with arguments.
func startPeer(ctx context.Context, kind *peerKind, interpreter, script string, args ...string) (*peer, error) {
	cmd := exec.CommandContext(ctx, interpreter, append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &peer{kind: kind, cmd: cmd, in: in, out: bufio.NewReader(out)}
	var hello struct{ Version string }
	if err := p.read(&hello); err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.release = hello.Version
	return p, nil
}

func (p *peer) name() string    { return p.kind.name }
func (p *peer) version() string { return p.release }
func (p *peer) process() int    { return p.cmd.Process.Pid }

func (p *peer) read(v any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s ended: %w", p.kind.name, err)
	}
	return json.Unmarshal(line, v)
}

func (p *peer) query(_ context.Context, sql string) (answer, error) {
	b, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		return answer{}, err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return answer{}, err
	}
	var r struct {
		Seconds float64
		Rows    [][]string
		Error   string
	}
	if err := p.read(&r); err != nil {
		return answer{}, err
	}
	if r.Error != "" {
		return answer{}, errors.New(r.Error)
	}
	return answer{r.Rows, time.Duration(r.Seconds * float64(time.Second))}, nil
}

func (p *peer) close() error {
	p.in.Close()
	return p.cmd.Wait()
}
