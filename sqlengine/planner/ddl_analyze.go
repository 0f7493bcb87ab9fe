package planner

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// StatisticsCatalog is a WritableCatalog that can keep statistics of tables.
type StatisticsCatalog interface {
	WritableCatalog
	// AnalyzeTable computes statistics of a table and of the columns named, or of all
	// columns, and commits them.
	// progress, where not nil, is told how many rows have been read; several goroutines call it.
	AnalyzeTable(ctx context.Context, db, name string, columns []string, all bool, progress func(rows int64)) error
}

// analyzeTable is ANALYZE TABLE … COMPUTE STATISTICS.
func (e *Engine) analyzeTable(s dialect.AnalyzeTable) sql.Node {
	return &rowsNode{name: "AnalyzeTable", sch: adminColumns(), writes: true, rows: func(ctx *sql.Context) ([]sql.Row, error) {
		if err := commitImplicitly(ctx); err != nil {
			return nil, err
		}
		if err := e.analyze(ctx, s); err != nil {
			return nil, err
		}
		return []sql.Row{{adminName(ctx, s.Table), "analyze", "status", "OK"}}, nil
	}}
}

// adminColumns are the columns of what ANALYZE, CHECK and their like answer.
func adminColumns() sql.Schema { return textColumns("Table", "Op", "Msg_type", "Msg_text") }

// adminName is a table as such an answer names it.
func adminName(ctx *sql.Context, n dialect.Name) string {
	db := n.DB
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	return db + "." + n.Name
}

// analyze computes the statistics of one table.
func (e *Engine) analyze(ctx *sql.Context, s dialect.AnalyzeTable) error {
	return e.changeBranch(ctx, s.Table, func(w WritableCatalog, db, name string) error {
		def, err := w.Definition(ctx, db, name)
		if err != nil {
			return missingTable(err, db, name)
		}
		st, ok := w.(StatisticsCatalog)
		if !ok {
			return errs.Unsupportedf("ANALYZE TABLE … COMPUTE STATISTICS is not supported for this catalog's tables")
		}
		if len(s.Partition) > 0 {
			spec := map[string]*string{}
			for _, v := range s.Partition {
				spec[v.Column] = &v.Value
			}
			if _, err := partitionSpecs(def, db, name, []map[string]*string{spec}); err != nil {
				return err
			}
			note(ctx, warnCodeUnknown, "statistics are those of the whole table: the PARTITION clause selects nothing")
		}
		columns, ok := namedColumns(def.Fields, s.Columns)
		if !ok {
			for _, c := range s.Columns {
				if _, ok := fieldAt(def.Fields, c); !ok {
					return errmap.New(1054, "42S22", "Unknown column '%s' in '%s'", c, s.Table.Name)
				}
			}
		}
		say, end := e.report(ctx)
		defer end()
		return st.AnalyzeTable(ctx, db, name, columns, s.All, func(rows int64) { say(fmt.Sprintf("reading %d rows", rows)) })
	})
}
