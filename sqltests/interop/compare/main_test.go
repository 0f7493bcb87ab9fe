package main

import (
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/runner"
)

const script = `query IT
SELECT 1
----
1	a
2	NULL

statement ok
SET x = 1

query B rowsort
SELECT 2
----
false
true

query R
SELECT 3
----
`

func TestCompare(t *testing.T) {
	s, err := runner.Parse("s", script)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		output  string
		summary string
		err     string
	}{
		{"== 1\n1\ta\n2\t\\N\n== 2\n1\n0\n== 3\n", "3 passed, 0 failed, 0 skipped", ""},
		{"== 1\n1\ta\n2\t\\N\n== 2\n1\n0\n", "2 passed, 1 failed, 0 skipped", "1 of 3 queries differ"},
		{"== 1\n1\ta\n2\tb\n== 2\ntrue\ntrue\n== 3\n!! no", "0 passed, 3 failed, 0 skipped", "3 of 3 queries differ"},
		{"== 1\n1\n2\n== 2\ntrue\nfalse\n== 3\n", "2 passed, 1 failed, 0 skipped", "1 of 3 queries differ"},
		{"== 1\n1\ta\n2\t\\N\n== 2\n1\n0\n== 3\n== 4\n", "3 passed, 0 failed, 0 skipped", "1 queries that the script does not have"},
		{"", "", "expected"},
		{"== x\n", "", "not the number"},
		{"== 1\n== 1\n", "", "twice"},
	} {
		lines, err := compare(s, x.output)
		if x.err == "" && err != nil || x.err != "" && (err == nil || !strings.Contains(err.Error(), x.err)) {
			t.Errorf("%q: %v", x.output, err)
		}
		if x.summary != "" && (len(lines) == 0 || lines[len(lines)-1] != x.summary) {
			t.Errorf("%q: %q", x.output, lines)
		}
	}
}
