package planner

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tributarydb/tributary/storage/schema"
)

// pairs is a catalog with two tables whose columns meet in many ways.
func pairs() *fakeCatalog {
	c := newFakeCatalog()
	cols := func() []schema.Field {
		return []schema.Field{
			field("id", schema.Int), field("i", schema.Int), field("bi", schema.BigInt), field("d", schema.Decimal, precision(10, 2)),
			field("e", schema.Decimal, precision(20, 4)), field("f", schema.Double), field("s", schema.Varchar), field("dt", schema.Date),
			field("ts", schema.Timestamp, precision(3, 0)),
		}
	}
	l := c.add("default", "l", newFakeTable(cols()...))
	l.rows(
		[]any{1, 1, 1, 100, 10000, 1.0, "1", "2026-01-01", "2026-01-01 00:00:00"},
		[]any{2, 2, 2, 150, 15000, 1.5, "b", "2026-01-02", "2026-01-02 12:00:00"},
		[]any{3, nil, nil, nil, nil, nil, nil, nil, nil},
		[]any{4, 2, 1 << 60, 200, 20000, 2.0, "2", "2026-01-02", "2026-01-02 00:00:00"})
	l.rows([]any{5, 7, 7, 7, 7, 7.0, "c中", "2026-01-07", "2026-01-07 00:00:00"})
	r := c.add("default", "r", newFakeTable(cols()...))
	r.rows(
		[]any{10, 1, 2, 150, 15000, 1.0, "b", "2026-01-02", "2026-01-01 00:00:00"},
		[]any{20, nil, nil, nil, nil, nil, nil, nil, nil},
		[]any{30, 2, 1 << 60, 200, 10000, 2.0, "1", "2026-01-01", "2026-01-02 00:00:00"},
		[]any{40, 2, 1, 100, 1, 0.0, "1.50", "2026-01-09", "2026-01-02 12:00:00"})
	c.add("default", "empty", newFakeTable(cols()...))
	return c
}

// TestJoinsByHash compares joins whose condition gives a key with the same
// condition written so that it gives none.
func TestJoinsByHash(t *testing.T) {
	s := newTestSession(t, pairs())
	cols := []string{"i", "bi", "d", "e", "f", "s", "dt", "ts"}
	n := 0
	for _, right := range []string{"r", "empty"} {
		for _, kind := range []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL OUTER JOIN"} {
			for _, a := range cols {
				for _, b := range cols {
					for _, op := range []string{"=", "<=>"} {
						for _, more := range []string{"", " AND l.id + r.id < 34", " AND l.id > 1", " AND r.id > 10"} {
							q := "SELECT l.id, r.id FROM l %s %s AS r ON %s" + more + " ORDER BY 1, 2"
							cond := fmt.Sprintf("l.%s %s r.%s", a, op, b)
							got, errG := s.try(fmt.Sprintf(q, kind, right, cond))
							want, errW := s.try(fmt.Sprintf(q, kind, right, "("+cond+" OR l.id = -1)"))
							if (errG == nil) != (errW == nil) || errG == nil && !slices.Equal(got, want) {
								t.Fatalf(q+": %v %v, want %v %v", kind, right, cond, got, errG, want, errW)
							}
							n += len(got)
						}
					}
				}
			}
		}
	}
	if n < 5000 {
		t.Errorf("only %d rows", n)
	}
}

