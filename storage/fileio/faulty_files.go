package fileio

import (
	"context"
	"strings"
	"sync"

	"github.com/tributarydb/tributary/storage/errs"
)

// Op is a kind of file operation.
type Op uint8

// The operations. AnyOp matches all, AnyChange those after which the files are others.
const (
	AnyOp Op = iota
	AnyChange
	OpOpen
	OpReadFile
	OpReadAt
	OpStat
	OpList
	OpCreate
	OpWrite
	OpClose
	OpPutIfAbsent
	OpOverwrite
	OpRename
	OpDelete
	OpDeleteAll
	OpMkdirAll
)

// Fault makes one or more operations fail.
type Fault struct {
	// Op selects the kind of operation, AnyOp all.
	Op Op
	// PathHas selects paths that contain the text.
	PathHas string
	// Nth is the matching operation that fails, counted from 1.
	Nth int
	// Count is how many operations fail from the Nth on; 0 = 1, negative = all.
	Count int
	// After lets the operation take effect before the failure is reported, as
	// when an answer is lost.
	After bool
	// Err is what is reported; nil = an unclassified error naming operation and path.
	Err error
	// Crash lets this and every later operation of any kind fail without effect, as for a
	// process that has ended.
	Crash bool
	// If, where not nil, decides whether a matching operation counts.
	If func() bool
	// Do, where not nil, runs before the operation, which does not fail then unless Err is set.
	Do func(ctx context.Context, path string)

	seen int
}

// changes reports whether files are others after an operation of the kind. What
// is written becomes visible when the writer is closed.
func (o Op) changes() bool {
	switch o {
	case OpClose, OpPutIfAbsent, OpOverwrite, OpRename, OpDelete, OpDeleteAll, OpMkdirAll:
		return true
	}
	return false
}

func (o Op) matches(op Op) bool {
	return o == AnyOp || o == op || o == AnyChange && op.changes()
}

// Faulty wraps a file system and injects faults, for tests.
type Faulty struct {
	fio    FileIO
	mu     sync.Mutex
	faults []*Fault
	counts map[Op]int
	dead   error
}

// NewFaulty wraps fio.
func NewFaulty(fio FileIO) *Faulty { return &Faulty{fio: fio, counts: map[Op]int{}} }

// Inject adds a fault.
func (f *Faulty) Inject(x Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &x)
}

// Clear removes all faults, and brings a crashed process back.
func (f *Faulty) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults, f.dead = nil, nil
}

// Count returns how many operations of a kind were asked for, AnyOp all, AnyChange those that change files.
func (f *Faulty) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[op]
}

// hit counts an operation and returns the failures before and after it.
func (f *Faulty) hit(ctx context.Context, op Op, path string) (before, after error) {
	do, before, after := f.match(op, path)
	for _, fn := range do {
		fn(ctx, path)
	}
	return before, after
}

func (f *Faulty) match(op Op, path string) (do []func(context.Context, string), before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[op]++
	f.counts[AnyOp]++
	if op.changes() {
		f.counts[AnyChange]++
	}
	if f.dead != nil {
		return nil, f.dead, nil
	}
	for _, x := range f.faults {
		if !x.Op.matches(op) || !strings.Contains(path, x.PathHas) || x.If != nil && !x.If() {
			continue
		}
		x.seen++
		n := max(x.Count, 1)
		if x.seen < x.Nth || x.Count >= 0 && x.seen >= x.Nth+n {
			continue
		}
		err := x.Err
		if x.Do != nil {
			do = append(do, x.Do)
		} else if err == nil {
			err = errs.New(errs.Unknown, "%s: injected fault of operation %d", path, op)
		}
		switch {
		case x.Crash:
			f.dead, before = err, err
		case x.After:
			after = err
		case err != nil:
			before = err
		}
	}
	return do, before, after
}

// do runs an operation between its faults.
func (f *Faulty) do(ctx context.Context, op Op, path string, run func() error) error {
	before, after := f.hit(ctx, op, path)
	if before != nil {
		return before
	}
	if err := run(); err != nil {
		return err
	}
	return after
}

