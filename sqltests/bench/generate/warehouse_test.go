package generate_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/parquet-go/parquet-go"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqltests/bench/generate"
	"github.com/tributarydb/tributary/sqltests/embedded"
)

const rows = 30_000

func makeWarehouse(t *testing.T) *generate.Warehouse {
	t.Helper()
	w, err := generate.Make(t.Context(), filepath.Join(t.TempDir(), "w"), rows, 2, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// digest hashes names and contents of all files below dir but Avro's, which
// have random sync markers.
func digest(t *testing.T, dir string) string {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fmt.Fprintln(h, p[len(dir):])
		if filepath.Base(filepath.Dir(p)) == "manifest" {
			return nil
		}
		b, err := os.ReadFile(p)
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestSameEveryTime(t *testing.T) {
	a, b := makeWarehouse(t), makeWarehouse(t)
	if digest(t, a.Dir) != digest(t, b.Dir) {
		t.Error("two runs wrote different files")
	}
	before, err := os.Stat(a.Tables[0].Base[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generate.Make(t.Context(), filepath.Dir(a.Dir), rows, 2, func(string) { t.Error("written again") }); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(a.Tables[0].Base[0]); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Error("a complete warehouse was written again", err)
	}
}

// TestFileShape checks the files against Paimon's layout.
func TestFileShape(t *testing.T) {
	w := makeWarehouse(t)
	for _, table := range w.Tables {
		n := int64(0)
		for _, p := range table.Base {
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			n += f.NumRows()
			if s := f.Schema(); s.Name() != "paimon_schema" {
				t.Error(s.Name())
			}
			names := f.Schema().Columns()
			want := []string{"l_orderkey", "l_partkey", "l_suppkey"}
			if table.Name != generate.Append {
				want = append([]string{"_KEY_l_orderkey", "_KEY_l_linenumber", "_SEQUENCE_NUMBER", "_VALUE_KIND"}, want...)
			}
			for i, c := range want {
				if names[i][0] != c {
					t.Errorf("%s: column %d is %s, want %s", table.Name, i, names[i][0], c)
				}
			}
		}
		if n != rows {
			t.Errorf("%s: %d rows in its base files", table.Name, n)
		}
	}
}

// TestServerAnswers asks the server for what the generator has counted.
func TestServerAnswers(t *testing.T) {
	w := makeWarehouse(t)
	s, err := embedded.Start(t.Context(), sqlengine.Options{Warehouse: w.Dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = s.Target.Network, s.Target.Address, s.Target.User, s.Target.Password, generate.Database
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	seen := map[int64]bool{}
	for _, table := range w.Tables {
		var n int64
		var revenue string
		if err := db.QueryRow("SELECT COUNT(*) FROM " + table.Name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		err := db.QueryRow("SELECT SUM(l_extendedprice * l_discount) FROM " + table.Name + " WHERE l_shipdate >= DATE '1994-01-01'" +
			" AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24").Scan(&revenue)
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat).SetFrac64(table.Expected.Q6, 1e4)
		if got, ok := new(big.Rat).SetString(revenue); n != table.Expected.Rows || n != rows || !ok || got.Cmp(want) != 0 {
			t.Errorf("%s: %d rows and a revenue of %s, want %d and %s", table.Name, n, revenue, table.Expected.Rows, want.FloatString(4))
		}
		if seen[table.Expected.Q6] {
			t.Errorf("%s has the answers of another table: updates are missing", table.Name)
		}
		seen[table.Expected.Q6] = true
	}
}
