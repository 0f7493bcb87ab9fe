package dialect

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/storage/schema"
)

// classify names what becomes of a statement.
func classify(p *Parser, text string) (string, error) {
	parsed, err := p.ParseStatement(text, Mode{})
	var e *Error
	switch {
	case errors.Is(err, sqlparser.ErrEmpty):
		return "empty", nil
	case errors.As(err, &e) && e.Unsupported():
		return "unsupported", err
	case errors.As(err, &e):
		return "syntax", err
	case err != nil:
		return "other", err
	}
	if _, ok := AsStatement(parsed.Statement); ok {
		return "own", nil
	}
	return "ok", nil
}

// TestStatements runs statements of clients, of scripts over Paimon tables and
// of manuals. Each line has the class it must fall in.
func TestStatements(t *testing.T) {
	f, err := os.Open("testdata/statements.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := NewParser(Options{})
	n := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		class, text, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			t.Fatalf("line %q", lines.Text())
		}
		n++
		if got, err := classify(p, trimStatement(text, Mode{})); got != class {
			t.Errorf("%s: %s, want %s (%v)", text, got, class, err)
		}
	}
	if err := lines.Err(); err != nil || n < 1000 {
		t.Fatalf("%d statements, %v", n, err)
	}
}

// markers are what must never be left in a statement.
var markers = []string{markerAsOf, markerAssign, markerCastBoolean, markerRollup, markerAny, markerAll, markerConcat,
	markerBitNot, markerMember, markerSounds}

func FuzzParse(f *testing.F) {
	seeds, err := os.ReadFile("testdata/statements.txt")
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range strings.Split(string(seeds), "\n") {
		if _, text, ok := strings.Cut(line, "\t"); ok && i%8 == 0 {
			f.Add(text, i%4 == 0, i%5 == 0)
		}
	}
	definitions, err := os.ReadFile("testdata/definitions.txt")
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range strings.Split(string(definitions), "\n") {
		if i%2 == 0 && line != "" {
			f.Add(line, i%8 == 0, i%6 == 0)
		}
	}
	p := NewParser(Options{})
	f.Fuzz(func(t *testing.T, text string, ansi, noBackslash bool) {
		mode := Mode{AnsiQuotes: ansi, NoBackslashEscapes: noBackslash, PipesAsConcat: ansi, OnlyFullGroupBy: noBackslash}
		parsed, err := p.ParseStatement(text, mode)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) && !errors.Is(err, sqlparser.ErrEmpty) {
				t.Fatalf("%q: error of type %T: %v", text, err, err)
			}
			return
		}
		if parsed.Statement == nil {
			t.Fatalf("%q: no statement and no error", text)
		}
		if st, ok := AsStatement(parsed.Statement); ok {
			checkDefinition(t, text, st)
		}
		if strings.Contains(strings.ToLower(text), "tributary_") {
			return
		}
		if show, ok := parsed.Statement.(*sqlparser.Show); ok && show.Filter != nil && show.Filter.Like == "" && show.Filter.Filter == nil {
			return // LIKE '', which vitess cannot print
		}
		printed := sqlparser.String(parsed.Statement)
		for _, m := range markers {
			if strings.Contains(printed, m+"(") {
				t.Fatalf("%q: %s is left in %s", text, m, printed)
			}
		}
	})
}

// checkDefinition looks whether a statement that defines data is whole.
func checkDefinition(t *testing.T, text string, st Statement) {
	switch s := st.(type) {
	case CreateTable:
		for _, f := range s.Definition.Fields {
			if f.Name == "" && !strings.Contains(text, "``") && !strings.Contains(text, `""`) || f.Type == nil {
				t.Fatalf("%q: column %+v", text, f)
			}
			again, err := ParseType(f.Type.Kindless())
			if err != nil || f.Type.Root != schema.Blob && again.Kindless() != f.Type.Kindless() {
				t.Fatalf("%q: type %s is read back as %s (%v)", text, f.Type, again, err)
			}
		}
	case AlterTable:
		for _, a := range s.Actions {
			showAction(a)
		}
	}
}
