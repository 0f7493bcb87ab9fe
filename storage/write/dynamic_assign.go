package write

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// assign finds the buckets of the logged rows and moves them to the buffer.
func (w *Writer) assign(ctx context.Context, st State, state map[*partition]*partitionState) error {
	var one func(Rows) error
	var finish func() error
	switch w.opts.mode {
	case schema.HashDynamic:
		a := &hashAssigner{w: w, ctx: ctx, state: state, parts: map[*partition]*hashPartition{}, hasher: binrow.NewHasher(w.keyTypes), hashes: make([]int32, column.MaxRows)}
		one, finish = a.rows, a.finish
	case schema.KeyDynamic:
		a := newKeyAssigner(w, state)
		if !w.overwrite && st.Snapshot != nil {
			if err := a.bootstrap(ctx, st); err != nil {
				return err
			}
		}
		one = func(rows Rows) error { return a.rows(ctx, rows) }
		finish = func() error { return nil }
	default:
		one = func(rows Rows) error { return w.postponeFixed(ctx, rows, state) }
		finish = func() error { return nil }
	}
	log := w.log
	err := log.replay(ctx, func(rows Rows) error {
		if err := w.router.route(&rows, w.partOf); err != nil {
			return err
		}
		return one(rows)
	})
	if err != nil {
		return err
	}
	log.rows.release()
	w.log = nil
	return finish()
}

