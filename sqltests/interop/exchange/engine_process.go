package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// startTimeout and answerTimeout bound how long a program may take to start and to answer.
const (
	startTimeout  = 3 * time.Minute
	answerTimeout = 3 * time.Minute
)

// process is an engine behind the line protocol of doc.go.
type process struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	dead  error
}

// startProcess runs the command, split at spaces, and waits until it is ready.
func startProcess(name string, command []string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(command[0], command[1:]...), lines: make(chan string)}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	line, err := p.next(startTimeout)
	if err == nil && line != "READY" {
		err = fmt.Errorf("%s said %q at its start", name, line)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *process) next(limit time.Duration) (string, error) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case line, ok := <-p.lines:
		if !ok {
			return "", fmt.Errorf("%s has ended", p.name)
		}
		return line, nil
	case <-t.C:
		return "", fmt.Errorf("%s did not answer within %s", p.name, limit)
	}
}

// run executes a statement and returns the rows as printed.
func (p *process) run(sql string) ([]string, error) {
	if p.dead != nil {
		return nil, p.dead
	}
	if _, err := io.WriteString(p.in, strings.NewReplacer("\\", `\\`, "\n", `\n`).Replace(sql)+"\n"); err != nil {
		return nil, err
	}
	var rows []string
	for {
		line, err := p.next(answerTimeout)
		if err != nil {
			p.dead = err
			return nil, err
		}
		switch {
		case line == "OK":
			return rows, nil
		case strings.HasPrefix(line, "| "):
			rows = append(rows, line[2:])
		case strings.HasPrefix(line, "ERROR"):
			return nil, errors.New(strings.TrimSpace(line[len("ERROR"):]))
		default:
			p.dead = fmt.Errorf("%s said %q", p.name, line)
			return nil, p.dead
		}
	}
}

func (p *process) stop() {
	_ = p.in.Close()
	done := make(chan struct{})
	go func() {
		for range p.lines {
		}
		_ = p.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
}
