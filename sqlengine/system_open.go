package sqlengine

import (
	"context"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// openSystem opens a system table of a table or branch.
func (w *warehouse) openSystem(_ context.Context, t *table.Table, name string) (relation.Relation, error) {
	return nil, errs.NotFoundf("table %s has no system table '%s'", t.Label(), name)
}

// openGlobal opens a table of database sys.
func (w *warehouse) openGlobal(_ context.Context, name string, _ planner.OpenOptions) (relation.Relation, error) {
	return nil, errs.NotFoundf("database sys has no table '%s'", name)
}
