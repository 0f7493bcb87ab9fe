package runner

import (
	"strings"
	"testing"
)

func TestComparePrinted(t *testing.T) {
	rec := &Record{Kind: Query, Types: "ITRXBD", Want: want(`1	a\tb	1.50	00FF	true	2024-01-01 00:00:00.5`, `2	(empty)	3.0E21	NULL	NULL	NULL`)}
	good := []string{"1\ta\\tb\t1.50\t00FF\t1\t2024-01-01 00:00:00.500000", "2\t\t3e+21\t\\N\tNULL\t\\N"}
	if d := ComparePrinted(rec, good); d != "" {
		t.Error(d)
	}
	for i, bad := range [][]string{
		{good[0]},
		{good[1], good[0]},
		{strings.Replace(good[0], "1.50", "1.5", 1), good[1]},
		{strings.Replace(good[0], "00FF", "00fe", 1), good[1]},
		{"1\t2", good[1]},
	} {
		if ComparePrinted(rec, bad) == "" {
			t.Errorf("%d: no difference found", i)
		}
	}
}
