package interop

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// TestTourIsGolden checks that every step of the tour has the golden answer.
func TestTourIsGolden(t *testing.T) {
	tour, err := runner.ParseFile("tour.slt")
	if err != nil {
		t.Fatal(err)
	}
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	shop, err := runner.ParseFile(filepath.Join(root, "shop", golden.ScriptName))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]runner.Record{}
	for _, r := range shop.Records {
		answers[r.SQL] = r
	}
	if len(tour.Records) == 0 {
		t.Fatal("the tour is empty")
	}
	for _, r := range tour.Records {
		want, ok := answers[r.SQL]
		if !ok {
			t.Errorf("%s: not a golden query: %s", r.Pos(), r.SQL)
			continue
		}
		want.File, want.Line = r.File, r.Line
		if !reflect.DeepEqual(r, want) {
			t.Errorf("%s: differs from the golden record", r.Pos())
		}
	}
}
