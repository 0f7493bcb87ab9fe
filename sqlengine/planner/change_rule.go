package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// storedValue is a value that an UPDATE has assigned to a column before, as the column stores it.
type storedValue struct {
	column string
	expression.UnaryExpression
	// field and typ are those of the column; nil until changeNode finds it.
	field *schema.Field
	typ   sql.Type
}

var (
	_ sqlparser.Injectable   = (*storedValue)(nil)
	_ sql.Expression         = (*storedValue)(nil)
	_ sql.CollationCoercible = (*storedValue)(nil)
)

// WithResolvedChildren implements sqlparser.Injectable.
func (v *storedValue) WithResolvedChildren(children []any) (any, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(children), 1)
	}
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, sql.ErrUnsupportedSyntax.New(v.column)
	}
	out := *v
	out.Child = e
	return &out, nil
}

// Resolved implements sql.Expression: an Injectable without its child is.
func (v *storedValue) Resolved() bool { return v.Child == nil || v.Child.Resolved() }

// String implements sql.Expression.
func (v *storedValue) String() string { return "assigned(" + v.column + ")" }

// Type implements sql.Expression.
func (v *storedValue) Type() sql.Type {
	if v.typ == nil {
		return v.Child.Type()
	}
	return v.typ
}

// Eval implements sql.Expression: the value goes through a column's writer and comes back as a read gives it.
func (v *storedValue) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	x, err := v.Child.Eval(ctx, row)
	if err != nil || x == nil || v.field == nil {
		return x, err
	}
	w := newCellWriter(v.field.Name, v.field.Type, SessionZone(ctx), &misfits{ctx: ctx, strict: strictMode(ctx), row: 1})
	if err := w.append(x, v.Child.Type()); err != nil {
		return nil, err
	}
	return types.Value(w.out.Finish(), 0, v.field.Type, SessionZone(ctx)), nil
}

// WithChildren implements sql.Expression.
func (v *storedValue) WithChildren(c ...sql.Expression) (sql.Expression, error) {
	if len(c) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(c), 1)
	}
	out := *v
	out.Child = c[0]
	return &out, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (v *storedValue) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.Collation_Default, 2
}

// newChangeTable makes a table the target of an UPDATE or DELETE: its columns are those of the query, the new values behind the table's.
func newChangeTable(t *Table, target dialect.InsertTarget) (*insertTable, error) {
	c := *t
	c.sch = append(sql.Schema(nil), t.sch...)
	for _, s := range target.Change.Sets {
		i, ok := fieldAt(t.fields, s.Column)
		if !ok || isPosition(t.fields[i].Name) {
			return nil, errmap.New(1054, "42S22", "Unknown column '%s' in 'field list'", s.Column)
		}
		if s.ByDefault {
			continue
		}
		col := *t.sch[i]
		col.Name = "\x01" + col.Name
		col.Nullable, col.PrimaryKey, col.Default = true, false, nil
		c.sch = append(c.sch, &col)
	}
	return &insertTable{Table: &c, target: target}, nil
}

// isPosition reports one of the columns that say where a row lies.
func isPosition(name string) bool {
	return name == relation.FileColumn || name == relation.PositionColumn
}

