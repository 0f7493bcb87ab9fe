package parquet

import (
	"sync"

	"github.com/tributarydb/tributary/storage/column"
)

// maxDictCache bounds the bytes of dictionary pages whose vectors an open file keeps.
const maxDictCache = 32 << 20

// dictKey names a dictionary: of a column chunk, as one kind of vector.
type dictKey struct {
	group, leaf int
	conv        conversion
	kind        column.Kind
}

type dictEntry struct {
	key  dictKey
	dict *column.Vector
	n    int
	size int
}

// dictCache keeps the dictionaries of the chunks read last, for the readers of
// other sections of the same row group. The zero value is ready.
type dictCache struct {
	mu      sync.Mutex
	entries []dictEntry // oldest first
	size    int
}

// get returns a dictionary and the number of its entries that codes may name; nil where it is not there.
func (c *dictCache) get(key dictKey) (*column.Vector, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.entries {
		if c.entries[i].key == key {
			return c.entries[i].dict, c.entries[i].n
		}
	}
	return nil, 0
}

func (c *dictCache) put(key dictKey, dict *column.Vector, n, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(c.entries, dictEntry{key, dict, n, size})
	c.size += size
	for c.size > maxDictCache && len(c.entries) > 1 {
		c.size -= c.entries[0].size
		c.entries[0] = dictEntry{}
		c.entries = c.entries[1:]
	}
}
