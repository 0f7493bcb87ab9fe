package main

import (
	"reflect"
	"testing"

	"github.com/tributarydb/tributary/sqltests/runner"
)

func TestTurns(t *testing.T) {
	for _, c := range []struct {
		comment string
		want    turn
		bad     bool
	}{
		{comment: "", want: turn{}},
		{comment: "a remark about by the way", want: turn{}},
		{comment: "by: paimon", want: turn{by: []string{"paimon"}}},
		{comment: "by: tributary pypaimon not: pypaimon-rust (no TIME)", want: turn{by: []string{"tributary", "pypaimon"}, not: []string{"pypaimon-rust"}}},
		{comment: "not: paimon (why), not: pypaimon (why too)", want: turn{not: []string{"paimon", "pypaimon"}}},
		{comment: "not/orc: pypaimon-rust (why) by: duckdb", want: turn{by: []string{"duckdb"}}},
		{comment: "by: spark", bad: true},
	} {
		got, err := turnOf(&runner.Record{Comment: c.comment})
		if (err != nil) != c.bad || !c.bad && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %+v, %v; want %+v", c.comment, got, err, c.want)
		}
	}
}

func TestVariants(t *testing.T) {
	s, err := runner.Parse("x.slt", "# Formats\n# each: F parquet orc\n\n# not/orc: paimon (why)\nstatement ok\nCREATE TABLE t_{F} (a INT) WITH ('file.format' = '{F}')\n")
	if err != nil {
		t.Fatal(err)
	}
	v := variants(s)
	if len(v) != 2 || v[1].Records[0].SQL != "CREATE TABLE t_orc (a INT) WITH ('file.format' = 'orc')" || s.Records[0].SQL == v[0].Records[0].SQL {
		t.Fatalf("variants: %+v", v)
	}
	for i, want := range [][]string{nil, {"paimon"}} {
		if got, err := turnOf(&v[i].Records[0]); err != nil || !reflect.DeepEqual(got.not, want) {
			t.Errorf("%s is not by %v, %v", v[i].Name, got.not, err)
		}
	}
	if v := variants(&runner.Script{Name: "plain"}); len(v) != 1 {
		t.Fatalf("a plain script has %d variants", len(v))
	}
}

func TestProcess(t *testing.T) {
	p, err := startProcess("echo", []string{"sh", "-c", `echo READY; while read -r l; do case "$l" in bad*) echo "ERROR no such thing";; *) printf '| %s\n' "$l"; echo OK;; esac; done`})
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	rows, err := p.run("SELECT 1\n, 2")
	if err != nil || !reflect.DeepEqual(rows, []string{`SELECT 1\n, 2`}) {
		t.Fatalf("%q, %v", rows, err)
	}
	if _, err := p.run("bad"); err == nil || err.Error() != "no such thing" {
		t.Fatalf("error: %v", err)
	}
	if _, err := startProcess("false", []string{"false"}); err == nil {
		t.Fatal("a program that ends at once was taken for an engine")
	}
}
