package planner

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// errValueCount is MySQL's ER_WRONG_VALUE_COUNT_ON_ROW.
const errValueCount = 1136

// cellKind says what a cell of VALUES is.
type cellKind uint8

const (
	cellExpr     cellKind = iota // child number child
	cellNull                     // NULL
	cellDefault                  // DEFAULT
	cellInt                      // digits, perhaps with a sign
	cellDecimal                  // digits with a point
	cellDouble                   // with an exponent
	cellText                     // a text
	cellHex                      // bytes of x'…', 0x… or b'…'
	cellTrue                     // TRUE
	cellFalse                    // FALSE
	cellOf                       // DEFAULT(text): the default of another column
	cellMistaken                 // a literal that cannot be read
)

// valueCell is a cell of VALUES: a literal, or an expression that the binder binds.
type valueCell struct {
	text  []byte
	child int32
	kind  cellKind
}

// valueRows are the rows of VALUES on their way through the binder and the analyzer, as one expression in
// the place of the first row's first value: these would spend more time on every literal than it takes to store it.
type valueRows struct {
	rows [][]valueCell
	// children are the expressions; nil before they are bound.
	children []sql.Expression
}

var (
	_ sqlparser.Injectable   = (*valueRows)(nil)
	_ sql.Expression         = (*valueRows)(nil)
	_ sql.CollationCoercible = (*valueRows)(nil)
)

// carryValues puts the rows of INSERT … VALUES into a valueRows.
func carryValues(ins *sqlparser.Insert) {
	v, ok := ins.Rows.(*sqlparser.AliasedValues)
	if !ok || len(v.Values) == 0 || len(v.Values[0]) == 0 {
		return
	}
	if _, carried := v.Values[0][0].(sqlparser.InjectedExpr); carried {
		return
	}
	carrier := &valueRows{rows: make([][]valueCell, len(v.Values))}
	var children sqlparser.Exprs
	cells := make([]valueCell, 0, len(v.Values)*len(v.Values[0]))
	for r, tuple := range v.Values {
		if bulk, ok := dialect.AsLiteralRows(tuple); ok { // the last one
			carrier.rows = append(carrier.rows[:r], carriedLiterals(bulk.Rows)...)
			break
		}
		from := len(cells)
		for _, e := range tuple {
			c := literalCell(e)
			if c.kind == cellExpr {
				c.child = int32(len(children))
				children = append(children, e)
			}
			cells = append(cells, c)
		}
		carrier.rows[r] = cells[from:len(cells):len(cells)]
	}
	// The binder counts the first row's values.
	first := make(sqlparser.ValTuple, len(v.Values[0]))
	first[0] = sqlparser.InjectedExpr{Expression: carrier, Children: children, Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE}}
	for i := 1; i < len(first); i++ {
		first[i] = &sqlparser.NullVal{}
	}
	v.Values = sqlparser.Values{first}
}

// literalKinds are the kinds of cells by those of literals.
var literalKinds = [...]cellKind{
	dialect.LiteralNull: cellNull, dialect.LiteralDefault: cellDefault, dialect.LiteralInt: cellInt, dialect.LiteralDecimal: cellDecimal,
	dialect.LiteralDouble: cellDouble, dialect.LiteralText: cellText, dialect.LiteralTrue: cellTrue, dialect.LiteralFalse: cellFalse,
}

// carriedLiterals makes cells of rows that have literals only.
func carriedLiterals(rows [][]dialect.Literal) [][]valueCell {
	n := 0
	for _, r := range rows {
		n += len(r)
	}
	cells := make([]valueCell, 0, n)
	out := make([][]valueCell, len(rows))
	for i, r := range rows {
		from := len(cells)
		for _, l := range r {
			cells = append(cells, valueCell{text: l.Text, kind: literalKinds[l.Kind]})
		}
		out[i] = cells[from:len(cells):len(cells)]
	}
	return out
}

// literalCell reads a value; the kind is cellExpr where it is no literal.
func literalCell(e sqlparser.Expr) valueCell {
	switch e := e.(type) {
	case *sqlparser.SQLVal:
		return literalValue(e)
	case *sqlparser.NullVal:
		return valueCell{kind: cellNull}
	case sqlparser.BoolVal:
		if e {
			return valueCell{kind: cellTrue}
		}
		return valueCell{kind: cellFalse}
	case *sqlparser.Default:
		if e.ColName != "" {
			return valueCell{kind: cellOf, text: []byte(e.ColName)}
		}
		return valueCell{kind: cellDefault}
	case *sqlparser.ParenExpr:
		return literalCell(e.Expr)
	case *sqlparser.UnaryExpr:
		c := literalCell(e.Expr)
		number := c.kind == cellInt || c.kind == cellDecimal || c.kind == cellDouble
		switch {
		case !number:
		case e.Operator == sqlparser.UPlusStr:
			return c
		case e.Operator == sqlparser.UMinusStr && !strings.HasPrefix(string(c.text), "-"):
			c.text = append([]byte{'-'}, c.text...)
			return c
		}
	}
	return valueCell{}
}

