package planner

import (
	"fmt"
	"testing"

	"github.com/tributarydb/tributary/storage/schema"
)

// pairTables is a catalog with tables a and b of n rows each.
func pairTables(n int) (c *fakeCatalog, a, b *fakeTable) {
	c = newFakeCatalog()
	a = c.add("default", "a", newFakeTable(field("id", schema.Int), field("g", schema.Int), field("s", schema.Varchar)))
	b = c.add("default", "b", newFakeTable(field("id", schema.Int), field("g", schema.Int), field("s", schema.Varchar)))
	var rows [][]any
	for i := range n {
		g := any(i % 7)
		if i%11 == 0 {
			g = nil
		}
		rows = append(rows, []any{i, g, fmt.Sprint("s", i%5)})
	}
	a.rows(rows...)
	b.rows(rows[:n/2]...)
	return c, a, b
}

func TestLookupReadsOnce(t *testing.T) {
	c, _, b := pairTables(60)
	s := newTestSession(t, c)
	for _, x := range []struct{ query, want string }{
		{"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT * FROM b WHERE b.id = a.id)", "30"},
		{"SELECT COUNT(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id = a.id AND b.s = 's1')", "54"},
		{"SELECT COUNT(*) FROM a WHERE g IN (SELECT b.g FROM b WHERE b.s = a.s)", "47"},
		{"SELECT SUM((SELECT MAX(b.id) FROM b WHERE b.g = a.g)) FROM a", "1402"},
		{"SELECT COUNT(*) FROM a WHERE id > (SELECT AVG(b.id) FROM b WHERE b.g <=> a.g)", "45"},
		{"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b JOIN a x ON x.id = b.id WHERE b.g = a.g AND x.id < a.id)", "47"},
		{"SELECT COUNT(*) FROM a JOIN LATERAL (SELECT COUNT(*) n FROM b WHERE b.g = a.g) x WHERE x.n > 3", "47"},
		{"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.g = a.g AND EXISTS (SELECT 1 FROM b y WHERE y.id = b.id + a.id))", "23"},
		{"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id > a.id)", "29"},
		{"SELECT COUNT(*) FROM a WHERE (SELECT COUNT(*) FROM b WHERE b.g = a.g GROUP BY b.s HAVING COUNT(*) > 100) IS NULL", "60"},
		{"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE FALSE)", "0"},
		{"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE id = 3)", "60"},
	} {
		b.log.reqs = nil
		if got := s.run(x.query); got[0] != x.want {
			t.Errorf("%s: got %s, want %s", x.query, got[0], x.want)
		}
		if n := len(b.log.reqs); n > 2 {
			t.Errorf("%s: reads b %d times", x.query, n)
		}
	}
}
