package hashjoin

import (
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/storage/errs"
)

// MaxBuildRows bounds the rows of the right side that a join keeps in memory.
const MaxBuildRows = 20_000_000

// checkEvery is the number of candidates after which a join looks for the end of its statement.
const checkEvery = 1024

// Join is an inner or left outer join that keeps its right side in memory.
type Join struct {
	left, right sql.Node
	// cond is the condition over left and right row; nil = TRUE.
	cond    sql.Expression
	keys    []key
	outer   bool
	builder sql.NodeExecBuilder
}

var (
	_ sql.Node               = (*Join)(nil)
	_ sql.ExecSourceRel      = (*Join)(nil)
	_ sql.CollationCoercible = (*Join)(nil)
	_ sql.Expressioner       = (*Join)(nil)
)

// Resolved implements sql.Node.
func (j *Join) Resolved() bool { return j.left.Resolved() && j.right.Resolved() }

// IsReadOnly implements sql.Node.
func (j *Join) IsReadOnly() bool { return j.left.IsReadOnly() && j.right.IsReadOnly() }

// Schema implements sql.Node: the right side's columns may be null in an outer join.
func (j *Join) Schema() sql.Schema {
	out := append(sql.Schema{}, j.left.Schema()...)
	for _, c := range j.right.Schema() {
		if j.outer && !c.Nullable {
			n := *c
			n.Nullable = true
			c = &n
		}
		out = append(out, c)
	}
	return out
}

// Children implements sql.Node.
func (j *Join) Children() []sql.Node { return []sql.Node{j.left, j.right} }

// WithChildren implements sql.Node.
func (j *Join) WithChildren(c ...sql.Node) (sql.Node, error) {
	if len(c) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(j, len(c), 2)
	}
	n := *j
	n.left, n.right = c[0], c[1]
	return &n, nil
}

// Expressions implements sql.Expressioner.
func (j *Join) Expressions() []sql.Expression {
	if j.cond == nil {
		return nil
	}
	return []sql.Expression{j.cond}
}

// WithExpressions implements sql.Expressioner.
func (j *Join) WithExpressions(e ...sql.Expression) (sql.Node, error) {
	n := *j
	if len(e) == 1 {
		n.cond = e[0]
	}
	return &n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (j *Join) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String implements sql.Node.
func (j *Join) String() string {
	p := sql.NewTreePrinter()
	kind := "InnerJoin"
	if j.outer {
		kind = "LeftOuterJoin"
	}
	how := "scanning the right side's rows"
	if len(j.keys) > 0 {
		how = fmt.Sprintf("hashed by %d columns", len(j.keys))
	}
	_ = p.WriteNode("%s (%s)", kind, how)
	var kids []string
	if j.cond != nil {
		kids = append(kids, j.cond.String())
	}
	_ = p.WriteChildren(append(kids, j.left.String(), j.right.String())...)
	return p.String()
}

// RowIter implements sql.ExecSourceRel.
func (j *Join) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	if len(row) > 0 {
		return nil, fmt.Errorf("a hash join was asked for rows inside another row of %d values", len(row))
	}
	left, err := j.builder.Build(ctx, j.left, row)
	if err != nil {
		return nil, err
	}
	return &joinIter{j: j, left: left, leftWidth: len(j.left.Schema()), rightWidth: len(j.right.Schema()), seed: maphash.MakeSeed()}, nil
}

type joinIter struct {
	j                     *Join
	left                  sql.RowIter
	leftWidth, rightWidth int
	seed                  maphash.Seed
	built                 bool
	rows                  []sql.Row
	index                 map[uint64][]int32

	cur     sql.Row
	matches []int32
	all     bool
	at      int
	found   bool
	tested  int
}

