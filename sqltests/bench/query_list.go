package main

import (
	"fmt"
	"math/big"
	"sort"
	"strings"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
)

// query is a measured query; %s stands for the table.
type query struct {
	name, text string
	// expected gives the answer, the rows in order.
	expected func(e *generate.Expected) [][]*big.Rat
	// labels is how many columns at the left are text.
	labels int
}

var queries = []query{
	{
		name: "Q6",
		text: "SELECT SUM(l_extendedprice * l_discount) AS revenue FROM %s WHERE l_shipdate >= DATE '1994-01-01'" +
			" AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
		expected: func(e *generate.Expected) [][]*big.Rat { return [][]*big.Rat{{scaled(big.NewInt(e.Q6), 4)}} },
	},
	{
		name: "Q1",
		text: "SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price," +
			" SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge," +
			" AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order" +
			" FROM %s WHERE l_shipdate <= DATE '1998-09-02'" +
			" GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
		expected: expectedQ1,
		labels:   2,
	},
}

// scaled is n / 10^digits.
func scaled(n *big.Int, digits int64) *big.Rat {
	return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil))
}

// groupNames are the groups of query 1 in order.
func groupNames(e *generate.Expected) []string {
	names := make([]string, 0, len(e.Q1))
	for n := range e.Q1 {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func expectedQ1(e *generate.Expected) [][]*big.Rat {
	var rows [][]*big.Rat
	for _, n := range groupNames(e) {
		g := e.Q1[n]
		count := new(big.Rat).SetInt64(g.Rows)
		sum := func(n, digits int64) *big.Rat { return scaled(big.NewInt(n), digits) }
		average := func(n int64) *big.Rat { return new(big.Rat).Quo(sum(n, 2), count) }
		rows = append(rows, []*big.Rat{nil, nil, sum(g.Quantity, 2), sum(g.Price, 2), sum(g.DiscountedPrice, 4), scaled(g.Charge, 6),
			average(g.Quantity), average(g.Price), average(g.Discount), count})
	}
	return rows
}

// tolerance allows for the digits of averages, which engines round at different places.
var tolerance = big.NewRat(1, 100_000)

// check compares an answer with what the generator has counted.
func (q *query) check(got [][]string, e *generate.Expected) error {
	want := q.expected(e)
	if len(got) != len(want) {
		return fmt.Errorf("%d rows instead of %d", len(got), len(want))
	}
	names := groupNames(e)
	for i, row := range got {
		if len(row) != len(want[i]) {
			return fmt.Errorf("%d columns instead of %d", len(row), len(want[i]))
		}
		if label := strings.Join(row[:q.labels], ""); q.labels > 0 && label != names[i] {
			return fmt.Errorf("group %s instead of %s", label, names[i])
		}
		for c := q.labels; c < len(row); c++ {
			v, ok := new(big.Rat).SetString(row[c])
			if !ok {
				return fmt.Errorf("row %d, column %d: %q is no number", i+1, c+1, row[c])
			}
			if d := v.Sub(v, want[i][c]); d.Abs(d).Cmp(tolerance) > 0 {
				return fmt.Errorf("row %d, column %d: %s instead of %s", i+1, c+1, row[c], want[i][c].FloatString(6))
			}
		}
	}
	return nil
}
