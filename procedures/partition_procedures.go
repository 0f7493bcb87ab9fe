package procedures

import (
	"context"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/maintain"
	"github.com/tributarydb/tributary/storage/schema"
)

func init() {
	define("expire_partitions", "table, expiration_time?, timestamp_formatter?, timestamp_pattern?, expire_strategy?, max_expires BIGINT?, options?", expirePartitions)
	define("mark_partition_done", "table, partitions|partition", markPartitionDone)
	define("trigger_tag_automatic_creation", "table", createAutomaticTags)
}

func expirePartitions(ctx context.Context, c *call) (*result, error) {
	o := maintain.PartitionExpireOptions{Formatter: c.text("timestamp_formatter"), Pattern: c.text("timestamp_pattern"), Strategy: c.text("expire_strategy")}
	var err error
	if o.After, err = c.duration("expiration_time"); err != nil {
		return nil, err
	}
	if o.Max, err = c.count("max_expires"); err != nil {
		return nil, err
	}
	if o.Options, err = c.options("options"); err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	gone, err := m.ExpirePartitions(ctx, o)
	if err != nil {
		return nil, err
	}
	texts := []string{"No expired partitions."}
	if len(gone) > 0 {
		texts = texts[:0]
		for _, p := range gone {
			texts = append(texts, p.Text)
		}
	}
	return lines("expired_partitions", texts), nil
}

// markPartitionDone takes whole partitions: every partition column has a value.
func markPartitionDone(ctx context.Context, c *call) (*result, error) {
	specs, err := partitionSpecs(c.procedure, c.text("partitions"))
	if err != nil {
		return nil, err
	}
	n, t, err := c.named(ctx)
	if err != nil {
		return nil, err
	}
	text := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	fields := t.Schema.PartitionFields()
	if len(fields) == 0 {
		return nil, errs.Invalidf("Table %s.%s is not partitioned.", n.db, n.full())
	}
	null := schema.OptPartitionDefault.Value(t.Schema.Options)
	var partitions [][]column.Scalar
	for _, spec := range specs {
		var values []column.Scalar
		for _, f := range fields {
			v, ok := spec[f.Name]
			switch {
			case !ok || len(spec) != len(fields):
				return nil, errs.Invalidf("procedure %s: a partition of table %s.%s is given by a value of each partition column", c.procedure, n.db, n.full())
			case *v == null:
				values = append(values, column.NullScalar(schema.KindOf(f.Type)))
				continue
			}
			x, err := cast.Scalar(text, f.Type, column.BytesScalar([]byte(*v)))
			if err != nil {
				return nil, errs.Invalidf("procedure %s: '%s' is no value of partition column '%s' of type %s: %w", c.procedure, *v, f.Name, f.Type, err)
			}
			values = append(values, x)
		}
		partitions = append(partitions, values)
	}
	if err := c.maintainer(n, t.Dir, nil).MarkPartitionsDone(ctx, partitions); err != nil {
		return nil, err
	}
	return success(), nil
}

func createAutomaticTags(ctx context.Context, c *call) (*result, error) {
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	if _, err := m.CreateAutomaticTags(ctx); err != nil {
		return nil, err
	}
	return success(), nil
}
