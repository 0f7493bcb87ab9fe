package dialect

import (
	"errors"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

type pass func(sqlparser.Statement) (sqlparser.Statement, error)

// TestPasses runs each pass alone on what vitess makes of a query.
func TestPasses(t *testing.T) {
	for _, c := range []struct {
		name      string
		run       pass
		src, want string
	}{
		{"tunnel", TunnelAggregates, "select sum(a), AVG(distinct b), count(a), min(a) from t", "select last('sum', a), last('avg_distinct', b), count(a), min(a) from t"},
		{"tunnel", TunnelAggregates, "select a from t group by a having sum(b) > 1 order by stddev(c)", "select a from t group by a having last('sum', b) > 1 order by last('stddev_pop', c) asc"},
		{"tunnel", TunnelAggregates, "select sum(a) over (order by b), var_samp(a), bit_or(a), approx_count_distinct(a) from t", "select last('sum', a) over ( order by b asc), last('var_samp', a), last('bit_or', a), last('approx_count_distinct', a) from t"},
		{"tunnel", TunnelAggregates, "select (select avg(x) from u where u.a = t.a) from (select std(y) from v) t where exists (select sum(z) from w)", "select (select last('avg', x) from u where u.a = t.a) from (select last('stddev_pop', y) from v) as t where exists (select last('sum', z) from w)"},
		{"tunnel", TunnelAggregates, "select sum(sum(a)) over () from t", "select last('sum', last('sum', a)) over () from t"},
		{"tunnel", TunnelAggregates, "with c as (select variance(a) from t) select * from c union all select sum(a) from t", "with c as (select last('var_pop', a) from t) select * from c union all select last('sum', a) from t"},
		{"tunnel", TunnelAggregates, "insert into t select sum(a) from u", "insert into t select last('sum', a) from u"},
		{"tunnel", TunnelAggregates, "select last(a), sum(a, b) from t", "select last(a), sum(a, b) from t"},

		{"operators", OperatorsToFunctions, "select a regexp 'x', a not rlike b from t where not (c regexp 'y')", "select regexp_like(a, 'x'), not regexp_like(a, b) from t where not (regexp_like(c, 'y'))"},
		{"operators", OperatorsToFunctions, "select a->'$.b', t.a->>'$.c' from t where a->>'$.d' = 'e'", "select json_extract(a, '$.b'), json_unquote(json_extract(t.a, '$.c')) from t where json_unquote(json_extract(a, '$.d')) = 'e'"},

		{"joins", NormalizeQueries, "select 1 from a left join b on true right join c on false join d on true", "select 1 from a left join b on 1 = 1 right join c on 1 = 0 join d on true"},
		{"joins", NormalizeQueries, "select 1 from a full outer join b on (1) left join c on a.x", "select 1 from a full outer join b on 1 = 1 left join c on a.x"},
		{"limit 0", NormalizeQueries, "select max(a) from t where b limit 0", "select max(a) from t where false having false"},
		{"limit 0", NormalizeQueries, "select a from t limit 0", "select a from t limit 0"},
		{"limit 0", NormalizeQueries, "select a, count(*) from t group by a limit 0", "select a, count(*) from t group by a limit 0"},
		{"limit 0", NormalizeQueries, "select * from (select count(*) from t limit 0) d", "select * from (select count(*) from t where false having false) as d"},
		{"limit 0", NormalizeQueries, "select (select count(*) from u) from t limit 0", "select (select count(*) from u) from t limit 0"},
		{"order", NormalizeQueries, "select a as n from t order by (n), ((b)) desc, (a + 1)", "select a as n from t order by n asc, b desc, (a + 1) asc"},

		{"windows", ExpandWindows, "select sum(a) over w, rank() over (w order by c) from t window w as (partition by b)", "select sum(a) over (partition by b), rank() over (partition by b order by c asc) from t"},
		{"windows", ExpandWindows, "select sum(a) over v from t window w as (partition by b), v as (w order by c rows unbounded preceding)", "select sum(a) over (partition by b order by c asc ROWS UNBOUNDED PRECEDING) from t"},
		{"windows", ExpandWindows, "select (select sum(x) over w from u window w as (order by y)), rank() over w from t window w as (order by z)", "select (select sum(x) over ( order by y asc) from u), rank() over ( order by z asc) from t"},

		{"markers", ResolveMarkers, "select a > tributary_any((select b from u))", "select case when exists (select 1 from (select b from u) as tributary_q (tributary_c) where a > tributary_q.tributary_c) then true when exists (select 1 from (select b from u) as tributary_q (tributary_c) where a > tributary_q.tributary_c is null) then null else false end"},
		{"markers", ResolveMarkers, "select a = tributary_any((select b from u)), a != tributary_all((select b from u))", "select a in (select b from u), a not in (select b from u)"},
		{"markers", ResolveMarkers, "select a ^ tributary_pipe() ^ b, a ^ b", "select concat(a, b), a ^ b"},
		{"markers", ResolveMarkers, "select a = tributary_member(b), a = tributary_sounds(b)", "select case when a is not null then json_contains(b, concat(json_array(a))) end, soundex(a) = soundex(b)"},
	} {
		stmt, err := sqlparser.Parse(c.src)
		if err != nil {
			t.Fatalf("%s: %v", c.src, err)
		}
		out, err := c.run(stmt)
		if err != nil {
			t.Errorf("%s: %s: %v", c.name, c.src, err)
			continue
		}
		if got := sqlparser.String(out); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.src, got, c.want)
		}
		// A second run must change nothing: parts of a tree may be shared.
		again, err := c.run(out)
		if err != nil || sqlparser.String(again) != c.want {
			t.Errorf("%s twice: %s, %v", c.name, sqlparser.String(again), err)
		}
	}
}

