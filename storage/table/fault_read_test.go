package table_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// openFiles counts the files that are open.
type openFiles struct {
	fileio.FileIO
	mu    sync.Mutex
	paths map[string]int
	twice []string
}

func (o *openFiles) Open(ctx context.Context, path string) (fileio.File, error) {
	f, err := o.FileIO.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paths[path]++
	return &countedFile{File: f, o: o, path: path}, nil
}

// left waits for files that are closed by other goroutines, and returns those still open.
func (o *openFiles) left() map[string]int {
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(time.Millisecond) {
		o.mu.Lock()
		open := map[string]int{}
		for p, n := range o.paths {
			if n > 0 {
				open[p] = n
			}
		}
		o.mu.Unlock()
		if len(open) == 0 || time.Now().After(end) {
			return open
		}
	}
}

type countedFile struct {
	fileio.File
	o      *openFiles
	path   string
	closed bool
}

func (f *countedFile) Close() error {
	f.o.mu.Lock()
	if f.closed {
		f.o.twice = append(f.o.twice, f.path)
	} else {
		f.o.paths[f.path]--
	}
	f.closed = true
	f.o.mu.Unlock()
	return f.File.Close()
}

// scanWithFaults opens and reads a table through fio and returns its number of
// rows. The context of the statement has ended when it returns.
func scanWithFaults(fio fileio.FileIO, dir, name, filter string) (int64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	env := table.NewEnv(fio, catalog.NewFilesystem(fio, dir, &schema.Cache{}), nil)
	tb, err := table.Open(ctx, env, "default", name, table.OpenOptions{})
	if err != nil {
		return 0, err
	}
	if filter == "" {
		return countRows(ctx, tb)
	}
	return countRows(ctx, filtered{tb, filter})
}

// filtered asks for the rows of a table that hold 303 in a column.
type filtered struct {
	relation.Relation
	column string
}

func (f filtered) Plan(ctx context.Context, req relation.Request) (*relation.Plan, error) {
	for i, x := range f.Fields() {
		if x.Name == f.column {
			req.Filter = &predicate.Leaf{Column: i, Op: predicate.Eq, Literals: []column.Scalar{column.IntScalar(column.KindInt32, 303)}}
		}
	}
	return f.Relation.Plan(ctx, req)
}

// manyOperations is the number of operations from which each fails either before or after it took effect, not both.
const manyOperations = 100

// TestFaultAtEveryOperation lets the n-th file operation of reading a table
// fail, for every n. The read fails with that error, or gives all rows where it
// can do without the file; it leaves no file open.
func TestFaultAtEveryOperation(t *testing.T) {
	for _, x := range []struct{ warehouse, table, filter string }{
		{"append-unaware", "a", ""},
		{"append-unaware", "roll", ""},
		{"append-manifest-formats", "m_orc", ""},
		{"append-manifest-formats", "m_parquet", ""},
		{"pk_dedup_levels", "lv", ""},
		{"pk_dv_v1", "dv", ""},
		{"pk_dv_v2_bitmap64", "dv", ""},
		{"pk_postpone", "po", ""},
		{"pk_changelog_lookup_full", "lk", ""},
		{"scalars-orc", "t", ""},
		{"scalars-avro", "t", ""},
		{"scalars-parquet", "t", ""},
		{"data-evolution", "de", ""},
		{"blobs", "bl", ""},
		{"fallback_engines", "un", ""},
		{"chain_table", "ch", ""},
		{"file-index-files", "bloom", "id"},
	} {
		t.Run(x.warehouse+"/"+x.table, func(t *testing.T) {
			t.Parallel()
			dir := unpacked(t, x.warehouse)
			files := &openFiles{FileIO: fileio.NewLocal(), paths: map[string]int{}}
			faulty := fileio.NewFaulty(files)
			want, err := scanWithFaults(faulty, dir, x.table, x.filter)
			if err != nil {
				t.Fatal(err)
			}
			if want == 0 {
				t.Fatal("the table is empty")
			}
			ops := faulty.Count(fileio.AnyOp)
			failed := 0
			for n := 1; n <= ops; n++ {
				for _, after := range []bool{false, true} {
					if ops > manyOperations && after != (n%2 == 0) {
						continue // the tables with fewer operations try both
					}
					faulty = fileio.NewFaulty(files)
					faulty.Inject(fileio.Fault{Nth: n, After: after})
					got, err := scanWithFaults(faulty, dir, x.table, x.filter)
					what := fmt.Sprintf("fault at operation %d of %d (after: %v)", n, ops, after)
					switch {
					case err == nil && got != want:
						t.Errorf("%s: %d rows instead of %d, and no error", what, got, want)
					case err == nil:
					case !strings.Contains(err.Error(), "injected fault"):
						t.Errorf("%s: the error does not say what happened: %v", what, err)
					case errs.Is(err, errs.Corrupt) || errs.Is(err, errs.NotFound):
						t.Errorf("%s: a failing disk counts as %s: %v", what, errs.ClassOf(err), err)
					default:
						failed++
					}
					if open := files.left(); len(open) > 0 {
						t.Fatalf("%s: files left open: %v", what, open)
					}
				}
			}
			if len(files.twice) > 0 {
				t.Errorf("files closed twice: %v", files.twice)
			}
			if failed < ops/2 {
				t.Errorf("only %d faults in %d operations made the read fail", failed, ops)
			}
			t.Logf("%d operations, %d rows", ops, want)
		})
	}
}
