package planner

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
)

// steps is a morsel whose reader does what next says.
type steps struct {
	next   func(ctx context.Context) (*column.Batch, error)
	closed func()
}

func (s steps) Weight() int64                                   { return 1 }
func (s steps) Open(context.Context) (relation.Reader, error)   { return s, nil }
func (s steps) Next(ctx context.Context) (*column.Batch, error) { return s.next(ctx) }
func (s steps) Close() error                                    { s.closed(); return nil }
func oneRow() *column.Batch                                     { return &column.Batch{N: 1} }
func endless(context.Context) (*column.Batch, error)            { return oneRow(), nil }
func broken(context.Context) (*column.Batch, error)             { panic("broken reader") }
func scanAll(ctx context.Context, s *scan) (rows int, err error) {
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += b.Rows()
	}
}

// TestScanPanics: a panic in a goroutine that reads ahead is the scan's error, and its reader is closed.
func TestScanPanics(t *testing.T) {
	closed := make(chan bool, 2)
	m := steps{next: broken, closed: func() { closed <- true }}
	s := newScan([]relation.Morsel{m, m})
	_, err := scanAll(t.Context(), s)
	var p *errs.Panic
	if !errors.As(err, &p) || p.Value != "broken reader" {
		t.Errorf("the scan gives %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if len(closed) != min(2, runtime.GOMAXPROCS(0)) {
		t.Errorf("%d readers were closed", len(closed))
	}
}

// TestScanStops: a scan whose context ends says so, and never ends as if it had read everything.
func TestScanStops(t *testing.T) {
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		waits := func(ctx context.Context) (*column.Batch, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		s := newScan([]relation.Morsel{steps{waits, func() {}}, steps{waits, func() {}}})
		time.AfterFunc(100*time.Microsecond, cancel)
		if _, err := scanAll(ctx, s); !errors.Is(err, context.Canceled) {
			t.Fatalf("a stopped scan ends with %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestScanCloses: Close ends readers that nobody waits for.
func TestScanCloses(t *testing.T) {
	closed := make(chan bool, 3)
	m := steps{endless, func() { closed <- true }}
	s := newScan([]relation.Morsel{m, m, m})
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if len(closed) != min(3, runtime.GOMAXPROCS(0)) {
		t.Errorf("%d readers were closed", len(closed))
	}
}
