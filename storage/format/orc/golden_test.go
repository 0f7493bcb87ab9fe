package orc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	_ "github.com/tributarydb/tributary/storage/format/orc"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// warehouse unpacks a golden warehouse; it returns the folder of its database and the script of answers.
func warehouse(t testing.TB, name string) (dir, script string) {
	t.Helper()
	root, err := golden.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := golden.Unpack(filepath.Join(root, name, golden.ArchiveName), dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, name, golden.ScriptName))
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "default.db"))
	if err == nil && len(found) == 0 {
		found, err = filepath.Glob(filepath.Join(dir, "*", "default.db"))
	}
	if err != nil || len(found) != 1 {
		t.Fatalf("no default.db in %s: %v", name, err)
	}
	return found[0], string(b)
}

// tableFields returns the columns of schema 0 of a table.
func tableFields(t testing.TB, table string) []schema.Field {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(table, "schema", "schema-0"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.ParseTable(filepath.Base(table), b)
	if err != nil {
		t.Fatal(err)
	}
	return s.Fields
}

func orcFiles(t testing.TB, table string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(table, func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".orc") && strings.HasPrefix(d.Name(), "data-") {
			out = append(out, p)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("no ORC files in %s: %v", table, err)
	}
	slices.Sort(out)
	return out
}

// readRows reads files and returns the texts of their rows; the filter, where
// there is one, is applied to the rows that come, and read counts those.
func readRows(t testing.TB, files []string, opts format.ReadOptions) (rows [][]string, read int) {
	t.Helper()
	ctx := context.Background()
	for _, name := range files {
		f, err := format.Open(ctx, fileio.NewLocal(), name, -1, "orc")
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Read(ctx, opts)
		if err != nil {
			t.Fatal(err)
		}
		next := int64(0)
		for {
			b, err := r.Next(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if b.Base < next || b.N <= 0 || b.N > column.MaxRows || len(b.Cols) != len(opts.Columns) {
				t.Fatalf("%s: batch of %d rows and %d columns at %d after %d", name, b.N, len(b.Cols), b.Base, next)
			}
			if opts.Filter == nil && b.Base != next {
				t.Fatalf("%s: a gap before row %d without a filter", name, b.Base)
			}
			next = b.Base + int64(b.N)
			read += b.N
			for i := range b.N {
				if !predicate.Matches(opts.Filter, func(c int) column.Scalar { return column.ScalarAt(b.Cols[c], i) }) {
					continue
				}
				row := make([]string, len(b.Cols))
				for c, v := range b.Cols {
					row[c] = cell(v, opts.Columns[c].Type, i)
				}
				rows = append(rows, row)
			}
		}
		if opts.Filter == nil && next != f.Rows() {
			t.Fatalf("%s: %d of %d rows", name, next, f.Rows())
		}
		r.Close()
		f.Close()
	}
	return rows, read
}

func timeText(micros int64) string {
	sec, us := micros/1_000_000, micros%1_000_000
	if us < 0 {
		sec, us = sec-1, us+1_000_000
	}
	days, rest := sec/86400, sec%86400
	if rest < 0 {
		days, rest = days-1, rest+86400
	}
	s := fmt.Sprintf("%s %02d:%02d:%02d", dateText(days), rest/3600, rest/60%60, rest%60)
	if us != 0 {
		// The answers show microseconds.
		s += strings.TrimRight(fmt.Sprintf(".%06d", us), "0")
	}
	return strings.TrimSuffix(s, ".")
}

// dateText is the proleptic Gregorian date of an epoch day.
func dateText(days int64) string {
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	y, doy := yoe+era*400, doe-(365*yoe+yoe/4-yoe/100)
	mp := (5*doy + 2) / 153
	d, m := doy-(153*mp+2)/5+1, mp+3
	if m > 12 {
		m, y = m-12, y+1
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d)
}

// cell prints a value as the answers of the golden scripts do.
func cell(v *column.Vector, t *schema.Type, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	switch t.Root {
	case schema.Char, schema.Varchar:
		s := string(v.Bytes(i))
		if s == "" {
			return "(empty)"
		}
		return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(s)
	case schema.Array, schema.Map, schema.Multiset, schema.Row:
		return jsonText(v, t, i)
	case schema.Binary, schema.Varbinary:
		if len(v.Bytes(i)) == 0 {
			return "(empty)"
		}
	}
	return plain(v, t, i)
}

func plain(v *column.Vector, t *schema.Type, i int) string {
	switch t.Root {
	case schema.Boolean:
		return strconv.FormatBool(v.Int(i) != 0)
	case schema.Date:
		return dateText(v.Int(i))
	case schema.Time:
		ms := v.Int(i)
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3600000, ms/60000%60, ms/1000%60, ms%1000), "0"), ".")
	case schema.Timestamp, schema.TimestampLTZ:
		return timeText(v.Int(i))
	case schema.Float:
		return strconv.FormatFloat(v.Float(i), 'g', -1, 32)
	case schema.Double:
		return strconv.FormatFloat(v.Float(i), 'g', -1, 64)
	case schema.Decimal:
		return string(column.AppendDecimal(nil, v.Dec128(i), t.Scale))
	case schema.Binary, schema.Varbinary:
		return fmt.Sprintf("%X", v.Bytes(i))
	case schema.Char, schema.Varchar:
		return string(v.Bytes(i))
	}
	return strconv.FormatInt(v.Int(i), 10)
}

