package sqltests

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/embedded"
	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/sqltests/runner"
	"github.com/tributarydb/tributary/storage/schema"
)

// definitionServer serves a copy of a golden warehouse; one session of it, and the folder.
func definitionServer(t *testing.T, name string) (*sql.Conn, string) {
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := golden.Unpack(filepath.Join(root, name, golden.ArchiveName), dir); err != nil {
		t.Fatal(err)
	}
	server, err := embedded.Start(context.Background(), sqlengine.Options{Warehouse: dir, TimeZone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	target := server.Target
	target.Database = "default"
	db, err := runner.Connect(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, dir
}

// ask runs a statement and gives the last column of its rows.
func ask(conn *sql.Conn, statement string) (last []string, err error) {
	rows, err := conn.QueryContext(context.Background(), statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		cells := make([]sql.RawBytes, len(columns))
		into := make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if len(cells) > 0 {
			last = append(last, string(cells[len(cells)-1]))
		}
	}
	return last, rows.Err()
}

// folderHash is a hash over the names and contents of all files below a folder.
func folderHash(t *testing.T, dir string) string {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(h, path)
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		h.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// TestRefusedDefinitions runs the scripts of definitions: a statement that is refused changes nothing on disk, and what SHOW CREATE
// TABLE prints of the tables that are left makes their schema files again.
func TestRefusedDefinitions(t *testing.T) {
	for _, topic := range []string{"ddl", "options"} {
		files, err := filepath.Glob(filepath.Join("scripts", topic, "*.slt"))
		if err != nil || len(files) == 0 {
			t.Fatal(topic, len(files), err)
		}
		for _, f := range files {
			t.Run(filepath.ToSlash(f), func(t *testing.T) {
				t.Parallel()
				script, err := runner.ParseFile(f)
				if err != nil {
					t.Fatal(err)
				}
				conn, dir := definitionServer(t, warehouseOf(t, f))
				for i := range script.Records {
					r := &script.Records[i]
					before := ""
					if r.Kind == runner.StatementError {
						before = folderHash(t, dir)
					}
					_, err := ask(conn, r.SQL)
					switch {
					case r.Kind == runner.StatementError && err == nil:
						t.Errorf("%s: not refused: %s", r.Pos(), r.SQL)
					case r.Kind == runner.StatementError && folderHash(t, dir) != before:
						t.Errorf("%s: refused, but files have changed: %s", r.Pos(), r.SQL)
					}
				}
				printedDefinitions(t, conn, dir)
			})
		}
	}
}

// TestPrintedDefinitions makes tables of golden warehouses anew from what SHOW CREATE TABLE prints of them.
func TestPrintedDefinitions(t *testing.T) {
	for _, name := range []string{"shop", "nested-parquet", "scalars-orc", "odd-names", "partition-types-new", "pk_agg_numbers", "chain_table", "vectors"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, dir := definitionServer(t, name)
			printedDefinitions(t, conn, dir)
		})
	}
}

// comparable is a schema file without its time and without the order of options, which hangs on that of the statement.
func comparable(t *testing.T, path string) (*schema.TableSchema, string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.ParseTable(path, data)
	if err != nil {
		t.Fatal(err)
	}
	s.TimeMillis, s.HasComment = 0, true
	slices.Sort(s.OptionKeys)
	return s, string(s.JSON())
}

func printedDefinitions(t *testing.T, conn *sql.Conn, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.db", "*", "schema", "schema-0"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		table := filepath.Dir(filepath.Dir(f))
		if _, err := os.Stat(filepath.Join(table, "schema", "schema-1")); err == nil {
			continue // changed: its fields have other ids
		}
		s, want := comparable(t, f)
		if s.Options["scan.fallback-snapshot-branch"] != "" || s.Options["scan.fallback-branch"] != "" {
			continue // needs branches
		}
		name, db := filepath.Base(table), strings.TrimSuffix(filepath.Base(filepath.Dir(table)), ".db")
		quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
		printed, err := ask(conn, "SHOW CREATE TABLE `"+db+"`."+quoted)
		if err != nil || len(printed) != 1 {
			t.Errorf("%s.%s: %v", db, name, err)
			continue
		}
		again := strings.Replace(printed[0], "CREATE TABLE "+quoted, "CREATE TABLE `"+db+"`.`made_again`", 1)
		if _, err := ask(conn, again); err != nil {
			t.Errorf("%s\n%v", again, err)
			continue
		}
		if _, got := comparable(t, filepath.Join(filepath.Dir(table), "made_again", "schema", "schema-0")); got != want {
			t.Errorf("%s\nmakes\n%s\nwant\n%s", again, got, want)
		}
		if _, err := ask(conn, "DROP TABLE `"+db+"`.made_again"); err != nil {
			t.Fatal(err)
		}
	}
}
