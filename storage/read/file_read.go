package read

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/evolution"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/index/fileindex"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// fileRequest says what to read of one data file.
type fileRequest struct {
	// fields are the table's columns, partition columns and system columns
	// (_SEQUENCE_NUMBER, _VALUE_KIND, _ROW_ID) among them, in the order of the result.
	fields []schema.Field
	// filter is over indexes into fields; rows that cannot match may be left out.
	filter predicate.Predicate
	// sections [from, to) of the file; to 0 = to the end.
	from, to int
	// positions asks for every row, without selection, vector or filter.
	positions bool
	// fileSequence gives every row the file's greatest sequence number.
	fileSequence bool
	// keep are the ids of fields whose pages are kept for later reads.
	keep []int
	// partition are the values of the partition columns.
	partition []column.Scalar
}

// filePlan says how the columns of a request come from a file.
type filePlan struct {
	mapping *evolution.Mapping
	// source of each requested field.
	sources []source
	read    []schema.Field
	filter  predicate.Predicate
}

// source says where a requested column comes from: column of the mapping, or a constant or a system rule.
type source struct {
	mapped int // index into the mapping's result, -1 none
	konst  *column.Vector
	system int // FieldID of a system column computed from position or metadata, 0 none
}

// openFile opens a data file for a request.
func (h *Handles) openFile(ctx context.Context, src *scan.Source, f *scan.File, req fileRequest) (relation.Reader, error) {
	file, release, err := h.acquire(ctx, src.FIO, f.Path, f.Meta.Size, f.Format)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Corruptf("table %s: data file %s is missing; a snapshot's expiry or somebody else removed it: read a newer snapshot, or restore the file", src.Label, f.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", src.Label, err)
	}
	r, err := h.readFile(ctx, src, f, file, req)
	if err != nil {
		release()
		return nil, fmt.Errorf("table %s: %w", src.Label, err)
	}
	r.release = release
	return r, nil
}

