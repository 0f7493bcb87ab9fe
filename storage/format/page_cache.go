package format

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/tributarydb/tributary/storage/cache"
)

// PageKey names a page of a data file. Data files never change, so their path is enough.
type PageKey struct {
	Path string
	// Offset is where the stored page begins.
	Offset int64
}

// admitEvery is how many pages are turned away for one that is let in once the
// cache is full. A scan of more than fits would otherwise replace every page before
// its next use; so most of what is kept stays.
const admitEvery = 16

// seenPages is how many pages are remembered as offered once. A power of two.
const seenPages = 1 << 14

// PageCache keeps decompressed pages for later readers, from the second time on that
// a page is offered: whoever reads a table once does not fill the cache. A nil cache keeps
// nothing. It is safe for concurrent use.
type PageCache struct {
	lru  *cache.LRU[PageKey, []byte]
	max  int64
	full atomic.Uint64
	seed maphash.Seed
	// seen has hashes of pages offered once, each in the place that its low bits name: a newer
	// page takes the place of an older one, which is then offered in vain once more.
	seen [seenPages]atomic.Uint64
}

// NewPageCache returns a cache of at most maxBytes.
func NewPageCache(maxBytes int64) *PageCache {
	return &PageCache{lru: cache.New[PageKey, []byte](maxBytes), max: maxBytes, seed: maphash.MakeSeed()}
}

// Get returns a kept page, which must not be changed.
func (c *PageCache) Get(k PageKey) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	return c.lru.Get(k)
}

// Put offers a page. What is kept is a copy with at least padding bytes of spare capacity.
func (c *PageCache) Put(k PageKey, page []byte, padding int) {
	if c == nil {
		return
	}
	hash := maphash.Comparable(c.seed, k)
	if c.seen[hash%seenPages].Swap(hash) != hash {
		return
	}
	size := int64(len(page) + padding)
	if c.lru.Stats().Bytes+size > c.max && c.full.Add(1)%admitEvery != 0 {
		return
	}
	kept := make([]byte, len(page), len(page)+padding)
	copy(kept, page)
	c.lru.Put(k, kept, size)
}

// Forget drops the pages of the files that match: a full cache would be slow to take others in their place.
func (c *PageCache) Forget(match func(path string) bool) {
	c.lru.RemoveFunc(func(k PageKey) bool { return match(k.Path) })
}

// Stats returns the cache's counters.
func (c *PageCache) Stats() cache.Stats { return c.lru.Stats() }