// postponeFixed spreads rows of a postpone table over the buckets that their
// partition has, or will have.
func (w *Writer) postponeFixed(ctx context.Context, rows Rows, state map[*partition]*partitionState) error {
	byCount := map[int][]uint16{}
	each(rows.Sel, rows.N, func(i int) {
		n := w.postponeBuckets(state[w.router.all[w.partOf[i]]])
		byCount[n] = append(byCount[n], uint16(i))
	})
	counts := make([]int, 0, len(byCount))
	for n := range byCount {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	for _, n := range counts {
		b, err := w.newBucketer(n)
		if err != nil {
			return err
		}
		part := rows
		part.Sel = byCount[n]
		if err := w.fixedBuckets(&part, b); err != nil {
			return err
		}
		if err := w.place(ctx, part); err != nil {
			return err
		}
	}
	for _, s := range w.slots {
		s.buckets = w.postponeBuckets(state[s.part])
	}
	return nil
}

// postponeBuckets is the number of buckets of a postpone table's partition (PostponeUtils.determineBucketNum).
func (w *Writer) postponeBuckets(p *partitionState) int {
	switch {
	case p.buckets > 0:
		return p.buckets
	case w.replay && w.opts.postponeRows > 0:
		return int(min(max(1, (p.waiting-1)/w.opts.postponeRows+1), MaxRescaleBuckets))
	}
	return w.opts.buckets
}

// hashTable maps key hashes to buckets: open addressing, at most three quarters full.
type hashTable struct {
	keys    []int32
	buckets []int16 // -1 = free
	n       int
}

func (t *hashTable) find(h int32) (at int, ok bool) {
	mask := len(t.keys) - 1
	// Hashes are well mixed; their low bits choose buckets of a fixed count elsewhere, not here.
	for at = int(uint32(h)*0x9e3779b1>>1) & mask; ; at = (at + 1) & mask {
		if t.buckets[at] < 0 {
			return at, false
		}
		if t.keys[at] == h {
			return at, true
		}
	}
}

func (t *hashTable) get(h int32) (int, bool) {
	if t.n == 0 {
		return 0, false
	}
	at, ok := t.find(h)
	if !ok {
		return 0, false
	}
	return int(t.buckets[at]), true
}

func (t *hashTable) put(h int32, bucket int) {
	if 4*(t.n+1) > 3*len(t.keys) {
		t.grow(max(64, 2*len(t.keys)))
	}
	at, ok := t.find(h)
	if !ok {
		t.n++
	}
	t.keys[at], t.buckets[at] = h, int16(bucket)
}

// grow makes room; size is a power of two.
func (t *hashTable) grow(size int) {
	old := *t
	t.keys, t.buckets = make([]int32, size), make([]int16, size)
	for i := range t.buckets {
		t.buckets[i] = -1
	}
	for i, b := range old.buckets {
		if b >= 0 {
			at, _ := t.find(old.keys[i])
			t.keys[at], t.buckets[at] = old.keys[i], b
		}
	}
}

// hashPartition is the hash index of a partition.
type hashPartition struct {
	table hashTable
	// rows counts the keys of each bucket; ids are the buckets, ascending.
	rows map[int]int64
	ids  []int
	// old and fresh are the hashes of each bucket that were there, and that are new.
	old, fresh map[int][]int32
}

// bucket returns the bucket of a new key: the first that is not full, else a new
// one, else, where there may be no more, the emptiest.
func (p *hashPartition) bucket(target int64, most int) int {
	for _, b := range p.ids {
		if p.rows[b] < target {
			return b
		}
	}
	if len(p.ids) < most {
		for b := range maxDynamicBucket + 1 {
			if _, ok := p.rows[b]; !ok {
				p.ids = append(p.ids, b)
				slices.Sort(p.ids)
				p.rows[b] = 0
				return b
			}
		}
	}
	return slices.MinFunc(p.ids, func(a, b int) int { return int(p.rows[a] - p.rows[b]) })
}

// hashAssigner assigns dynamic buckets by the hash index (section 6.4).
type hashAssigner struct {
	w      *Writer
	ctx    context.Context
	state  map[*partition]*partitionState
	parts  map[*partition]*hashPartition
	hasher *binrow.Hasher
	hashes []int32
}

// partition loads the hash index of a partition, once.
func (a *hashAssigner) partition(p *partition) (*hashPartition, error) {
	if h := a.parts[p]; h != nil {
		return h, nil
	}
	h := &hashPartition{rows: map[int]int64{}, old: map[int][]int32{}, fresh: map[int][]int32{}}
	for bucket, b := range a.state[p].byID {
		if bucket < 0 || bucket > maxDynamicBucket {
			return nil, errs.Corruptf("table %s: a dynamic bucket has the number %d", a.w.t.Label, bucket)
		}
		h.rows[bucket] = 0
		h.ids = append(h.ids, bucket)
		if b.hash == nil {
			continue
		}
		path := index.Path(a.w.t.Dir, p.dir+bucketDir(bucket), b.hash, a.w.opts.indexInDataDir)
		hashes, err := index.ReadHashes(a.ctx, a.w.t.FIO, path)
		if err != nil {
			return nil, err
		}
		h.old[bucket], h.rows[bucket] = hashes, int64(len(hashes))
		for _, x := range hashes {
			h.table.put(x, bucket)
		}
	}
	slices.Sort(h.ids)
	a.parts[p] = h
	return h, nil
}

// rows assigns the rows of a batch; partOf is set.
func (a *hashAssigner) rows(rows Rows) error {
	w := a.w
	cols := make([]*column.Vector, len(w.keys))
	for i, k := range w.keys {
		cols[i] = rows.Cols[k]
	}
	a.hasher.Hash(a.hashes, cols, rows.Sel, rows.N)
	var failed error
	each(rows.Sel, rows.N, func(i int) {
		if failed != nil {
			return
		}
		h, err := a.partition(w.router.all[w.partOf[i]])
		if err != nil {
			failed = err
			return
		}
		bucket, ok := h.table.get(a.hashes[i])
		if !ok {
			bucket = h.bucket(w.opts.dynamicRows, w.opts.maxBuckets)
			h.table.put(a.hashes[i], bucket)
			h.fresh[bucket] = append(h.fresh[bucket], a.hashes[i])
			h.rows[bucket]++
		}
		w.bucketOf[i] = int32(bucket)
	})
	if failed != nil {
		return failed
	}
	return w.place(a.ctx, rows)
}

// finish writes the index files of the buckets that got new keys.
func (a *hashAssigner) finish() error {
	w := a.w
	for _, s := range w.slots {
		h := a.parts[s.part]
		if h == nil || len(h.fresh[s.bucket]) == 0 {
			continue
		}
		uuid, err := NewUUID(w.t.Rand)
		if err != nil {
			return err
		}
		hashes := append(slices.Clone(h.old[s.bucket]), h.fresh[s.bucket]...)
		e := manifest.IndexEntry{Kind: manifest.Add, Partition: s.part.framed, Bucket: s.bucket, Type: manifest.IndexHash, Name: "index-" + uuid + "-0", RowCount: int64(len(hashes))}
		path := w.hashPath(s, &e)
		w.created(path)
		if e.Size, err = writeHashes(a.ctx, w.t.FIO, path, hashes); err != nil {
			return err
		}
		s.index = append(s.index, e)
	}
	return nil
}

// writeHashes writes a HASH index file: big-endian integers.
func writeHashes(ctx context.Context, fio fileio.FileIO, path string, hashes []int32) (int64, error) {
	out := make([]byte, 0, 4*len(hashes))
	for _, h := range hashes {
		out = binary.BigEndian.AppendUint32(out, uint32(h))
	}
	f, err := fio.Create(ctx, path)
	if err != nil {
		return 0, err
	}
	if _, err = f.Write(out); err == nil {
		err = f.Close()
	}
	if err != nil {
		_ = f.Abort()
	}
	return int64(len(out)), err
}