func TestRollup(t *testing.T) {
	for src, want := range map[string]string{
		"SELECT a, SUM(b), GROUPING(a) FROM t WHERE c GROUP BY a WITH ROLLUP HAVING SUM(b) > 1 ORDER BY 2 DESC LIMIT 3": "select tributary_r.tributary_c0 as a, tributary_r.tributary_c1 as `SUM(b)`, tributary_r.tributary_c2 as `GROUPING(a)` from (" +
			"select a as tributary_e0, last('sum', b) as tributary_e1, 0 as tributary_e2, last('sum', b) as tributary_e3 from t where c group by a having last('sum', b) > 1 union all " +
			"select case when 1 = 0 then any_value(a) end as tributary_e0, last('sum', b) as tributary_e1, 1 as tributary_e2, last('sum', b) as tributary_e3 from t where c having count(*) > 0 and last('sum', b) > 1" +
			") as tributary_r (tributary_c0, tributary_c1, tributary_c2, tributary_c3) order by tributary_r.tributary_c3 desc limit 3",
		"SELECT YEAR(d) y, COUNT(*) FROM t GROUP BY y WITH ROLLUP": "select tributary_r.tributary_c0 as y, tributary_r.tributary_c1 as `COUNT(*)` from (" +
			"select YEAR(d) as y, COUNT(*) as tributary_e1, 0 as tributary_e2, YEAR(d) as tributary_e3 from t group by YEAR(d) union all " +
			"select case when 1 = 0 then any_value(YEAR(d)) end as y, COUNT(*) as tributary_e1, 1 as tributary_e2, case when 1 = 0 then any_value(YEAR(d)) end as tributary_e3 from t having count(*) > 0" +
			") as tributary_r (tributary_c0, tributary_c1, tributary_c2, tributary_c3) order by tributary_r.tributary_c2 asc, tributary_r.tributary_c3 asc",
	} {
		parsed, err := NewParser(Options{}).ParseStatement(src, Mode{})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := sqlparser.String(parsed.Statement); got != want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}

func TestImplicitGrouping(t *testing.T) {
	mode := Mode{OnlyFullGroupBy: true}
	for src, column := range map[string]string{
		"SELECT a, COUNT(*) FROM t":                                 "a",
		"SELECT COUNT(*), t.b + 1 FROM t":                           "t.b",
		"SELECT COUNT(*) FROM t UNION SELECT MAX(a) + c FROM t":     "c",
		"SELECT COUNT(*), ANY_VALUE(a), MAX(b) + 1, @x FROM t":      "",
		"SELECT a, COUNT(*) FROM t WHERE a = 1":                     "",
		"SELECT a, COUNT(*) FROM t GROUP BY a":                      "",
		"SELECT a, SUM(b) OVER () FROM t":                           "",
		"SELECT (SELECT MAX(x) FROM u), a FROM t":                   "",
		"SELECT * FROM (SELECT COUNT(*) FROM t) d":                  "",
		"SELECT a FROM t WHERE b > (SELECT MAX(c) + t.a FROM u)":    "",
		"SELECT MAX(a), CURRENT_DATE, @@version, (SELECT b) FROM t": "",
	} {
		_, err := NewParser(Options{}).ParseStatement(src, mode)
		var e *Error
		switch {
		case column == "" && err != nil:
			t.Errorf("%s: %v", src, err)
		case column != "" && (!errors.As(err, &e) || e.Number != ErrnoMixGroup || !strings.Contains(e.Message, "'"+column+"'")):
			t.Errorf("%s: %v", src, err)
		}
	}
	if _, err := NewParser(Options{}).ParseStatement("SELECT a, COUNT(*) FROM t", Mode{}); err != nil {
		t.Error(err)
	}
}

func TestCompoundInterval(t *testing.T) {
	for _, c := range []struct{ value, unit, text, single string }{
		{"1-2", "YEAR_MONTH", "14", "MONTH"}, {"-1-2", "YEAR_MONTH", "-14", "MONTH"}, {"1 2", "DAY_HOUR", "26", "HOUR"},
		{"2", "DAY_HOUR", "2", "HOUR"}, {"1:30", "MINUTE_SECOND", "90", "SECOND"}, {"1 1:1:1", "DAY_SECOND", "90061", "SECOND"},
		{"1.5", "SECOND_MICROSECOND", "1500000", "MICROSECOND"}, {"1:2.000003", "MINUTE_MICROSECOND", "62000003", "MICROSECOND"},
	} {
		text, single, ok := compoundInterval(c.value, c.unit)
		if !ok || text != c.text || single != c.single {
			t.Errorf("%s %s: %s %s %v", c.value, c.unit, text, single, ok)
		}
	}
	for _, c := range [][2]string{{"1:2:3", "MINUTE_SECOND"}, {"1", "DAY"}} {
		if _, _, ok := compoundInterval(c[0], c[1]); ok {
			t.Errorf("%v was taken", c)
		}
	}
}
