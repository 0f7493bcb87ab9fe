package planner

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/types"
)

// MySQL's errors about frames, all HY000.
const (
	errnoFrameBound       = 3586 // ER_WINDOW_FRAME_ILLEGAL
	errnoRangeOrder       = 3587 // ER_WINDOW_RANGE_FRAME_ORDER_TYPE
	errnoRangeTemporal    = 3588 // ER_WINDOW_RANGE_FRAME_TEMPORAL_TYPE
	errnoRangeNumeric     = 3589 // ER_WINDOW_RANGE_FRAME_NUMERIC_TYPE
	errnoWrongArguments   = 1210 // ER_WRONG_ARGUMENTS
	unnamedWindow         = "<unnamed window>"
	messageFrameBound     = "Window '%s': frame start or end is negative, NULL or of non-integral type"
	messageRangeOrder     = "Window '%s' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type"
	messageRangeTemporal  = "Window '%s' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed."
	messageRangeNumeric   = "Window '%s' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed."
	messageWrongArguments = "Incorrect arguments to %s"
)

// boundKind says where a frame begins or ends.
type boundKind uint8

const (
	boundUnbounded boundKind = iota
	boundCurrent
	boundRows  // a number of rows away
	boundValue // a distance of values away
)

// frameBound is one end of a frame.
type frameBound struct {
	kind boundKind
	// following: towards the end of the partition.
	following bool
	rows      int
	distance  decimal.Decimal
	double    float64
	delta     *expression.TimeDelta
}

// windowFrame is a window's frame, its bounds evaluated.
type windowFrame struct {
	byRange    bool
	start, end frameBound
	order      sql.SortField // of boundValue
	kind       typeKind      // of its values
}

// newFrame evaluates the bounds of a window's frame. Without one, a frame ends with the peers of the row, or the partition
// where no order is given.
func newFrame(ctx *sql.Context, w *sql.WindowDefinition) (*windowFrame, error) {
	f := &windowFrame{byRange: true, end: frameBound{following: true}}
	if w.Frame == nil {
		if len(w.OrderBy) > 0 {
			f.end.kind = boundCurrent
		}
		return f, nil
	}
	f.byRange = strings.HasPrefix(w.Frame.String(), "RANGE")
	var err error
	switch g := w.Frame; {
	case g.UnboundedPreceding():
	case g.StartNPreceding() != nil:
		f.start, err = f.bound(ctx, w, g.StartNPreceding(), false)
	case g.StartNFollowing() != nil:
		f.start, err = f.bound(ctx, w, g.StartNFollowing(), true)
	default:
		f.start.kind = boundCurrent
	}
	if err != nil {
		return nil, err
	}
	switch g := w.Frame; {
	case g.UnboundedFollowing():
	case g.EndNPreceding() != nil:
		f.end, err = f.bound(ctx, w, g.EndNPreceding(), false)
	case g.EndNFollowing() != nil:
		f.end, err = f.bound(ctx, w, g.EndNFollowing(), true)
	default:
		f.end.kind = boundCurrent
	}
	return f, err
}

// bound evaluates N PRECEDING or N FOLLOWING.
func (f *windowFrame) bound(ctx *sql.Context, w *sql.WindowDefinition, e sql.Expression, following bool) (frameBound, error) {
	name := w.Name
	if name == "" {
		name = unnamedWindow
	}
	refuse := func(code uint16, message string) (frameBound, error) {
		return frameBound{}, errmap.New(code, "HY000", message, name)
	}
	b := frameBound{kind: boundRows, following: following}
	interval, isInterval := e.(*expression.Interval)
	if !f.byRange {
		if isInterval {
			return refuse(errnoFrameBound, messageFrameBound)
		}
		v, err := e.Eval(ctx, nil)
		if err != nil {
			return b, err
		}
		n, ok := asInt64(v)
		if u, isUnsigned := v.(uint64); isUnsigned {
			n, ok = int64(min(u, 1<<62)), true
		}
		if !ok || n < 0 {
			return refuse(errnoFrameBound, messageFrameBound)
		}
		b.rows = int(min(n, maxWindowRows))
		return b, nil
	}
	b.kind = boundValue
	if len(w.OrderBy) != 1 {
		return refuse(errnoRangeOrder, messageRangeOrder)
	}
	f.order, f.kind = w.OrderBy[0], kindOfType(w.OrderBy[0].Column.Type())
	switch {
	case f.kind == kindMoment && !isInterval:
		return refuse(errnoRangeTemporal, messageRangeTemporal)
	case f.kind == kindMoment:
		delta, err := interval.EvalDelta(ctx, nil)
		if err != nil {
			return b, err
		}
		if delta == nil {
			return refuse(errnoFrameBound, messageFrameBound)
		}
		b.delta = delta
		zero := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		if delta.Add(zero).Before(zero) {
			return refuse(errnoFrameBound, messageFrameBound)
		}
		return b, nil
	case f.kind != kindInteger && f.kind != kindDecimal && f.kind != kindDouble:
		return refuse(errnoRangeOrder, messageRangeOrder)
	case isInterval:
		return refuse(errnoRangeNumeric, messageRangeNumeric)
	}
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return b, err
	}
	d, ok := toDecimal(v)
	if x, isDouble := toDouble(v); !ok && isDouble && v != nil {
		d, ok = decimal.NewFromFloat(x), true
	}
	if v == nil || !ok || d.Sign() < 0 {
		return refuse(errnoFrameBound, messageFrameBound)
	}
	b.distance, b.double = d, d.InexactFloat64()
	return b, nil
}

