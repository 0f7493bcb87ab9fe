package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// callProcedure is CALL. The columns of its result are known once it has run.
func (e *Engine) callProcedure(s dialect.Call, children []sql.Expression) sql.Node {
	n := &rowsNode{name: "Call(" + s.Procedure.Name + ")", writes: true}
	n.rows = func(ctx *sql.Context) ([]sql.Row, error) {
		procedures, name, err := e.procedure(s.Procedure)
		if err != nil {
			return nil, err
		}
		args, err := procedureArgs(ctx, s.Args, children)
		if err != nil {
			return nil, err
		}
		if err := commitImplicitly(ctx); err != nil {
			return nil, err
		}
		opts := e.callOptions(ctx)
		say, end := e.report(ctx)
		defer end()
		opts.Progress = say
		rel, err := procedures.Call(ctx, name, args, opts)
		if err != nil {
			return nil, err
		}
		if rel == nil {
			n.sch = gms.OkResultSchema
			return []sql.Row{{gms.NewOkResult(0)}}, nil
		}
		t := newTable("", name, rel)
		n.sch = t.Schema()
		// What is done is done, even if the statement is stopped now.
		return allRows(ctx.WithContext(context.WithoutCancel(ctx)), t)
	}
	return n
}

func (e *Engine) callOptions(ctx *sql.Context) CallOptions {
	o := CallOptions{Database: ctx.GetCurrentDatabase(), Branch: sessionBranch(ctx), TimeZone: SessionZone(ctx)}
	o.Where = func(db, table, text string, partition []schema.Field) (func([]column.Scalar) (bool, error), error) {
		return e.partitionCondition(ctx, db, table, text, partition)
	}
	return o
}

// procedure finds a procedure by its name, in the database sys or without one.
func (e *Engine) procedure(n dialect.Name) (ProcedureCatalog, string, error) {
	full := n.Name
	if n.DB != "" {
		full = n.DB + "." + n.Name
	}
	c, ok := e.catalog.(ProcedureCatalog)
	if ok && (n.DB == "" || strings.EqualFold(n.DB, SystemDatabase)) {
		for _, p := range c.Procedures() {
			if strings.EqualFold(p, n.Name) {
				return c, p, nil
			}
		}
	}
	return nil, "", errmap.Wrap(errs.NotFoundf("procedure %s", full), 1305, "42000", "PROCEDURE %s does not exist", full)
}

// procedureArgs gives the arguments their values.
func procedureArgs(ctx *sql.Context, args []dialect.CallArg, children []sql.Expression) ([]ProcedureArg, error) {
	out := make([]ProcedureArg, len(args))
	named := false
	for i, a := range args {
		if a.Name == "" && named {
			return nil, errs.Invalidf("argument %d of CALL has no name, and one before it has: positional arguments come first", i+1)
		}
		named = named || a.Name != ""
		out[i] = ProcedureArg{Name: a.Name, Value: a.Text}
		if a.Child < 0 {
			continue
		}
		if a.Child >= len(children) {
			return nil, fmt.Errorf("planner: argument %d of CALL has no expression", i+1)
		}
		v, err := children[a.Child].Eval(ctx, nil)
		if err != nil {
			return nil, err
		}
		if out[i].Value, err = argumentText(ctx, children[a.Child].Type(), v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// argumentText is a value as the text of an argument.
func argumentText(ctx *sql.Context, t sql.Type, v any) (*string, error) {
	var text string
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		text = v
	case []byte:
		text = string(v)
	case bool:
		text = fmt.Sprint(v)
	case time.Time:
		text = v.Format("2006-01-02 15:04:05.999999")
		if gms.IsDateType(t) {
			text = v.Format("2006-01-02")
		}
	default:
		s, _, err := gms.LongText.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		text = fmt.Sprint(s)
	}
	return &text, nil
}

// allRows reads a small relation.
func allRows(ctx *sql.Context, t *Table) (rows []sql.Row, err error) {
	cols := t.columns()
	s, err := t.scan(ctx, cols)
	if err != nil {
		return nil, err
	}
	it := newRowIter(ctx, s, t.typesOf(cols))
	defer func() { err = errors.Join(err, it.Close(ctx)) }()
	for {
		r, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
}

// alterTag is a tag statement of ALTER TABLE, as the procedure that does it.
func (e *Engine) alterTag(ctx *sql.Context, db, table string, a dialect.TagAction) error {
	full := db + "." + table
	args := []ProcedureArg{{Value: &full}}
	for _, x := range a.Args {
		args = append(args, ProcedureArg{Name: x.Name, Value: x.Text})
	}
	run := func(name string) error {
		c, name, err := e.procedure(dialect.Name{DB: SystemDatabase, Name: name})
		if err != nil {
			return err
		}
		rel, err := c.Call(ctx, name, args, e.callOptions(ctx))
		if err != nil || rel == nil {
			return err
		}
		return drain(ctx, rel)
	}
	if a.Procedure == dialect.TagCreateOrReplace {
		err := run("create_tag")
		if errs.Is(err, errs.Exists) {
			return run("replace_tag")
		}
		return err
	}
	err := run(a.Procedure)
	if a.IfExists && isMissing(err) || a.IfNotExists && errs.Is(err, errs.Exists) {
		note(ctx, warnCodeUnknown, err.Error())
		return nil
	}
	return err
}

// drain reads a small relation for what it does.
func drain(ctx *sql.Context, rel relation.Relation) error {
	_, err := allRows(ctx.WithContext(context.WithoutCancel(ctx)), newTable("", "", rel))
	return err
}
