package planner

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/storage/schema"
)

func BenchmarkParse(b *testing.B) {
	q := valuesText("t", 10_000)
	b.Run("vitess", func(b *testing.B) {
		for b.Loop() {
			if _, err := sqlparser.Parse(q); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("dialect", func(b *testing.B) {
		p := dialect.NewParser(dialect.Options{})
		for b.Loop() {
			if _, err := p.ParseStatement(q, dialect.Mode{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("all", func(b *testing.B) {
		s, l := newSelectSession(b)
		l.add("default", "t", newFakeTable(field("a", schema.Int), field("b", schema.Varchar), field("c", schema.Decimal, precision(10, 2)), field("d", schema.Timestamp, precision(3, 0))))
		for b.Loop() {
			if _, err := s.try(q); err != nil {
				b.Fatal(err)
			}
			l.tables["default"]["t"].morsels = nil
		}
	})
	_ = context.Background
	_ = sql.NewEmptyContext
}

func valuesText(table string, n int) string {
	var q strings.Builder
	fmt.Fprintf(&q, "INSERT INTO %s VALUES ", table)
	for i := range n {
		if i > 0 {
			q.WriteByte(',')
		}
		fmt.Fprintf(&q, "(%d, 'customer %d', %d.25, '2024-01-02 03:04:05')", i, i, i)
	}
	return q.String()
}
