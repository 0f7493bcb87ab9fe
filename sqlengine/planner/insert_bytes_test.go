package planner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// writtenText stores a text by one of the two ways: the value or the error, and the warnings.
func writtenText(ctx *sql.Context, typ *schema.Type, strict bool, text string, write func(w *cellWriter, text string) error) string {
	ctx.ClearWarnings()
	m := &misfits{ctx: ctx, strict: strict, row: 7}
	w := newCellWriter("c", typ, time.UTC, m)
	if err := write(w, text); err != nil {
		return err.Error()
	}
	v := w.out.Finish()
	out := fmt.Sprint(v.N, m.bytes, column.ScalarAt(v, 0))
	if v.Sub != nil {
		out += fmt.Sprint(v.Sub)
	}
	for _, n := range ctx.Session.Warnings() {
		out += fmt.Sprintf("|%s %d %s", n.Level, n.Code, n.Message)
	}
	return out
}

// TestTextOf compares the short way of usual texts with the one for all.
func TestTextOf(t *testing.T) {
	var types []*schema.Type
	for _, s := range []string{"TINYINT", "SMALLINT", "INT", "BIGINT", "BOOLEAN", "DECIMAL(5, 2)", "DECIMAL(15, 2)", "DECIMAL(18, 0)", "DECIMAL(38, 20)", "DECIMAL(38, 38)",
		"FLOAT", "DOUBLE", "VARCHAR(5)", "STRING", "CHAR(4)", "DATE", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIME(3)", "BYTES"} {
		typ, err := schema.ParseType(s)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, typ)
	}
	texts := []string{"", "-", ".", "-.", "0", "-0", "-0.0", "0.5", ".5", "5.", "-.5", "+5", "127", "128", "-129", "1e3", "1.005", "999.995", "12345678901234567", "123456789012345678", "1234567890123456789",
		"0.1", "0.30000000000000004", "9007199254740993", "9007199254740991.5", "179.99", "3.14159265358979", "true", "2", "9", "x", "åäö", "abcdef", "\xff", "ab ", "NaN",
		"2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "0000-00-00", "9999-12-31", "2024-13-01", "2024-04-31", "2024-1-1", "2024-01-02 ", "20240102",
		"2024-01-02 03:04:05", "2024-01-02 23:59:59.9999996", "2024-01-02 23:59:59.9995", "2024-01-02 24:00:00", "2024-01-02T03:04:05", "2024-01-02 03:04:05.1", "2024-01-02 03:04:05.", "2024-01-02 03:04:05Z",
		"1969-12-31 23:59:59.999", "0001-01-01 00:00:00", "2024-01-02 03:04:05.123456", "2024-01-02 03:04:60", "2024-01-02 3:4:5"}
	ctx := sql.NewEmptyContext()
	rnd := rand.New(rand.NewSource(11))
	for range 300 {
		n := 1 + rnd.Intn(9)
		var b strings.Builder
		for range n {
			b.WriteByte("0123456789.-+ e:x"[rnd.Intn(17)])
		}
		texts = append(texts, b.String(), fmt.Sprintf("%d.%0*d", rnd.Int63n(1_000_000)-500_000, 1+rnd.Intn(6), rnd.Intn(100)),
			fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d.%d", rnd.Intn(10_000), rnd.Intn(14), rnd.Intn(33), rnd.Intn(25), rnd.Intn(61), rnd.Intn(61), rnd.Intn(10_000_000)),
			time.Unix(rnd.Int63n(200_000_000_000)-60_000_000_000, 0).UTC().Format("2006-01-02"))
	}
	for _, typ := range types {
		for _, strict := range []bool{true, false} {
			for _, text := range texts {
				want := writtenText(ctx, typ, strict, text, func(w *cellWriter, s string) error { return w.text(s) })
				got := writtenText(ctx, typ, strict, text, func(w *cellWriter, s string) error { return w.textOf([]byte(s)) })
				if got != want {
					t.Fatalf("%s, strict %v, %q:\n got %s\nwant %s", typ, strict, text, got, want)
				}
			}
		}
	}
}

// TestPlainLines compares the short way of usual lines with the one for all, on random files in pieces of random sizes.
func TestPlainLines(t *testing.T) {
	rnd := rand.New(rand.NewSource(12))
	formats := []lineFormat{
		{fieldEnd: []byte("\t"), lineEnd: []byte("\n"), enclosed: -1, escape: '\\'},
		{fieldEnd: []byte(","), lineEnd: []byte("\n"), enclosed: '"', escape: '\\'},
		{fieldEnd: []byte(","), lineEnd: []byte("\r\n"), enclosed: '"', escape: -1},
		{fieldEnd: []byte(","), lineEnd: []byte("\n"), enclosed: -1, escape: -1, latin1: true},
		{fieldEnd: []byte(","), lineEnd: []byte("\n"), enclosed: '"', escape: '"'},
		{fieldEnd: []byte(","), lineEnd: []byte(",\n"), enclosed: '"', escape: '\\'},
	}
	pieces := []string{"a", "bc", "12", "\t", ",", ",", "\n", "\r\n", "\"", "\\", "\\N", "N", "NULL", "\"x\"", "\"x,y\"", "\"a\\\"b\"", "\"\"", "\xe4", ",\n"}
	for i := range 1500 {
		f := formats[i%len(formats)]
		var file []byte
		for range rnd.Intn(40) {
			file = append(file, pieces[rnd.Intn(len(pieces))]...)
		}
		read := func(simple bool) string {
			r := newLineReader(&slowReader{rest: file, rnd: rand.New(rand.NewSource(int64(i)))}, f)
			r.simple = r.simple && simple
			var out []string
			for {
				fields, err := r.next()
				if errors.Is(err, io.EOF) {
					return strings.Join(out, "\n")
				}
				if err != nil {
					t.Fatal(err)
				}
				line := ""
				for _, f := range fields {
					line += fmt.Sprintf("|%q", f.text)
					if f.null {
						line += "~"
					}
				}
				out = append(out, line)
			}
		}
		if got, want := read(true), read(false); got != want {
			t.Fatalf("format %d, file %q:\n got %s\nwant %s", i%len(formats), file, got, want)
		}
	}
}

// slowReader gives a few bytes at a time.
type slowReader struct {
	rest []byte
	rnd  *rand.Rand
}

func (s *slowReader) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+s.rnd.Intn(7))], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func BenchmarkLoadData(b *testing.B) {
	var file bytes.Buffer
	const rows = 100_000
	for i := range rows {
		fmt.Fprintf(&file, "%d,%d,%d,%.2f,%d.%02d,2024-01-%02d,2024-01-02 03:04:%02d.%03d,city %d,a note of some length %d,%d\n", i, i%1000, i%100, float64(i)/8, i*7, i%100, i%28+1, i%60, i%1000, i%200, i, i%2)
	}
	s := newInsertSession(b)
	s.file = file.String()
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		s.table("t", "a BIGINT NOT NULL; b INT; c SMALLINT; d DOUBLE; e DECIMAL(15,2); f DATE; g TIMESTAMP(3); h STRING; i STRING; j BOOLEAN")
		if _, err := s.exec("LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ','"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
