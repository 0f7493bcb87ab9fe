//go:build unix

package exec

import (
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/result"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// lineitem makes batches as a Parquet reader gives them: small domains with dictionaries, prices flat.
func lineitem(rows int) *memory {
	m := &memory{}
	add := func(name string, t *schema.Type) {
		m.fields = append(m.fields, schema.Field{ID: len(m.fields), Name: name, Type: t.WithNotNull(true)})
	}
	money := typed(schema.Decimal, 15, 2)
	add("l_orderkey", typed(schema.BigInt, 0, 0))
	add("l_quantity", money)
	add("l_extendedprice", money)
	add("l_discount", money)
	add("l_tax", money)
	add("l_returnflag", typed(schema.Varchar, 0, 0))
	add("l_linestatus", typed(schema.Varchar, 0, 0))
	add("l_shipdate", typed(schema.Date, 0, 0))
	r := rand.New(rand.NewPCG(1, 1))
	ints := func(kind column.Kind, from, n, step int64) *column.Vector {
		b := column.NewBuilder(kind)
		for i := range n {
			b.AppendInt(from + i*step)
		}
		return b.Finish()
	}
	texts := func(list ...string) *column.Vector {
		b := column.NewBuilder(column.KindBytes)
		for _, s := range list {
			b.AppendString(s)
		}
		return b.Finish()
	}
	dicts := map[int]*column.Vector{
		1: ints(column.KindInt64, 100, 50, 100), 3: ints(column.KindInt64, 0, 11, 1), 4: ints(column.KindInt64, 0, 9, 1),
		5: texts("A", "N", "R"), 6: texts("F", "O"), 7: ints(column.KindInt32, 8036, 2526, 1),
	}
	var morsel []*column.Batch
	key := int64(0)
	for rows > 0 {
		n := min(rows, column.MaxRows)
		rows -= n
		b := &column.Batch{N: n, Cols: make([]*column.Vector, len(m.fields))}
		for c := range m.fields {
			if d := dicts[c]; d != nil {
				v := &column.Vector{Kind: d.Kind, N: n, Dict: d, Codes: make([]uint32, n)}
				for i := range n {
					v.Codes[i] = uint32(r.IntN(d.N))
				}
				b.Cols[c] = v
				continue
			}
			bl := column.NewBuilder(column.KindInt64)
			for range n {
				if c == 0 {
					key += int64(r.IntN(2))
					bl.AppendInt(key)
				} else {
					bl.AppendInt(90_000 + r.Int64N(10_000_000))
				}
			}
			b.Cols[c] = bl.Finish()
		}
		if morsel = append(morsel, b); len(morsel) == 64 {
			m.morsels = append(m.morsels, morsel)
			morsel = nil
		}
	}
	if morsel != nil {
		m.morsels = append(m.morsels, morsel)
	}
	m.skip = true
	return m
}

const (
	q1 = `SELECT l_returnflag, l_linestatus, SUM(l_quantity), SUM(l_extendedprice), SUM(l_extendedprice * (1 - l_discount)),
 SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)), AVG(l_quantity), AVG(l_extendedprice), AVG(l_discount), COUNT(*)
 FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL 90 DAY GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus`
	q6 = `SELECT SUM(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= DATE '1994-01-01'
 AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24`
)

func TestTPCH(t *testing.T) {
	e := newTestEngine(t, memoryCatalog{"lineitem": lineitem(20_000)}, Options{})
	for _, q := range []string{q1, q6} {
		compareAnswers(t, e, q)
		if !e.isVector(q) {
			t.Errorf("not taken over: %s", q)
		}
	}
}

const benchRows = 1_000_000

func BenchmarkQueries(b *testing.B) {
	m := lineitem(benchRows)
	e := newTestEngine(b, memoryCatalog{"lineitem": m}, Options{})
	for _, q := range []struct{ name, text string }{
		{"Q1", q1}, {"Q6", q6},
		{"GroupByKey", "SELECT COUNT(*), MAX(q.n) FROM (SELECT l_orderkey, COUNT(*) n, SUM(l_quantity) s FROM lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 0) q"},
		{"CountFlags", "SELECT l_returnflag, l_linestatus, COUNT(*) FROM lineitem GROUP BY l_returnflag, l_linestatus"},
		{"CountDistinct", "SELECT COUNT(DISTINCT l_orderkey) FROM lineitem"},
		{"Top100", "SELECT l_orderkey, l_extendedprice FROM lineitem ORDER BY l_extendedprice DESC, l_orderkey LIMIT 100"},
		{"MinMax", "SELECT l_returnflag, MIN(l_extendedprice), MAX(l_shipdate) FROM lineitem GROUP BY l_returnflag"},
		{"Sort", "SELECT l_orderkey, l_extendedprice FROM lineitem WHERE l_quantity < 24 ORDER BY l_extendedprice, l_orderkey"},
		{"Stream", "SELECT l_orderkey, l_extendedprice * (1 - l_discount) FROM lineitem WHERE l_quantity < 24"},
	} {
		b.Run(q.name, func(b *testing.B) {
			e.drain(b, q.text)
			start := cpuTime()
			for b.Loop() {
				e.drain(b, q.text)
			}
			b.ReportMetric(float64(cpuTime()-start)/float64(b.N)/benchRows, "cpu-ns/row")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}

// drain runs a statement and drops its rows, as batches where the plan gives them.
func (e *testEngine) drain(b *testing.B, query string) {
	ctx := e.ctx(true)
	n, err := e.e.AnalyzeQuery(ctx, query)
	if err != nil {
		b.Fatal(err)
	}
	if s, ok := sourceOf(n); ok {
		it, err := s.Batches(ctx)
		if err != nil {
			b.Fatal(err)
		}
		defer it.Close(ctx)
		for {
			if _, err := it.Next(ctx); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	it, err := e.e.Analyzer.ExecBuilder.Build(ctx, n, nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := sql.RowIterToRows(ctx, it); err != nil {
		b.Fatal(err)
	}
}

func sourceOf(n sql.Node) (result.Source, bool) {
	s, ok := n.(result.Source)
	return s, ok
}
