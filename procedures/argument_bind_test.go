package procedures

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
)

func args(list ...string) []Arg {
	var out []Arg
	for _, s := range list {
		name, value, named := strings.Cut(s, "=>")
		if !named {
			name, value = "", s
		}
		a := Arg{Name: strings.TrimSpace(name)}
		if v := strings.TrimSpace(value); v != "NULL" {
			a.Value = &v
		}
		out = append(out, a)
	}
	return out
}

func TestBind(t *testing.T) {
	ps := params("table, tag|tag_name, snapshot_id|snapshot BIGINT?, time_retained?")
	for _, c := range []struct {
		in   []Arg
		want []string // values, "-" = not given; or one text of the error
		bad  bool
	}{
		{args("d.t", "v1"), []string{"d.t", "v1", "-", "-"}, false},
		{args("d.t", "v1", "3", "1 d"), []string{"d.t", "v1", "3", "1 d"}, false},
		{args("d.t", "v1", "", "1 d"), []string{"d.t", "v1", "-", "1 d"}, false},
		{args("TAG_NAME => v1", "table => d.t", "snapshot => 4"), []string{"d.t", "v1", "4", "-"}, false},
		{args("d.t", "tag => v1"), []string{"d.t", "v1", "-", "-"}, false},
		{args("d.t", "v1", "NULL"), []string{"d.t", "v1", "-", "-"}, false},
		{args("d.t"), []string{"'tag' is missing"}, true},
		{args("d.t", "NULL"), []string{"'tag' is missing"}, true},
		{args("d.t", "v1", "3", "1 d", "x"), []string{"has 4 arguments, 5 were given"}, true},
		{args("tag => a", "d.t"), []string{"cannot follow"}, true},
		{args("d.t", "nosuch => a"), []string{"has no argument 'nosuch'"}, true},
		{args("d.t", "a", "tag => b"), []string{"given twice"}, true},
	} {
		a, err := bind("create_tag", ps, false, c.in)
		if c.bad {
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), c.want[0]) {
				t.Errorf("%v: %v, want %q", c.in, err, c.want[0])
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.in, err)
			continue
		}
		var got []string
		for _, v := range a.values {
			if v == nil {
				got = append(got, "-")
			} else {
				got = append(got, *v)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
	a, err := bind("create_tag", ps, false, args("d.t", "v1", "x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.integer("snapshot_id"); !errs.Is(err, errs.Invalid) {
		t.Errorf("a text was taken for a number: %v", err)
	}
}

func TestVariadicAndSpecs(t *testing.T) {
	a, err := bind("drop_partition", params("table, partition"), true, args("d.t", "dt=a,hh=1", "dt=b"))
	if err != nil || len(a.rest) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	specs, err := partitionSpecs("drop_partition", "dt=a,hh=1; dt=b")
	if err != nil || len(specs) != 2 || *specs[0]["hh"] != "1" || *specs[1]["dt"] != "b" {
		t.Fatalf("%v, %v", specs, err)
	}
	for _, bad := range []string{"", ";", "dt"} {
		if _, err := partitionSpecs("p", bad); !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTableNames(t *testing.T) {
	c := &call{arguments: &arguments{procedure: "p"}, opts: Options{Database: "cur"}}
	for text, want := range map[string]tableName{
		"d.t": {"d", "t", "", false}, "t": {"cur", "t", "", false}, "d.t$branch_b": {"d", "t", "b", true}, "`d`.`t`": {"d", "t", "", false}, "d.t$branch_main": {"d", "t", "", true},
	} {
		if got, err := c.tableName(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"d.t$snapshots", "d.", "d.t$branch_b$files"} {
		if n, err := c.tableName(bad); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: %+v, %v", bad, n, err)
		}
	}
}

// Every procedure has a table argument first, but for those of the whole warehouse, and unknown ones are not found.
func TestRegistry(t *testing.T) {
	names := Names()
	if len(names) < 20 || !slices.IsSorted(names) {
		t.Fatalf("procedures: %v", names)
	}
	for _, n := range names {
		first := "table"
		if n == "compact_database" {
			first = "including_databases"
		}
		if p := procedures[n]; len(p.params) == 0 || p.params[0].name != first || p.run == nil {
			t.Errorf("sys.%s: %+v", n, p.params)
		}
	}
	if _, err := Call(context.Background(), &Env{}, "nosuch", nil, Options{}); !errs.Is(err, errs.NotFound) {
		t.Fatalf("nosuch: %v", err)
	}
}
