package procedures

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/compact"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/maintain"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

func init() {
	define("compact", "table, partitions?, order_strategy?, order_by?, options?, where?, partition_idle_time?, compact_strategy?, buckets?", compactTable)
}

// compactTable rewrites the files of a table or branch (CompactProcedure).
func compactTable(ctx context.Context, c *call) (*result, error) {
	o := table.CompactOptions{Progress: c.opts.Progress}
	var err error
	if o.Full, err = c.compactFully(); err != nil {
		return nil, err
	}
	if o.Sort, err = c.sorting(); err != nil {
		return nil, err
	}
	if o.Options, err = c.options("options"); err != nil {
		return nil, err
	}
	if o.Sort != nil && c.has("partition_idle_time") {
		return nil, errs.Invalidf("procedure %s: sort compact do not support 'partition_idle_time'.", c.procedure)
	}
	t, selected, err := c.openPartitions(ctx, "partitions")
	if err != nil {
		return nil, err
	}
	o.Partitions = selected
	if text := c.text("buckets"); text != "" {
		if o.Buckets, err = bucketMatcher(c.procedure, text); err != nil {
			return nil, err
		}
	}
	idle, err := c.duration("partition_idle_time")
	if err != nil {
		return nil, err
	}
	if idle != nil {
		if o.Partitions, err = idlePartitions(ctx, t, o.Partitions, time.Now().Add(-*idle)); err != nil {
			return nil, err
		}
	}
	n, err := c.target(ctx)
	if err == nil {
		err = c.skipExpired(ctx, n, t, &o)
	}
	if err != nil {
		return nil, err
	}
	if err := c.compact(ctx, n, t, o); err != nil {
		return nil, err
	}
	return success(), nil
}

// compact compacts, and then does what follows on a commit: snapshots expire, also those of a table whose writers leave
// that to compactions ('write-only').
func (c *call) compact(ctx context.Context, n tableName, t *table.Table, o table.CompactOptions) error {
	done, err := t.Compact(ctx, o)
	if err != nil || done.Snapshot == nil {
		return err
	}
	options := map[string]string{}
	maps.Copy(options, o.Options)
	options[schema.OptWriteOnly.Key()] = "false"
	c.committed(ctx, n, t, options)
	return nil
}

// committed does what follows on a commit: snapshots expire, tags are made. What it cannot do is logged; the commit stands.
func (c *call) committed(ctx context.Context, n tableName, t *table.Table, options map[string]string) {
	_ = c.maintainer(n, t.Dir(), options).AfterCommit(ctx)
}

// skipExpired leaves out of a compaction of buckets the partitions that have expired by their values, where the table's
// options ask for it (CompactorSourceBuilder).
func (c *call) skipExpired(ctx context.Context, n tableName, t *table.Table, o *table.CompactOptions) error {
	s := t.StoredSchema().WithOptions(o.Options)
	skip, err := schema.OptCompactionSkipExpired.Get(s.Options)
	if err != nil || !skip {
		return err
	}
	_, expires, err := schema.OptPartitionExpireTime.Lookup(s.Options)
	mode := s.BucketMode()
	if err != nil || !expires || !s.Partitioned() || mode == schema.BucketUnaware || mode == schema.Postpone ||
		!strings.EqualFold(schema.OptPartitionExpireKind.Value(s.Options), maintain.ValuesTime) {
		return err
	}
	loaded, err := c.env.Tables.Catalog.Load(ctx, n.db, n.table, n.branch)
	if err != nil {
		return err
	}
	all := math.MaxInt
	gone, err := c.maintainer(n, loaded.Dir, o.Options).ExpiredPartitions(ctx, maintain.PartitionExpireOptions{Options: o.Options, Max: &all})
	if err != nil {
		return err
	}
	types, expired := s.PartitionTypes(), map[string]bool{}
	for _, p := range gone {
		expired[string(binrow.EncodeRow(types, p.Values))] = true
	}
	also := o.Partitions
	o.Partitions = func(values []column.Scalar) bool {
		return !expired[string(binrow.EncodeRow(types, values))] && (also == nil || also(values))
	}
	return nil
}

// compactFully reads the argument compact_strategy.
func (c *call) compactFully() (bool, error) {
	switch s := strings.TrimSpace(c.text("compact_strategy")); {
	case s == "", strings.EqualFold(s, "full"):
		return true, nil
	case strings.EqualFold(s, "minor"):
		return false, nil
	default:
		return false, errs.Invalidf("procedure %s: The compact strategy only supports 'full' or 'minor', but '%s' is configured.", c.procedure, s)
	}
}

// sorting reads the arguments order_strategy and order_by; nil = rows are not sorted.
func (c *call) sorting() (*compact.Sort, error) {
	strategy, columns := strings.ToLower(strings.TrimSpace(c.text("order_strategy"))), list(c.text("order_by"))
	if strategy == "none" {
		if len(columns) > 0 {
			return nil, errs.Invalidf("procedure %s: order_strategy \"none\" cannot work with order_by columns.", c.procedure)
		}
		strategy = ""
	}
	if strategy == "" && len(columns) == 0 {
		return nil, nil
	}
	if strategy == "" || len(columns) == 0 {
		return nil, errs.Invalidf("procedure %s: You must specify 'order strategy' and 'order by columns' both.", c.procedure)
	}
	return &compact.Sort{Strategy: strategy, Columns: columns}, nil
}