func literalValue(e *sqlparser.SQLVal) valueCell {
	switch e.Type {
	case sqlparser.IntVal:
		return valueCell{kind: cellInt, text: e.Val}
	case sqlparser.FloatVal:
		for _, b := range e.Val {
			if b == 'e' || b == 'E' {
				return valueCell{kind: cellDouble, text: e.Val}
			}
		}
		return valueCell{kind: cellDecimal, text: e.Val}
	case sqlparser.StrVal:
		return valueCell{kind: cellText, text: e.Val}
	case sqlparser.HexVal:
		return hexCell(string(e.Val))
	case sqlparser.HexNum:
		s := string(e.Val)
		if len(s) > 2 {
			s = s[2:]
		}
		if len(s)%2 == 1 {
			s = "0" + s
		}
		return hexCell(s)
	case sqlparser.BitVal:
		n, ok := new(big.Int).SetString(string(e.Val), 2)
		if !ok {
			return valueCell{kind: cellMistaken, text: e.Val}
		}
		return valueCell{kind: cellHex, text: n.FillBytes(make([]byte, (len(e.Val)+7)/8))}
	}
	return valueCell{}
}

func hexCell(s string) valueCell {
	b, err := hex.DecodeString(s)
	if err != nil {
		return valueCell{kind: cellMistaken, text: []byte(s)}
	}
	return valueCell{kind: cellHex, text: b}
}

// WithResolvedChildren implements sqlparser.Injectable.
func (v *valueRows) WithResolvedChildren(children []any) (any, error) {
	out := &valueRows{rows: v.rows, children: make([]sql.Expression, len(children))}
	for i, c := range children {
		e, ok := c.(sql.Expression)
		if !ok {
			return nil, sql.ErrUnsupportedSyntax.New("this value")
		}
		out.children[i] = e
	}
	for i, r := range v.rows {
		if len(r) != len(v.rows[0]) {
			return nil, errmap.New(errValueCount, "21S01", "Column count doesn't match value count at row %d", i+1)
		}
	}
	return out, nil
}

// Resolved implements sql.Expression.
func (v *valueRows) Resolved() bool {
	for _, c := range v.children {
		if !c.Resolved() {
			return false
		}
	}
	return true
}

// String implements sql.Expression.
func (v *valueRows) String() string { return strconv.Itoa(len(v.rows)) + " rows" }

// Type implements sql.Expression.
func (v *valueRows) Type() sql.Type { return gms.Null }

// IsNullable implements sql.Expression.
func (v *valueRows) IsNullable() bool { return true }

// Eval implements sql.Expression. The rows are read by insertNode.
func (v *valueRows) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, errs.Unsupportedf("the rows of VALUES are no value")
}

// Children implements sql.Expression.
func (v *valueRows) Children() []sql.Expression { return v.children }

// WithChildren implements sql.Expression.
func (v *valueRows) WithChildren(c ...sql.Expression) (sql.Expression, error) {
	if len(c) != len(v.children) {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(c), len(v.children))
	}
	return &valueRows{rows: v.rows, children: c}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (v *valueRows) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// carriedRows finds the rows of VALUES in the source of an INSERT.
func carriedRows(n sql.Node) *valueRows {
	v, ok := n.(*plan.Values)
	if !ok || len(v.ExpressionTuples) != 1 || len(v.ExpressionTuples[0]) == 0 {
		return nil
	}
	rows, _ := v.ExpressionTuples[0][0].(*valueRows)
	return rows
}

// literal appends a cell that is a literal other than NULL and DEFAULT.
func (w *cellWriter) literal(c *valueCell) error {
	switch c.kind {
	case cellTrue:
		return w.int(1)
	case cellFalse:
		return w.int(0)
	case cellInt:
		if n, err := strconv.ParseInt(string(c.text), 10, 64); err == nil {
			return w.int(n)
		}
		return w.literalExact(c)
	case cellDecimal:
		if ok, err := w.plainNumber(c.text); ok {
			return err
		}
		return w.literalExact(c)
	case cellDouble:
		f, err := strconv.ParseFloat(string(c.text), 64)
		if err != nil && math.IsInf(f, 0) {
			return errmap.New(1367, "22007", "Illegal double '%s' value found during parsing", c.text)
		}
		return w.float(f, 64)
	case cellText:
		return w.textOf(c.text)
	case cellHex:
		return w.hex(hexLiteral(c.text))
	}
	return errmap.New(1064, "42000", "You have an error in your SQL syntax; '%s' is no literal", c.text)
}

func (w *cellWriter) literalExact(c *valueCell) error {
	d, tooBig := parseExact(string(c.text))
	if tooBig {
		if err := w.outOfRange(); err != nil {
			return err
		}
		d = decimal.New(int64(signOf(string(c.text))), 65)
	}
	return w.exact(d)
}
