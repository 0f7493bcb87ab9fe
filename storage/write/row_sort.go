package write

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxSortRuns is the number of sorted runs that are merged at a time: each has one batch in memory.
const maxSortRuns = 128

// RowSorter sorts rows of the table's columns by keys of bytes: in memory, and beyond the write
// buffer in sorted runs in temporary files, which are merged. Rows of equal keys keep the order
// of their arrival. It is for one goroutine.
type RowSorter struct {
	w *Writer
	// rows have the table's columns and the key.
	rows  *rowBuffer
	order []sortRow
	runs  []spillSegment
	files []*spillFile
}

// sortRow is a row with the first bytes of its key.
type sortRow struct {
	prefix uint64
	row    uint32
}

// NewRowSorter returns an empty sorter; Close gives memory and files back.
func (w *Writer) NewRowSorter() *RowSorter {
	return &RowSorter{w: w, rows: newRowBuffer(sortFields(w.fields))}
}

// sortFields are a table's columns and the key.
func sortFields(fields []schema.Field) []schema.Field {
	return append(slices.Clip(fields), schema.Field{Name: "key", Type: &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}})
}

// Add copies the rows of a batch that count; keys has the key of every row of the batch.
func (s *RowSorter) Add(ctx context.Context, b *column.Batch, keys *column.Vector) error {
	if b.Rows() == 0 {
		return nil
	}
	n := len(s.w.fields)
	s.rows.add(append(b.Cols[:n:n], keys), b.Sel, b.N)
	if s.rows.bytes() < s.w.opts.bufferBytes {
		return nil
	}
	return s.spill(ctx)
}

// sorted returns the numbers of the rows in memory in their order.
func (s *RowSorter) sorted() []uint32 {
	keys := s.rows.cols[len(s.w.fields)].vector()
	s.order = s.order[:0]
	for i := range s.rows.n {
		s.order = append(s.order, sortRow{keyPrefix(keys.Bytes(i)), uint32(i)})
	}
	slices.SortFunc(s.order, func(a, b sortRow) int {
		if a.prefix != b.prefix {
			if a.prefix < b.prefix {
				return -1
			}
			return 1
		}
		if c := bytes.Compare(keys.Bytes(int(a.row)), keys.Bytes(int(b.row))); c != 0 {
			return c
		}
		return int(a.row) - int(b.row)
	})
	out := make([]uint32, len(s.order))
	for i, r := range s.order {
		out[i] = r.row
	}
	return out
}

// keyPrefix are the first eight bytes of a key, shorter ones filled up with zeros.
func keyPrefix(k []byte) uint64 {
	if len(k) >= 8 {
		return binary.BigEndian.Uint64(k)
	}
	var b [8]byte
	copy(b[:], k)
	return binary.BigEndian.Uint64(b[:])
}

// spill moves the rows in memory to a temporary file, sorted.
func (s *RowSorter) spill(ctx context.Context) error {
	if s.rows.n == 0 {
		return nil
	}
	in := lsm.ReadRows(&column.Batch{N: s.rows.n, Cols: s.rows.vectors()}, s.sorted())
	if err := s.write(ctx, in); err != nil {
		return err
	}
	s.rows.reset()
	if len(s.runs) < maxSortRuns {
		return nil
	}
	runs, files := s.runs, s.files
	s.runs, s.files = nil, nil
	m, err := s.merge(ctx, runs)
	if err == nil {
		err = errors.Join(s.write(ctx, m), m.Close())
	}
	for _, f := range files {
		f.close()
	}
	return err
}

// write copies a sorted run to a temporary file.
func (s *RowSorter) write(ctx context.Context, in lsm.RunReader) error {
	f, err := newSpillFile(s.w.t.TempDir)
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	seg := spillSegment{file: f, shapes: shapesOf(s.rows.vectors())}
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			seg.end = f.end
			s.runs = append(s.runs, seg)
			return nil
		}
		if err == nil {
			err = f.append(b)
		}
		if err != nil {
			return err
		}
	}
}

