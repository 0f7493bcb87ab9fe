package read

import (
	"context"
	"sync"

	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/scan"
)

// Env is what all reads share: caches of immutable files.
type Env struct {
	vectors *index.Cache
	// pages has decompressed pages of key columns, which every merge of a table reads whatever the statement asks for.
	pages *format.PageCache
}

// NewEnv returns an environment with caches of about vectorBytes for deletion
// vectors and pageBytes for decompressed pages of key columns.
func NewEnv(vectorBytes, pageBytes int64) *Env {
	return &Env{vectors: index.NewCache(vectorBytes), pages: format.NewPageCache(pageBytes)}
}

// Forget drops what is kept of files that were deleted. The rest of the paths does not matter.
func (e *Env) Forget(paths []string) {
	gone := make(map[string]bool, len(paths))
	for _, p := range paths {
		gone[p] = true
	}
	match := func(path string) bool { return gone[path] }
	e.vectors.Forget(match)
	e.pages.Forget(match)
}

// Want says what to read of a split. The batches have the columns of Columns,
// then the row kind, sequence number and row id as far as wanted.
type Want struct {
	// Columns are indexes into the source's Schema.Fields.
	Columns []int
	// Filter is over indexes into Schema.Fields; it only allows leaving rows out.
	Filter predicate.Predicate
	// Kind appends row kinds (KindInt32) and keeps retract rows.
	Kind bool
	// Sequence appends sequence numbers (KindInt64).
	Sequence bool
	// RowID appends row ids (KindInt64).
	RowID bool
	// Ordinal, where not nil, names files by a number: it (KindInt32) and the position of the row in the file (KindInt64) are
	// appended after all others. Only for splits of append tables that are read raw.
	Ordinal func(*scan.File) int32
}

// Handles shares open data files among the morsels of one plan. All are
// closed when the context that it was made with ends.
type Handles struct {
	env  *Env
	mu   sync.Mutex
	open map[string]*handle
	done bool
}

type handle struct {
	file format.File
	refs int
	// keep holds the file open between the sections of a split-up file.
	keep int
}

// NewHandles returns the open files of a plan made under ctx.
func (e *Env) NewHandles(ctx context.Context) *Handles {
	h := &Handles{env: e, open: map[string]*handle{}}
	context.AfterFunc(ctx, h.closeIdle)
	return h
}

// closeIdle closes what nobody reads; the rest closes at its release.
func (h *Handles) closeIdle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = true
	for path, x := range h.open {
		x.keep = 0
		if x.refs == 0 {
			_ = x.file.Close()
			delete(h.open, path)
		}
	}
}

// acquire opens a file or shares the open one. release must be called once.
func (h *Handles) acquire(ctx context.Context, fio fileio.FileIO, path string, size int64, name string) (f format.File, release func(), err error) {
	h.mu.Lock()
	x := h.open[path]
	if x != nil {
		x.refs++
		h.mu.Unlock()
		return x.file, h.releaser(path), nil
	}
	h.mu.Unlock()
	f, err = openData(ctx, fio, path, size, name)
	if err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	if x = h.open[path]; x != nil { // another morsel was faster
		x.refs++
		h.mu.Unlock()
		_ = f.Close()
		return x.file, h.releaser(path), nil
	}
	h.open[path] = &handle{file: f, refs: 1}
	h.mu.Unlock()
	return f, h.releaser(path), nil
}

// hold keeps a file open, beyond its readers, until drop was called n times.
func (h *Handles) hold(path string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.open[path]; x != nil && !h.done {
		x.keep += n
	}
}

func (h *Handles) drop(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.open[path]; x != nil && x.keep > 0 {
		x.keep--
		h.closeIfUnused(path, x)
	}
}

func (h *Handles) releaser(path string) func() {
	var once sync.Once
	return func() {
		once.Do(func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			x := h.open[path]
			x.refs--
			h.closeIfUnused(path, x)
		})
	}
}

func (h *Handles) closeIfUnused(path string, x *handle) {
	if x.refs == 0 && x.keep == 0 {
		_ = x.file.Close()
		delete(h.open, path)
	}
}
