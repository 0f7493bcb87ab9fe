package planner

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// maxWindowRows bounds the rows that window functions keep in memory.
const maxWindowRows = 50_000_000

// windowRows computes window functions: it reads all rows, sorts them for each window, and gives them in the order of the
// last one, each with the values of the functions.
type windowRows struct {
	exprs  []sql.Expression
	values [][]any // of each function, by row; nil where exprs is computed on the row
	rows   []sql.Row
	order  []int32
	next   int
}

// window is a partitioning and an order with the functions that share them.
type window struct {
	def       *sql.WindowDefinition
	compare   []keyCompare
	functions []int // places in windowRows.exprs
}

func newWindowRows(ctx *sql.Context, b sql.NodeExecBuilder, n *plan.Window, outer sql.Row) (sql.RowIter, error) {
	it := &windowRows{values: make([][]any, len(n.SelectExprs))}
	var windows []*window
	byText := map[string]*window{}
	for i, e := range n.SelectExprs {
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		it.exprs = append(it.exprs, e)
		f, ok := e.(sql.WindowAdaptableExpression)
		if !ok || f.Window() == nil {
			continue
		}
		text := sql.NewWindowDefinition(f.Window().PartitionBy, f.Window().OrderBy, nil, "", "").String()
		w := byText[text]
		if w == nil {
			w = newWindow(ctx, f.Window())
			byText[text] = w
			windows = append(windows, w)
		}
		w.functions = append(w.functions, i)
	}
	child, err := b.Build(ctx, n.Child, outer)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(it.read(ctx, child), child.Close(ctx)); err != nil {
		return nil, err
	}
	for _, w := range windows {
		if err := it.compute(ctx, w); err != nil {
			return nil, err
		}
	}
	return it, nil
}

func newWindow(ctx *sql.Context, def *sql.WindowDefinition) *window {
	w := &window{def: def}
	for _, e := range def.PartitionBy {
		w.compare = append(w.compare, newKeyCompare(ctx, e, false))
	}
	for _, o := range def.OrderBy {
		w.compare = append(w.compare, newKeyCompare(ctx, o.Column, o.Order == sql.Descending))
	}
	return w
}

func (it *windowRows) read(ctx *sql.Context, child sql.RowIter) error {
	for {
		r, err := child.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(it.rows) >= maxWindowRows {
			return errs.Limitf("window functions would keep more than %d rows in memory; filter or group the rows first", maxWindowRows)
		}
		it.order = append(it.order, int32(len(it.rows)))
		it.rows = append(it.rows, r)
	}
}

// compute sorts the rows for a window and computes its functions.
func (it *windowRows) compute(ctx *sql.Context, w *window) error {
	keys := make([][]any, len(it.rows))
	width := len(w.def.PartitionBy)
	for i, row := range it.rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		k := make([]any, len(w.compare))
		for j := range k {
			var e sql.Expression
			if j < width {
				e = w.def.PartitionBy[j]
			} else {
				e = w.def.OrderBy[j-width].Column
			}
			v, err := e.Eval(ctx, row)
			if err == nil {
				v, err = sql.UnwrapAny(ctx, v)
			}
			if err != nil {
				return err
			}
			k[j] = v
		}
		keys[i] = k
	}
	var bad error
	steps := 0
	slices.SortStableFunc(it.order, func(a, b int32) int {
		if steps++; steps%checkEvery == 0 && bad == nil {
			bad = ctx.Err()
		}
		if bad != nil {
			return 0
		}
		c, err := compareKeys(ctx, w.compare, keys[a], keys[b])
		if err != nil {
			bad = err
		}
		return c
	})
	if bad != nil {
		return bad
	}
	for _, f := range w.functions {
		it.values[f] = make([]any, len(it.rows))
	}
	for start := 0; start < len(it.order); {
		end := start + 1
		for end < len(it.order) {
			c, err := compareKeys(ctx, w.compare[:width], keys[it.order[start]], keys[it.order[end]])
			if err != nil {
				return err
			}
			if c != 0 {
				break
			}
			end++
		}
		p := &windowPartition{order: it.order[start:end], keys: keys, width: width}
		if err := p.findPeers(ctx, w.compare); err != nil {
			return err
		}
		for _, f := range w.functions {
			if err := it.function(ctx, p, f); err != nil {
				return err
			}
		}
		start = end
	}
	return nil
}

func (p *windowPartition) findPeers(ctx *sql.Context, compare []keyCompare) error {
	p.peers = make([][2]int, len(p.order))
	first := 0
	for i := 1; i <= len(p.order); i++ {
		if i < len(p.order) {
			c, err := compareKeys(ctx, compare, p.keys[p.order[i-1]], p.keys[p.order[i]])
			if err != nil {
				return err
			}
			if c == 0 {
				continue
			}
		}
		for j := first; j < i; j++ {
			p.peers[j] = [2]int{first, i}
		}
		first = i
	}
	return nil
}

// function computes one function over a partition.
func (it *windowRows) function(ctx *sql.Context, p *windowPartition, at int) error {
	out := it.values[at]
	switch f := it.exprs[at].(type) {
	case *WindowFunction:
		switch f.kind {
		case dialect.WindowCount, dialect.WindowMin, dialect.WindowMax:
			return it.frames(ctx, p, f, out)
		case dialect.WindowFirstValue, dialect.WindowLastValue, dialect.WindowNthValue:
			return it.framedValue(ctx, p, f, out)
		case dialect.WindowLead, dialect.WindowLag:
			return it.shifted(ctx, p, f, out)
		}
		return ranks(ctx, p, f, out)
	case sql.Aggregation:
		return it.frames(ctx, p, f, out)
	}
	return errs.Unsupportedf("%s is not supported as a window function", it.exprs[at])
}

