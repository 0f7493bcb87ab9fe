package planner

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/storage/schema"
)

func TestUnionTypes(t *testing.T) {
	c := shop()
	bytes := c.add("default", "bytes", newFakeTable(field("b", schema.Varbinary), field("d", schema.Date), field("ts", schema.Timestamp, precision(3, 0))))
	bytes.rows([]any{"\xff\xfe", "2026-01-02", "2026-01-02 10:00:00.5"})
	s := newTestSession(t, c)
	s.want("SELECT 1 UNION ALL SELECT 1.5", "1.0", "1.5")
	s.want("SELECT 1.50 UNION ALL SELECT 2.255 UNION ALL SELECT NULL", "1.500", "2.255", "NULL")
	s.want("SELECT TRUE UNION ALL SELECT 1.5 UNION ALL SELECT NULL", "1.0", "1.5", "NULL")
	s.want("SELECT a FROM (SELECT 1 a UNION ALL SELECT 2.5 UNION ALL SELECT NULL) x ORDER BY a", "NULL", "1.0", "2.5")
	s.want("SELECT a FROM (SELECT 1 a UNION ALL SELECT 2.5) x WHERE a > 2", "2.5")
	s.want("SELECT SUM(a), MAX(a + 1) FROM (SELECT 1 a UNION ALL SELECT 2.5) x", "3.5\t3.5")
	s.want("SELECT y.b FROM (SELECT a + 1 b FROM (SELECT 1 a UNION ALL SELECT 2.25) x) y ORDER BY y.b DESC", "3.25", "2.00")
	s.want("SELECT 18446744073709551615 UNION ALL SELECT -1", "18446744073709551615", "-1")
	s.want("SELECT amt FROM orders WHERE id = 1 UNION ALL SELECT id FROM orders WHERE id = 2", "1.50", "2.00")
	s.want("SELECT id FROM orders WHERE id = 2 UNION ALL SELECT who FROM orders WHERE id = 1", "2", "ann")
	s.want("SELECT amt a FROM orders WHERE id < 3 UNION SELECT 1.5 ORDER BY a DESC LIMIT 1", "2.50")
	s.want("SELECT HEX(b) FROM (SELECT b FROM bytes UNION ALL SELECT NULL UNION ALL SELECT 'a') x", "FFFE", "NULL", "61")
	s.want("SELECT d FROM bytes UNION ALL SELECT ts FROM bytes", "2026-01-02 00:00:00", "2026-01-02 10:00:00.5")
	s.want("SELECT f FROM orders WHERE id = 1 UNION ALL SELECT 7", "1.5", "7")
	s.want("SELECT 1 INTERSECT SELECT 1.0", "1.0")
	s.want("SELECT id FROM orders EXCEPT SELECT 2.0 ORDER BY 1 LIMIT 2", "1.0", "3.0")
	s.want("WITH q AS (SELECT 1 a UNION ALL SELECT 2.5) SELECT x.a, y.a FROM q x JOIN q y ON x.a < y.a", "1.0\t2.5")
	s.want("SELECT 2.5 IN (SELECT 1 UNION SELECT 2.5), (SELECT 1 UNION ALL SELECT 2.5 LIMIT 1)", "1\t1.0")
	s.want("SELECT (SELECT MAX(a + o.id) FROM (SELECT 1 a UNION ALL SELECT 2.5) x) FROM orders o WHERE id = 1", "3.5")
	s.want("WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r", "1", "2", "3")
	s.want("SELECT CAST(amt AS DECIMAL) a FROM (SELECT amt FROM orders WHERE id = 1) t UNION ALL SELECT CAST(x AS DECIMAL) x FROM (SELECT 7.7e0 x) u", "2", "8")
}

func TestUnionType(t *testing.T) {
	dec := func(p, s uint8) sql.Type { return gms.MustCreateColumnDecimalType(p, s) }
	for _, x := range []struct{ l, r, want sql.Type }{
		{gms.Null, gms.Int8, gms.Int8},
		{gms.Int8, gms.Int32, gms.Int32},
		{gms.Uint8, gms.Int8, gms.Int16},
		{gms.Uint8, gms.Int16, gms.Int16},
		{gms.Uint32, gms.Int32, gms.Int64},
		{gms.Uint64, gms.Int8, dec(20, 0)},
		{gms.Int8, dec(10, 2), dec(10, 2)},
		{gms.Int64, dec(10, 2), dec(22, 2)},
		{dec(65, 0), dec(30, 30), dec(65, 30)},
		{gms.Float32, gms.Int16, gms.Float32},
		{gms.Float32, gms.Int32, gms.Float64},
		{gms.Float32, gms.Float64, gms.Float64},
		{gms.Date, gms.Datetime, gms.Datetime},
		{gms.Date, gms.Date, gms.Date},
		{gms.JSON, gms.JSON, gms.JSON},
		{gms.LongBlob, gms.Int8, gms.LongBlob},
	} {
		for _, p := range [][2]sql.Type{{x.l, x.r}, {x.r, x.l}} {
			if got := unionType(p[0], p[1]); !got.Equals(x.want) {
				t.Errorf("%s with %s: got %s, want %s", p[0], p[1], got, x.want)
			}
		}
	}
}
