package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

func TestInsertTarget(t *testing.T) {
	p := NewParser(Options{})
	for _, c := range []struct{ text, table, target, rest string }{
		{"INSERT INTO t VALUES (1)", "t", "{}", "values (1)"},
		{"INSERT t VALUES (1)", "t", "{}", "values (1)"},
		{"INSERT OVERWRITE t SELECT 1", "t", `{"overwrite":true}`, "select 1"},
		{"INSERT OVERWRITE TABLE db.`a b` (x) SELECT 1", "a b", `{"overwrite":true}`, "(x) select 1"},
		{"INSERT INTO TABLE t SELECT 1", "t", "{}", "select 1"},
		{"INSERT overwrite VALUES (1)", "overwrite", "{}", "values (1)"},
		{"REPLACE INTO t PARTITION (dt = 'x') VALUES (1)", "t", `{"partition":{"dt":"x"}}`, "values (1)"},
		{"INSERT OVERWRITE T$branch_b PARTITION (dt='2026-01-01', h = -5, n = NULL, b = TRUE) SELECT 1", "T$branch_b",
			`{"overwrite":true,"partition":{"b":"true","dt":"2026-01-01","h":"-5","n":null}}`, "select 1"},
		{"INSERT OVERWRITE t PARTITION (dt, hh = 3) SELECT 1", "t", `{"overwrite":true,"partition":{"hh":"3"},"dynamic":["dt"]}`, "select 1"},
		{"INSERT INTO t /*+ OPTIONS('a'='1') */ VALUES (1)", "t", `{"options":{"a":"1"}}`, "values (1)"},
		{"INSERT INTO t PARTITION (d = DATE '2026-01-01') /*+ OPTIONS('a'='1', 'b'='2') */ (x) VALUES (1)", "t",
			`{"partition":{"d":"2026-01-01"},"options":{"a":"1","b":"2"}}`, "(x) values (1)"},
	} {
		parsed, err := p.ParseStatement(c.text, Mode{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		ins, ok := parsed.Statement.(*sqlparser.Insert)
		if !ok {
			t.Errorf("%s: %T", c.text, parsed.Statement)
			continue
		}
		table, target, err := DecodeInsertTarget(ins.Table.Name.String())
		b, _ := json.Marshal(target)
		if err != nil || table != c.table || string(b) != c.target {
			t.Errorf("%s: table %q, target %s, %v", c.text, table, b, err)
		}
		if text := strings.ToLower(sqlparser.String(ins)); !strings.HasSuffix(text, c.rest) {
			t.Errorf("%s: printed as %s", c.text, text)
		}
	}
	for text, want := range map[string]int{
		"INSERT OVERWRITE": ErrnoSyntax,
		"INSERT OVERWRITE t PARTITION (dt=) SELECT 1":            ErrnoSyntax,
		"INSERT OVERWRITE t PARTITION () SELECT 1":               ErrnoSyntax,
		"INSERT OVERWRITE t PARTITION (dt='a', DT='b') SELECT 1": ErrnoFieldTwice,
		"INSERT OVERWRITE t PARTITION (dt=?) SELECT 1":           ErrnoNotSupported,
		"INSERT IGNORE OVERWRITE t SELECT 1":                     ErrnoSyntax,
		"REPLACE OVERWRITE t SELECT 1":                           ErrnoSyntax,
	} {
		_, err := p.ParseStatement(text, Mode{})
		if e, ok := err.(*Error); !ok || e.Number != want {
			t.Errorf("%s: %v, want %d", text, err, want)
		}
	}
}

func FuzzDecodeInsertTarget(f *testing.F) {
	f.Add("t")
	f.Add(EncodeInsertTarget("t", InsertTarget{Overwrite: true, Partition: map[string]*string{"a": nil}, Options: map[string]string{"k": "v"}}))
	f.Fuzz(func(t *testing.T, name string) {
		table, target, err := DecodeInsertTarget(name)
		if err != nil {
			return
		}
		again, second, err := DecodeInsertTarget(EncodeInsertTarget(table, target))
		if err != nil || again != table || second.Overwrite != target.Overwrite || len(second.Partition) != len(target.Partition) {
			t.Fatalf("%q: %q %+v, then %q %+v (%v)", name, table, target, again, second, err)
		}
	})
}
