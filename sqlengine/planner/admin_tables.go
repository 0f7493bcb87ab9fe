package planner

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
)

// maxCheckErrors bounds the errors that CHECK TABLE lists for one table.
const maxCheckErrors = 100

// adminTables is ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE. A check reads the metadata and all rows of a table, ANALYZE
// counts its rows; the others are not for these tables, which MySQL says in a note.
func (e *Engine) adminTables(s dialect.AdminTables) sql.Node {
	sch := adminColumns()
	if s.Verb == "CHECKSUM" {
		sch = append(textColumns("Table"), numberColumn("Checksum"))
	}
	op := strings.ToLower(s.Verb)
	return &rowsNode{name: "AdminTables", sch: sch, writes: s.Verb == "ANALYZE" && !e.readOnly, rows: func(ctx *sql.Context) ([]sql.Row, error) {
		var rows []sql.Row
		if s.Verb == "ANALYZE" {
			if err := commitImplicitly(ctx); err != nil {
				return nil, err
			}
		}
		for _, n := range s.Tables {
			db, rel, err := e.openNamed(ctx, n)
			if err == nil && s.Verb == "ANALYZE" {
				if err = e.analyzeForAdmin(ctx, n); ctx.Err() != nil {
					return nil, ctx.Err()
				}
			}
			if db == "" {
				db = n.DB
				if db == "" {
					db = ctx.GetCurrentDatabase()
				}
			}
			name := db + "." + n.Name
			say := func(kind, text string) { rows = append(rows, sql.Row{name, op, kind, text}) }
			found := []error{err}
			if err == nil && s.Verb == "CHECK" {
				if found, err = e.checkTable(ctx, rel, slices.Contains(s.Options, "QUICK")); err != nil {
					return nil, err
				}
			}
			found = slices.DeleteFunc(found, func(err error) bool { return err == nil })
			switch {
			case s.Verb == "CHECKSUM":
				rows = append(rows, sql.Row{name, nil})
			case len(found) > 0:
				damaged := false
				for _, err := range found {
					_, _, text := errmap.ConvertIn(db, err)
					say("Error", text)
					damaged = damaged || s.Verb == "CHECK" && (errs.Is(err, errs.Corrupt) || errs.Is(err, errs.NotFound) && rel != nil)
				}
				if damaged {
					say("error", "Corrupt")
				} else {
					say("status", "Operation failed")
				}
			case s.Verb == "CHECK" || s.Verb == "ANALYZE":
				say("status", "OK")
			default:
				say("note", "The storage engine for the table doesn't support "+op)
			}
		}
		return rows, nil
	}}
}

// analyzeForAdmin is MySQL's ANALYZE TABLE of one table.
func (e *Engine) analyzeForAdmin(ctx *sql.Context, n dialect.Name) error {
	if e.readOnly {
		return errs.ReadOnlyf("The Tributary server is running with the --read-only option so it cannot execute this statement (ANALYZE TABLE)")
	}
	return e.analyze(ctx, dialect.AnalyzeTable{Table: n})
}

// checkTable plans a read of a table and reads all of it, unless only its metadata is wanted. What is wrong with the table
// comes in found; err is for a check that could not go on.
func (e *Engine) checkTable(ctx *sql.Context, rel relation.Relation, metadata bool) (found []error, err error) {
	req := relation.Request{}
	for i := range rel.Fields() {
		req.Columns = append(req.Columns, i)
	}
	plan, err := rel.Plan(ctx, req)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || metadata {
		return []error{err}, nil
	}
	say, end := e.report(ctx)
	defer end()
	for i, m := range plan.Morsels {
		say(fmt.Sprintf("checking files %d/%d", i, len(plan.Morsels)))
		err := readThrough(ctx, m)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if found = append(found, err); len(found) == maxCheckErrors {
				break
			}
		}
	}
	return found, nil
}

// readThrough reads a morsel and forgets its rows.
func readThrough(ctx *sql.Context, m relation.Morsel) (err error) {
	r, err := m.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		if _, err := r.Next(ctx); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
