package procedures

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/maintain"
)

func init() {
	defineWhole("merge_branch", "table, source_branch|sourceBranch|branch, target_branch|targetBranch?", mergeBranch)
	define("rollback_to_as_latest", "table, tag?, snapshot_id|snapshot BIGINT?", rollbackAsLatest)
	define("expire_changelogs", "table, retain_max BIGINT?, retain_min BIGINT?, older_than?, max_deletes BIGINT?, delete_all BOOLEAN?", expireChangelogs)
	defineWhole("purge_files", "table", purgeFiles)
	defineWhole("remove_orphan_files", "table, older_than?, dry_run BOOLEAN?, parallelism BIGINT?, mode?", removeOrphanFiles)
	define("remove_unexisting_files", "table, dry_run BOOLEAN?, parallelism BIGINT?", removeUnexistingFiles)
}

// purgeFiles empties a table with all of its history.
func purgeFiles(ctx context.Context, c *call) (*result, error) {
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := m.Purge(ctx); err != nil {
		return nil, err
	}
	return success(), nil
}

func mergeBranch(ctx context.Context, c *call) (*result, error) {
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	if _, err := m.MergeBranch(ctx, c.text("source_branch"), c.text("target_branch")); err != nil {
		return nil, err
	}
	return success(), nil
}

func rollbackAsLatest(ctx context.Context, c *call) (*result, error) {
	tag := c.text("tag")
	id, err := c.integer("snapshot_id")
	if err != nil {
		return nil, err
	}
	if (tag == "") == (id == nil) {
		return nil, errs.Invalidf("procedure %s takes a tag or a snapshot id, and one of them only", c.procedure)
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	var from int64
	if id != nil {
		from = *id
	}
	r, err := m.RollbackToAsLatest(ctx, from, tag)
	if err != nil {
		return nil, err
	}
	return newResult("previous_snapshot_id BIGINT, rolled_back_snapshot_id BIGINT, current_snapshot_id BIGINT").add(r.Previous, r.Source, r.Current), nil
}

func expireChangelogs(ctx context.Context, c *call) (*result, error) {
	o, err := c.expireOptions()
	if err != nil {
		return nil, err
	}
	all, err := c.boolean("delete_all")
	if err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	n, err := m.ExpireChangelogs(ctx, o, all)
	if err != nil {
		return nil, err
	}
	return newResult("result").add(strconv.Itoa(n)), nil
}

// removeOrphanFiles cleans a table, or all tables of a database ('db.*').
func removeOrphanFiles(ctx context.Context, c *call) (*result, error) {
	var o maintain.OrphanOptions
	var err error
	if o.OlderThan, err = c.time("older_than", c.opts.Zone); err != nil {
		return nil, err
	}
	if o.DryRun, err = c.boolean("dry_run"); err != nil {
		return nil, err
	}
	switch mode := strings.ToLower(c.text("mode")); mode {
	case "", "local", "distributed":
	default:
		return nil, errs.Invalidf("procedure %s: the argument 'mode' is local or distributed, not '%s'", c.procedure, mode)
	}
	var names []tableName
	var files, bytes int64
	if db, all := strings.CutSuffix(c.text("table"), ".*"); all {
		dropped, err := c.removeDropped(ctx, db, o)
		if err != nil {
			return nil, err
		}
		files, bytes = dropped.Files, dropped.Bytes
		tables, err := c.env.Tables.Catalog.Tables(ctx, db)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			names = append(names, tableName{db: db, table: t})
		}
	} else {
		n, err := c.tableName(c.text("table"))
		if err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	for i, n := range names {
		if c.opts.Progress != nil {
			c.opts.Progress("table " + n.db + "." + n.full() + ", " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(names)))
		}
		t, err := c.env.Tables.Catalog.Load(ctx, n.db, n.table, n.branch)
		if err != nil {
			return nil, err
		}
		found, err := c.maintainer(n, t.Dir, nil).RemoveOrphanFiles(ctx, o)
		if err != nil {
			return nil, err
		}
		files += int64(len(found.Paths))
		bytes += found.Bytes
	}
	return lines("result", []string{strconv.FormatInt(files, 10), strconv.FormatInt(bytes, 10)}), nil
}

// removeDropped removes what is left of dropped tables of a database.
func (c *call) removeDropped(ctx context.Context, db string, o maintain.OrphanOptions) (catalog.Dropped, error) {
	keeper, ok := c.env.Tables.Catalog.(interface {
		RemoveDropped(ctx context.Context, db string, limit time.Time, dry bool) (catalog.Dropped, error)
	})
	if !ok {
		return catalog.Dropped{}, nil
	}
	limit := time.Now().Add(-maintain.DefaultOrphanAge)
	if o.OlderThan != nil {
		limit = *o.OlderThan
	}
	return keeper.RemoveDropped(ctx, db, limit, o.DryRun)
}

func removeUnexistingFiles(ctx context.Context, c *call) (*result, error) {
	dry, err := c.boolean("dry_run")
	if err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	list := m.RemoveUnexistingFiles
	if dry {
		list = m.UnexistingFiles
	}
	names, err := list(ctx)
	if err != nil {
		return nil, err
	}
	return lines("fileName", names), nil
}
