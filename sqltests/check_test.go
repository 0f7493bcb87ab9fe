package sqltests

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/sqltests/runner"
)

// TestCheckTable checks damaged tables, whose errors name files of the
// temporary copy and so stand in no script.
func TestCheckTable(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ warehouse, table, text string }{
		{"bug-data-damaged", "parquet_cut", "3c330668-72ab-462e-b69a-625bed8cef0c"},
		{"bug-data-damaged", "parquet_gone", "is missing"},
		{"bug-manifest-damaged", "list_cut", "manifest list"},
	} {
		t.Run(x.table, func(t *testing.T) {
			server := startOver(t, golden.Case{Name: x.warehouse, Archive: filepath.Join(root, x.warehouse, golden.ArchiveName)})
			target := server.Target
			target.Database = "default"
			db, err := runner.Connect(target)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			ctx := context.Background()
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, rows, err := runStep(ctx, conn, "CHECK TABLE "+x.table)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) != 2 || !strings.Contains(rows[0][3], x.text) {
				t.Fatalf("%q", rows)
			}
			rows[0][3] = "…"
			want := fmt.Sprintf("[[default.%[1]s check Error …] [default.%[1]s check error Corrupt]]", x.table)
			if got := fmt.Sprint(rows); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
