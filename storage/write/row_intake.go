package write

import (
	"strings"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/schema"
)

// Rows are checked rows of a table: every column of the schema, and the row
// kinds by vector index; nil = all +I. They are valid as long as what they were made of.
type Rows struct {
	Cols  []*column.Vector
	N     int
	Sel   []uint16
	Kinds []int32
}

// Count is the number of rows that count.
func (r *Rows) Count() int {
	if r.Sel != nil {
		return len(r.Sel)
	}
	return r.N
}

// Static are partition values that rows must have, by column index.
type Static map[int]column.Scalar

// Intake checks the rows of one statement (section 2.5): nulls, defaults, row
// kinds, the static partition. It is for one goroutine.
type Intake struct {
	label   string
	schema  *schema.TableSchema
	engine  *lsm.Engine
	notNull []int
	// defaults are vectors of one row, nil where a column has none.
	defaults  []*column.Vector
	static    Static
	kindField int
	// ignoreDelete drops -D and -U, ignoreBefore -U only.
	ignoreDelete, ignoreBefore bool
	// refused are the answers of CheckRetract by row kind.
	refused [4]error
	asked   [4]bool
	seen    int64
}

// NewIntake reads what a table asks of its rows.
func NewIntake(label string, s *schema.TableSchema, static Static) (*Intake, error) {
	in := &Intake{label: label, schema: s, static: static, kindField: -1, defaults: make([]*column.Vector, len(s.Fields))}
	for i, f := range s.Fields {
		if f.Type.NotNull {
			in.notNull = append(in.notNull, i)
		}
		if f.Default == nil {
			continue
		}
		v, err := DefaultValue(f)
		if err != nil {
			return nil, errs.Invalidf("table %s: %w", label, err)
		}
		if !v.IsNull(0) {
			in.defaults[i] = v
		}
	}
	if s.HasPrimaryKey() {
		var err error
		if in.engine, err = NewEngine(s); err != nil {
			return nil, err
		}
		if name := schema.OptRowKindField.Value(s.Options); name != "" {
			in.kindField = s.Index(name)
			if in.kindField < 0 || schema.KindOf(s.Fields[in.kindField].Type) != column.KindBytes {
				return nil, errs.Invalidf("table %s: option 'rowkind.field' names '%s', which is no column of a string type", label, name)
			}
		}
		if in.ignoreDelete, err = schema.OptIgnoreDelete.Get(s.Options); err != nil {
			return nil, err
		}
		if in.ignoreBefore, err = schema.OptIgnoreUpdateBefore.Get(s.Options); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// NewEngine is the merge engine of a primary-key table.
func NewEngine(s *schema.TableSchema) (*lsm.Engine, error) {
	return lsm.NewEngine(lsm.TableInfo{Fields: s.Fields, PrimaryKeys: s.PrimaryKeys, Options: s.Options})
}

// DefaultValue converts a column's default text to a vector of one row. A text in single quotes is taken out of them first.
func DefaultValue(f schema.Field) (*column.Vector, error) {
	text := *f.Default
	if len(text) >= 2 && strings.HasPrefix(text, "'") && strings.HasSuffix(text, "'") {
		text = text[1 : len(text)-1]
	}
	conv, err := cast.New(&schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, f.Type)
	if err != nil {
		return nil, errs.Invalidf("the default value '%s' of column '%s' does not fit its type %s: %w", text, f.Name, f.Type, err)
	}
	v, err := conv(column.FromScalar(column.BytesScalar([]byte(text))))
	if err != nil {
		return nil, errs.Invalidf("the default value '%s' of column '%s' does not fit its type %s: %w", text, f.Name, f.Type, err)
	}
	return column.Flatten(v), nil
}

// Taken is the number of rows taken: all that were offered, those that ignore-delete and the like drop included.
func (in *Intake) Taken() int64 { return in.seen }

// Check checks the rows of b that count and returns those to write. kinds are by vector index, nil = all +I.
func (in *Intake) Check(b *column.Batch, kinds []int32) (Rows, error) {
	out := Rows{Cols: b.Cols, N: b.N, Sel: b.Sel, Kinds: kinds}
	if err := in.checkShape(b, kinds); err != nil {
		return out, err
	}
	if err := in.checkNulls(b); err != nil {
		return out, err
	}
	out.Cols = in.fillDefaults(b)
	if err := in.checkStatic(&out); err != nil {
		return out, err
	}
	err := in.deriveKinds(&out)
	in.seen += int64(b.Rows())
	return out, err
}

func (in *Intake) checkShape(b *column.Batch, kinds []int32) error {
	if len(b.Cols) != len(in.schema.Fields) {
		return errs.Invalidf("table %s has %d columns, but %d were given", in.label, len(in.schema.Fields), len(b.Cols))
	}
	if b.N > column.MaxRows {
		return errs.Invalidf("a batch has %d rows, more than %d", b.N, column.MaxRows)
	}
	if kinds != nil && len(kinds) < b.N {
		return errs.Invalidf("%d row kinds were given for %d rows", len(kinds), b.N)
	}
	for i, c := range b.Cols {
		if f := &in.schema.Fields[i]; c.Kind != schema.KindOf(f.Type) || c.N != b.N {
			return errs.Invalidf("table %s: the values given for column '%s' are not of its type %s", in.label, f.Name, f.Type)
		}
	}
	return nil
}

// row is the number of the k-th row of the batch within the statement, from 1.
func (in *Intake) row(k int) int64 { return in.seen + int64(k) + 1 }

// checkNulls refuses nulls in NOT NULL columns, before defaults are filled in (as TableWriteImpl does).
func (in *Intake) checkNulls(b *column.Batch) error {
	for _, i := range in.notNull {
		c := b.Cols[i]
		if c.Valid == nil {
			continue
		}
		for k := range b.Rows() {
			if c.IsNull(b.Row(k)) {
				return errs.Invalidf("Cannot write null to non-null column(%s), row %d", in.schema.Fields[i].Name, in.row(k))
			}
		}
	}
	return nil
}

func (in *Intake) fillDefaults(b *column.Batch) []*column.Vector {
	cols, own := b.Cols, false
	for i, d := range in.defaults {
		if d == nil || b.Cols[i].Valid == nil || b.Cols[i].NullCount() == 0 {
			continue
		}
		if !own {
			cols, own = append([]*column.Vector(nil), cols...), true
		}
		nb := column.NewBuilderLike(d)
		for r := range b.N {
			if b.Cols[i].IsNull(r) {
				nb.Append(d, 0)
			} else {
				nb.Append(b.Cols[i], r)
			}
		}
		cols[i] = nb.Finish()
	}
	return cols
}

func (in *Intake) checkStatic(r *Rows) error {
	for i, want := range in.static {
		one := column.FromScalar(want)
		c, bad := r.Cols[i], -1
		at := 0
		each(r.Sel, r.N, func(k int) {
			if bad < 0 && column.CompareRows(c, k, one, 0) != 0 {
				bad = at
			}
			at++
		})
		if bad >= 0 {
			return errs.Invalidf("table %s: row %d does not belong to the partition of the statement: its value of '%s' is another one (The changes in the rows does not belong to this partition)",
				in.label, in.row(bad), in.schema.Fields[i].Name)
		}
	}
	return nil
}

// deriveKinds sets the row kinds and drops the rows that options tell to.
func (in *Intake) deriveKinds(r *Rows) error {
	if in.kindField >= 0 {
		if err := in.kindsFromField(r); err != nil {
			return err
		}
	}
	if r.Kinds == nil {
		return nil
	}
	var all int32
	bad, at := -1, 0
	each(r.Sel, r.N, func(i int) {
		k := r.Kinds[i]
		all |= k
		if (k < lsm.Insert || k > lsm.Delete) && bad < 0 {
			bad = at
		}
		at++
	})
	if bad >= 0 {
		return errs.Invalidf("table %s: row %d has an unknown row kind", in.label, in.row(bad))
	}
	if all == 0 {
		r.Kinds = nil
		return nil
	}
	if !in.schema.HasPrimaryKey() {
		return in.appendKinds(r)
	}
	drop := func(k int32) bool {
		return k == lsm.UpdateBefore && (in.ignoreBefore || in.ignoreDelete) || k == lsm.Delete && in.ignoreDelete
	}
	dropped := false
	var failed error
	each(r.Sel, r.N, func(i int) {
		k := r.Kinds[i]
		switch {
		case drop(k):
			dropped = true
		case lsm.IsRetract(k) && failed == nil:
			failed = in.checkRetract(k)
		}
	})
	if failed != nil {
		return failed
	}
	if dropped {
		sel := make([]uint16, 0, r.Count())
		each(r.Sel, r.N, func(i int) {
			if !drop(r.Kinds[i]) {
				sel = append(sel, uint16(i))
			}
		})
		r.Sel = sel
	}
	return nil
}

// appendKinds refuses what append tables cannot take: +U counts as +I there.
func (in *Intake) appendKinds(r *Rows) error {
	bad, at := -1, 0
	each(r.Sel, r.N, func(i int) {
		if lsm.IsRetract(r.Kinds[i]) && bad < 0 {
			bad = at
		}
		at++
	})
	if bad >= 0 {
		return errs.Invalidf("table %s: row %d is a delete: Append only writer can not accept row with RowKind DELETE, because there is no primary key", in.label, in.row(bad))
	}
	r.Kinds = nil
	return nil
}

func (in *Intake) checkRetract(kind int32) error {
	if !in.asked[kind] {
		in.asked[kind] = true
		if err := in.engine.CheckRetract(kind); err != nil {
			in.refused[kind] = errs.Invalidf("table %s: %w", in.label, err)
		}
	}
	return in.refused[kind]
}

// kindsFromField reads the kinds from the column of rowkind.field.
func (in *Intake) kindsFromField(r *Rows) error {
	c := r.Cols[in.kindField]
	kinds := make([]int32, r.N)
	bad, at := -1, 0
	each(r.Sel, r.N, func(i int) {
		k, ok := int32(0), false
		if !c.IsNull(i) {
			k, ok = rowKindOf(string(c.Bytes(i)))
		}
		if !ok && bad < 0 {
			bad = at
		}
		kinds[i] = k
		at++
	})
	if bad >= 0 {
		return errs.Invalidf("table %s: row %d: column '%s' (option 'rowkind.field') must hold one of +I, -U, +U, -D", in.label, in.row(bad), in.schema.Fields[in.kindField].Name)
	}
	r.Kinds = kinds
	return nil
}

func rowKindOf(s string) (int32, bool) {
	switch strings.ToUpper(s) {
	case "+I":
		return lsm.Insert, true
	case "-U":
		return lsm.UpdateBefore, true
	case "+U":
		return lsm.UpdateAfter, true
	case "-D":
		return lsm.Delete, true
	}
	return 0, false
}
