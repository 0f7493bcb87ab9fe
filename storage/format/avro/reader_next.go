package avro

import (
	"context"
	"fmt"
	"io"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxBatchBytes bounds the decoded bytes that a batch takes of a block.
const maxBatchBytes = 64 << 20

// reader yields the batches of some sections.
type reader struct {
	f        *File
	cols     []schema.Field
	builders []*column.Builder
	steps    []step
	missing  []int

	sections []section
	at, end  int64
	row      int64 // position of the next row
	d        decoder
	left     int64 // records left in the block
	stored   []byte
	block    []byte
	batch    column.Batch
	failed   error
}

// Read starts reading; see format.File.
func (f *File) Read(ctx context.Context, opts format.ReadOptions) (format.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	to := opts.ToSection
	if to <= 0 || to > len(f.sections) {
		to = len(f.sections)
	}
	from := min(max(opts.FromSection, 0), to)
	r := &reader{f: f, cols: opts.Columns, sections: f.sections[from:to]}
	var err error
	if r.steps, r.missing, err = planSteps(f.record, opts.Columns, ""); err != nil {
		return nil, f.wrap(err)
	}
	for i := range opts.Columns {
		r.builders = append(r.builders, schema.NewBuilder(opts.Columns[i].Type))
	}
	r.batch.Cols = make([]*column.Vector, len(opts.Columns))
	return r, nil
}

// Next returns the next batch; see format.Reader.
func (r *reader) Next(ctx context.Context) (b *column.Batch, err error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = errs.Corruptf("avro file %s is corrupt: %v", r.f.path, p)
		}
		if err != nil {
			b, r.failed = nil, err
		}
	}()
	b, err = r.next()
	if err != nil && err != io.EOF {
		return nil, r.f.wrap(err)
	}
	return b, err
}

func (r *reader) next() (*column.Batch, error) {
	for _, b := range r.builders {
		b.Reset()
	}
	r.d.elements = 0
	r.batch.N, r.batch.Base = 0, -1
	bytes := 0
	for r.batch.N < column.MaxRows && bytes < maxBatchBytes {
		if r.left == 0 {
			err := r.nextBlock(r.batch.Base >= 0)
			if err == io.EOF && r.batch.N > 0 {
				break
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		if r.batch.Base < 0 {
			r.batch.Base = r.row
		}
		start := r.d.pos
		if len(r.cols) == 0 {
			n := int(min(int64(column.MaxRows-r.batch.N), r.left))
			r.batch.N += n
			r.left -= int64(n)
			r.row += int64(n)
			continue
		}
		if err := r.record(); err != nil {
			return nil, fmt.Errorf("row %d: %w", r.row, err)
		}
		bytes += r.d.pos - start
		r.batch.N++
		r.left--
		r.row++
		if r.left == 0 && r.d.pos != len(r.d.b) {
			return nil, fmt.Errorf("row %d: its block has %d bytes behind its last record", r.row, len(r.d.b)-r.d.pos)
		}
	}
	for i, b := range r.builders {
		r.batch.Cols[i] = b.Finish()
	}
	return &r.batch, nil
}

// record decodes one record.
func (r *reader) record() error {
	if r.f.root.shape == shapeUnion {
		b, err := r.d.branch(r.f.root)
		if err != nil {
			return err
		}
		if b.shape == shapeNull {
			for _, b := range r.builders {
				b.AppendNull()
			}
			return nil
		}
	}
	if err := runSteps(&r.d, r.steps, func(i int) *column.Builder { return r.builders[i] }); err != nil {
		return err
	}
	for _, i := range r.missing {
		r.builders[i].AppendNull()
	}
	return nil
}

// nextBlock loads the next block. While a batch is being filled only a block
// that follows it directly will do; io.EOF ends the batch otherwise.
func (r *reader) nextBlock(inBatch bool) error {
	for r.at >= r.end {
		if len(r.sections) == 0 {
			return io.EOF
		}
		s := r.sections[0]
		if inBatch && s.FirstRow != r.row {
			return io.EOF
		}
		r.sections = r.sections[1:]
		r.at, r.end, r.row = s.from, s.to, s.FirstRow
	}
	head, err := r.f.readAt(r.stored, r.at, blockPeek)
	if err != nil {
		return err
	}
	d := decoder{b: head}
	rows, size, err := d.blockHeader()
	if err != nil {
		return err
	}
	body := r.at + int64(d.pos)
	if body+size+syncLen > r.end {
		return fmt.Errorf("the block at byte %d reaches beyond its section", r.at)
	}
	r.at = body + size + syncLen
	r.left = rows
	if len(r.cols) == 0 || rows == 0 {
		return nil
	}
	if r.stored, err = r.f.readAt(r.stored, body, int(size)); err != nil {
		return err
	}
	block, err := codecs[r.f.codec](r.block, r.stored)
	if err != nil {
		return fmt.Errorf("the block at byte %d cannot be decompressed (%s): %w", body, r.f.codec, err)
	}
	if r.f.codec != "null" {
		r.block = block
	}
	if rows > int64(max(len(block), maxEmptyRows)) {
		return fmt.Errorf("the block at byte %d claims %d records in %d bytes", body, rows, len(block))
	}
	r.d.b, r.d.pos = block, 0
	return nil
}

// Close ends reading.
func (r *reader) Close() error {
	r.failed = io.EOF
	r.builders, r.block, r.stored = nil, nil, nil
	return nil
}
