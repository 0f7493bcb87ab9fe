package fileio

import (
	"bytes"
	"context"
	"maps"
	"path"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

// Memory is a file system in memory, for tests. It models a crash: see Crash.
type Memory struct {
	mu    sync.Mutex
	files map[string]*memFile
	dirs  map[string]time.Time
	epoch int
	now   func() time.Time
}

type memFile struct {
	data []byte
	mod  time.Time
}

// NewMemory returns an empty file system.
func NewMemory() *Memory {
	return &Memory{files: map[string]*memFile{}, dirs: map[string]time.Time{}, now: time.Now}
}

// Crash models the end of the process: files whose writer has not been closed
// vanish, and writers opened before fail from now on. What was published stays,
// as Local syncs it before it returns.
func (m *Memory) Crash() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
}

// Clone returns a file system of its own with the same files. Writers that are open stay with the old one.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Contents are replaced, never changed.
	files := make(map[string]*memFile, len(m.files))
	for p, f := range m.files {
		c := *f
		files[p] = &c
	}
	return &Memory{files: files, dirs: maps.Clone(m.dirs), now: m.now}
}

// SetModTime sets the time of the last change of a file.
func (m *Memory) SetModTime(p string, t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.files[memPath(p)]; f != nil {
		f.mod = t
	}
}

func memPath(p string) string {
	if rest, ok := strings.CutPrefix(p, "file:"); ok {
		p = rest
	}
	return path.Clean("/" + p)
}

// isDir reports whether a directory exists, by itself or by what is below it.
func (m *Memory) isDir(p string) bool {
	if p == "/" {
		return true
	}
	_, ok := m.dirs[p]
	return ok
}

// addParents makes the parent directories of p.
func (m *Memory) addParents(p string) error {
	for d := path.Dir(p); d != "/"; d = path.Dir(d) {
		if m.files[d] != nil {
			return errs.Invalidf("%s is a file, not a directory", d)
		}
		if _, ok := m.dirs[d]; !ok {
			m.dirs[d] = m.now()
		}
	}
	return nil
}

func (m *Memory) get(p string) (*memFile, error) {
	f := m.files[memPath(p)]
	if f == nil {
		if m.isDir(memPath(p)) {
			return nil, errs.Invalidf("%s is a directory, not a file", p)
		}
		return nil, errs.NotFoundf("%s does not exist", p)
	}
	return f, nil
}

type memReader struct{ *bytes.Reader }

func (memReader) Close() error { return nil }

// Open opens a file for reading.
func (m *Memory) Open(ctx context.Context, p string) (File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.get(p)
	if err != nil {
		return nil, err
	}
	return memReader{bytes.NewReader(f.data)}, nil
}

// ReadFile reads a whole file.
func (m *Memory) ReadFile(ctx context.Context, p string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.get(p)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(f.data), nil
}

