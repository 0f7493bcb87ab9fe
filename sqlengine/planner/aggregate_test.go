package planner

import (
	"math"
	"testing"

	"github.com/tributarydb/tributary/storage/schema"
)

func TestExactAggregates(t *testing.T) {
	c := shop()
	big := c.add("default", "big", newFakeTable(field("g", schema.Int), field("b", schema.BigInt), field("d", schema.Decimal, precision(38, 10)), field("s", schema.Varchar)))
	big.rows([]any{1, math.MaxInt64, 1, "3b"}, []any{1, math.MaxInt64, 2, "x"}, []any{2, 1, nil, " 1.5e1x"}, []any{2, nil, 4, nil})
	s := newTestSession(t, c)
	s.want("SELECT SUM(b), AVG(b) FROM big", "18446744073709551615\t6148914691236517205.0000")
	s.want("SELECT g, SUM(b), SUM(DISTINCT b), SUM(d), AVG(d) FROM big GROUP BY g ORDER BY g",
		"1\t18446744073709551614\t9223372036854775807\t0.0000000003\t0.00000000015000", "2\t1\t1\t0.0000000004\t0.00000000040000")
	s.want("SELECT SUM(s) FROM big", "18")
	s.want("SELECT SUM(b) FROM big WHERE g = 9", "NULL")
	s.want("SELECT SUM(amt), AVG(amt) FROM orders", "12.99\t2.598000")
	s.want("SELECT SUM(amt) x FROM orders GROUP BY d HAVING SUM(amt) > 2 ORDER BY SUM(amt) DESC", "9.99", "2.50")
	s.want("SELECT SUM(f) FROM orders WHERE id < 3", "-0.5")
	s.want("SELECT STDDEV(ti), VAR_SAMP(ti), BIT_OR(ti), BIT_AND(ti) FROM orders WHERE id < 3", "63\t7938\t127\t1")
	s.want("SELECT BIT_AND(ti), STDDEV_SAMP(ti) FROM orders WHERE id > 99", "18446744073709551615\tNULL")
	s.want("SELECT id, SUM(ti) OVER (ORDER BY id), AVG(ti) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders WHERE ti IS NOT NULL",
		"1\t1\t1.0000", "2\t128\t64.0000", "4\t123\t61.0000", "5\t123\t-2.5000", "6\t126\t1.5000")
	s.want("SELECT SUM(ti) OVER () FROM orders WHERE id IN (1, 2)", "128", "128")
	s.want("SELECT SUM(amt) FROM orders LIMIT 0")
	s.want("SELECT (SELECT SUM(age) FROM people WHERE name = who) FROM orders WHERE id < 3 ORDER BY id", "30", "NULL")
	s.want("SELECT x FROM (SELECT SUM(id) AS x FROM orders) q", "21")
}

func TestCountDistinct(t *testing.T) {
	c := shop()
	b := c.add("default", "bin", newFakeTable(field("v", schema.Varbinary), field("n", schema.Int)))
	b.rows([]any{"\xff\xff", 1}, []any{"\xff\xff", nil}, []any{"\x00", 1}, []any{nil, 2}, []any{"a", 1})
	s := newTestSession(t, c)
	s.want("SELECT COUNT(DISTINCT v), COUNT(DISTINCT n), COUNT(DISTINCT v, n) FROM bin", "3\t2\t3")
	s.want("SELECT n, COUNT(DISTINCT v) FROM bin GROUP BY n ORDER BY n", "NULL\t1", "1\t3", "2\t0")
	s.want("SELECT COUNT(DISTINCT 1), COUNT(DISTINCT NULL) FROM bin", "1\t0")
}
