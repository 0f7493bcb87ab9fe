package format

import (
	"bytes"
	"fmt"
	"testing"
)

func TestPageCacheKeepsCopies(t *testing.T) {
	c := NewPageCache(1 << 20)
	page := []byte("a page")
	k := PageKey{"t/bucket-0/data-1.parquet", 4}
	c.Put(k, page, 64)
	if _, ok := c.Get(k); ok {
		t.Fatal("a page offered once was kept")
	}
	c.Put(k, page, 64)
	page[0] = 'X'
	got, ok := c.Get(k)
	if !ok || !bytes.Equal(got, []byte("a page")) || cap(got)-len(got) < 64 {
		t.Fatalf("kept %q (spare %d), %v", got, cap(got)-len(got), ok)
	}
	if _, ok := c.Get(PageKey{k.Path, 5}); ok {
		t.Fatal("a page of another offset was found")
	}
	var none *PageCache
	none.Put(k, page, 0)
	if _, ok := none.Get(k); ok {
		t.Fatal("no cache kept a page")
	}
}

// Scans of twice what fits, again and again, still find a good part of it.
func TestPageCacheStandsLongScans(t *testing.T) {
	const pages, size = 200, 1000
	c := NewPageCache(pages / 2 * size)
	hits := 0
	for scan := range 10 {
		hits = 0
		for i := range pages {
			k := PageKey{fmt.Sprint("file-", i), 4}
			if _, ok := c.Get(k); ok {
				hits++
			} else {
				c.Put(k, make([]byte, size), 0)
			}
		}
		if s := c.Stats(); s.Bytes > pages/2*size {
			t.Fatalf("scan %d: %d bytes are kept, more than %d", scan, s.Bytes, pages/2*size)
		}
	}
	if hits < pages/4 {
		t.Fatalf("the last scan found %d of %d pages", hits, pages)
	}
}
