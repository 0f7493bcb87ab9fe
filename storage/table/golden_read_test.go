package table_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/fileio"
	_ "github.com/tributarydb/tributary/storage/format/avro"
	_ "github.com/tributarydb/tributary/storage/format/blob"
	_ "github.com/tributarydb/tributary/storage/format/orc"
	_ "github.com/tributarydb/tributary/storage/format/parquet"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/table"
)

// countRows reads every column of every row of a table.
func countRows(ctx context.Context, r relation.Relation) (int64, error) {
	req := relation.Request{}
	for i := range r.Fields() {
		req.Columns = append(req.Columns, i)
	}
	plan, err := r.Plan(ctx, req)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, m := range plan.Morsels {
		rd, err := m.Open(ctx)
		if err != nil {
			return 0, err
		}
		for {
			b, err := rd.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return 0, errors.Join(err, rd.Close())
			}
			n += int64(b.Rows())
		}
		if err := rd.Close(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// goldens are the golden warehouses that were unpacked, by name. Tests only read them.
var goldens struct {
	sync.Mutex
	root string
	dirs map[string]func() (string, error)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if goldens.root != "" {
		_ = os.RemoveAll(goldens.root)
	}
	os.Exit(code)
}

// unpacked is the directory of a golden warehouse, which must not be changed.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	goldens.Lock()
	if goldens.root == "" {
		goldens.dirs = map[string]func() (string, error){}
		if goldens.root, err = os.MkdirTemp("", "tributary-goldens-*"); err != nil {
			goldens.Unlock()
			t.Fatal(err)
		}
	}
	if goldens.dirs[name] == nil {
		dir := filepath.Join(goldens.root, name)
		goldens.dirs[name] = sync.OnceValues(func() (string, error) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				return "", err
			}
			return dir, golden.Unpack(filepath.Join(root, name, golden.ArchiveName), dir)
		})
	}
	unpack := goldens.dirs[name]
	goldens.Unlock()
	dir, err := unpack()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestShopCounts reads all rows of the sample warehouse.
func TestShopCounts(t *testing.T) {
	ctx := context.Background()
	t.Parallel()
	dir := unpacked(t, "shop")
	fio := fileio.NewLocal()
	cat := catalog.NewFilesystem(fio, dir, &schema.Cache{})
	env := table.NewEnv(fio, cat, nil)
	for name, want := range map[string]int64{"customers": 500, "products": 42, "orders": 20001, "order_items": 40020, "page_views": 30000, "inventory": 78} {
		tb, err := table.Open(ctx, env, "default", name, table.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := countRows(ctx, tb)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got != want {
			t.Errorf("%s: %d rows, want %d", name, got, want)
		}
	}
}

// TestReadGoldens reads every table and branch of every golden warehouse that is not damaged
// on purpose: no error, and the counts of COUNT(*) from metadata agree with the rows.
func TestReadGoldens(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := golden.List(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if strings.HasPrefix(c.Name, "bug-") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			readWarehouse(ctx, t, unpacked(t, c.Name))
		})
	}
}

func readWarehouse(ctx context.Context, t *testing.T, dir string) {
	fio := fileio.NewLocal()
	cat := catalog.NewFilesystem(fio, dir, &schema.Cache{})
	env := table.NewEnv(fio, cat, nil)
	dbs, err := cat.Databases(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, db := range dbs {
		names, err := cat.Tables(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			tableDir, err := cat.TableDir(db, name)
			if err != nil {
				t.Fatal(err)
			}
			branches, err := snapshot.Branches(ctx, fio, tableDir)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range append(branches, snapshot.Branch{}) {
				readTable(ctx, t, env, db, name, b.Name)
			}
		}
	}
}

func readTable(ctx context.Context, t *testing.T, env *table.Env, db, name, branch string) {
	tb, err := table.Open(ctx, env, db, name, table.OpenOptions{Branch: branch})
	if err != nil {
		t.Errorf("%s.%s branch %q: %v", db, name, branch, err)
		return
	}
	n, err := countRows(ctx, tb)
	if err != nil {
		t.Errorf("%s.%s branch %q: %v", db, name, branch, err)
		return
	}
	if est, exact, err := tb.EstimateRows(ctx); err != nil || exact && est != n {
		t.Errorf("%s.%s branch %q: %d rows read, metadata says %d (%v)", db, name, branch, n, est, err)
	}
}