func (h *Handles) readFile(ctx context.Context, src *scan.Source, f *scan.File, file format.File, req fileRequest) (*fileReader, error) {
	p, err := planFile(ctx, src, f, file, req)
	if err != nil {
		return nil, err
	}
	if rows := file.Rows(); rows != f.Meta.RowCount {
		return nil, errs.Corruptf("data file %s holds %d rows; its manifest says %d", f.Path, rows, f.Meta.RowCount)
	}
	r := &fileReader{label: src.Label, file: f, plan: p}
	if !req.positions && f.Vector != nil {
		if r.vector, err = index.ReadVector(ctx, src.FIO, h.env.vectors, f.Vector.Path, f.Vector.Size, f.Vector.Range); err != nil {
			return nil, err
		}
	}
	if !req.positions {
		rows, ok, err := indexedRows(ctx, src, f, p)
		if err != nil {
			return nil, err
		}
		if ok {
			r.indexed = &rows
		}
	}
	opts := format.ReadOptions{
		Columns: p.read, Filter: p.filter, FromSection: req.from, ToSection: req.to,
		LegacyTimestampLTZ: legacyLTZ(ctx, src, f), Pages: h.env.pages,
	}
	for i, c := range p.read {
		if slices.Contains(req.keep, c.ID) {
			opts.PageColumns = append(opts.PageColumns, i)
		}
	}
	r.in, err = file.Read(ctx, opts)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// legacyLTZ reads the rule for ORC's TIMESTAMP_LTZ from the schema that the file was written with.
func legacyLTZ(ctx context.Context, src *scan.Source, f *scan.File) bool {
	s, err := src.Schemas.Get(ctx, f.Meta.SchemaID)
	return err != nil || schema.OptOrcLegacyLTZ.Value(s.Options)
}

// fileFields are the columns of a data file as its own schema names them.
func fileFields(ctx context.Context, src *scan.Source, f *scan.File, file format.File) ([]schema.Field, error) {
	s, err := src.Schemas.Get(ctx, f.Meta.SchemaID)
	if err != nil {
		return nil, err
	}
	fields := s.Fields
	if f.Meta.WriteColumns != nil {
		fields = schema.Select(fields, f.Meta.WriteColumns)
	}
	for _, sys := range []schema.Field{schema.SequenceField(), schema.KindField(), schema.RowIDField()} {
		if file.HasColumn(sys.Name) {
			fields = append(slices.Clone(fields), sys)
		}
	}
	return fields, nil
}

func planFile(ctx context.Context, src *scan.Source, f *scan.File, file format.File, req fileRequest) (*filePlan, error) {
	have, err := fileFields(ctx, src, f, file)
	if err != nil {
		return nil, err
	}
	p := &filePlan{sources: make([]source, len(req.fields))}
	var wanted []schema.Field
	for i, fd := range req.fields {
		p.sources[i].mapped = -1
		if k := slices.Index(src.Schema.PartitionKeys, fd.Name); k >= 0 && fd.ID < schema.KeyFieldIDStart {
			p.sources[i].konst = column.FromScalar(req.partition[k])
			continue
		}
		inFile := slices.ContainsFunc(have, func(x schema.Field) bool { return x.ID == fd.ID })
		if fd.ID == schema.FieldIDSequence && (req.fileSequence ||
			f.Meta.MinSequence == f.Meta.MaxSequence && schema.OptSeqSnapshotOrder.Value(src.Schema.Options)) {
			// Under snapshot ordering the committer stamped the snapshot id on the
			// file; the rows keep what the writer counted.
			p.sources[i].konst = column.FromScalar(column.IntScalar(column.KindInt64, f.Meta.MaxSequence))
			continue
		}
		switch fd.ID {
		case schema.FieldIDSequence, schema.FieldIDKind, schema.FieldIDRowID:
			p.sources[i].system = fd.ID
			if src.Schema.HasPrimaryKey() && !inFile && fd.ID != schema.FieldIDRowID {
				return nil, errs.Corruptf("data file %s of a primary-key table has no column %s", f.Path, fd.Name)
			}
			if !inFile {
				continue
			}
		}
		p.sources[i].mapped = len(wanted)
		wanted = append(wanted, fd)
	}
	if p.mapping, err = evolution.Map(have, wanted); err != nil {
		return nil, fmt.Errorf("data file %s: %w", f.Path, err)
	}
	p.read = p.mapping.Read()
	if req.filter != nil && !req.positions {
		p.filter = p.mapping.Filter(predicate.RemapColumns(req.filter, func(i int) int { return p.sources[i].mapped }))
	}
	return p, nil
}

// fileReader yields the rows of one file as the table's columns.
type fileReader struct {
	label  string
	file   *scan.File
	plan   *filePlan
	in     format.Reader
	vector *index.Vector
	// indexed are the rows that the file's indexes leave; nil = all.
	indexed *fileindex.Rows
	sel     []uint16
	sel2    []uint16
	release func()
}

func (r *fileReader) Next(ctx context.Context) (*column.Batch, error) {
	if r.indexed != nil && r.indexed.None() {
		return nil, io.EOF
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := r.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		out := &column.Batch{N: b.N, Sel: b.Sel, Base: b.Base}
		if r.vector != nil {
			if r.sel == nil {
				r.sel = make([]uint16, 0, column.MaxRows)
			}
			out.Sel = r.vector.Filter(b.Base, b.N, b.Sel, r.sel[:0])
		}
		if r.indexed != nil {
			if r.sel2 == nil {
				r.sel2 = make([]uint16, 0, column.MaxRows)
			}
			out.Sel = r.indexed.Filter(b.Base, b.N, out.Sel, r.sel2[:0])
		}
		if out.Rows() == 0 {
			continue
		}
		mappedBatch, err := r.plan.mapping.Apply(b)
		if err != nil {
			return nil, fmt.Errorf("table %s, data file %s: %w", r.label, r.file.Path, err)
		}
		mapped := mappedBatch.Cols
		out.Cols = make([]*column.Vector, len(r.plan.sources))
		for i, s := range r.plan.sources {
			switch {
			case s.konst != nil:
				out.Cols[i] = column.NewConst(s.konst, b.N)
			case s.system != 0:
				var stored *column.Vector
				if s.mapped >= 0 {
					stored = mapped[s.mapped]
				}
				if out.Cols[i], err = r.system(s.system, stored, b); err != nil {
					return nil, err
				}
			default:
				out.Cols[i] = mapped[s.mapped]
			}
		}
		return out, nil
	}
}

// system returns a system column: the stored one, filled up where it is null
// or missing by what the file's metadata says.
func (r *fileReader) system(id int, stored *column.Vector, b *column.Batch) (*column.Vector, error) {
	if stored != nil && !stored.HasNulls() {
		return stored, nil
	}
	m := r.file.Meta
	switch id {
	case schema.FieldIDKind:
		if stored != nil {
			return nil, errs.Corruptf("table %s, data file %s: a row has no row kind", r.label, r.file.Path)
		}
		return column.NewConst(column.FromScalar(column.IntScalar(column.KindInt32, 0)), b.N), nil
	case schema.FieldIDSequence:
		if stored == nil {
			return column.NewConst(column.FromScalar(column.IntScalar(column.KindInt64, m.MaxSequence)), b.N), nil
		}
		return fillNulls(stored, func(int) int64 { return m.MaxSequence }), nil
	}
	if m.FirstRowID == nil {
		return nil, errs.Corruptf("table %s, data file %s has no first row id", r.label, r.file.Path)
	}
	first := *m.FirstRowID + b.Base
	if stored != nil {
		return fillNulls(stored, func(i int) int64 { return first + int64(i) }), nil
	}
	return numbersFrom(first, b.N), nil
}

func fillNulls(v *column.Vector, value func(int) int64) *column.Vector {
	out := &column.Vector{Kind: column.KindInt64, N: v.N, I64: make([]int64, v.N)}
	for i := range out.I64 {
		if v.IsNull(i) {
			out.I64[i] = value(i)
		} else {
			out.I64[i] = v.Int(i)
		}
	}
	return out
}

func (r *fileReader) Close() error {
	err := r.in.Close()
	if r.release != nil {
		r.release()
	}
	return err
}
