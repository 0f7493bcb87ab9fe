package manifest

import (
	"context"
	"path"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/cache"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
)

// DefaultParallelism bounds the manifests of one call that are read at a time.
const DefaultParallelism = 16

// Cache keeps decoded manifests by path: names are unique and files never
// change. One cache serves all tables.
type Cache struct {
	lists     *cache.LRU[string, []FileInfo]
	manifests *cache.LRU[string, []Entry]
	indexes   *cache.LRU[string, []IndexEntry]
}

// NewCache returns a cache of about maxBytes.
func NewCache(maxBytes int64) *Cache {
	return &Cache{
		lists:     cache.New[string, []FileInfo](maxBytes / 8),
		manifests: cache.New[string, []Entry](maxBytes / 4 * 3),
		indexes:   cache.New[string, []IndexEntry](maxBytes / 8),
	}
}

// Stats sums the counters of the kinds of files.
func (c *Cache) Stats() cache.Stats {
	out := c.lists.Stats()
	for _, s := range []cache.Stats{c.manifests.Stats(), c.indexes.Stats()} {
		out.Hits += s.Hits
		out.Misses += s.Misses
		out.Evictions += s.Evictions
		out.Bytes += s.Bytes
		out.Entries += s.Entries
	}
	return out
}

// Forget drops what is kept of files that were deleted. The rest of the paths does not matter.
func (c *Cache) Forget(paths []string) {
	for _, p := range paths {
		c.lists.Remove(p)
		c.manifests.Remove(p)
		c.indexes.Remove(p)
	}
}

// Store reads the manifests of one table, of all its branches: they share a directory.
type Store struct {
	fio   fileio.FileIO
	dir   string
	cache *Cache
}

// NewStore returns the store of a table directory. A nil cache keeps nothing.
func NewStore(fio fileio.FileIO, tableDir string, c *Cache) *Store {
	if c == nil {
		c = NewCache(0)
	}
	return &Store{fio: fio, dir: path.Join(tableDir, "manifest"), cache: c}
}

// Path returns the path of a manifest, manifest list or index manifest.
func (s *Store) Path(name string) string { return s.dir + "/" + name }

// read reads a file; size is what its referrer recorded, -1 unknown.
func (s *Store) read(ctx context.Context, what, name string, size int64) ([]byte, error) {
	if name == "" || path.Base(name) != name {
		return nil, errs.Corruptf("a %s is named '%s'", what, name)
	}
	p := s.Path(name)
	data, err := s.fio.ReadFile(ctx, p)
	if err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil, errs.NotFoundf("%s %s is missing: the snapshot that needs it has expired meanwhile, or the table is damaged", what, p)
		}
		return nil, err
	}
	if size >= 0 && int64(len(data)) != size {
		return nil, errs.Corruptf("%s %s is damaged: it has %d bytes instead of %d", what, p, len(data), size)
	}
	return data, nil
}

// ReadList reads a manifest list; the result is shared and must not be changed.
func (s *Store) ReadList(ctx context.Context, name string) ([]FileInfo, error) {
	return s.cache.lists.Load(ctx, s.Path(name), func(ctx context.Context) ([]FileInfo, int64, error) {
		data, err := s.read(ctx, "manifest list", name, -1)
		if err != nil {
			return nil, 0, err
		}
		out, err := s.decodeList(ctx, name, data)
		return out, int64(len(data)) + 256*int64(len(out)) + 64, err
	})
}

// ReadManifest reads a manifest's entries; size is the length that the list
// records, -1 unknown. The result is shared and must not be changed.
func (s *Store) ReadManifest(ctx context.Context, name string, size int64) ([]Entry, error) {
	return s.cache.manifests.Load(ctx, s.Path(name), func(ctx context.Context) ([]Entry, int64, error) {
		data, err := s.read(ctx, "manifest", name, size)
		if err != nil {
			return nil, 0, err
		}
		out, err := s.decodeManifest(ctx, name, data)
		return out, weigh(out), err
	})
}

// weigh estimates the memory of entries.
func weigh(entries []Entry) int64 {
	n := int64(64)
	for i := range entries {
		f := entries[i].File
		n += 448 + int64(len(f.Name)+len(entries[i].Partition)+len(f.MinKey)+len(f.MaxKey)+len(f.EmbeddedIndex)+
			len(f.KeyStats.Min)+len(f.KeyStats.Max)+len(f.ValueStats.Min)+len(f.ValueStats.Max)+
			8*len(f.KeyStats.Nulls)+8*len(f.ValueStats.Nulls))
		for _, list := range [][]string{f.ExtraFiles, f.StatsColumns, f.WriteColumns} {
			for _, x := range list {
				n += 16 + int64(len(x))
			}
		}
	}
	return n
}

// ReadIndexManifest reads an index manifest; "" gives none. The result is
// shared and must not be changed.
func (s *Store) ReadIndexManifest(ctx context.Context, name string) ([]IndexEntry, error) {
	if name == "" {
		return nil, nil
	}
	return s.cache.indexes.Load(ctx, s.Path(name), func(ctx context.Context) ([]IndexEntry, int64, error) {
		data, err := s.read(ctx, "index manifest", name, -1)
		if err != nil {
			return nil, 0, err
		}
		out, err := s.decodeIndex(ctx, name, data)
		size := 2*int64(len(data)) + 64
		for i := range out {
			size += 192 + 64*int64(len(out[i].Ranges))
		}
		return out, size, err
	})
}

// ReadManifests reads many manifests in parallel; result i belongs to infos[i].
func (s *Store) ReadManifests(ctx context.Context, infos []FileInfo) ([][]Entry, error) {
	out := make([][]Entry, len(infos))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(DefaultParallelism)
	for i := range infos {
		g.Go(func() (err error) {
			defer errs.Recover(&err, "reading manifest "+infos[i].Name)
			out[i], err = s.ReadManifest(gctx, infos[i].Name, infos[i].Size)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return out, nil
}

// Live reads manifests and returns the entries of the files that are live:
// added and not deleted, in the manifests' order. keep, where not nil, selects
// by partition, bucket and level only: it sees additions and deletions alike.
// partitionTypes are the types of the partition columns.
func (s *Store) Live(ctx context.Context, infos []FileInfo, partitionTypes []*schema.Type, keep func(*Entry) bool) ([]*Entry, error) {
	all, err := s.ReadManifests(ctx, infos)
	if err != nil {
		return nil, err
	}
	return Merge(all, partitionTypes, keep)
}