func TestJoins(t *testing.T) {
	s := newTestSession(t, pairs())
	s.want("SELECT l.id, r.id FROM l JOIN r ON l.d = r.d ORDER BY 1, 2", "1\t40", "2\t10", "4\t30")
	s.want("SELECT l.id, r.id FROM l JOIN r ON l.d = r.f ORDER BY 1, 2", "1\t10", "4\t30")
	s.want("SELECT l.id, r.id FROM l, r WHERE l.i = r.i AND r.id > 10 ORDER BY 1, 2", "2\t30", "2\t40", "4\t30", "4\t40")
	s.want("SELECT l.id, r.id FROM l FULL OUTER JOIN r ON l.i = r.i WHERE l.id > 2 ORDER BY 1, 2", "3\tNULL", "4\t30", "4\t40", "5\tNULL")
	s.want("SELECT l.id, r.id FROM l FULL OUTER JOIN r ON l.i = r.i AND l.id = 1 ORDER BY 1, 2",
		"NULL\t20", "NULL\t30", "NULL\t40", "1\t10", "2\tNULL", "3\tNULL", "4\tNULL", "5\tNULL")
	s.want("SELECT l.id FROM l LEFT JOIN r ON TRUE WHERE l.id = 1", "1", "1", "1", "1")
	s.want("SELECT l.id FROM l LEFT JOIN (SELECT * FROM r WHERE FALSE) x ON TRUE WHERE l.id = 1", "1")
	s.want("SELECT a.id, b.id, c.id FROM l a JOIN l b ON a.i = b.i JOIN r c ON b.bi = c.bi AND a.id <> b.id ORDER BY 1, 2, 3", "2\t4\t30", "4\t2\t10")
	s.want("SELECT a.id, b.id FROM l a LEFT JOIN (r b JOIN r c ON b.i = c.i AND b.id < c.id) ON a.i = b.i ORDER BY 1, 2", "1\tNULL", "2\t30", "3\tNULL", "4\t30", "5\tNULL")
	s.want("SELECT id, (SELECT COUNT(*) FROM r a JOIN r b ON a.i = b.i WHERE a.id > l.id * 10) x FROM l ORDER BY 1", "1\t4", "2\t4", "3\t2", "4\t0", "5\t0")
	s.want("SELECT id FROM l WHERE i IN (SELECT a.i FROM r a JOIN r b ON a.i = b.i AND a.id <> b.id) ORDER BY 1", "2", "4")
	s.want("SELECT id FROM l WHERE EXISTS (SELECT 1 FROM r a JOIN r b ON a.i = b.i WHERE a.s = l.s) ORDER BY 1", "1", "2")
	s.want("SELECT l.id, x.n FROM l JOIN LATERAL (SELECT COUNT(*) n FROM r WHERE r.i = l.i) x ON TRUE ORDER BY 1", "1\t1", "2\t2", "3\t0", "4\t2", "5\t0")
	s.want("SELECT COUNT(*) FROM l CROSS JOIN r", "20")
	s.want("SELECT l.id FROM l NATURAL JOIN r")
	s.want("SELECT COUNT(*) FROM l JOIN r USING (i)", "5")
}

func TestComparisons(t *testing.T) {
	s := newTestSession(t, pairs())
	s.want("SELECT '1abc' = 1, '3b' > 2, 'abc' = 0, 18446744073709551615 > -1, 1 <=> NULL, NULL <=> NULL", "1\t1\t1\t1\t0\t1")
	s.want("SELECT id FROM l WHERE f BETWEEN -3 AND 1.5 ORDER BY 1", "1", "2")
	s.want("SELECT -1e300 < -1.5, 1.7e308 > 1.5, 1e300 BETWEEN 0 AND 1.5", "1\t1\t0")
	s.want("SELECT id FROM l WHERE s LIKE 'c%'", "5")
	s.want("SELECT 'a%b' LIKE 'a\\%b', 'axb' LIKE 'a\\%b', 'c中d' LIKE 'c_d', 'ab' LIKE 'a|%' ESCAPE '|', '' LIKE '%', 'aXbXc' LIKE 'a%Xc', NULL LIKE 'a'",
		"1\t0\t1\t0\t1\t1\tNULL")
	s.want("SELECT 1 IN (2, '1x', NULL), 1 IN (2, NULL), 1 NOT IN (2, 3), NULL IN (1), 1.50 IN (1.5), 'b' IN ('a', 'b')", "1\tNULL\t1\tNULL\t1\t1")
	s.want("SELECT id FROM l WHERE i IN (1, 2) AND bi NOT IN (2, 1152921504606846976) ORDER BY 1", "1")
	s.want("SELECT id FROM l WHERE dt = '2026-01-02' AND ts > '2026-01-02' ORDER BY 1", "2")
	s.want("SELECT TIME '12:34:56' = '0 12:34:56', CAST('10:00' AS TIME) < '9:59:59'", "1\t0")
}