// Stat describes a path.
func (m *Memory) Stat(ctx context.Context, p string) (Info, error) {
	if err := ctx.Err(); err != nil {
		return Info{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := memPath(p)
	if f := m.files[c]; f != nil {
		return Info{Name: path.Base(c), Size: int64(len(f.data)), ModTime: f.mod}, nil
	}
	if m.isDir(c) {
		return Info{Name: path.Base(c), IsDir: true, ModTime: m.dirs[c]}, nil
	}
	return Info{}, errs.NotFoundf("%s does not exist", p)
}

// List lists a directory, in ascending order of names.
func (m *Memory) List(ctx context.Context, dir string) ([]Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := memPath(dir)
	if !m.isDir(c) {
		return nil, errs.NotFoundf("%s does not exist", dir)
	}
	var out []Info
	for p, f := range m.files {
		if path.Dir(p) == c {
			out = append(out, Info{Name: path.Base(p), Size: int64(len(f.data)), ModTime: f.mod})
		}
	}
	for p, t := range m.dirs {
		if path.Dir(p) == c {
			out = append(out, Info{Name: path.Base(p), IsDir: true, ModTime: t})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

type memWriter struct {
	m     *Memory
	path  string
	epoch int
	buf   bytes.Buffer
	done  bool
}

func (w *memWriter) check() error {
	if w.done {
		return errs.Invalidf("%s: the writer is closed", w.path)
	}
	if w.epoch != w.m.epoch {
		return errs.New(errs.Unknown, "%s: the writer was lost in a crash", w.path)
	}
	return nil
}

func (w *memWriter) Write(b []byte) (int, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if err := w.check(); err != nil {
		return 0, err
	}
	return w.buf.Write(b)
}

func (w *memWriter) Close() error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if err := w.check(); err != nil {
		return err
	}
	w.done = true
	return w.m.put(w.path, w.buf.Bytes())
}

func (w *memWriter) Abort() error {
	w.done = true
	return nil
}

func (m *Memory) put(p string, data []byte) error {
	c := memPath(p)
	if m.isDir(c) {
		return errs.Invalidf("%s is a directory, not a file", p)
	}
	if err := m.addParents(c); err != nil {
		return err
	}
	m.files[c] = &memFile{data: bytes.Clone(data), mod: m.now()}
	return nil
}

// Create starts a new file.
func (m *Memory) Create(ctx context.Context, p string) (Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memWriter{m: m, path: p, epoch: m.epoch}, nil
}

// PutIfAbsent publishes data under path if nothing is there.
func (m *Memory) PutIfAbsent(ctx context.Context, p string, data []byte) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := memPath(p)
	if m.files[c] != nil || m.isDir(c) {
		return false, nil
	}
	return true, m.put(p, data)
}

// Overwrite replaces the content of path.
func (m *Memory) Overwrite(ctx context.Context, p string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.put(p, data)
}

// Rename moves a file or directory; the target must not exist.
func (m *Memory) Rename(ctx context.Context, from, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f, t := memPath(from), memPath(to)
	if m.files[t] != nil || m.isDir(t) {
		return errs.Conflictf("%s exists already", to)
	}
	if file := m.files[f]; file != nil {
		if err := m.addParents(t); err != nil {
			return err
		}
		delete(m.files, f)
		m.files[t] = file
		return nil
	}
	if !m.isDir(f) || f == "/" {
		return errs.NotFoundf("%s does not exist", from)
	}
	if strings.HasPrefix(t, f+"/") {
		return errs.Invalidf("%s cannot be moved below itself to %s", from, to)
	}
	if err := m.addParents(t); err != nil {
		return err
	}
	moveTree(m.files, f, t)
	moveTree(m.dirs, f, t)
	return nil
}

// moveTree renames the keys at and below from.
func moveTree[V any](set map[string]V, from, to string) {
	var keys []string
	for p := range set {
		if p == from || strings.HasPrefix(p, from+"/") {
			keys = append(keys, p)
		}
	}
	for _, p := range keys {
		v := set[p]
		delete(set, p)
		set[to+p[len(from):]] = v
	}
}

// Delete removes a file; a missing one is no error.
func (m *Memory) Delete(ctx context.Context, p string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, memPath(p))
	return nil
}

// DeleteAll removes a directory and what is below it.
func (m *Memory) DeleteAll(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := memPath(dir)
	if c == "/" {
		return errs.Invalidf("%s: the root directory cannot be removed", dir)
	}
	dropTree(m.files, c)
	dropTree(m.dirs, c)
	return nil
}

func dropTree[V any](set map[string]V, dir string) {
	for p := range set {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			delete(set, p)
		}
	}
}

// MkdirAll makes a directory and its parents.
func (m *Memory) MkdirAll(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := memPath(dir)
	if m.files[c] != nil {
		return errs.Invalidf("%s is a file, not a directory", dir)
	}
	if err := m.addParents(c); err != nil {
		return err
	}
	if !m.isDir(c) {
		m.dirs[c] = m.now()
	}
	return nil
}
