package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// queries are answered by both executors; those marked with a leading * must be taken over by ours.
var queries = []string{
	"*SELECT id, i + 1, l - i, i * t FROM r",
	"*SELECT id, d + e, d - 1.5, d * e, -d, 2 - d FROM r",
	"*SELECT id, g * 2 + i, f - 1, g - d FROM r",
	"*SELECT id FROM r WHERE i > 3",
	"*SELECT id, s FROM r WHERE i + t > 2 AND d < 5",
	"*SELECT id FROM r WHERE i BETWEEN -5 AND 5 OR s = 'green'",
	"*SELECT id FROM r WHERE NOT (i > 3 AND d > 1)",
	"*SELECT id FROM r WHERE i <=> t",
	"*SELECT id FROM r WHERE i < t OR l > i * 1000",
	"*SELECT id FROM r WHERE (i > 0) XOR (d > 0)",
	"*SELECT id FROM r WHERE s LIKE '%green%'",
	"*SELECT id FROM r WHERE s LIKE 'a_b' OR s LIKE '%e_n' OR s LIKE 'gr%'",
	"*SELECT id FROM r WHERE s NOT LIKE '%een'",
	"*SELECT id FROM r WHERE s IN ('a', 'ab', 'x y')",
	"*SELECT id FROM r WHERE s NOT IN ('a', 'ab')",
	"*SELECT id FROM r WHERE i IN (1, 2, 3, -4) OR i IS NULL",
	"*SELECT id FROM r WHERE i + 1 IN (1, 2, 3, -4)",
	"*SELECT id FROM r WHERE s < c",
	"*SELECT id FROM r WHERE dt >= '1992-01-01' AND dt < DATE '1993-06-01' + INTERVAL 1 MONTH",
	"*SELECT id FROM r WHERE dt < ts",
	"*SELECT id FROM r WHERE ts > '1991-12-10 01:00:00'",
	"*SELECT id FROM r WHERE z > '1991-12-10 01:00:00'",
	"*SELECT id, YEAR(dt), MONTH(dt), DAY(ts), EXTRACT(YEAR FROM ts) FROM r",
	"*SELECT id, CASE WHEN i > 0 THEN 'pos' WHEN i < 0 THEN 'neg' ELSE s END FROM r",
	"*SELECT id, CASE WHEN d > 0 THEN d END FROM r",
	"*SELECT id, CASE t WHEN 1 THEN 10 WHEN 2 THEN 20 ELSE 0 END FROM r",
	"*SELECT id, COALESCE(i, 0), IFNULL(s, 'none'), IF(i > 0, 1, 0) FROM r",
	"*SELECT id, i IS NULL, i > 3, NOT b, i = t FROM r",
	"*SELECT id, LENGTH(s), CHAR_LENGTH(s) FROM r",
	"*SELECT id, i, s, d, w, f, g, dt, ts, z FROM r WHERE id > 5",
	"*SELECT COUNT(*) FROM r WHERE i > 0",
	"*SELECT COUNT(*), COUNT(i), SUM(i), MIN(i), MAX(i), AVG(i) FROM r",
	"*SELECT SUM(l), AVG(l), SUM(d), AVG(d), SUM(e), AVG(e) FROM r",
	"*SELECT MIN(l), MAX(d), MIN(e), MAX(w), MIN(w), MAX(f), MIN(g), MIN(s), MAX(s), MIN(dt), MAX(ts), MAX(z) FROM r",
	"*SELECT SUM(g), AVG(g), SUM(f) FROM r",
	"*SELECT SUM(w), AVG(w) FROM r",
	"*SELECT SUM(d * e), SUM(e * (1 - d)), SUM(e * (1 - d) * (1 + d)) FROM r",
	"*SELECT SUM(CASE WHEN s = 'green' THEN 1 ELSE 0 END) FROM r",
	"*SELECT s, COUNT(*) FROM r GROUP BY s",
	"*SELECT c, s, COUNT(*), SUM(d), AVG(e), MIN(dt) FROM r GROUP BY c, s",
	"*SELECT i, COUNT(*), SUM(l) FROM r GROUP BY i",
	"*SELECT i, t, d, COUNT(i), MAX(s) FROM r GROUP BY i, t, d",
	"*SELECT w, COUNT(*) FROM r GROUP BY w",
	"*SELECT f, COUNT(*) FROM r GROUP BY f",
	"*SELECT g, c, SUM(i) FROM r GROUP BY g, c",
	"*SELECT dt, COUNT(*) FROM r GROUP BY dt",
	"*SELECT ts, z, COUNT(*) FROM r GROUP BY ts, z",
	"*SELECT YEAR(dt) y, SUM(d) FROM r GROUP BY YEAR(dt)",
	"*SELECT c, SUM(d) FROM r GROUP BY c HAVING SUM(d) > 1 AND COUNT(*) > 2",
	"*SELECT c, SUM(d) + 1, COUNT(*) * 2 FROM r WHERE i > -10 GROUP BY c ORDER BY c",
	"*SELECT COUNT(DISTINCT s), COUNT(DISTINCT i), COUNT(DISTINCT d), COUNT(DISTINCT g), COUNT(DISTINCT w) FROM r",
	"*SELECT c, COUNT(DISTINCT s), COUNT(DISTINCT dt) FROM r GROUP BY c",
	"*SELECT DISTINCT c, t FROM r",
	"*SELECT COUNT(*) FROM (SELECT DISTINCT c, t FROM r WHERE i > 0) q",
	"*SELECT q.c, MAX(q.n) FROM (SELECT c, s, COUNT(*) n FROM r GROUP BY c, s) q GROUP BY q.c",
	"*SELECT x.k + 1, x.s FROM (SELECT i * 2 AS k, s FROM r WHERE d > 0) x WHERE x.k > 4",
	"*SELECT a.id, b.n FROM (SELECT id, c FROM r WHERE i > 10) a JOIN (SELECT c, COUNT(*) n FROM r GROUP BY c) b ON a.c = b.c",
	"*SELECT SUM(i) FROM r WHERE i > 1000",
	"*SELECT c, SUM(i) FROM r WHERE i > 1000 GROUP BY c",
	"*SELECT i, t, COUNT(*), i + t FROM r GROUP BY i + t, i, t",
	"*SELECT YEAR(dt) * 2, COUNT(*) FROM r WHERE dt IS NOT NULL GROUP BY YEAR(dt)",
	"*SELECT i + t, COUNT(*) FROM r WHERE i + t IS NOT NULL GROUP BY i + t",
	"*SELECT id, i FROM r ORDER BY i, id",
	"*SELECT id, i FROM r ORDER BY i DESC, id DESC LIMIT 7",
	"*SELECT id, s, d FROM r WHERE t > -2 ORDER BY s DESC, d, id LIMIT 5 OFFSET 3",
	"*SELECT id FROM r ORDER BY g DESC, f, id",
	"*SELECT id FROM r ORDER BY w, ts DESC, id LIMIT 20",
	"*SELECT id FROM r ORDER BY d * e, id",
	"*SELECT c, s, COUNT(*) n, SUM(d) FROM r GROUP BY c, s ORDER BY n DESC, c, s LIMIT 6",
	"*SELECT x.id FROM (SELECT id, dt FROM r ORDER BY dt, id LIMIT 9) x WHERE x.id > 3 ORDER BY x.id",
	"*SELECT DISTINCT c FROM r ORDER BY c",
	"*SELECT id, g / 2, g / i, i / f, g / 0 FROM r WHERE i <> 0 AND g <> 0",
	"SELECT id, CASE WHEN i > 0 THEN s ELSE dt END FROM r",
	"SELECT id, IF(i > 0, dt, '1999-01-01') FROM r",
	"*SELECT COUNT(id), COUNT(e), COUNT(1), SUM(1), MIN(dt) FROM r",
	"*SELECT id FROM r WHERE i > (SELECT AVG(q.i) FROM r q WHERE q.t > 0) AND id IN (SELECT MAX(q.id) FROM r q GROUP BY q.c HAVING COUNT(*) > 1)",
	"*SELECT id, (SELECT MAX(d) FROM r q WHERE q.c = 'a') FROM r WHERE t IN (SELECT q.t + 1 FROM r q WHERE q.i > 5 AND q.t IS NOT NULL)",
	"SELECT id, (SELECT COUNT(*) FROM r q WHERE q.i > r.i) FROM r WHERE EXISTS (SELECT 1 FROM r q WHERE q.i > 15) AND id < 20",
	"SELECT id, (SELECT MAX(q.t) + r.i FROM r q WHERE q.c = r.c AND q.t > (SELECT AVG(z.t) FROM r z)) FROM r WHERE id < 15",
	"*SELECT x.c, x.n FROM (SELECT c, COUNT(*) n FROM r GROUP BY c) x WHERE x.n >= (SELECT MAX(y.n) FROM (SELECT c, COUNT(*) n FROM r GROUP BY c) y)",
	"SELECT s, STDDEV(i) FROM r GROUP BY s",
	"SELECT id FROM r WHERE EXISTS (SELECT 1 FROM r q WHERE q.i = r.t AND q.id < 5)",
	"SELECT id, (SELECT COUNT(*) FROM r q WHERE q.t = 1) FROM r WHERE i = 1",
	"SELECT UPPER(s), COUNT(*) FROM r GROUP BY UPPER(s)",
	"SELECT id, i DIV 2, l % 7 FROM r WHERE i > 3",
}

