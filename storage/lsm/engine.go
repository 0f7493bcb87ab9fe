package lsm

import (
	"sort"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// EngineKind names a merge engine.
type EngineKind uint8

// The merge engines (section 9 of the format).
const (
	// Deduplicate keeps the newest record of a key.
	Deduplicate EngineKind = iota
	// PartialUpdate keeps the newest non-null value of each column.
	PartialUpdate
	// Aggregation folds each column with an aggregate function.
	Aggregation
	// FirstRow keeps the oldest record of a key.
	FirstRow
)

var engineNames = [...]string{"deduplicate", "partial-update", "aggregation", "first-row"}

// String returns the value of option merge-engine.
func (k EngineKind) String() string { return engineNames[k] }

// TableInfo is what an engine needs to know of a table's schema.
type TableInfo struct {
	// Fields are the table's columns in schema order.
	Fields []schema.Field
	// PrimaryKeys are the names of all primary key columns, those of the partition too.
	PrimaryKeys []string
	// Options are the table's options.
	Options map[string]string
}

// Engine is a table's merge engine with its options. It is immutable, and may
// be shared by any number of merges.
type Engine struct {
	kind         EngineKind
	table        TableInfo
	opts         options
	ignoreDelete bool
	// sequence are the columns of sequence.field.
	sequence     []int
	sequenceDesc bool
	primary      map[string]bool

	// removeOnDelete is aggregation's or partial-update's remove-record-on-delete.
	removeOnDelete bool
	// groups are partial-update's sequence groups, groupOf the group of a column, or -1.
	groups  []sequenceGroup
	groupOf []int
}

// sequenceGroup is an option fields.<s1>,<s2>.sequence-group = <c1>,<c2>.
type sequenceGroup struct {
	option string
	// by are the columns that order the group's versions.
	by []int
	// removes says that a -D with a new enough version removes the whole row.
	removes bool
}

// NewEngine reads a table's merge engine from its options. Failures are
// errs.Invalid for options that contradict each other and errs.Unsupported for
// an engine that is not known.
func NewEngine(t TableInfo) (*Engine, error) {
	e := &Engine{table: t, opts: options(t.Options), primary: map[string]bool{}}
	for _, k := range t.PrimaryKeys {
		e.primary[k] = true
	}
	if v, ok := e.opts[optMergeEngine]; ok {
		found := false
		for k, n := range engineNames {
			if strings.EqualFold(v, n) {
				e.kind, found = EngineKind(k), true
			}
		}
		if !found {
			return nil, errs.Unsupportedf("merge engine '%s' (option '%s') is not known here; known: %s",
				v, optMergeEngine, strings.Join(engineNames[:], ", "))
		}
	}
	var err error
	if e.ignoreDelete, err = e.opts.bool(ignoreDeleteKeys...); err != nil {
		return nil, err
	}
	for _, name := range e.opts.list(optSequenceField) {
		i := e.field(name)
		if i < 0 {
			return nil, errs.Invalidf("Sequence field: '%s' can not be found in table schema.", name)
		}
		e.sequence = append(e.sequence, i)
	}
	if v, ok := e.opts[optSequenceSortOrder]; ok {
		switch {
		case strings.EqualFold(v, "descending"):
			e.sequenceDesc = true
		case !strings.EqualFold(v, "ascending"):
			return nil, errs.Invalidf("option '%s' is '%s'; expected ascending or descending", optSequenceSortOrder, v)
		}
	}
	switch e.kind {
	case PartialUpdate:
		err = e.readPartialUpdate()
	case Aggregation:
		e.removeOnDelete, err = e.opts.bool(optAggRemoveOnDelete)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// field returns the index of a column, -1 where there is none of the name.
func (e *Engine) field(name string) int {
	for i := range e.table.Fields {
		if e.table.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// readPartialUpdate reads the sequence groups and checks the options of partial-update.
func (e *Engine) readPartialUpdate() error {
	var err error
	if e.removeOnDelete, err = e.opts.bool(optPartialRemoveDelete); err != nil {
		return err
	}
	e.groupOf = make([]int, len(e.table.Fields))
	for i := range e.groupOf {
		e.groupOf[i] = -1
	}
	var keys []string
	for k := range e.opts {
		if strings.HasPrefix(k, fieldsPrefix+".") && strings.HasSuffix(k, "."+fieldSequenceGroup) &&
			len(k) > len(fieldsPrefix)+len(fieldSequenceGroup)+2 {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	isBy := map[int]bool{}
	for _, k := range keys {
		g := sequenceGroup{option: k}
		names := k[len(fieldsPrefix)+1 : len(k)-len(fieldSequenceGroup)-1]
		for _, n := range strings.Split(names, ",") {
			i, err := e.groupColumn(k, n)
			if err != nil {
				return err
			}
			g.by = append(g.by, i)
		}
		for _, n := range strings.Split(e.opts[k], ",") {
			i, err := e.groupColumn(k, n)
			if err != nil {
				return err
			}
			if e.groupOf[i] >= 0 {
				return errs.Invalidf("Field %s is defined repeatedly by multiple groups: %s", n, k)
			}
			e.groupOf[i] = len(e.groups)
		}
		for _, i := range g.by {
			e.groupOf[i] = len(e.groups)
			isBy[i] = true
		}
		e.groups = append(e.groups, g)
	}
	if e.removeOnDelete && e.ignoreDelete {
		return conflicting(optIgnoreDelete, optPartialRemoveDelete)
	}
	if _, ok := e.opts[optPartialRemoveGroup]; ok && e.ignoreDelete {
		return conflicting(optIgnoreDelete, optPartialRemoveGroup)
	}
	if e.removeOnDelete && len(e.groups) > 0 {
		return conflicting(fieldSequenceGroup, optPartialRemoveDelete)
	}
	if v, ok := e.opts[optPartialRemoveGroup]; ok {
		for _, n := range strings.Split(v, ",") {
			i := e.field(n)
			if i < 0 || !isBy[i] {
				return errs.Invalidf("field '%s' defined in '%s' option must be part of sequence groups", v, optPartialRemoveGroup)
			}
			e.groups[e.groupOf[i]].removes = true
		}
	}
	for i, f := range e.table.Fields {
		name := e.partialAggregate(i)
		if name != "" && name != aggLastNonNull && (e.groupOf[i] < 0 || isBy[i]) {
			return errs.Invalidf("Must use sequence group for aggregation functions but not found for field %s.", f.Name)
		}
	}
	return nil
}

func (e *Engine) groupColumn(option, name string) (int, error) {
	i := e.field(name)
	if i < 0 {
		return i, errs.Invalidf("Field %s can not be found in table schema", name)
	}
	if e.primary[name] {
		return i, errs.Invalidf("The sequence-group '%s' contains primary key field '%s', which is not allowed. Primary key columns cannot be put in sequence-group.", option, name)
	}
	return i, nil
}

func conflicting(a, b string) error {
	return errs.Invalidf("%s and %s have conflicting behavior so should not be enabled at the same time.", a, b)
}

func missingColumn(e *Engine, field int) error {
	return errs.Invalidf("column '%s' was not read, but merge engine '%s' needs it", e.table.Fields[field].Name, e.kind)
}

// isGroupBy reports whether a column orders the versions of its sequence group.
func (e *Engine) isGroupBy(field int) bool {
	if e.groupOf == nil || e.groupOf[field] < 0 {
		return false
	}
	for _, b := range e.groups[e.groupOf[field]].by {
		if b == field {
			return true
		}
	}
	return false
}

// partialAggregate names the aggregate function of a column under
// partial-update, "" for none. Primary key columns need none here: all records
// of a key agree on them.
func (e *Engine) partialAggregate(field int) string {
	name := e.table.Fields[field].Name
	if e.isGroupBy(field) || e.primary[name] {
		return ""
	}
	if f, ok := e.opts[fieldKey(name, fieldAggregate)]; ok {
		return f
	}
	return e.opts[optDefaultAggregate]
}

// aggregateOf names the aggregate function of a column under aggregation.
func (e *Engine) aggregateOf(field int) string {
	for _, s := range e.sequence {
		if s == field {
			return aggLastValue
		}
	}
	name := e.table.Fields[field].Name
	if e.primary[name] {
		return aggPrimaryKey
	}
	if f, ok := e.opts[fieldKey(name, fieldAggregate)]; ok {
		return f
	}
	if f, ok := e.opts[optDefaultAggregate]; ok {
		return f
	}
	return aggLastNonNull
}

// Kind returns the engine's kind.
func (e *Engine) Kind() EngineKind { return e.kind }

// SequenceColumns returns the columns of sequence.field, as indexes into TableInfo.Fields.
func (e *Engine) SequenceColumns() []int { return append([]int(nil), e.sequence...) }

// PicksRows reports whether the result of a key always is one of its records,
// so that Survivors can be used.
func (e *Engine) PicksRows() bool { return e.kind == Deduplicate || e.kind == FirstRow }

// NeededColumns returns the columns that a merge has to read so that it can
// return the wanted ones: these first, in their order, then the columns of
// sequence.field, of the sequence groups that wanted columns belong to, and of
// groups that may remove a row. All are indexes into TableInfo.Fields.
//
// Paimon leaves out groups that remove rows (option
// partial-update.remove-record-on-sequence-group) where no column of theirs is
// wanted, and then shows removed rows; here they are always read.
func (e *Engine) NeededColumns(wanted []int) []int {
	out := append([]int(nil), wanted...)
	have := map[int]bool{}
	for _, w := range wanted {
		have[w] = true
	}
	add := func(fields []int) {
		for _, f := range fields {
			if !have[f] {
				have[f] = true
				out = append(out, f)
			}
		}
	}
	add(e.sequence)
	for g := range e.groups {
		needed := e.groups[g].removes
		for _, w := range wanted {
			needed = needed || e.groupOf[w] == g
		}
		if needed {
			add(e.groups[g].by)
		}
	}
	return out
}
