package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
)

func column(name, typ string) schema.Field {
	t, err := schema.ParseType(typ)
	if err != nil {
		panic(err)
	}
	return schema.Field{Name: name, Type: t}
}

func definition(options map[string]string, pk []string, cols ...schema.Field) schema.Definition {
	return schema.Definition{Fields: cols, PrimaryKeys: pk, Options: options}
}

var _ Writable = (*Filesystem)(nil)

func TestTableLife(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	if err := fio.MkdirAll(ctx, "/w"); err != nil {
		t.Fatal(err)
	}
	c := NewFilesystem(fio, "/w", nil)
	def := definition(map[string]string{"bucket": "2"}, []string{"k"}, column("k", "INT"), column("v", "STRING"))
	steps := []struct {
		what string
		do   func() error
		want errs.Class
		text string
	}{
		{"create in a missing database", func() error { return c.CreateTable(ctx, "d", "t", def) }, errs.NotFound, "d"},
		{"create database", func() error { return c.CreateDatabase(ctx, "d") }, 0, ""},
		{"create database again", func() error { return c.CreateDatabase(ctx, "d") }, errs.Exists, "d"},
		{"create sys", func() error { return c.CreateDatabase(ctx, "sys") }, errs.Invalid, "system database"},
		{"create", func() error { return c.CreateTable(ctx, "d", "t", def) }, 0, ""},
		{"create again", func() error { return c.CreateTable(ctx, "d", "t", def) }, errs.Exists, "d.t"},
		{"a name with $", func() error { return c.CreateTable(ctx, "d", "t$x", def) }, errs.Invalid, "$"},
		{"a bad definition", func() error {
			return c.CreateTable(ctx, "d", "bad", definition(map[string]string{"bucket": "0"}, nil, column("a", "INT")))
		}, errs.Invalid, "buckets needs to be greater than 0"},
		{"alter", func() error {
			return c.AlterTable(ctx, "d", "t", "", []schema.Change{schema.AddColumn{Path: []string{"w"}, Type: column("w", "INT").Type}, schema.SetOption{Key: "snapshot.num-retained.min", Value: "3"}})
		}, 0, ""},
		{"alter that fails half way", func() error {
			return c.AlterTable(ctx, "d", "t", "", []schema.Change{schema.DropColumn{Path: []string{"w"}}, schema.DropColumn{Path: []string{"k"}}})
		}, errs.Invalid, "Cannot drop partition key or primary key: [k]"},
		{"a missing branch", func() error {
			return c.AlterTable(ctx, "d", "t", "", []schema.Change{schema.SetOption{Key: "scan.fallback-branch", Value: "b"}})
		}, errs.Invalid, "because the branch 'b' does not exist"},
		{"drop a full database", func() error { return c.DropDatabase(ctx, "d", false) }, errs.Invalid, "not empty"},
		{"rename", func() error { return c.RenameTable(ctx, "d", "t", "d", "u") }, 0, ""},
		{"rename what is gone", func() error { return c.RenameTable(ctx, "d", "t", "d", "x") }, errs.NotFound, "d.t"},
		{"drop", func() error { return c.DropTable(ctx, "d", "u") }, 0, ""},
		{"drop again", func() error { return c.DropTable(ctx, "d", "u") }, errs.NotFound, "d.u"},
		{"drop database", func() error { return c.DropDatabase(ctx, "d", false) }, 0, ""},
	}
	for _, s := range steps {
		err := s.do()
		if s.text == "" && err != nil || s.text != "" && (errs.ClassOf(err) != s.want || !strings.Contains(fmt.Sprint(err), s.text)) {
			t.Errorf("%s: %v", s.what, err)
		}
		if s.what == "alter that fails half way" {
			tab, err := c.Load(ctx, "d", "t", "")
			if err != nil || tab.Schema.ID != 1 || len(tab.Schema.Fields) != 3 || tab.Schema.Fields[2].ID != 2 {
				t.Errorf("after a failed ALTER: %+v, %v", tab, err)
			}
		}
	}
	if left, err := fio.List(ctx, "/w"); err != nil || len(left) > 0 {
		t.Errorf("left in the warehouse: %v, %v", left, err)
	}
}

// Concurrent ALTERs each become a version; none is lost.
func TestConcurrentAlter(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	c := NewFilesystem(fio, "/w", nil)
	if err := c.CreateDatabase(ctx, "d"); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateTable(ctx, "d", "t", definition(nil, nil, column("a", "INT"))); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		own := NewFilesystem(fio, "/w", nil)
		wg.Go(func() {
			for i := range 5 {
				name := fmt.Sprintf("c%d_%d", w, i)
				if err := own.AlterTable(ctx, "d", "t", "", []schema.Change{schema.AddColumn{Path: []string{name}, Type: column(name, "INT").Type}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	tab, err := NewFilesystem(fio, "/w", nil).Load(ctx, "d", "t", "")
	if err != nil || tab.Schema.ID != 20 || len(tab.Schema.Fields) != 21 || tab.Schema.HighestFieldID != 20 {
		t.Fatalf("%+v, %v", tab, err)
	}
}

// Whatever file operation fails, a table is there as it was before or after.
func TestDDLFaultSweep(t *testing.T) {
	ctx := context.Background()
	for _, after := range []bool{false, true} {
		for nth := 1; ; nth++ {
			mem := fileio.NewMemory()
			quiet := NewFilesystem(mem, "/w", nil)
			if err := quiet.CreateDatabase(ctx, "d"); err != nil {
				t.Fatal(err)
			}
			if err := quiet.CreateTable(ctx, "d", "old", definition(nil, nil, column("a", "INT"))); err != nil {
				t.Fatal(err)
			}
			faulty := fileio.NewFaulty(mem)
			c := NewFilesystem(faulty, "/w", nil)
			faulty.Inject(fileio.Fault{Nth: nth, After: after, Err: errors.New("no space left on device")})
			createErr := c.CreateTable(ctx, "d", "new", definition(nil, nil, column("a", "INT")))
			alterErr := c.AlterTable(ctx, "d", "old", "", []schema.Change{schema.SetOption{Key: "x", Value: "1"}})
			dropErr := c.DropTable(ctx, "d", "old")
			hit := faulty.Count(fileio.AnyOp) >= nth
			mem.Crash()
			check := NewFilesystem(mem, "/w", nil)
			if _, err := check.Load(ctx, "d", "new", ""); (err == nil) != (createErr == nil) {
				t.Fatalf("fault %d (after %v): create %v, load %v", nth, after, createErr, err)
			}
			tab, err := check.Load(ctx, "d", "old", "")
			switch {
			case err == nil && (tab.Schema.ID == 1) != (alterErr == nil):
				t.Fatalf("fault %d (after %v): alter %v, schema %d", nth, after, alterErr, tab.Schema.ID)
			case dropErr == nil && !errs.Is(err, errs.NotFound):
				t.Fatalf("fault %d (after %v): dropped, load %v", nth, after, err)
			}
			if !hit {
				if nth < 10 {
					t.Fatalf("only %d operations", nth)
				}
				break
			}
		}
	}
}