func TestSameAsRows(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := randomTable(r, 1+r.IntN(4), 1+r.IntN(3), 5+r.IntN(120))
		m.skip = seed%2 == 0
		m.noCount = seed%3 == 0
		e := newTestEngine(t, memoryCatalog{"r": m}, Options{})
		for _, q := range queries {
			q, must := strings.CutPrefix(q, "*")
			compareAnswers(t, e, q)
			if must && seed == 0 && !e.isVector(q) {
				t.Errorf("%s: not taken over:\n%s", q, e.plan(true, q))
			}
		}
	}
}

func compareAnswers(t *testing.T, e *testEngine, q string) {
	t.Helper()
	want, err := e.rows(false, q)
	if err != nil {
		t.Errorf("%s: rows: %v", q, err)
		return
	}
	got, err := e.rows(true, q)
	if err != nil {
		t.Errorf("%s: %v", q, err)
		return
	}
	if !strings.Contains(q, "ORDER BY") {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %s\nwant %s", q, sample(got, want), sample(want, got))
	}
}

// sample shows the first lines of a that differ from b's.
func sample(a, b []string) string {
	var out []string
	for i, x := range a {
		if i >= len(b) || b[i] != x {
			out = append(out, x)
		}
		if len(out) == 4 {
			break
		}
	}
	return fmt.Sprintf("%d rows: %q", len(a), out)
}
