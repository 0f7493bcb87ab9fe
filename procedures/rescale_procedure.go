package procedures

import (
	"context"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/table"
)

func init() {
	define("rescale", "table, bucket_num INT?, partition|partitions?, scan_parallelism INT?, sink_parallelism INT?, where?", rescale)
}

// rescale writes the rows of a table, or of some partitions, over another number of buckets (RescaleProcedure). The
// option bucket stays as it is. The parallelism is that of Paimon's jobs only.
func rescale(ctx context.Context, c *call) (*result, error) {
	o := table.RescaleOptions{Progress: c.opts.Progress}
	n, err := c.integer("bucket_num")
	if err != nil {
		return nil, err
	}
	if n != nil {
		if *n < 1 {
			return nil, errs.Invalidf("procedure %s: the argument 'bucket_num' is %d; a table has one bucket or more", c.procedure, *n)
		}
		o.Buckets = int(*n)
	}
	t, selected, err := c.openPartitions(ctx, "partition")
	if err != nil {
		return nil, err
	}
	o.Partitions = selected
	if _, err := t.Rescale(ctx, o); err != nil {
		return nil, err
	}
	name, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	c.committed(ctx, name, t, nil)
	return success(), nil
}
