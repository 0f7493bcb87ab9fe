package planner

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// Numbers of MySQL's errors and warnings about the lines of a file.
const (
	errTooFewFields  = 1261 // ER_WARN_TOO_FEW_RECORDS
	errTooManyFields = 1262 // ER_WARN_TOO_MANY_RECORDS
	errNullToNotNull = 1263 // ER_WARN_NULL_TO_NOTNULL
	errUnknownColumn = 1054 // ER_BAD_FIELD_ERROR
)

// prepareLoad checks LOAD DATA, and lets it carry what the binder forgets: how many of the columns the statement lists.
func prepareLoad(s *sqlparser.Load) error {
	if !bool(s.Local) {
		return errmap.New(1290, "HY000", "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement")
	}
	if f := s.Fields; f != nil && f.TerminatedBy != nil && len(f.TerminatedBy.Val) == 0 {
		return errs.Unsupportedf("LOAD DATA of rows of fixed width (FIELDS TERMINATED BY '') is not supported; give a separator")
	}
	if l := s.Lines; l != nil && l.TerminatedBy != nil && len(l.TerminatedBy.Val) == 0 {
		return errs.Unsupportedf("LOAD DATA with LINES TERMINATED BY '' is not supported; give a separator")
	}
	if !strings.Contains(s.Charset, loadCarrier) {
		s.Charset += loadCarrier + strconv.Itoa(len(s.Columns))
	}
	return nil
}

// loadCarrier stands between the character set and the number of columns.
const loadCarrier = "\x01"

// loadData is a LOAD DATA LOCAL INFILE.
type loadData struct {
	file   string
	format lineFormat
	// skip is the number of lines to leave out at the beginning.
	skip int64
	// inputs say what each field of a line is for: a user variable, or "" for a column.
	inputs []string
	// columns are those that get values, from a field or an expression.
	columns []loadColumn
	// raw is, for each of the target's columns, the field that gives it, or -1: for expressions that name it.
	raw []int
}

// loadColumn is a column that a file gives.
type loadColumn struct {
	name string
	// field is the number of the input field; -1 where there is none.
	field int
	// set is the expression of SET; nil for none.
	set sql.Expression
}

// newLoadData reads the binder's node. names are the columns that get values.
func newLoadData(ctx *sql.Context, ld *plan.LoadData, t *insertTable) (out *loadData, names []string, err error) {
	charsetName, count, _ := strings.Cut(ld.Charset, loadCarrier)
	listed, err := strconv.Atoi(count)
	if err != nil {
		return nil, nil, errs.Unsupportedf("LOAD DATA is not supported in this place")
	}
	format := lineFormat{
		fieldEnd: []byte(ld.FieldsTerminatedBy), lineStart: []byte(ld.LinesStartingBy), lineEnd: []byte(ld.LinesTerminatedBy),
		enclosed: firstByte(ld.FieldsEnclosedBy), escape: firstByte(ld.FieldsEscapedBy),
	}
	switch strings.ToLower(charsetName) {
	case "", "utf8mb4", "utf8mb3", "utf8", "ascii", "binary":
	case "latin1":
		format.latin1 = true
	default:
		return nil, nil, errs.Unsupportedf("LOAD DATA … CHARACTER SET %s is not supported; those that are: utf8mb4, latin1, binary", charsetName)
	}
	out = &loadData{file: ld.File, format: format, skip: ld.IgnoreNum}
	at := map[string]int{}
	add := func(name string, field int) {
		at[strings.ToLower(name)] = len(out.columns)
		out.columns = append(out.columns, loadColumn{name: name, field: field})
	}
	sch := t.Schema()
	if listed == 0 {
		for i, c := range sch {
			out.inputs = append(out.inputs, "")
			add(c.Name, i)
		}
	}
	rest := ld.ColNames
	for i := range listed {
		if i < len(ld.UserVars) && ld.UserVars[i] != nil {
			v, ok := userVariable(ld.UserVars[i])
			if !ok {
				return nil, nil, errs.Unsupportedf("LOAD DATA cannot read into %s", ld.UserVars[i])
			}
			out.inputs = append(out.inputs, v)
			continue
		}
		if len(rest) == 0 {
			return nil, nil, errmap.New(errValueCount, "21S01", "Column count doesn't match value count at row 1")
		}
		if sch.IndexOfColName(rest[0]) < 0 {
			return nil, nil, errmap.New(errUnknownColumn, "42S22", "Unknown column '%s' in 'field list'", rest[0])
		}
		if _, twice := at[strings.ToLower(rest[0])]; twice {
			return nil, nil, errmap.New(1110, "42000", "Column '%s' specified twice", rest[0])
		}
		out.inputs = append(out.inputs, "")
		add(rest[0], i)
		rest = rest[1:]
	}
	for i, e := range ld.SetExprs {
		if e == nil {
			continue
		}
		name := strings.ToLower(sch[i].Name)
		if _, ok := at[name]; !ok {
			add(sch[i].Name, -1)
		}
		if out.columns[at[name]].set, err = loadExpression(e, sch); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range sch {
		field := -1
		if k, ok := at[strings.ToLower(c.Name)]; ok {
			field = out.columns[k].field
		}
		out.raw = append(out.raw, field)
	}
	for _, c := range out.columns {
		names = append(names, c.name)
	}
	return out, names, nil
}

func firstByte(s string) int {
	if s == "" {
		return -1
	}
	return int(s[0])
}

func userVariable(e sql.Expression) (string, bool) {
	set, ok := e.(*expression.SetField)
	if !ok {
		return "", false
	}
	v, ok := set.LeftChild.(*expression.UserVar)
	if !ok {
		return "", false
	}
	return v.Name, true
}

// loadExpression makes an expression of SET read the columns of the target's schema from a row of it.
func loadExpression(e sql.Expression, sch sql.Schema) (sql.Expression, error) {
	out, _, err := transform.Expr(e, func(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.GetField:
			i := sch.IndexOfColName(e.Name())
			if i < 0 {
				return nil, transform.SameTree, errmap.New(errUnknownColumn, "42S22", "Unknown column '%s' in 'field list'", e.Name())
			}
			return expression.NewGetField(i, gms.LongText, e.Name(), true), transform.NewTree, nil
		case *plan.Subquery:
			return nil, transform.SameTree, errs.Unsupportedf("LOAD DATA … SET with a subquery is not supported")
		}
		return e, transform.SameTree, nil
	})
	return out, err
}

