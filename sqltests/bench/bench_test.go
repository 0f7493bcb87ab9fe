package main

import (
	"errors"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
)

func sample() *generate.Expected {
	return &generate.Expected{Rows: 3, Q6: 123456, Q1: map[string]*generate.Q1{
		"NO": {Quantity: 300, Price: 1000, Discount: 10, DiscountedPrice: 90000, Rows: 3, Charge: big.NewInt(9_500_001)},
		"AF": {Quantity: 100, Price: 2000, Discount: 7, DiscountedPrice: 190000, Rows: 2, Charge: big.NewInt(19_000_000)},
	}}
}

// TestCheck makes sure that a wrong answer is noticed in every column.
func TestCheck(t *testing.T) {
	e := sample()
	q6, q1 := &queries[0], &queries[1]
	if err := q6.check([][]string{{"12.3456"}}, e); err != nil {
		t.Error(err)
	}
	for _, wrong := range [][][]string{{{"12.3457"}}, {{"NULL"}}, {}, {{"12.3456", "1"}}, {{"12.3456"}, {"12.3456"}}} {
		if q6.check(wrong, e) == nil {
			t.Errorf("query 6: %v passed", wrong)
		}
	}
	good := [][]string{
		{"A", "F", "1.00", "20.00", "19.0000", "19.000000", "0.5", "10.000000", "0.035000", "2"},
		{"N", "O", "3.00", "10.00", "9.0000", "9.500001", "1.000000", "3.3333333333", "0.033333", "3"},
	}
	if err := q1.check(good, e); err != nil {
		t.Error(err)
	}
	for i, row := range good {
		for c, cell := range row {
			row[c] = "7"
			if q1.check(good, e) == nil {
				t.Errorf("query 1: a wrong row %d, column %d passed", i, c)
			}
			row[c] = cell
		}
	}
}

func TestRatios(t *testing.T) {
	m := &measurement{cells: []cell{{times: []time.Duration{2, 9, 4}}, {times: []time.Duration{4, 3, 4}}, {failed: errors.New("no")}}}
	if r := m.ratios(1); len(r) != 3 || median(r) != 1 || r[0] != 0.5 || r[1] != 3 {
		t.Error(r)
	}
	if r := m.ratios(2); len(r) != 0 {
		t.Error(r)
	}
	if median([]int64{4, 1, 3, 2}) != 2 || median([]int64{5}) != 5 {
		t.Error("median")
	}
}

func TestProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc")
	}
	now, peak, err := memory(os.Getpid())
	if err != nil || now < 1<<20 || peak < now {
		t.Error(now, peak, err)
	}
	before := processorTime(os.Getpid())
	for start, x := time.Now(), 0; processorTime(os.Getpid()) == before && time.Since(start) < 10*time.Second; x++ {
	}
	if used := processorTime(os.Getpid()) - before; used <= 0 || used > 10*time.Second {
		t.Error(used)
	}
}

func TestReportLeavesOut(t *testing.T) {
	e := sample()
	all := []measurement{{&generate.Table{Name: "t", Expected: e, BaseExpected: e}, &queries[0], []cell{
		{times: []time.Duration{time.Second}}, {times: []time.Duration{4 * time.Second}}, {failed: errors.New("cannot read it")}}}}
	var out strings.Builder
	peers := []engine{&server{}, &peer{kind: &peerKinds[0]}, &peer{kind: &peerKinds[1]}}
	if err := printRatios(&out, peers, all, 1_000_000_000); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.25", "left out: cannot read it", "1.0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
