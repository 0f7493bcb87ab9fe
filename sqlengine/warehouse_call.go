package sqlengine

import (
	"context"
	"strings"

	"github.com/tributarydb/tributary/procedures"
	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

var _ planner.ProcedureCatalog = (*warehouse)(nil)

// Procedures lists the procedures of database sys.
func (w *warehouse) Procedures() []string { return procedures.Names() }

// Call runs a procedure.
func (w *warehouse) Call(ctx context.Context, name string, args []planner.ProcedureArg, o planner.CallOptions) (relation.Relation, error) {
	bound := make([]procedures.Arg, len(args))
	for i, a := range args {
		bound[i] = procedures.Arg{Name: a.Name, Value: a.Value}
	}
	env := &procedures.Env{Tables: w.env, Lake: w, Schemas: w.schemas, Log: w.env.Log}
	where := func(_ context.Context, text string, t *table.Table, partition []schema.Field) (func([]column.Scalar) (bool, error), error) {
		return o.Where(t.Database(), strings.TrimPrefix(t.Label(), t.Database()+"."), text, partition)
	}
	if o.Where == nil {
		where = nil
	}
	return procedures.Call(ctx, env, name, bound, procedures.Options{Database: o.Database, Branch: o.Branch, Zone: o.TimeZone, Progress: o.Progress, Where: where})
}
