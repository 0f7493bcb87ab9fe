package fileio

import (
	"context"
	"strings"
	"sync"

	"github.com/tributarydb/tributary/storage/errs"
)

// Op is a kind of file operation.
type Op uint8

// The operations. AnyOp matches all.
const (
	AnyOp Op = iota
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

	seen int
}

// Faulty wraps a file system and injects faults, for tests.
type Faulty struct {
	fio    FileIO
	mu     sync.Mutex
	faults []*Fault
	counts map[Op]int
}

// NewFaulty wraps fio.
func NewFaulty(fio FileIO) *Faulty { return &Faulty{fio: fio, counts: map[Op]int{}} }

// Inject adds a fault.
func (f *Faulty) Inject(x Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &x)
}

// Clear removes all faults.
func (f *Faulty) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// Count returns how many operations of a kind were asked for, AnyOp all.
func (f *Faulty) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[op]
}

// hit counts an operation and returns the failures before and after it.
func (f *Faulty) hit(op Op, path string) (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[op]++
	f.counts[AnyOp]++
	for _, x := range f.faults {
		if x.Op != AnyOp && x.Op != op || !strings.Contains(path, x.PathHas) {
			continue
		}
		x.seen++
		n := max(x.Count, 1)
		if x.seen < x.Nth || x.Count >= 0 && x.seen >= x.Nth+n {
			continue
		}
		err := x.Err
		if err == nil {
			err = errs.New(errs.Unknown, "%s: injected fault of operation %d", path, op)
		}
		if x.After {
			after = err
		} else {
			before = err
		}
	}
	return before, after
}

// do runs an operation between its faults.
func (f *Faulty) do(op Op, path string, run func() error) error {
	before, after := f.hit(op, path)
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
	f    *Faulty
	path string
}

func (x *faultyFile) ReadAt(p []byte, off int64) (n int, err error) {
	before, after := x.f.hit(OpReadAt, x.path)
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
	f    *Faulty
	path string
}

func (w *faultyWriter) Write(p []byte) (n int, err error) {
	before, after := w.f.hit(OpWrite, w.path)
	if before != nil {
		return 0, before
	}
	n, err = w.Writer.Write(p)
	if err == nil {
		err = after
	}
	return n, err
}

func (w *faultyWriter) Close() error { return w.f.do(OpClose, w.path, w.Writer.Close) }

// Open opens a file for reading.
func (f *Faulty) Open(ctx context.Context, path string) (out File, err error) {
	err = f.do(OpOpen, path, func() (err error) { out, err = f.fio.Open(ctx, path); return err })
	if err != nil {
		if out != nil {
			_ = out.Close()
		}
		return nil, err
	}
	return &faultyFile{out, f, path}, nil
}

// ReadFile reads a whole file.
func (f *Faulty) ReadFile(ctx context.Context, path string) (out []byte, err error) {
	err = f.do(OpReadFile, path, func() (err error) { out, err = f.fio.ReadFile(ctx, path); return err })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Stat describes a path.
func (f *Faulty) Stat(ctx context.Context, path string) (out Info, err error) {
	err = f.do(OpStat, path, func() (err error) { out, err = f.fio.Stat(ctx, path); return err })
	return out, err
}

// List lists a directory.
func (f *Faulty) List(ctx context.Context, dir string) (out []Info, err error) {
	err = f.do(OpList, dir, func() (err error) { out, err = f.fio.List(ctx, dir); return err })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Create starts a new file.
func (f *Faulty) Create(ctx context.Context, path string) (out Writer, err error) {
	err = f.do(OpCreate, path, func() (err error) { out, err = f.fio.Create(ctx, path); return err })
	if err != nil {
		if out != nil {
			_ = out.Abort()
		}
		return nil, err
	}
	return &faultyWriter{out, f, path}, nil
}

// PutIfAbsent publishes data under path if nothing is there. A fault with
// After set leaves the data published although an error is reported.
func (f *Faulty) PutIfAbsent(ctx context.Context, path string, data []byte) (created bool, err error) {
	err = f.do(OpPutIfAbsent, path, func() (err error) { created, err = f.fio.PutIfAbsent(ctx, path, data); return err })
	return created && err == nil, err
}

// Overwrite replaces the content of path.
func (f *Faulty) Overwrite(ctx context.Context, path string, data []byte) error {
	return f.do(OpOverwrite, path, func() error { return f.fio.Overwrite(ctx, path, data) })
}

// Rename moves a file or directory.
func (f *Faulty) Rename(ctx context.Context, from, to string) error {
	return f.do(OpRename, from, func() error { return f.fio.Rename(ctx, from, to) })
}

// Delete removes a file.
func (f *Faulty) Delete(ctx context.Context, path string) error {
	return f.do(OpDelete, path, func() error { return f.fio.Delete(ctx, path) })
}

// DeleteAll removes a directory and what is below it.
func (f *Faulty) DeleteAll(ctx context.Context, dir string) error {
	return f.do(OpDeleteAll, dir, func() error { return f.fio.DeleteAll(ctx, dir) })
}

// MkdirAll makes a directory and its parents.
func (f *Faulty) MkdirAll(ctx context.Context, dir string) error {
	return f.do(OpMkdirAll, dir, func() error { return f.fio.MkdirAll(ctx, dir) })
}