// changeNode makes the node of an UPDATE or DELETE, which was analysed as an INSERT.
func (e *Engine) changeNode(ctx *sql.Context, ins *plan.InsertInto, target *insertTable) (sql.Node, error) {
	change := target.target.Change
	n := &changeNode{engine: e, table: target, change: change, source: ins.Source}
	if p, ok := ins.Source.(*plan.Project); ok {
		n.source = p.Child
	}
	w, err := e.writable()
	if err != nil {
		return nil, err
	}
	def, err := w.Definition(ctx, target.db, target.object)
	if err != nil {
		return nil, missingTable(err, target.db, target.name)
	}
	if n.rules, err = newChangeRules(target, def); err != nil {
		return nil, err
	}
	if err := n.checkSafe(ctx); err != nil {
		return nil, err
	}
	from := len(target.fields)
	for _, s := range change.Sets {
		i, _ := fieldAt(target.fields, s.Column) // newChangeTable has looked
		set := changeSet{column: i, from: fromDefault}
		if !s.ByDefault {
			set.from = from
			from++
		}
		n.sets = append(n.sets, set)
	}
	if got := len(n.source.Schema()); got != from {
		return nil, errs.Conflictf("the columns of table %s.%s have changed meanwhile; repeat the statement", target.db, target.name)
	}
	n.source, _, err = transform.NodeExprsWithOpaque(n.source, func(x sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch x := x.(type) {
		case *newValue:
			i, ok := fieldAt(target.fields, x.name)
			if !ok {
				return nil, transform.SameTree, errmap.New(1054, "42S22", "Unknown column '%s' in 'field list'", x.name)
			}
			return defaultLiteral(&target.fields[i]), transform.NewTree, nil
		case *storedValue:
			i, ok := fieldAt(target.fields, x.column)
			if !ok {
				return nil, transform.SameTree, errmap.New(1054, "42S22", "Unknown column '%s' in 'field list'", x.column)
			}
			out := *x
			out.field, out.typ = &target.fields[i], target.full.Schema[i].Type
			return &out, transform.NewTree, nil
		}
		return x, transform.SameTree, nil
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// changeRules say how the rows of a table are changed.
type changeRules struct {
	// keys are the primary key's columns; of a table without one the columns that say where a row lies.
	keys []int
	// keyed tables have a primary key; their rows are replaced by row kinds.
	keyed bool
	// before: the row as it was is written, too, for the changelog.
	before bool
	// blank are nullable columns that the -D of a merging table leaves out, else it would be their value from then on.
	blank []int
	// aggregated are columns into which a written value is aggregated.
	aggregated map[int]string
	// keepsNulls: NULL leaves a column as it is, save those of sequence groups, which are in grouped.
	keepsNulls bool
	grouped    map[int]bool
	// sequence are the columns of sequence.field: a row with lesser values than those that are there loses.
	sequence           []int
	sequenceDescending bool
	// partition are the partition columns. ignored: DELETE changes nothing (ignore-delete).
	partition []string
	ignored   bool
	// rowsOnly: DELETE may not drop whole partitions instead (delete.force-produce-changelog).
	rowsOnly bool
}

// Options of tables that decide how rows are changed.
const (
	engineAggregation   = "aggregation"
	enginePartialUpdate = "partial-update"

	optIgnoreDelete      = "ignore-delete"
	optRowKindField      = "rowkind.field"
	optRemoveAggregate   = "aggregation.remove-record-on-delete"
	optRemovePartial     = "partial-update.remove-record-on-delete"
	optRemoveGroup       = "partial-update.remove-record-on-sequence-group"
	optForceChangelog    = "delete.force-produce-changelog"
	optChangelogProducer = "changelog-producer"
	optSequenceField     = "sequence.field"
	optSequenceOrder     = "sequence.field.sort-order"
	optDefaultFunction   = "fields.default-aggregate-function"
)

// newChangeRules refuses tables whose rows the statement cannot change, and says how it changes those of others.
func newChangeRules(t *insertTable, def schema.Definition) (changeRules, error) {
	change := t.target.Change
	what := changeWords(change.Delete)
	opt := func(name string) string { return strings.TrimSpace(def.Options[name]) }
	set := func(name string) bool { return optionSet(def.Options, name) }
	r := changeRules{partition: partitionKeys(def), rowsOnly: set(optForceChangelog)}
	refuse := func(why string) (changeRules, error) {
		return r, errs.Unsupportedf("%s is not supported for table %s.%s: %s", what, t.db, t.name, why)
	}
	if o := ofSeveralBranches(def.Options); o != "" {
		return refuse("with option '" + o + "' its rows are those of several branches; RESET the option for the statement")
	}
	keys := primaryKeys(def)
	if len(keys) == 0 {
		for i, f := range t.fields {
			if isPosition(f.Name) {
				r.keys = append(r.keys, i)
			}
		}
		if len(r.keys) != 2 {
			return refuse("it does not say where its rows lie")
		}
		return r, nil
	}
	r.keyed = true
	for _, k := range keys {
		i, ok := fieldAt(t.fields, k)
		if !ok {
			return refuse("its primary key column '" + k + "' is not there")
		}
		r.keys = append(r.keys, i)
	}
	switch {
	case opt(optionBucket) == postponeBucket:
		return refuse("with 'bucket' = '-2' rows are not seen before a compaction")
	case set(optRowKindField):
		return refuse("with option 'rowkind.field' the kind of a row is one of its columns; INSERT rows of the kind instead")
	}
	r.ignored = set(optIgnoreDelete)
	switch engine := strings.ToLower(opt(optionMergeEngine)); engine {
	case "", engineDeduplicate:
		r.before = !change.Delete && strings.EqualFold(opt(optChangelogProducer), "input")
		return r, r.findSequence(t, opt(optSequenceField), opt(optSequenceOrder))
	case enginePartialUpdate:
		if change.Delete && !r.ignored && !set(optRemovePartial) && !set(optRemoveGroup) {
			return refuse("by default, 'merge-engine' = '" + engine + "' cannot take deletes; set '" + optRemovePartial + "' or '" + optRemoveGroup + "'")
		}
		r.keepsNulls = !change.Delete
		r.findGroups(t, def.Options)
		if !change.Delete {
			r.findAggregates(t, def.Options)
		}
		if err := r.findSequence(t, opt(optSequenceField), opt(optSequenceOrder)); err != nil {
			return r, err
		}
	case engineAggregation:
		if !change.Delete {
			return refuse("'merge-engine' = '" + engine + "' would aggregate the new values into the old ones")
		}
		if !r.ignored && !set(optRemoveAggregate) {
			return refuse("by default, 'merge-engine' = '" + engine + "' cannot take deletes of whole rows; set '" + optRemoveAggregate + "'")
		}
	default:
		if !change.Delete || !r.ignored {
			return refuse("'merge-engine' = '" + engine + "' keeps the rows that are there")
		}
	}
	if change.Delete {
		r.findBlank(t, opt(optRemoveGroup) != "")
	}
	return r, nil
}

// findSequence reads option sequence.field.
func (r *changeRules) findSequence(t *insertTable, fields, order string) error {
	for _, f := range strings.Split(fields, ",") {
		if f = strings.TrimSpace(f); f == "" {
			continue
		}
		i, ok := fieldAt(t.fields, f)
		if !ok {
			return errs.Invalidf("table %s.%s: option '%s' names the column '%s', which is not there", t.db, t.name, optSequenceField, f)
		}
		r.sequence = append(r.sequence, i)
	}
	r.sequenceDescending = strings.EqualFold(order, "descending")
	return nil
}

const fieldsPrefix = "fields."

// findGroups finds the columns of sequence groups.
func (r *changeRules) findGroups(t *insertTable, options map[string]string) {
	r.grouped = map[int]bool{}
	for o, v := range options {
		name, ok := strings.CutPrefix(o, fieldsPrefix)
		if name, isGroup := strings.CutSuffix(name, ".sequence-group"); ok && isGroup {
			for _, f := range append(strings.Split(name, ","), strings.Split(v, ",")...) {
				if i, ok := fieldAt(t.fields, strings.TrimSpace(f)); ok {
					r.grouped[i] = true
				}
			}
		}
	}
}

// findAggregates finds the columns of a partial-update table that do not take a new value as it is.
func (r *changeRules) findAggregates(t *insertTable, options map[string]string) {
	r.aggregated = map[int]string{}
	for i, f := range t.fields {
		fn := options[fieldsPrefix+f.Name+".aggregate-function"]
		if fn == "" {
			fn = options[optDefaultFunction]
		}
		switch strings.ToLower(strings.TrimSpace(fn)) {
		case "", "last_value", "last_non_null_value", "primary-key":
		default:
			r.aggregated[i] = fn
		}
	}
}

// findBlank finds what a -D leaves out: nullable columns besides keys, and besides all columns where some of them decide
// whether it counts.
func (r *changeRules) findBlank(t *insertTable, grouped bool) {
	if grouped {
		return
	}
	for i, f := range t.fields {
		if !f.Type.NotNull && !r.isKey(i) {
			r.blank = append(r.blank, i)
		}
	}
}

func (r *changeRules) isKey(column int) bool { return slices.Contains(r.keys, column) }