// ranks computes the functions that depend on the order alone.
func ranks(ctx *sql.Context, p *windowPartition, f *WindowFunction, out []any) error {
	n := len(p.order)
	var tiles int
	if f.kind == dialect.WindowNTile {
		t, err := countArgument(ctx, f, f.args[0], 1)
		if err != nil {
			return err
		}
		tiles = t
	}
	dense := 0
	for i, row := range p.order {
		first, behind := p.peers[i][0], p.peers[i][1]
		if first == i {
			dense++
		}
		var v any
		switch f.kind {
		case dialect.WindowRowNumber:
			v = uint64(i + 1)
		case dialect.WindowRank:
			v = uint64(first + 1)
		case dialect.WindowDenseRank:
			v = uint64(dense)
		case dialect.WindowPercentRank:
			x := 0.0
			if n > 1 {
				x = float64(first) / float64(n-1)
			}
			v = x
		case dialect.WindowCumeDist:
			v = float64(behind) / float64(n)
		case dialect.WindowNTile:
			// The first rest tiles have one row more than the others.
			size, rest := n/tiles, n%tiles
			if long := rest * (size + 1); i < long {
				v = uint64(i/(size+1) + 1)
			} else {
				v = uint64(rest + (i-long)/size + 1)
			}
		}
		out[row] = v
	}
	return nil
}

// countArgument evaluates an argument that must be a whole number not less than least.
func countArgument(ctx *sql.Context, f *WindowFunction, e sql.Expression, least int64) (int, error) {
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	n, ok := asInt64(v)
	if u, isUnsigned := v.(uint64); isUnsigned {
		n, ok = int64(min(u, maxWindowRows)), true
	}
	if !ok || n < least {
		return 0, errmap.New(errnoWrongArguments, "HY000", messageWrongArguments, strings.ToLower(f.kind))
	}
	return int(min(n, maxWindowRows)), nil
}

// value evaluates an expression on the row at a place.
func (it *windowRows) value(ctx *sql.Context, p *windowPartition, e sql.Expression, place int) (any, error) {
	return e.Eval(ctx, it.rows[p.order[place]])
}

// shifted computes LEAD and LAG, which look at the whole partition.
func (it *windowRows) shifted(ctx *sql.Context, p *windowPartition, f *WindowFunction, out []any) error {
	offset := 1
	if len(f.args) > 1 {
		n, err := countArgument(ctx, f, f.args[1], 0)
		if err != nil {
			return err
		}
		offset = n
	}
	if f.kind == dialect.WindowLag {
		offset = -offset
	}
	typ := f.Type()
	for i, row := range p.order {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var v any
		var err error
		if j := i + offset; j >= 0 && j < len(p.order) {
			v, err = it.value(ctx, p, f.args[0], j)
		} else if len(f.args) == 3 {
			v, err = it.value(ctx, p, f.args[2], i)
		}
		if err == nil && v != nil && len(f.args) == 3 {
			if v, _, err = typ.Convert(ctx, v); err == nil {
				v = withScale(typ, v)
			}
		}
		if err != nil {
			return err
		}
		out[row] = v
	}
	return nil
}

// withScale gives a decimal the scale of its type, with which it prints.
func withScale(t sql.Type, v any) any {
	d, ok := v.(decimal.Decimal)
	dt, isDecimal := t.(sql.DecimalType)
	if !ok || !isDecimal {
		return v
	}
	scale := int32(dt.Scale())
	if d = d.Round(scale); d.Exponent() <= -scale {
		return d
	}
	return decimal.NewFromBigInt(d.Shift(scale).BigInt(), -scale)
}

// framedValue computes FIRST_VALUE, LAST_VALUE and NTH_VALUE.
func (it *windowRows) framedValue(ctx *sql.Context, p *windowPartition, f *WindowFunction, out []any) error {
	frame, err := newFrame(ctx, f.window)
	if err != nil {
		return err
	}
	nth := 1
	if f.kind == dialect.WindowNthValue {
		if nth, err = countArgument(ctx, f, f.args[1], 1); err != nil {
			return err
		}
	}
	for i, row := range p.order {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		start, end, err := frame.at(p, i)
		if err != nil {
			return err
		}
		at := start + nth - 1
		if f.kind == dialect.WindowLastValue {
			at = end - 1
		}
		if start < end && at < end {
			if out[row], err = it.value(ctx, p, f.args[0], at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Next implements sql.RowIter.
func (it *windowRows) Next(ctx *sql.Context) (sql.Row, error) {
	if it.next >= len(it.order) {
		return nil, io.EOF
	}
	i := it.order[it.next]
	it.next++
	row := make(sql.Row, len(it.exprs))
	for c, e := range it.exprs {
		if it.values[c] != nil {
			row[c] = it.values[c][i]
			continue
		}
		v, err := e.Eval(ctx, it.rows[i])
		if err != nil {
			return nil, err
		}
		row[c] = v
	}
	return row, nil
}

// Close implements sql.RowIter.
func (it *windowRows) Close(*sql.Context) error {
	it.rows, it.values, it.order = nil, nil, nil
	return nil
}
