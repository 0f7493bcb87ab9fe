package cache

import (
	"container/list"
	"context"
	"sync"
)

// LRU is a cache of immutable values, safe for concurrent use.
type LRU[K comparable, V any] struct {
	mu      sync.Mutex
	max     int64
	used    int64
	order   *list.List // of *item[K, V], most recently used first
	items   map[K]*list.Element
	loading map[K]*load[V]
	stats   Stats
}

type item[K comparable, V any] struct {
	key  K
	val  V
	size int64
}

type load[V any] struct {
	done chan struct{}
	val  V
	err  error
}

// Stats counts what happened since the cache was made.
type Stats struct {
	Hits, Misses, Evictions int64
	// Bytes and Entries are what is kept now.
	Bytes   int64
	Entries int
}

// New returns a cache of at most maxBytes; 0 or less keeps nothing.
func New[K comparable, V any](maxBytes int64) *LRU[K, V] {
	return &LRU[K, V]{max: maxBytes, order: list.New(), items: map[K]*list.Element{}, loading: map[K]*load[V]{}}
}

// Stats returns the counters.
func (c *LRU[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Bytes, s.Entries = c.used, len(c.items)
	return s
}

// Get returns a kept value.
func (c *LRU[K, V]) Get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.get(k)
	if ok {
		c.stats.Hits++
	} else {
		c.stats.Misses++
	}
	return v, ok
}

func (c *LRU[K, V]) get(k K) (v V, ok bool) {
	e, ok := c.items[k]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*item[K, V]).val, true
}

// Put keeps a value of the given size in bytes; one larger than the cache is not kept.
func (c *LRU[K, V]) Put(k K, v V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(k, v, size)
}

func (c *LRU[K, V]) put(k K, v V, size int64) {
	c.remove(k)
	if size > c.max {
		return
	}
	c.items[k] = c.order.PushFront(&item[K, V]{k, v, size})
	c.used += size
	for c.used > c.max {
		c.remove(c.order.Back().Value.(*item[K, V]).key)
		c.stats.Evictions++
	}
}

// Remove forgets a value.
func (c *LRU[K, V]) Remove(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(k)
}

// RemoveFunc forgets the values whose keys match. It looks at all keys.
func (c *LRU[K, V]) RemoveFunc(match func(K) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.items {
		if match(k) {
			c.remove(k)
		}
	}
}

func (c *LRU[K, V]) remove(k K) {
	if e, ok := c.items[k]; ok {
		c.used -= e.Value.(*item[K, V]).size
		c.order.Remove(e)
		delete(c.items, k)
	}
}

// Load returns a kept value, or loads and keeps it. Callers that ask for the
// same key meanwhile wait for the one load; where that fails because its own
// caller gave up, one of them loads anew. Errors are not kept.
func (c *LRU[K, V]) Load(ctx context.Context, k K, fn func(context.Context) (v V, size int64, err error)) (V, error) {
	for {
		c.mu.Lock()
		if v, ok := c.get(k); ok {
			c.stats.Hits++
			c.mu.Unlock()
			return v, nil
		}
		l, busy := c.loading[k]
		if !busy {
			l = &load[V]{done: make(chan struct{})}
			c.loading[k] = l
			c.stats.Misses++
			c.mu.Unlock()
			return c.run(ctx, k, l, fn)
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			var zero V
			return zero, ctx.Err()
		case <-l.done:
		}
		if l.err == nil {
			c.mu.Lock()
			c.stats.Hits++
			c.mu.Unlock()
			return l.val, nil
		}
		if l.err != context.Canceled && l.err != context.DeadlineExceeded {
			return l.val, l.err
		}
	}
}

func (c *LRU[K, V]) run(ctx context.Context, k K, l *load[V], fn func(context.Context) (V, int64, error)) (V, error) {
	var size int64
	l.err = context.Canceled // what waiting callers see if fn panics
	defer func() {
		c.mu.Lock()
		delete(c.loading, k)
		if l.err == nil {
			c.put(k, l.val, size)
		}
		c.mu.Unlock()
		close(l.done)
	}()
	var err error
	l.val, size, err = fn(ctx)
	if err != nil && ctx.Err() != nil {
		l.err = ctx.Err()
		return l.val, err
	}
	l.err = err
	return l.val, err
}
