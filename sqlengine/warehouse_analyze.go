package sqlengine

import (
	"context"
	"path"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

var _ planner.StatisticsCatalog = (*warehouse)(nil)

// AnalyzeTable computes statistics of a table's branch and publishes them as a snapshot of their own.
func (w *warehouse) AnalyzeTable(ctx context.Context, db, name string, columns []string, all bool, progress func(rows int64)) error {
	t, err := w.openForChange(ctx, db, name, "analyzeTable", nil)
	if err != nil {
		return err
	}
	var at []int
	fields := t.StoredSchema().Fields
	for i := range fields {
		if all {
			at = append(at, i)
		}
	}
	for _, c := range columns {
		i := schema.IndexOf(fields, c)
		if i < 0 {
			return errs.Conflictf("table %s has lost the column '%s' meanwhile; repeat the statement", t.Label(), c)
		}
		at = append(at, i)
	}
	st, err := t.Analyze(ctx, at, progress)
	if err != nil || st == nil { // a table without a snapshot has nothing to keep statistics at
		return err
	}
	file, err := t.SaveStatistics(ctx, st)
	if err != nil {
		return err
	}
	if _, err := committer(t).Analyze(ctx, file); err != nil {
		if !errs.Is(err, errs.Uncertain) {
			_ = t.Env().FIO.Delete(context.WithoutCancel(ctx), path.Join(t.Dir(), "statistics", file)) // an orphan at worst
		}
		return err
	}
	w.maintenance(t)(ctx)
	return nil
}
