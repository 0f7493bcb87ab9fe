package procedures

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/maintain"
)

func init() {
	define("rollback_to", "table, tag?, snapshot_id|snapshot BIGINT?", rollbackTo)
	define("rollback", "table, version?, snapshot|snapshot_id BIGINT?, tag?", rollback)
	define("rollback_to_timestamp", "table, timestamp BIGINT", rollbackToTimestamp)
	define("rollback_to_watermark", "table, watermark BIGINT", rollbackToWatermark)
	define("expire_snapshots", "table, retain_max BIGINT?, retain_min BIGINT?, older_than?, max_deletes BIGINT?, options?", expireSnapshots)
}

func rolledBack(r maintain.Rollback, err error) (*result, error) {
	if err != nil {
		return nil, err
	}
	return newResult("previous_snapshot_id BIGINT, current_snapshot_id BIGINT").add(r.Previous, r.Current), nil
}

// rollbackTo takes a tag or a snapshot id; a number in the place of the tag is an id if no tag has the name.
func rollbackTo(ctx context.Context, c *call) (*result, error) {
	tag := c.text("tag")
	id, err := c.integer("snapshot_id")
	if err != nil {
		return nil, err
	}
	return c.rollback(ctx, tag, id)
}

func rollback(ctx context.Context, c *call) (*result, error) {
	tag := c.text("tag")
	id, err := c.integer("snapshot")
	if err != nil {
		return nil, err
	}
	if v := c.text("version"); v != "" {
		if tag != "" || id != nil {
			return nil, errs.Invalidf("procedure %s takes one of version, snapshot and tag", c.procedure)
		}
		tag = v
	}
	return c.rollback(ctx, tag, id)
}

func (c *call) rollback(ctx context.Context, tag string, id *int64) (*result, error) {
	if (tag == "") == (id == nil) {
		return nil, errs.Invalidf("procedure %s takes a tag or a snapshot id, and one of them only", c.procedure)
	}
	m, n, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	if id == nil {
		t, err := c.env.Tables.Catalog.Load(ctx, n.db, n.table, n.branch)
		if err != nil {
			return nil, err
		}
		has, err := c.snapshots(t, n).HasTag(ctx, tag)
		if err != nil {
			return nil, err
		}
		if number, perr := strconv.ParseInt(tag, 10, 64); perr == nil && !has {
			id = &number
		}
	}
	if id != nil {
		return rolledBack(m.RollbackToSnapshot(ctx, *id))
	}
	return rolledBack(m.RollbackToTag(ctx, tag))
}

func rollbackToTimestamp(ctx context.Context, c *call) (*result, error) {
	at, err := c.integer("timestamp")
	if err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	return rolledBack(m.RollbackToTimestamp(ctx, *at))
}

func rollbackToWatermark(ctx context.Context, c *call) (*result, error) {
	at, err := c.integer("watermark")
	if err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	r, err := m.RollbackToWatermark(ctx, *at)
	if err != nil {
		return nil, err
	}
	return newResult("result").add(fmt.Sprintf("Success roll back to snapshot: %d .", r.Current)), nil
}

// count returns an argument that is a number of things.
func (c *call) count(name string) (*int, error) {
	n, err := c.integer(name)
	if err != nil || n == nil {
		return nil, err
	}
	if *n < 0 || *n > math.MaxInt32 {
		return nil, errs.Invalidf("procedure %s: the argument '%s' is %d", c.procedure, name, *n)
	}
	i := int(*n)
	return &i, nil
}

// expireOptions reads the arguments that all expiries have.
func (c *call) expireOptions() (o maintain.ExpireOptions, err error) {
	if o.RetainMax, err = c.count("retain_max"); err != nil {
		return o, err
	}
	if o.RetainMin, err = c.count("retain_min"); err != nil {
		return o, err
	}
	if o.MaxDeletes, err = c.count("max_deletes"); err != nil {
		return o, err
	}
	o.OlderThan, err = c.time("older_than", c.opts.Zone)
	return o, err
}

func expireSnapshots(ctx context.Context, c *call) (*result, error) {
	o, err := c.expireOptions()
	if err != nil {
		return nil, err
	}
	if o.Options, err = c.options("options"); err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	n, err := m.ExpireSnapshots(ctx, o)
	if err != nil {
		return nil, err
	}
	return newResult("result").add(strconv.Itoa(n)), nil
}
