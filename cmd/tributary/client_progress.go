package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

const (
	// progressDelay is how long a statement may run before the client asks how far it is, progressEvery how often it asks then.
	progressDelay = time.Second
	progressEvery = 500 * time.Millisecond
	// barWidth is the width of a full bar, minBar that of the least one worth showing.
	barWidth = 30
	minBar   = 10
	// narrow is the width of a terminal that does not tell its own.
	narrow = 80
)

// eraseLine goes to the beginning of the line and clears it.
const eraseLine = "\r\x1b[K"

// progressLine is what a statement says of how far it is, in at most width columns: with a bar where it names
// a part of a whole, as in "expiring snapshots 12/40".
func progressLine(state string, elapsed time.Duration, width int) string {
	state = printable(state)
	tail := " " + strconv.Itoa(int(elapsed.Seconds())) + " s"
	if done, total, what, ok := partOf(state); ok {
		counts := fmt.Sprintf(" %d/%d", done, total)
		if room := min(barWidth, width-runewidth.StringWidth(what+counts+tail)-3); room >= minBar {
			full := int(int64(room) * done / total)
			return what + " [" + strings.Repeat("#", full) + strings.Repeat("-", room-full) + "]" + counts + tail
		}
	}
	if runewidth.StringWidth(state+tail) <= width {
		return state + tail
	}
	return runewidth.Truncate(state, width, "…")
}

// partOf reads "what done/total".
func partOf(state string) (done, total int64, what string, ok bool) {
	i := strings.LastIndexByte(state, ' ')
	if i < 0 {
		return 0, 0, "", false
	}
	a, b, found := strings.Cut(state[i+1:], "/")
	done, err1 := strconv.ParseInt(a, 10, 64)
	total, err2 := strconv.ParseInt(b, 10, 64)
	if !found || err1 != nil || err2 != nil || total <= 0 || done < 0 || done > total {
		return 0, 0, "", false
	}
	return done, total, state[:i], true
}

// progressMeter shows on a terminal how far a statement is.
type progressMeter struct {
	out io.Writer
	// state asks what the statement says, "" for nothing.
	state func(ctx context.Context) (string, error)
	// width is the terminal's.
	width        func() int
	delay, every time.Duration
}

// start begins to watch a statement. stop ends it and leaves no trace on the terminal; it may be called again.
func (m *progressMeter) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (m *progressMeter) run(ctx context.Context) {
	begin := time.Now()
	shown := false
	defer func() {
		if shown {
			io.WriteString(m.out, eraseLine)
		}
	}()
	t := time.NewTimer(m.delay)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		state, err := m.state(ctx)
		if err != nil || ctx.Err() != nil {
			return // the statement goes on, without a bar
		}
		if state != "" {
			shown = true
			io.WriteString(m.out, eraseLine+progressLine(state, time.Since(begin), max(m.width()-1, 1)))
		}
		t.Reset(m.every)
	}
}

// stateRunning is the state of statements that say nothing of how far they are.
const stateRunning = "running"

// watch shows how far the session's statement is where output goes to a terminal; stop ends that.
func (c *clientSession) watch(ctx context.Context) (stop func()) {
	out, ok := c.screen.(*os.File)
	if !c.terminal || !ok {
		return func() {}
	}
	m := &progressMeter{out: out, delay: progressDelay, every: progressEvery,
		state: func(ctx context.Context) (string, error) {
			var state string
			err := c.db.QueryRowContext(ctx, "SELECT STATE FROM performance_schema.processlist WHERE ID = ?", c.id).Scan(&state)
			if state == stateRunning {
				state = ""
			}
			return state, err
		},
		width: func() int {
			if w, _, err := term.GetSize(int(out.Fd())); err == nil && w > 0 {
				return w
			}
			return narrow
		}}
	return m.start(ctx)
}
