package exec

import (
	"math/bits"
	"sync"

	"github.com/tributarydb/tributary/storage/column"
)

// Memory that was touched before is many times cheaper than fresh memory, so that the arrays of hash tables are kept by the
// process from query to query.
const (
	// maxKeptBytes bounds what is kept for one type of element.
	maxKeptBytes = 128 << 20
	// minSlab is the least size, in elements, that is kept.
	minSlab = 1024
)

// slabPool keeps arrays by their size, a power of two.
type slabPool[T any] struct {
	mu   sync.Mutex
	free [48][][]T
	kept int
	size int
}

var (
	slabs64  = slabPool[uint64]{size: 8}
	slabsInt = slabPool[int64]{size: 8}
	slabsSum = slabPool[column.Int128]{size: 16}
	slabsF64 = slabPool[float64]{size: 8}
)

// get returns an array of n zeros whose capacity is the next power of two.
func (p *slabPool[T]) get(n int) []T {
	c := bits.Len(uint(max(n, minSlab) - 1))
	p.mu.Lock()
	if f := p.free[c]; len(f) > 0 {
		b := f[len(f)-1]
		p.free[c] = f[:len(f)-1]
		p.kept -= cap(b) * p.size
		p.mu.Unlock()
		clear(b[:cap(b)])
		return b[:n]
	}
	p.mu.Unlock()
	return make([]T, n, 1<<c)
}

// put gives an array of get back.
func (p *slabPool[T]) put(b []T) {
	n := cap(b)
	if n < minSlab || n&(n-1) != 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept+n*p.size > maxKeptBytes {
		return
	}
	p.kept += n * p.size
	c := bits.Len(uint(n - 1))
	p.free[c] = append(p.free[c], b[:0])
}

// extend makes an array longer; the new elements are 0.
func (p *slabPool[T]) extend(b []T, n int) []T {
	if n <= cap(b) {
		return b[:n] // beyond the old length memory is zero: it came so and never shrinks
	}
	c := p.get(n)
	copy(c, b)
	p.put(b)
	return c
}
