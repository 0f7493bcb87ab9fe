package exec

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

func TestMul128(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	value := func() column.Int128 {
		x := column.Int128{Hi: r.Int64() >> r.IntN(64), Lo: r.Uint64() >> r.IntN(64)}
		if r.IntN(2) == 0 {
			x = column.FromInt64(r.Int64() >> r.IntN(64))
		}
		if r.IntN(2) == 0 {
			x = x.Neg()
		}
		return x
	}
	overflows := 0
	for range 200_000 {
		a, b := value(), value()
		want := new(big.Int).Mul(a.Big(), b.Big())
		got, ok := mul128(a, b)
		if fits := new(big.Int).Abs(want).Cmp(limit) < 0; ok != fits {
			t.Fatalf("%v * %v: ok %v", a.Big(), b.Big(), ok)
		}
		if !ok {
			overflows++
			continue
		}
		if got.Big().Cmp(want) != 0 {
			t.Fatalf("%v * %v = %v, want %v", a.Big(), b.Big(), got.Big(), want)
		}
	}
	if overflows == 0 {
		t.Error("no product overflowed")
	}
}

func TestAverage(t *testing.T) {
	for _, c := range []struct {
		sum, n int64
		up     int
		want   int64
	}{
		{10, 4, 4, 25000}, {1, 3, 4, 3333}, {2, 3, 4, 6667}, {-2, 3, 4, -6667}, {1, 8, 2, 13}, {-1, 8, 2, -13}, {0, 7, 4, 0},
	} {
		if got, ok := average(column.FromInt64(c.sum), c.n, c.up); !ok || got != column.FromInt64(c.want) {
			t.Errorf("average(%d, %d) = %v, want %d", c.sum, c.n, got.Big(), c.want)
		}
	}
}

// edges is a table of the greatest values.
func edges() *memory {
	m := &memory{fields: []schema.Field{
		{Name: "l", Type: typed(schema.BigInt, 0, 0)},
		{Name: "d", Type: typed(schema.Decimal, 18, 2)},
		{Name: "w", Type: typed(schema.Decimal, 38, 0)},
		{Name: "g", Type: typed(schema.Double, 0, 0)},
		{Name: "k", Type: typed(schema.Int, 0, 0)},
	}}
	var cols []*column.Builder
	for i := range m.fields {
		m.fields[i].ID = i
		cols = append(cols, schema.NewBuilder(m.fields[i].Type))
	}
	max38, _ := sub128(pow10[38], column.FromInt64(1))
	for i := range 4 {
		cols[0].AppendInt([]int64{math.MaxInt64, math.MinInt64, 7, 0}[i])
		cols[1].AppendInt([]int64{999999999999999999, -999999999999999999, 100, 0}[i])
		cols[2].AppendInt128([]column.Int128{max38, max38, column.FromInt64(3), {}}[i])
		cols[3].AppendFloat([]float64{math.MaxFloat64, -math.MaxFloat64, 0.5, 0}[i])
		cols[4].AppendInt(int64(i))
	}
	b := &column.Batch{N: 4}
	for _, c := range cols {
		b.Cols = append(b.Cols, c.Finish())
	}
	m.morsels = [][]*column.Batch{{b}}
	return m
}

func TestOverflow(t *testing.T) {
	e := newTestEngine(t, memoryCatalog{"x": edges()}, Options{})
	fails := func(q, want string) {
		t.Helper()
		if _, err := e.rows(true, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", q, err, want)
		}
	}
	gives := func(q string, want ...string) {
		t.Helper()
		if !e.isVector(q) {
			t.Errorf("%s: not taken over", q)
		}
		if got, err := e.rows(true, q); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q %v, want %q", q, got, err, want)
		}
	}
	fails("SELECT l + 1 FROM x", "BIGINT value is out of range in '(x.l + 1)'")
	fails("SELECT l - 1 FROM x", "BIGINT value is out of range")
	fails("SELECT l * 2 FROM x", "BIGINT value is out of range")
	fails("SELECT -l FROM x", "BIGINT value is out of range")
	fails("SELECT g * 2 FROM x", "DOUBLE value is out of range")
	fails("SELECT SUM(l + 1) FROM x", "BIGINT value is out of range")
	gives("SELECT l + 1 FROM x WHERE k > 1", "8", "1")
	gives("SELECT CASE WHEN k < 2 THEN 0 ELSE l * 2 END FROM x", "0", "0", "14", "0")
	gives("SELECT IF(k > 1 AND l + 1 > 0, 1, 0) FROM x", "0", "0", "1", "1")
	gives("SELECT k FROM x WHERE k < 2 OR l * 2 = 14", "0", "1", "2")
	gives("SELECT SUM(l), AVG(l) FROM x", "6\t1.5000")
	gives("SELECT SUM(l) FROM x WHERE k IN (0, 2)", "9223372036854775814")
	gives("SELECT SUM(d * d) FROM x", "199999999999999999600000000000001.0002")
	gives("SELECT SUM(d + d) FROM x WHERE k <> 1", "20000000000000001.98")
	gives("SELECT MAX(w), MIN(w) FROM x", "99999999999999999999999999999999999999\t0")
	// Beyond 128 bits go-mysql-server's rows answer.
	gives("SELECT SUM(w) FROM x", "200000000000000000000000000000000000001")
	gives("SELECT SUM(w), AVG(w) FROM x WHERE k > 1", "3\t1.5000")
	gives("SELECT SUM(w * d) FROM x WHERE k > 1", "3.00")
}

func TestMemoryLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m := randomTable(r, 2, 4, 2000)
	e := newTestEngine(t, memoryCatalog{"r": m}, Options{Memory: 50_000})
	_, err := e.rows(true, "SELECT id, COUNT(*) FROM r GROUP BY id")
	if !errs.Is(err, errs.Limit) {
		t.Errorf("error %v", err)
	}
	if got, err := e.rows(true, "SELECT COUNT(*) FROM (SELECT DISTINCT c FROM r) q"); err != nil || len(got) != 1 {
		t.Errorf("%q %v", got, err)
	}
}

// TestParallel compares answers of tables that several goroutines read.
func TestParallel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	m := randomTable(r, 3, 30, 4000)
	m.skip = true
	e := newTestEngine(t, memoryCatalog{"r": m}, Options{})
	for _, q := range []string{
		"SELECT c, s, COUNT(*), SUM(d), AVG(e), MIN(dt), COUNT(DISTINCT i) FROM r GROUP BY c, s",
		"SELECT COUNT(*), SUM(l), MAX(s) FROM r WHERE i > 0",
		"SELECT id, l, s FROM r ORDER BY l, id LIMIT 1000",
		"SELECT id, w, dt FROM r WHERE i > 0 ORDER BY dt DESC, s, w, id LIMIT 100 OFFSET 500",
		"SELECT id, g FROM r ORDER BY g, id",
		"SELECT id, i + 1 FROM r WHERE i > 15",
		"SELECT COUNT(*), SUM(q.n) FROM (SELECT id, s, COUNT(*) n FROM r GROUP BY id, s) q",
	} {
		compareAnswers(t, e, q)
	}
	// The order of a plain SELECT is that of the table.
	got, err := e.rows(true, "SELECT id + 0 FROM r WHERE i > 10 LIMIT 500 OFFSET 20000")
	if err != nil || len(got) != 500 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	want, err := e.rows(false, "SELECT id + 0 FROM r WHERE i > 10 LIMIT 500 OFFSET 20000")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("other rows with LIMIT: %v", err)
	}
}

// TestCancel ends a query in the middle.
func TestCancel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	m := randomTable(r, 4, 30, 2000)
	e := newTestEngine(t, memoryCatalog{"r": m}, Options{})
	ctx := e.ctx(true)
	_, it, _, err := e.e.Query(ctx, "SELECT id + 1 FROM r WHERE i > -100")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := it.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if err := it.Close(ctx); err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	_, it, _, err = e.e.Query(ctx.WithContext(stopped), "SELECT COUNT(*), SUM(l) FROM r WHERE i > -100")
	if err == nil {
		_, err = it.Next(ctx.WithContext(stopped))
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if o, c := m.opened.Load(), m.closed.Load(); o == 0 || o != c {
		t.Errorf("%d readers opened, %d closed", o, c)
	}
}

func TestExplain(t *testing.T) {
	e := newTestEngine(t, memoryCatalog{"r": randomTable(rand.New(rand.NewPCG(1, 1)), 2, 2, 10)}, Options{})
	plan := e.plan(true, "SELECT c, SUM(d) FROM r WHERE i > 3 GROUP BY c")
	for _, want := range []string{"VectorAggregate", "group by: c", "compute: SUM(r.d)", "Scan", "table: default.r", "columns: [c d i]", "files: 2", "filter: (r.i > 3)"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %q in\n%s", want, plan)
		}
	}
	rows, err := e.rows(true, "EXPLAIN SELECT c, SUM(d) FROM r WHERE i > 3 GROUP BY c")
	if err != nil || len(rows) != 1 || !strings.Contains(rows[0], "SIMPLE\tr\t") {
		t.Errorf("%q %v", rows, err)
	}
}

func TestRadixSort(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	rows := make([]sortRow, 20_000)
	for i := range rows {
		rows[i] = sortRow{norm: r.Uint64() >> (8 * r.IntN(8)), flag: uint8(r.IntN(2)), at: uint32(i)}
	}
	want := slices.Clone(rows)
	slices.SortStableFunc(want, compareHeads)
	if got := radixSort(rows, make([]sortRow, len(rows))); !slices.Equal(got, want) {
		t.Error("not sorted")
	}
}