// Sorted returns the rows in the order of their keys: batches of the table's columns and the key,
// each good until the next call. No rows may be added any more.
func (s *RowSorter) Sorted(ctx context.Context) (relation.Reader, error) {
	if len(s.runs) == 0 {
		return lsm.ReadRows(&column.Batch{N: s.rows.n, Cols: s.rows.vectors()}, s.sorted()), nil
	}
	if err := s.spill(ctx); err != nil {
		return nil, err
	}
	return s.merge(ctx, s.runs)
}

// Close gives memory and temporary files back.
func (s *RowSorter) Close() {
	s.rows.release()
	for _, f := range s.files {
		f.close()
	}
	s.files, s.runs, s.order = nil, nil, nil
}

// merge merges sorted runs; of equal keys the rows of earlier runs come first.
func (s *RowSorter) merge(ctx context.Context, runs []spillSegment) (*sortMerge, error) {
	m := &sortMerge{out: newRowBuffer(sortFields(s.w.fields)), key: len(s.w.fields), sel: make([]uint16, 0, column.MaxRows)}
	for i, seg := range runs {
		c := &sortCursor{in: seg.open(), key: m.key, run: i}
		ok, err := c.load(ctx)
		if err != nil {
			return nil, err
		}
		if ok {
			m.heap = append(m.heap, c)
		}
	}
	heap.Init(&m.heap)
	return m, nil
}

// sortCursor is a position in a sorted run.
type sortCursor struct {
	in       *spillReader
	key, run int
	batch    *column.Batch
	at       int
	prefix   uint64
}

// load reads the next batch; false = there is none.
func (c *sortCursor) load(ctx context.Context) (bool, error) {
	for {
		b, err := c.in.Next(ctx)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if b.N > 0 {
			c.batch = b
			c.seek(0)
			return true, nil
		}
	}
}

func (c *sortCursor) seek(at int) {
	c.at = at
	c.prefix = keyPrefix(c.batch.Cols[c.key].Bytes(at))
}

func (c *sortCursor) less(o *sortCursor) bool {
	if c.prefix != o.prefix {
		return c.prefix < o.prefix
	}
	if d := bytes.Compare(c.batch.Cols[c.key].Bytes(c.at), o.batch.Cols[o.key].Bytes(o.at)); d != 0 {
		return d < 0
	}
	return c.run < o.run
}

type sortHeap []*sortCursor

func (h sortHeap) Len() int           { return len(h) }
func (h sortHeap) Less(i, j int) bool { return h[i].less(h[j]) }
func (h sortHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sortHeap) Push(x any)        { *h = append(*h, x.(*sortCursor)) }
func (h *sortHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// sortMerge reads sorted runs as one.
type sortMerge struct {
	heap sortHeap
	out  *rowBuffer
	key  int
	// sel are rows of the batch of the cursor from that are to be copied.
	sel  []uint16
	from *sortCursor
}

// Close gives the memory of the batches back.
func (m *sortMerge) Close() error {
	m.out.release()
	return nil
}

// Next returns the next batch.
func (m *sortMerge) Next(ctx context.Context) (*column.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.out.reset()
	for len(m.heap) > 0 && m.out.n+len(m.sel) < column.MaxRows {
		c := m.heap[0]
		if c != m.from {
			m.copy()
			m.from = c
		}
		m.sel = append(m.sel, uint16(c.at))
		if c.at+1 < c.batch.N {
			c.seek(c.at + 1)
			heap.Fix(&m.heap, 0)
			continue
		}
		m.copy()
		ok, err := c.load(ctx)
		if err != nil {
			return nil, err
		}
		if ok {
			heap.Fix(&m.heap, 0)
		} else {
			heap.Pop(&m.heap)
		}
	}
	m.copy()
	if m.out.n == 0 {
		return nil, io.EOF
	}
	return &column.Batch{N: m.out.n, Cols: m.out.vectors()}, nil
}

// copy takes the selected rows over.
func (m *sortMerge) copy() {
	if len(m.sel) > 0 {
		m.out.add(m.from.batch.Cols, m.sel, m.from.batch.N)
		m.sel = m.sel[:0]
	}
}