type faultyFile struct {
	File
	ctx  context.Context
	f    *Faulty
	path string
}

func (x *faultyFile) ReadAt(p []byte, off int64) (n int, err error) {
	before, after := x.f.hit(x.ctx, OpReadAt, x.path)
	if before != nil {
		return 0, before
	}
	n, err = x.File.ReadAt(p, off)
	if after != nil {
		return n / 2, after
	}
	return n, err
}

type faultyWriter struct {
	Writer
	ctx  context.Context
	f    *Faulty
	path string
}

func (w *faultyWriter) Write(p []byte) (n int, err error) {
	before, after := w.f.hit(w.ctx, OpWrite, w.path)
	if before != nil {
		return 0, before
	}
	n, err = w.Writer.Write(p)
	if err == nil {
		err = after
	}
	return n, err
}

func (w *faultyWriter) Close() error { return w.f.do(w.ctx, OpClose, w.path, w.Writer.Close) }

// Open opens a file for reading.
func (f *Faulty) Open(ctx context.Context, path string) (out File, err error) {
	err = f.do(ctx, OpOpen, path, func() (err error) { out, err = f.fio.Open(ctx, path); return err })
	if err != nil {
		if out != nil {
			_ = out.Close()
		}
		return nil, err
	}
	return &faultyFile{out, ctx, f, path}, nil
}

// ReadFile reads a whole file.
func (f *Faulty) ReadFile(ctx context.Context, path string) (out []byte, err error) {
	err = f.do(ctx, OpReadFile, path, func() (err error) { out, err = f.fio.ReadFile(ctx, path); return err })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Stat describes a path.
func (f *Faulty) Stat(ctx context.Context, path string) (out Info, err error) {
	err = f.do(ctx, OpStat, path, func() (err error) { out, err = f.fio.Stat(ctx, path); return err })
	return out, err
}

// List lists a directory.
func (f *Faulty) List(ctx context.Context, dir string) (out []Info, err error) {
	err = f.do(ctx, OpList, dir, func() (err error) { out, err = f.fio.List(ctx, dir); return err })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Create starts a new file.
func (f *Faulty) Create(ctx context.Context, path string) (out Writer, err error) {
	err = f.do(ctx, OpCreate, path, func() (err error) { out, err = f.fio.Create(ctx, path); return err })
	if err != nil {
		if out != nil {
			_ = out.Abort()
		}
		return nil, err
	}
	return &faultyWriter{out, ctx, f, path}, nil
}

// PutIfAbsent publishes data under path if nothing is there. A fault with
// After set leaves the data published although an error is reported.
func (f *Faulty) PutIfAbsent(ctx context.Context, path string, data []byte) (created bool, err error) {
	err = f.do(ctx, OpPutIfAbsent, path, func() (err error) { created, err = f.fio.PutIfAbsent(ctx, path, data); return err })
	return created && err == nil, err
}

// Overwrite replaces the content of path.
func (f *Faulty) Overwrite(ctx context.Context, path string, data []byte) error {
	return f.do(ctx, OpOverwrite, path, func() error { return f.fio.Overwrite(ctx, path, data) })
}

// Rename moves a file or directory.
func (f *Faulty) Rename(ctx context.Context, from, to string) error {
	return f.do(ctx, OpRename, from, func() error { return f.fio.Rename(ctx, from, to) })
}

// Delete removes a file.
func (f *Faulty) Delete(ctx context.Context, path string) error {
	return f.do(ctx, OpDelete, path, func() error { return f.fio.Delete(ctx, path) })
}

// DeleteAll removes a directory and what is below it.
func (f *Faulty) DeleteAll(ctx context.Context, dir string) error {
	return f.do(ctx, OpDeleteAll, dir, func() error { return f.fio.DeleteAll(ctx, dir) })
}

// MkdirAll makes a directory and its parents.
func (f *Faulty) MkdirAll(ctx context.Context, dir string) error {
	return f.do(ctx, OpMkdirAll, dir, func() error { return f.fio.MkdirAll(ctx, dir) })
}
