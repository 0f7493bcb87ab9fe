package schema

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

const filePrefix = "schema-"

// maxCachedSchemas bounds the schema files that a Cache keeps.
const maxCachedSchemas = 20_000

// Cache keeps parsed schema files by path. A schema file is never changed, but
// a table may be dropped and made anew under its name: an entry counts only
// while the file has its size and time. The zero value is ready.
type Cache struct {
	m sync.Map
	n atomic.Int64
}

// cached is a parsed file, as it was.
type cached struct {
	size   int64
	time   time.Time
	schema *TableSchema
}

func (c *Cache) load(path string, now fileio.Info) (*TableSchema, bool) {
	x, ok := c.m.Load(path)
	if !ok {
		return nil, false
	}
	e := x.(*cached)
	return e.schema, e.size == now.Size && e.time.Equal(now.ModTime)
}

func (c *Cache) store(path string, at fileio.Info, s *TableSchema) {
	if c.n.Add(1) > maxCachedSchemas {
		c.m.Clear()
		c.n.Store(1)
	}
	c.m.Store(path, &cached{size: at.Size, time: at.ModTime, schema: s})
}

// Drop forgets the schemas below a directory.
func (c *Cache) Drop(dir string) {
	c.m.Range(func(k, _ any) bool {
		if strings.HasPrefix(k.(string), dir+"/") {
			c.m.Delete(k)
		}
		return true
	})
}

// Manager reads the schema files of one branch directory (Paimon's SchemaManager).
type Manager struct {
	fio   fileio.FileIO
	dir   string
	cache *Cache
}

// NewManager returns the manager of a branch directory: the table's directory
// for main, `<table>/branch/branch-<name>` else. cache may be nil.
func NewManager(fio fileio.FileIO, branchDir string, cache *Cache) *Manager {
	if cache == nil {
		cache = &Cache{}
	}
	return &Manager{fio: fio, dir: path.Join(branchDir, "schema"), cache: cache}
}

// Dir is the directory of the schema files.
func (m *Manager) Dir() string { return m.dir }

// Path returns the path of a schema file.
func (m *Manager) Path(id int64) string { return m.dir + "/" + filePrefix + strconv.FormatInt(id, 10) }

// IDs lists the ids of the schema files, ascending; empty where the directory is missing.
func (m *Manager) IDs(ctx context.Context) ([]int64, error) {
	infos, err := m.fio.List(ctx, m.dir)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, i := range infos {
		if id, ok := NumberedName(i.Name, filePrefix); ok && !i.IsDir {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// NumberedName returns n of a name `<prefix>n`; names that are not decimal
// digits after the prefix do not count.
func NumberedName(name, prefix string) (int64, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || rest == "" {
		return 0, false
	}
	for _, c := range []byte(rest) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	return n, err == nil
}

// Get reads the schema of an id: errs.NotFound where its file is missing.
func (m *Manager) Get(ctx context.Context, id int64) (*TableSchema, error) {
	p := m.Path(id)
	info, err := m.fio.Stat(ctx, p)
	if err == nil {
		if s, ok := m.cache.load(p, info); ok {
			return s, nil
		}
	}
	var data []byte
	if err == nil {
		data, err = m.fio.ReadFile(ctx, p)
	}
	if err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil, errs.NotFoundf("schema %d does not exist: the file %s is missing; data files written with it cannot be read", id, p)
		}
		return nil, err
	}
	s, err := ParseTable(p, data)
	if err != nil {
		return nil, err
	}
	if s.ID != id {
		return nil, errs.Corruptf("schema file %s is damaged: it holds the id %d", p, s.ID)
	}
	m.cache.store(p, info, s)
	return s, nil
}

// Latest reads the schema with the highest id: errs.NotFound where there is none.
func (m *Manager) Latest(ctx context.Context) (*TableSchema, error) {
	ids, err := m.IDs(ctx)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, errs.NotFoundf("there is no schema in %s", m.dir)
	}
	return m.Get(ctx, ids[len(ids)-1])
}

// All reads every schema, ascending by id. Files that are damaged are left
// out and reported joined in err, beside the good ones.
func (m *Manager) All(ctx context.Context) ([]*TableSchema, error) {
	ids, err := m.IDs(ctx)
	if err != nil {
		return nil, err
	}
	var out []*TableSchema
	var bad []error
	for _, id := range ids {
		s, err := m.Get(ctx, id)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			bad = append(bad, err)
			continue
		}
		out = append(out, s)
	}
	return out, errors.Join(bad...)
}
