package catalog

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

func put(t *testing.T, fio fileio.FileIO, path, content string) {
	t.Helper()
	if err := fio.Overwrite(context.Background(), path, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func tableSchema(id string) string {
	return `{"version":3,"id":` + id + `,"fields":[{"id":0,"name":"a","type":"INT"}],"highestFieldId":0,"partitionKeys":[],"primaryKeys":[],"options":{}}`
}

// TestStrays has what is lying around in real warehouses: none of it hides a table.
func TestStrays(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	put(t, fio, "/w/default.db/good/schema/schema-0", tableSchema("0"))
	put(t, fio, "/w/default.db/late/schema/schema-7", tableSchema("7"))
	put(t, fio, "/w/default.db/late/branch/branch-b/schema/schema-2", tableSchema("2"))
	put(t, fio, "/w/default.db/late/branch/branch-hollow/snapshot/x", "")
	put(t, fio, "/w/default.db/badjson/schema/schema-0", "{")
	put(t, fio, "/w/default.db/noschema/bucket-0/data", "")
	put(t, fio, "/w/default.db/tempschema/schema/.schema-0.tmp", "{")
	put(t, fio, "/w/default.db/README.txt", "hello")
	put(t, fio, "/w/default.db/.staging/schema/schema-0", tableSchema("0"))
	put(t, fio, "/w/no_database/x", "")
	put(t, fio, "/w/file.db", "")
	put(t, fio, "/w/.hidden.db/t/schema/schema-0", tableSchema("0"))
	put(t, fio, "/w/ü b.db/t/schema/schema-0", tableSchema("0"))
	put(t, fio, "/w/_SUCCESS", "")
	c := NewFilesystem(fio, "/w", nil)
	dbs, err := c.Databases(ctx)
	if err != nil || !slices.Equal(dbs, []string{"default", "ü b"}) {
		t.Error(dbs, err)
	}
	tables, err := c.Tables(ctx, "default")
	if err != nil || !slices.Equal(tables, []string{"badjson", "good", "late"}) {
		t.Error(tables, err)
	}
	if tab, err := c.Load(ctx, "default", "late", ""); err != nil || tab.Schema.ID != 7 || tab.Branch != "main" || tab.Dir != "/w/default.db/late" {
		t.Error(tab, err)
	}
	if tab, err := c.Load(ctx, "default", "late", "b"); err != nil || tab.Schema.ID != 2 {
		t.Error(tab, err)
	}
	for name, want := range map[string]errs.Class{"badjson": errs.Corrupt, "noschema": errs.NotFound, "tempschema": errs.NotFound, "README.txt": errs.NotFound, "../default.db/good": errs.NotFound, "": errs.NotFound} {
		_, err := c.Load(ctx, "default", name, "")
		if errs.ClassOf(err) != want || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: class %v: %v", name, errs.ClassOf(err), err)
		}
		if ok, err := c.TableExists(ctx, "default", name); ok != (name == "badjson") || err != nil {
			t.Error(name, ok, err)
		}
	}
	if _, err := c.Load(ctx, "default", "late", "hollow"); !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), "hollow") {
		t.Error(err)
	}
	if _, err := c.Load(ctx, "default", "late", "none"); !errs.Is(err, errs.NotFound) || !strings.Contains(err.Error(), "Branch name 'none' doesn't exist.") {
		t.Error(err)
	}
	if _, err := c.Load(ctx, "default", "nothing", "b"); !errs.Is(err, errs.NotFound) || strings.Contains(err.Error(), "Branch") {
		t.Error(err)
	}
	if _, err := c.Tables(ctx, "nope"); !errs.Is(err, errs.NotFound) || !strings.Contains(err.Error(), "nope") {
		t.Error(err)
	}
	for db, want := range map[string]bool{"default": true, "ü b": true, "no_database": false, "file": false, "../w/default": false, "": false} {
		if ok, err := c.DatabaseExists(ctx, db); ok != want || err != nil {
			t.Errorf("%q: %v %v", db, ok, err)
		}
	}
	if _, err := NewFilesystem(fio, "/elsewhere", nil).Databases(ctx); !errs.Is(err, errs.NotFound) || !strings.Contains(err.Error(), "/elsewhere") {
		t.Error(err)
	}
}