// partition is a partition of a window: the places of its rows in the order of the window.
type windowPartition struct {
	order []int32 // rows
	keys  [][]any // of each row: PARTITION BY, then ORDER BY
	width int     // of PARTITION BY
	// peers has for each place the first one of its peers and the one behind the last of them.
	peers [][2]int
}

// at is the frame of a place: from start, before end.
func (f *windowFrame) at(p *windowPartition, i int) (start, end int, err error) {
	n := len(p.order)
	if start, err = f.place(p, &f.start, i, false); err != nil {
		return 0, 0, err
	}
	if end, err = f.place(p, &f.end, i, true); err != nil {
		return 0, 0, err
	}
	start, end = max(start, 0), min(end, n)
	if start >= end {
		return 0, 0, nil
	}
	return start, end, nil
}

// place is where a bound lies for the row at place i; isEnd asks for the place behind the frame.
func (f *windowFrame) place(p *windowPartition, b *frameBound, i int, isEnd bool) (int, error) {
	behind := 0
	if isEnd {
		behind = 1
	}
	switch b.kind {
	case boundUnbounded:
		return behind * len(p.order), nil
	case boundCurrent:
		if f.byRange {
			return p.peers[i][behind], nil
		}
		return i + behind, nil
	case boundRows:
		if b.following {
			return i + b.rows + behind, nil
		}
		return i - b.rows + behind, nil
	}
	own := p.keys[p.order[i]][p.width]
	if own == nil {
		return p.peers[i][behind], nil
	}
	descending := f.order.Order == sql.Descending
	limit, err := f.shift(own, b, b.following != descending)
	if err != nil {
		return 0, err
	}
	var bad error
	at := sort.Search(len(p.order), func(j int) bool {
		key := p.keys[p.order[j]][p.width]
		c := -1 // NULL is the least value
		if key != nil {
			var err error
			if c, err = f.compare(key, limit); err != nil {
				bad = err
			}
		}
		if descending {
			c = -c
		}
		return c > 0 || c == 0 && !isEnd
	})
	return at, bad
}

// shift moves a value of ORDER BY by the bound's distance, up or down.
func (f *windowFrame) shift(v any, b *frameBound, up bool) (any, error) {
	switch f.kind {
	case kindMoment:
		t, ok := v.(time.Time)
		if !ok {
			return nil, fmt.Errorf("window frame: %T is not a date or time", v)
		}
		if up {
			return b.delta.Add(t), nil
		}
		return b.delta.Sub(t), nil
	case kindDouble:
		x, _ := toDouble(v)
		if up {
			return x + b.double, nil
		}
		return x - b.double, nil
	}
	d, ok := toDecimal(v)
	if !ok {
		return nil, fmt.Errorf("window frame: %T is not a number", v)
	}
	if up {
		return d.Add(b.distance), nil
	}
	return d.Sub(b.distance), nil
}

// compare compares a value of ORDER BY with a shifted one.
func (f *windowFrame) compare(v, limit any) (int, error) {
	switch l := limit.(type) {
	case time.Time:
		if t, ok := v.(time.Time); ok {
			return t.Compare(l), nil
		}
	case float64:
		if x, ok := toDouble(v); ok {
			return types.CompareDoubles(x, l), nil
		}
	case decimal.Decimal:
		if d, ok := toDecimal(v); ok {
			return d.Cmp(l), nil
		}
	}
	return 0, fmt.Errorf("window frame: %T cannot be compared", v)
}

// compareKeys orders two rows by their keys.
func compareKeys(ctx *sql.Context, compare []keyCompare, a, b []any) (int, error) {
	for i, k := range compare {
		x, y := a[i], b[i]
		var c int
		switch {
		case x == nil && y == nil:
			continue
		case x == nil:
			c = -1
		case y == nil:
			c = 1
		default:
			var err error
			if c, err = k.compare(ctx, x, y); err != nil {
				return 0, err
			}
		}
		if c != 0 {
			if k.descending {
				return -c, nil
			}
			return c, nil
		}
	}
	return 0, nil
}

// keyCompare compares the values of one key.
type keyCompare struct {
	typ        sql.Type
	binary     bool // texts compared by their bytes
	descending bool
}

func newKeyCompare(ctx *sql.Context, e sql.Expression, descending bool) keyCompare {
	k := keyCompare{typ: e.Type(), descending: descending}
	if kindOfType(k.typ) == kindText {
		k.binary = textClass(ctx, e, e) == classBytes
	}
	return k
}

func (k keyCompare) compare(ctx *sql.Context, a, b any) (int, error) {
	if k.binary {
		x, ok := a.(string)
		y, ok2 := b.(string)
		if ok && ok2 {
			return cmp.Compare(x, y), nil
		}
	}
	return k.typ.Compare(ctx, a, b)
}