func jsonText(v *column.Vector, t *schema.Type, i int) string {
	if v.IsNull(i) {
		return "null"
	}
	kids := schema.ChildTypes(t)
	var b strings.Builder
	switch t.Root {
	case schema.Array:
		b.WriteByte('[')
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			if j > v.Offsets[i] {
				b.WriteByte(',')
			}
			b.WriteString(jsonText(v.Children[0], kids[0], int(j)))
		}
		b.WriteByte(']')
	case schema.Map, schema.Multiset:
		b.WriteByte('{')
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			if j > v.Offsets[i] {
				b.WriteByte(',')
			}
			k, _ := json.Marshal(plain(v.Children[0], kids[0], int(j)))
			fmt.Fprintf(&b, "%s:%s", k, jsonText(v.Children[1], kids[1], int(j)))
		}
		b.WriteByte('}')
	case schema.Row:
		b.WriteByte('{')
		for j, f := range t.Fields {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q:%s", f.Name, jsonText(v.Children[j], f.Type, i))
		}
		b.WriteByte('}')
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt, schema.Float, schema.Double, schema.Decimal:
		return plain(v, t, i)
	default:
		s, _ := json.Marshal(plain(v, t, i))
		return string(s)
	}
	return b.String()
}

// canonical brings a cell of an answer to the form that cell prints.
func canonical(s string, t *schema.Type) string {
	if s == "NULL" {
		return s
	}
	switch t.Root {
	case schema.Float, schema.Double:
		size := 64
		if t.Root == schema.Float {
			size = 32
		}
		if f, err := strconv.ParseFloat(s, size); err == nil {
			return strconv.FormatFloat(f, 'g', -1, size)
		}
	case schema.Array, schema.Map, schema.Multiset, schema.Row:
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		var x any
		if dec.Decode(&x) == nil {
			var b bytes.Buffer
			writeJSON(&b, x)
			return b.String()
		}
	}
	return s
}

func writeJSON(b *bytes.Buffer, x any) {
	switch x := x.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "%q:", k)
			writeJSON(b, x[k])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range x {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, e)
		}
		b.WriteByte(']')
	case json.Number:
		if f, err := x.Float64(); err == nil && strings.ContainsAny(x.String(), "eE.") && len(x.String()) < 16 {
			fmt.Fprintf(b, "%v", f)
			return
		}
		b.WriteString(x.String())
	default:
		s, _ := json.Marshal(x)
		b.Write(s)
	}
}

var simpleQuery = regexp.MustCompile("^SELECT ([a-z0-9_, ]+) FROM ([a-z0-9_]+)(?: WHERE id BETWEEN ([0-9]+) AND ([0-9]+))?(?: ORDER BY [a-z0-9_, ]+)?$")

// answer is a query of a golden script that reads columns of a table, and its rows.
type answer struct {
	sql, table string
	columns    []string
	from, to   int64 // of id; to < 0: all
	rows       []string
}

