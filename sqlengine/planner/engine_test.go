package planner

import (
	"testing"

	"github.com/tributarydb/tributary/storage/schema"
)

// shop is a catalog with tables of several types.
func shop() *fakeCatalog {
	c := newFakeCatalog()
	orders := c.add("default", "orders", newFakeTable(
		field("id", schema.BigInt, notNullable), field("who", schema.Varchar), field("amt", schema.Decimal, precision(10, 2)),
		field("d", schema.Date), field("ts", schema.Timestamp, precision(3, 0)), field("lz", schema.TimestampLTZ, precision(3, 0)),
		field("f", schema.Double), field("ok", schema.Boolean), field("ti", schema.TinyInt)))
	orders.keys = []string{"id"}
	orders.rows(
		[]any{1, "ann", 150, "2026-01-01", "2026-01-01 10:00:00.5", "2026-01-01 10:00:00", 1.5, 1, 1},
		[]any{2, "bob", 250, "2026-01-02", "2026-01-02 00:00:00", "2026-01-02 00:00:00", -2.0, 0, 127},
		[]any{3, nil, nil, nil, nil, nil, nil, nil, nil})
	orders.rows(
		[]any{4, "cåt", 999, "2026-02-01", "2026-02-01 00:00:00", "2026-07-01 12:00:00", 0.0, 1, -5},
		[]any{5, "cat", -100, "2025-12-31", "2025-12-31 23:59:59.999", "2026-01-01 00:00:00", 1e20, 0, 0},
		[]any{6, "c中", 0, "2026-01-01", "2026-01-01 00:00:00", "2026-01-01 00:00:00", 2.5, 1, 3})
	people := c.add("default", "people", newFakeTable(field("name", schema.Varchar), field("age", schema.Int)))
	people.rows([]any{"ann", 30}, []any{"bob", nil}, []any{"eve", 20})
	sys := c.add("default", "orders$snapshots", newFakeTable(field("snapshot_id", schema.BigInt)))
	sys.rows([]any{1}, []any{2})
	return c
}

func TestSelect(t *testing.T) {
	s := newTestSession(t, shop())
	s.want("SELECT 1", "1")
	s.want("SELECT id, who FROM orders ORDER BY id", "1\tann", "2\tbob", "3\tNULL", "4\tcåt", "5\tcat", "6\tc中")
	s.want("SELECT who, id, who FROM orders LIMIT 2", "ann\t1\tann", "bob\t2\tbob")
	s.want("SELECT id FROM orders LIMIT 3 OFFSET 2", "3", "4", "5")
	s.want("SELECT amt, d, ts, f, ok FROM orders WHERE id = 1", "1.50\t2026-01-01\t2026-01-01 10:00:00.5\t1.5\t1")
	s.want("SELECT COUNT(*) FROM orders", "6")
	s.want("SELECT COUNT(who), COUNT(*) FROM orders", "5\t6")
	s.want("SELECT `snapshot_id` FROM `orders$snapshots` ORDER BY 1", "1", "2")
	s.want("SELECT o.id, p.age FROM orders o JOIN people p ON o.who = p.name ORDER BY 1", "1\t30", "2\tNULL")
	s.want("SELECT p.name, o.id FROM people p LEFT JOIN orders o ON o.who = p.name AND o.id > 1 ORDER BY 1", "ann\tNULL", "bob\t2", "eve\tNULL")
	s.want("SELECT p.name FROM people p LEFT JOIN orders o ON o.who = p.name WHERE o.id IS NULL", "eve")
	s.want("SELECT p.name, o.id FROM people p LEFT JOIN orders o ON o.who = p.name WHERE o.id > 1", "bob\t2")
	s.want("SELECT name FROM people WHERE EXISTS (SELECT 1 FROM orders WHERE who = name) ORDER BY 1", "ann", "bob")
	s.want("SELECT name FROM people WHERE NOT EXISTS (SELECT 1 FROM orders WHERE who = name) ORDER BY 1", "eve")
	s.want("SELECT name FROM people WHERE name NOT IN (SELECT who FROM orders)")
	s.want("SELECT (SELECT COUNT(*) FROM orders), name FROM people WHERE age = 20", "6\teve")
	s.want("SELECT COUNT(*) FROM orders WHERE d = '2026-01-01'", "2")
	s.want("SELECT COUNT(*) FROM (SELECT DISTINCT d FROM orders) x", "5")
	s.fails("SELECT * FROM nothing", "nothing")
	s.fails("SELECT nothing FROM orders", "nothing")
	s.fails("SELECT * FROM nodb.orders", "nodb")
}

func TestDistinctOrder(t *testing.T) {
	s := newTestSession(t, shop())
	s.want("SELECT DISTINCT id + 1, who FROM orders ORDER BY 1 DESC LIMIT 2", "7\tc中", "6\tcat")
	s.want("SELECT DISTINCT YEAR(d), ok FROM orders ORDER BY 1 DESC, 2 DESC", "2026\t1", "2026\t0", "2025\t0", "NULL\tNULL")
	s.want("SELECT DISTINCT YEAR(d) y, ok FROM orders ORDER BY y DESC, ok LIMIT 2", "2026\t0", "2026\t1")
	s.want("SELECT DISTINCT YEAR(d), ok FROM orders ORDER BY YEAR(d), ok DESC", "NULL\tNULL", "2025\t0", "2026\t1", "2026\t0")
	s.want("SELECT DISTINCT d, ti FROM orders WHERE ti > 0 ORDER BY -ti", "2026-01-02\t127", "2026-01-01\t3", "2026-01-01\t1")
	s.want("SELECT DISTINCT ok, COUNT(*) c FROM orders GROUP BY ok ORDER BY c DESC, ok", "1\t3", "0\t2", "NULL\t1")
	s.want("SELECT DISTINCT o.ok k FROM orders o ORDER BY o.ok DESC", "1", "0", "NULL")
	s.want("SELECT x.y FROM (SELECT DISTINCT YEAR(d) y FROM orders ORDER BY 1 DESC LIMIT 1) x", "2026")
	s.want("SELECT (SELECT DISTINCT ti + 1 FROM orders ORDER BY 1 DESC LIMIT 1)", "128")
	s.fails("SELECT DISTINCT ok FROM orders ORDER BY id", "not in SELECT list")
}
