package sqlengine

import (
	"context"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
	"github.com/tributarydb/tributary/systables"
)

// openSystem opens a system table of a table or branch.
func (w *warehouse) openSystem(_ context.Context, t *table.Table, name string) (relation.Relation, error) {
	return systables.Open(t, name)
}

// openGlobal opens a table of database sys.
func (w *warehouse) openGlobal(_ context.Context, name string, _ planner.OpenOptions) (relation.Relation, error) {
	return systables.OpenGlobal(w.env, name)
}
