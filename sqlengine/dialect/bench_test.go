package dialect

import (
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

var benchQueries = map[string]string{
	"point":  "SELECT id, name FROM shop.orders WHERE id = 42",
	"report": "SELECT o.city, SUM(o.total) AS total, COUNT(*) FROM T$branch_b o JOIN customers c ON o.cid = c.id WHERE o.d >= DATE '2024-01-01' AND c.name LIKE 'a%' GROUP BY o.city HAVING SUM(o.total) > 10 ORDER BY 2 DESC LIMIT 10",
	"insert": "INSERT INTO t (a, b, c) VALUES " + strings.Repeat("(1, 'some text', 2.5), ", 9999) + "(1, 'x', 3)",
}

func BenchmarkParse(b *testing.B) {
	p := NewParser(Options{})
	for name, q := range benchQueries {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(q)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.ParseStatement(q, Mode{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		if strings.Contains(q, "$") {
			continue
		}
		b.Run(name+"/vitess alone", func(b *testing.B) {
			b.SetBytes(int64(len(q)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sqlparser.Parse(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
