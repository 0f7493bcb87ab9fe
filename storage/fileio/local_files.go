package fileio

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// MaxWholeFile is the greatest length that ReadFile reads into memory.
const MaxWholeFile = 1 << 30

// Local is the local file system. Publishing is crash-safe: data is synced
// before its name appears, and the directory after. Paths may be plain or `file:` URIs.
type Local struct{}

// NewLocal returns the local file system.
func NewLocal() *Local { return &Local{} }

// LocalPath turns a `file:` URI into a plain path and cleans it; a path with
// another scheme is errs.Unsupported.
func LocalPath(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "file:"); ok {
		rest = "/" + strings.TrimLeft(rest, "/")
		if strings.Contains(rest, "%") {
			// Java writes these URIs with and without escaping: the plain text
			// wins where such a file exists.
			if _, err := os.Lstat(rest); err != nil {
				if u, err := url.PathUnescape(rest); err == nil {
					if _, err := os.Lstat(u); err == nil {
						rest = u
					}
				}
			}
		}
		return filepath.Clean(rest), nil
	}
	if i := strings.Index(path, "://"); i > 0 && !strings.Contains(path[:i], "/") {
		return "", errs.Unsupportedf("path %s: the file system '%s' is not supported, only local files are", path, path[:i])
	}
	return filepath.Clean(filepath.FromSlash(path)), nil
}

// classify wraps an error of package os, naming the path.
func classify(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errs.NotFoundf("%s does not exist: %w", path, err)
	case strings.Contains(err.Error(), "not a directory"):
		return errs.NotFoundf("%s does not exist: %w", path, err)
	case errors.Is(err, fs.ErrExist):
		return errs.Conflictf("%s exists already: %w", path, err)
	case errors.Is(err, fs.ErrPermission):
		return errs.ReadOnlyf("%s: the operating system refuses access: %w", path, err)
	}
	return errs.New(errs.Unknown, "%s: %w", path, err)
}

type localFile struct {
	*os.File
	size int64
}

func (f *localFile) Size() int64 { return f.size }

// Open opens a file for reading.
func (l *Local) Open(ctx context.Context, path string) (File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := LocalPath(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(p)
	if err != nil {
		return nil, classify(path, err)
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, classify(path, err)
	}
	if st.IsDir() {
		f.Close()
		return nil, errs.Invalidf("%s is a directory, not a file", path)
	}
	return &localFile{File: f, size: st.Size()}, nil
}

// ReadFile reads a whole file.
func (l *Local) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := LocalPath(path)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(p)
	if err != nil {
		return nil, classify(path, err)
	}
	if st.IsDir() {
		return nil, errs.Invalidf("%s is a directory, not a file", path)
	}
	if st.Size() > MaxWholeFile {
		return nil, errs.Limitf("%s has %d bytes, more than the %d that are read at once", path, st.Size(), MaxWholeFile)
	}
	b, err := os.ReadFile(p)
	return b, classify(path, err)
}

// Stat describes a path.
func (l *Local) Stat(ctx context.Context, path string) (Info, error) {
	if err := ctx.Err(); err != nil {
		return Info{}, err
	}
	p, err := LocalPath(path)
	if err != nil {
		return Info{}, err
	}
	st, err := os.Stat(p)
	if err != nil {
		return Info{}, classify(path, err)
	}
	return infoOf(st), nil
}

func infoOf(st fs.FileInfo) Info {
	i := Info{Name: st.Name(), IsDir: st.IsDir(), ModTime: st.ModTime()}
	if !i.IsDir {
		i.Size = st.Size()
	}
	return i
}

