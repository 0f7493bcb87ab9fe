package procedures

import (
	"context"

	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

func init() {
	define("reset_consumer", "table, consumer_id|consumerId, next_snapshot_id|nextSnapshotId BIGINT?", resetConsumer)
	define("clear_consumers", "table, including_consumers|includingConsumers?, excluding_consumers|excludingConsumers?", clearConsumers)
	define("alter_column_default_value", "table, column, default_value", alterDefault)
	define("compact_manifest", "table, options?, dry_run BOOLEAN?, manifest_sort_enabled BOOLEAN?, manifest_sort_partition_field?, manifest_sort_max_rewrite_size?", compactManifest)
	procedures["drop_partition"] = procedure{params: params("table, partition|partitions"), variadic: true, run: dropPartition}
	defineWhole("repair", "table|database_or_table?", func(context.Context, *call) (*result, error) { return success(), nil })
}

// snapshots are the states of a loaded table's branch.
func (c *call) snapshots(t *catalog.Table, n tableName) *snapshot.Manager {
	return snapshot.NewManager(c.env.Tables.FIO, t.Dir, n.branch)
}

// resetConsumer sets a consumer's progress, or removes the consumer.
func resetConsumer(ctx context.Context, c *call) (*result, error) {
	next, err := c.integer("next_snapshot_id")
	if err != nil {
		return nil, err
	}
	n, t, err := c.named(ctx)
	if err != nil {
		return nil, err
	}
	m := c.snapshots(t, n)
	id := c.text("consumer_id")
	if next == nil {
		if err := m.DeleteConsumer(ctx, id); err != nil {
			return nil, err
		}
		return success(), nil
	}
	there, err := m.Exists(ctx, *next)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, errs.NotFoundf("Snapshot file %s does not exist. A consumer can be set to a snapshot that is there only", m.Path(*next))
	}
	if err := m.WriteConsumer(ctx, snapshot.Consumer{ID: id, NextSnapshot: *next}); err != nil {
		return nil, err
	}
	return success(), nil
}

// clearConsumers removes the consumers whose whole name matches one expression and not the other.
func clearConsumers(ctx context.Context, c *call) (*result, error) {
	include, err := c.pattern("including_consumers")
	if err != nil {
		return nil, err
	}
	exclude, err := c.pattern("excluding_consumers")
	if err != nil {
		return nil, err
	}
	n, t, err := c.named(ctx)
	if err != nil {
		return nil, err
	}
	m := c.snapshots(t, n)
	all, err := m.ConsumerTimes(ctx)
	if err != nil {
		return nil, err
	}
	for id := range all {
		if include != nil && !include.MatchString(id) || exclude != nil && exclude.MatchString(id) {
			continue
		}
		if err := m.DeleteConsumer(ctx, id); err != nil {
			return nil, err
		}
	}
	return success(), nil
}

func alterDefault(ctx context.Context, c *call) (*result, error) {
	n, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	text := c.text("default_value")
	if err := c.env.Lake.AlterTable(ctx, n.db, n.full(), []schema.Change{schema.ChangeDefault{Path: []string{c.text("column")}, Default: &text}}); err != nil {
		return nil, err
	}
	return success(), nil
}

func compactManifest(ctx context.Context, c *call) (*result, error) {
	dry, err := c.boolean("dry_run")
	if err != nil {
		return nil, err
	}
	sorted, err := c.boolean("manifest_sort_enabled")
	if err != nil {
		return nil, err
	}
	if sorted {
		return nil, errs.Unsupportedf("procedure %s: manifests are not sorted here; leave 'manifest_sort_enabled' out", c.procedure)
	}
	t, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	if !dry {
		if _, err := committer(t).CompactManifests(ctx); err != nil {
			return nil, err
		}
	}
	return newResult("result").add("success"), nil
}

func dropPartition(ctx context.Context, c *call) (*result, error) {
	n, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	var specs []map[string]*string
	for _, text := range append([]string{c.text("partition")}, c.rest...) {
		s, err := partitionSpecs(c.procedure, text)
		if err != nil {
			return nil, err
		}
		specs = append(specs, s...)
	}
	if err := c.env.Lake.DropPartitions(ctx, n.db, n.full(), specs, true); err != nil {
		return nil, err
	}
	return success(), nil
}