// openPartitions opens the call's table, and reads which of its partitions are meant: by the argument named by, or by where; nil = all.
func (c *call) openPartitions(ctx context.Context, by string) (t *table.Table, selected func([]column.Scalar) bool, err error) {
	if c.has("where") && c.has(by) {
		return nil, nil, errs.Invalidf("procedure %s: partitions and where cannot be used together.", c.procedure)
	}
	if t, err = c.open(ctx); err != nil {
		return nil, nil, err
	}
	if text := c.text(by); text != "" {
		specs, err := partitionSpecs(c.procedure, text)
		if err != nil {
			return nil, nil, err
		}
		selected, err = partitionMatcher(c.procedure, t, specs)
		return t, selected, err
	}
	if text := c.text("where"); text != "" {
		selected, err = c.partitionsWhere(ctx, t, text)
	}
	return t, selected, err
}

// partitionsWhere matches the partitions, as they are now, for which a condition over the partition columns is true.
func (c *call) partitionsWhere(ctx context.Context, t *table.Table, text string) (func([]column.Scalar) bool, error) {
	if c.opts.Where == nil {
		return nil, errs.Unsupportedf("procedure %s: the argument 'where' cannot be understood here; name the partitions with 'partitions'", c.procedure)
	}
	fields := t.StoredSchema().PartitionFields()
	holds, err := c.opts.Where(ctx, text, t, fields)
	if err != nil {
		return nil, fmt.Errorf("procedure %s: the argument 'where': %w", c.procedure, err)
	}
	files, _, err := t.NewestFiles(ctx)
	if err != nil {
		return nil, err
	}
	matches := map[string]bool{}
	for _, f := range files {
		if _, ok := matches[f.PartitionID]; ok {
			continue
		}
		if matches[f.PartitionID], err = holds(f.Partition); err != nil {
			return nil, fmt.Errorf("procedure %s: the argument 'where': %w", c.procedure, err)
		}
	}
	types := t.StoredSchema().PartitionTypes()
	wanted := map[string]bool{}
	for _, f := range files {
		if matches[f.PartitionID] {
			wanted[string(binrow.EncodeRow(types, f.Partition))] = true
		}
	}
	return func(values []column.Scalar) bool { return wanted[string(binrow.EncodeRow(types, values))] }, nil
}

// partitionMatcher matches partitions that have the values of one of the specs.
func partitionMatcher(procedure string, t *table.Table, specs []map[string]*string) (func([]column.Scalar) bool, error) {
	s := t.StoredSchema()
	fields := s.PartitionFields()
	if len(fields) == 0 {
		return nil, errs.Invalidf("Table %s is not partitioned.", t.Label())
	}
	text := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	var want []map[int]column.Scalar
	for _, spec := range specs {
		values := map[int]column.Scalar{}
		for name, v := range spec {
			i := schema.IndexOf(fields, name)
			if i < 0 {
				return nil, errs.Invalidf("procedure %s: '%s' is no partition column of table %s; these are: %s", procedure, name, t.Label(), strings.Join(s.PartitionKeys, ", "))
			}
			if v == nil || *v == schema.OptPartitionDefault.Value(s.Options) {
				values[i] = column.NullScalar(schema.KindOf(fields[i].Type))
				continue
			}
			x, err := cast.Scalar(text, fields[i].Type, column.BytesScalar([]byte(*v)))
			if err != nil {
				return nil, errs.Invalidf("procedure %s: '%s' is no value of partition column '%s' of type %s: %w", procedure, *v, name, fields[i].Type, err)
			}
			values[i] = x
		}
		want = append(want, values)
	}
	return func(partition []column.Scalar) bool {
		for _, values := range want {
			all := true
			for i, v := range values {
				all = all && v.Null == partition[i].Null && (v.Null || v.Compare(partition[i]) == 0)
			}
			if all {
				return true
			}
		}
		return false
	}, nil
}

// bucketMatcher reads a list of buckets such as '0,2-4'.
func bucketMatcher(procedure, text string) (func([]column.Scalar, int) bool, error) {
	type span struct{ from, to int }
	var spans []span
	for _, item := range list(text) {
		lo, hi, isRange := strings.Cut(item, "-")
		if !isRange {
			hi = lo
		}
		from, err1 := strconv.Atoi(strings.TrimSpace(lo))
		to, err2 := strconv.Atoi(strings.TrimSpace(hi))
		if err1 != nil || err2 != nil || to < from {
			return nil, errs.Invalidf("procedure %s: '%s' is no bucket and no range of buckets; buckets are given as '0,2-4'", procedure, item)
		}
		spans = append(spans, span{from, to})
	}
	return func(_ []column.Scalar, b int) bool {
		for _, s := range spans {
			if s.from <= b && b <= s.to {
				return true
			}
		}
		return false
	}, nil
}

// idlePartitions restricts a selection to partitions without a new file since a time.
func idlePartitions(ctx context.Context, t *table.Table, also func([]column.Scalar) bool, since time.Time) (func([]column.Scalar) bool, error) {
	if !t.StoredSchema().Partitioned() {
		return nil, errs.Invalidf("Table %s is not partitioned.", t.Label())
	}
	files, _, err := t.NewestFiles(ctx)
	if err != nil {
		return nil, err
	}
	newest := map[string]int64{}
	for _, f := range files {
		if c := f.Meta.CreationMillis; c != nil {
			spec := t.PartitionSpec(f.Partition)
			newest[spec] = max(newest[spec], *c)
		}
	}
	// Creation times are the wall clock's, as if it were UTC (section 4.2 of the format).
	_, offset := since.Zone()
	limit := since.Add(time.Duration(offset) * time.Second).UnixMilli()
	return func(values []column.Scalar) bool {
		return newest[t.PartitionSpec(values)] < limit && (also == nil || also(values))
	}, nil
}