// answers returns the simple queries of a script.
func answers(t testing.TB, script string) []answer {
	var out []answer
	for _, block := range strings.Split(script, "\n\n") {
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		for len(lines) > 0 && !strings.HasPrefix(lines[0], "query ") {
			lines = lines[1:]
		}
		if len(lines) < 3 || lines[2] != "----" {
			continue
		}
		m := simpleQuery.FindStringSubmatch(lines[1])
		if m == nil {
			continue
		}
		a := answer{sql: lines[1], table: m[2], columns: strings.Split(m[1], ", "), to: -1, rows: lines[3:]}
		if m[3] != "" {
			a.from, _ = strconv.ParseInt(m[3], 10, 64)
			a.to, _ = strconv.ParseInt(m[4], 10, 64)
		}
		out = append(out, a)
	}
	return out
}

// TestGoldenTables reads the ORC files of append tables whole and compares them
// with the answers of Apache Paimon.
func TestGoldenTables(t *testing.T) {
	cases := []struct {
		name   string
		tables string
		least  int // queries that must have been compared
		opts   format.ReadOptions
	}{
		{name: "scalars-orc", tables: "t tf u", least: 6, opts: format.ReadOptions{LegacyTimestampLTZ: true}},
		{name: "nested-orc", tables: "n ms flat", least: 11},
		{name: "orc-old-timestamps", tables: "ot_orc", least: 5, opts: format.ReadOptions{LegacyTimestampLTZ: true}},
		{name: "compression-orc", tables: "orc_none orc_snappy orc_zstd orc_zlib orc_lz4", least: 5},
		{name: "orc-stripes", tables: "bloom all_dict no_dict small_stripes", least: 4},
		{name: "legacy-0.4.0", tables: "app_un ts9_orc typ_orc", least: 5},
		{name: "legacy-0.8.2", tables: "app_un ts9_orc typ_orc", least: 5, opts: format.ReadOptions{LegacyTimestampLTZ: true}},
		{name: "legacy-0.9.0", tables: "ts9_orc typ_orc", least: 5, opts: format.ReadOptions{LegacyTimestampLTZ: true}},
		{name: "legacy-1.0.1", tables: "ts9_orc typ_orc", least: 5, opts: format.ReadOptions{LegacyTimestampLTZ: true}},
		{name: "legacy-1.3.1", tables: "ts9_orc typ_orc", least: 5, opts: format.ReadOptions{LegacyTimestampLTZ: true}},
		{name: "py-append", tables: "typ_orc", least: 5, opts: format.ReadOptions{LegacyTimestampLTZ: true}},
		{name: "file-index-orc", tables: "bitmap several", least: 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir, script := warehouse(t, c.name)
			compared := 0
			for _, a := range answers(t, script) {
				if !slices.Contains(strings.Fields(c.tables), a.table) {
					continue
				}
				table := filepath.Join(dir, a.table)
				fields := schema.Select(tableFields(t, table), a.columns)
				opts := c.opts
				opts.Columns = fields
				if a.to >= 0 {
					opts.Filter = predicate.NewAnd(
						&predicate.Leaf{Op: predicate.Ge, Column: 0, Literals: []column.Scalar{column.IntScalar(column.KindInt32, a.from)}},
						&predicate.Leaf{Op: predicate.Le, Column: 0, Literals: []column.Scalar{column.IntScalar(column.KindInt32, a.to)}})
				}
				rows, _ := readRows(t, orcFiles(t, table), opts)
				var got, want []string
				for _, r := range rows {
					for i := range r {
						r[i] = canonical(r[i], fields[i].Type)
					}
					got = append(got, strings.Join(r, "\t"))
				}
				for _, r := range a.rows {
					cells := strings.Split(r, "\t")
					for i := range cells {
						cells[i] = canonical(cells[i], fields[i].Type)
					}
					want = append(want, strings.Join(cells, "\t"))
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					shown := 0
					for i := 0; i < max(len(got), len(want)) && shown < 8; i++ {
						g, w := "(none)", "(none)"
						if i < len(got) {
							g = got[i]
						}
						if i < len(want) {
							w = want[i]
						}
						if g != w {
							t.Logf("got  %s\nwant %s", g, w)
							shown++
						}
					}
					t.Errorf("%s: %d rows, want %d", a.sql, len(got), len(want))
				}
				compared++
			}
			if compared < c.least {
				t.Errorf("only %d queries compared", compared)
			}
		})
	}
}