// feedFile reads the client's file.
func (f *rowFeed) feedFile() (err error) {
	in, err := f.ctx.LoadInfile(f.n.load.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	lines := newLineReader(in, f.n.load.format)
	for range f.n.load.skip {
		if err := lines.skipLine(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	rows := &fileRows{rowFeed: f, load: f.n.load}
	for {
		if f.rows%rowsBetweenChecks == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		fields, err := lines.next()
		if errors.Is(err, io.EOF) {
			return f.flush()
		}
		if err == nil {
			err = rows.line(fields)
		}
		if err == nil {
			err = f.endRow()
		}
		if err != nil {
			return err
		}
	}
}

// fileRows appends the lines of a file.
type fileRows struct {
	*rowFeed
	load *loadData
	raw  sql.Row
}

func (r *fileRows) line(fields []lineField) error {
	if err := r.count(len(fields)); err != nil {
		return err
	}
	if err := r.evaluable(fields); err != nil {
		return err
	}
	for i, from := range r.from {
		if from < 0 {
			continue
		}
		w, c := r.writers[i], &r.load.columns[from]
		var err error
		switch {
		case c.set != nil:
			var v any
			if v, err = c.set.Eval(r.ctx, r.raw); err == nil {
				err = r.cell(w, v, c.set.Type())
			}
		case c.field >= len(fields):
			err = w.defaultOf(&r.fields[i])
		case fields[c.field].null:
			err = r.null(w)
		default:
			err = w.textOf(fields[c.field].text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count compares a line's fields with the statement's.
func (r *fileRows) count(n int) error {
	switch want := len(r.load.inputs); {
	case n < want:
		return r.m.wrong(errTooFewFields, "01000", "Row %d doesn't contain data for all columns", r.m.row)
	case n > want:
		return r.m.wrong(errTooManyFields, "01000", "Row %d was truncated; it contained more data than there were input columns", r.m.row)
	}
	return nil
}

// evaluable prepares what expressions of SET can name: user variables, and the columns as texts.
func (r *fileRows) evaluable(fields []lineField) error {
	value := func(i int) any {
		if i < 0 || i >= len(fields) || fields[i].null {
			return nil
		}
		return string(fields[i].text)
	}
	needed := false
	for i, name := range r.load.inputs {
		if name == "" {
			continue
		}
		v := value(i)
		var typ sql.Type = gms.LongText
		if v == nil {
			typ = gms.Null
		}
		if err := r.ctx.SetUserVariable(r.ctx, name, v, typ); err != nil {
			return err
		}
	}
	for i := range r.load.columns {
		needed = needed || r.load.columns[i].set != nil
	}
	if !needed {
		return nil
	}
	r.raw = r.raw[:0]
	for _, field := range r.load.raw {
		r.raw = append(r.raw, value(field))
	}
	return nil
}

// null appends \N: in a NOT NULL column the implicit default and a warning, or error 1263.
func (r *fileRows) null(w *cellWriter) error {
	if !w.typ.NotNull {
		w.out.AppendNull()
		return nil
	}
	text := fmt.Sprintf("Column set to default value; NULL supplied to NOT NULL column '%s' at row %d", w.name, r.m.row)
	if !r.m.strict && w.implicitDefault() {
		r.m.warn("Warning", errNullToNotNull, text)
		return nil
	}
	return errmap.New(errNullToNotNull, "22004", "%s", text)
}