// List lists a directory, in ascending order of names.
func (l *Local) List(ctx context.Context, dir string) ([]Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := LocalPath(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(p)
	if err != nil {
		return nil, classify(dir, err)
	}
	out := make([]Info, 0, len(entries))
	for _, e := range entries {
		// os.Stat, not e.Info: links are followed as Stat does; what vanished meanwhile is left out.
		st, err := os.Stat(filepath.Join(p, e.Name()))
		if err != nil {
			continue
		}
		i := infoOf(st)
		i.Name = e.Name()
		out = append(out, i)
	}
	return out, nil
}

// Names implements NameLister.
func (l *Local) Names(ctx context.Context, dir string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := LocalPath(dir)
	if err != nil {
		return nil, err
	}
	d, err := os.Open(p)
	if err != nil {
		return nil, classify(dir, err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	return names, classify(dir, err)
}

// tempPath returns a hidden name beside path that no reader of a table takes
// for a file of its own.
func tempPath(p string) string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return filepath.Join(filepath.Dir(p), "."+filepath.Base(p)+"."+hex.EncodeToString(b[:])+".tmp")
}

// createTemp makes a new temporary file beside p, and the directory where it is missing.
func createTemp(p string) (*os.File, error) {
	t := tempPath(p)
	f, err := os.OpenFile(t, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(t, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	}
	return f, err
}

// syncDir makes the names of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

type localWriter struct {
	f    *os.File
	path string
	p    string
	done bool
}

func (w *localWriter) Write(b []byte) (int, error) {
	n, err := w.f.Write(b)
	return n, classify(w.path, err)
}

func (w *localWriter) Close() error {
	if w.done {
		return errs.Invalidf("%s: the writer is closed", w.path)
	}
	w.done = true
	err := w.f.Sync()
	if cerr := w.f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(w.f.Name(), w.p)
	}
	if err != nil {
		_ = os.Remove(w.f.Name())
		return classify(w.path, err)
	}
	return classify(w.path, syncDir(filepath.Dir(w.p)))
}

func (w *localWriter) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	_ = w.f.Close()
	return classify(w.path, os.Remove(w.f.Name()))
}

// Create starts a new file.
func (l *Local) Create(ctx context.Context, path string) (Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := LocalPath(path)
	if err != nil {
		return nil, err
	}
	f, err := createTemp(p)
	if err != nil {
		return nil, classify(path, err)
	}
	return &localWriter{f: f, path: path, p: p}, nil
}

// PutIfAbsent publishes data under path by link(2), which fails where the name
// is taken: of any number of processes exactly one wins.
func (l *Local) PutIfAbsent(ctx context.Context, path string, data []byte) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	p, err := LocalPath(path)
	if err != nil {
		return false, err
	}
	if _, err := os.Lstat(p); err == nil {
		return false, nil
	}
	f, err := createTemp(p)
	if err != nil {
		return false, classify(path, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return false, classify(path, err)
	}
	if err := os.Link(f.Name(), p); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return false, classify(path, err)
	}
	return true, classify(path, syncDir(filepath.Dir(p)))
}

// Overwrite replaces the content of path; a reader sees the old or the new
// content, never a part.
func (l *Local) Overwrite(ctx context.Context, path string, data []byte) error {
	w, err := l.Create(ctx, path)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		_ = w.Abort()
		return err
	}
	return w.Close()
}

// Rename moves a file or directory; the target must not exist.
func (l *Local) Rename(ctx context.Context, from, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	pf, err := LocalPath(from)
	if err != nil {
		return err
	}
	pt, err := LocalPath(to)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(pf); err != nil {
		return classify(from, err)
	}
	if err := os.MkdirAll(filepath.Dir(pt), 0o755); err != nil {
		return classify(to, err)
	}
	if err := renameNoReplace(pf, pt); err != nil {
		return classify(to, err)
	}
	if err := syncDir(filepath.Dir(pt)); err != nil {
		return classify(to, err)
	}
	return classify(from, syncDir(filepath.Dir(pf)))
}

// Delete removes a file; a missing one is no error.
func (l *Local) Delete(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := LocalPath(path)
	if err != nil {
		return err
	}
	if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return classify(path, err)
	}
	return nil
}

// DeleteAll removes a directory and what is below it.
func (l *Local) DeleteAll(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := LocalPath(dir)
	if err != nil {
		return err
	}
	if p == filepath.Dir(p) {
		return errs.Invalidf("%s: the root directory cannot be removed", dir)
	}
	return classify(dir, os.RemoveAll(p))
}

// MkdirAll makes a directory and its parents.
func (l *Local) MkdirAll(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := LocalPath(dir)
	if err != nil {
		return err
	}
	return classify(dir, os.MkdirAll(p, 0o755))
}