// build reads the right side.
func (it *joinIter) build(ctx *sql.Context) error {
	it.built = true
	right, err := it.j.builder.Build(ctx, it.j.right, nil)
	if err != nil {
		return err
	}
	if len(it.j.keys) > 0 {
		it.index = map[uint64][]int32{}
	}
	for {
		r, err := right.Next(ctx)
		if err == io.EOF {
			return right.Close(ctx)
		}
		if err == nil && len(it.rows) == MaxBuildRows {
			err = errs.Limitf("a join has more than %d rows on its right side; put the bigger table first", MaxBuildRows)
		}
		if err != nil {
			_ = right.Close(ctx)
			return err
		}
		r = r.Copy()
		if it.index != nil {
			h, null, err := it.hash(ctx, r, false)
			if err != nil {
				_ = right.Close(ctx)
				return err
			}
			if null { // equal to nothing
				continue
			}
			it.index[h] = append(it.index[h], int32(len(it.rows)))
		}
		it.rows = append(it.rows, r)
	}
}

// hash hashes the keys of a row; null is set where one is NULL.
func (it *joinIter) hash(ctx *sql.Context, r sql.Row, left bool) (h uint64, null bool, err error) {
	var mh maphash.Hash
	mh.SetSeed(it.seed)
	for _, k := range it.j.keys {
		e := k.right
		if left {
			e = k.left
		}
		v, err := e.Eval(ctx, r)
		if err != nil || v == nil {
			return 0, v == nil, err
		}
		switch k.family {
		case numbers:
			f, _, err := types.Float64.Convert(ctx, v)
			if err != nil {
				return 0, false, err
			}
			x := f.(float64)
			if x == 0 {
				x = 0 // -0 equals 0
			}
			writeUint64(&mh, math.Float64bits(x))
		case strings:
			s, _, err := types.LongText.Convert(ctx, v)
			if err != nil {
				return 0, false, err
			}
			text := s.(string)
			writeUint64(&mh, uint64(len(text)))
			_, _ = mh.WriteString(text)
		case times:
			t, ok := v.(time.Time)
			if !ok {
				return 0, false, fmt.Errorf("a time has the form %T", v)
			}
			writeUint64(&mh, uint64(t.UnixNano()/int64(time.Microsecond)))
		}
	}
	return mh.Sum64(), false, nil
}

func writeUint64(h *maphash.Hash, x uint64) {
	var b [8]byte
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
	_, _ = h.Write(b[:])
}

// Next implements sql.RowIter.
func (it *joinIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !it.built {
		if err := it.build(ctx); err != nil {
			return nil, err
		}
	}
	for {
		if it.cur == nil {
			if err := it.advance(ctx); err != nil {
				return nil, err
			}
		}
		for it.at < it.candidates() {
			i := it.at
			if !it.all {
				i = int(it.matches[it.at])
			}
			it.at++
			if it.tested++; it.tested%checkEvery == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			row := it.join(it.rows[i])
			if it.j.cond != nil {
				ok, err := sql.EvaluateCondition(ctx, it.j.cond, row)
				if err != nil {
					return nil, err
				}
				if !sql.IsTrue(ok) {
					continue
				}
			}
			it.found = true
			return row, nil
		}
		cur := it.cur
		it.cur = nil
		if it.j.outer && !it.found {
			row := make(sql.Row, it.leftWidth+it.rightWidth)
			copy(row, cur)
			return row, nil
		}
	}
}

func (it *joinIter) candidates() int {
	if it.all {
		return len(it.rows)
	}
	return len(it.matches)
}

// advance moves to the next left row.
func (it *joinIter) advance(ctx *sql.Context) error {
	r, err := it.left.Next(ctx)
	if err != nil {
		return err
	}
	it.cur, it.at, it.found, it.matches = r.Copy(), 0, false, nil
	it.all = it.index == nil
	if it.all {
		return nil
	}
	h, null, err := it.hash(ctx, it.cur, true)
	if err != nil {
		return err
	}
	if !null {
		it.matches = it.index[h]
	}
	return nil
}

func (it *joinIter) join(right sql.Row) sql.Row {
	row := make(sql.Row, it.leftWidth+it.rightWidth)
	copy(row, it.cur)
	copy(row[it.leftWidth:], right)
	return row
}

// Close implements sql.RowIter.
func (it *joinIter) Close(ctx *sql.Context) error {
	it.rows, it.index = nil, nil
	return it.left.Close(ctx)
}
