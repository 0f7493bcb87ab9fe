package dialect

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/schema"
)

// showField prints a column: name type [=default] [#comment].
func showField(f schema.Field) string {
	out := f.Name + " " + f.Type.String()
	if f.Default != nil {
		out += " =" + *f.Default
	}
	if f.Description != "" {
		out += " #" + f.Description
	}
	return out
}

func showMap(m map[string]*string) string {
	var parts []string
	for k, v := range m {
		if v == nil {
			parts = append(parts, k+" NULL")
		} else {
			parts = append(parts, k+"="+*v)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "/")
}

func showName(n Name) string {
	if n.DB == "" {
		return n.Name
	}
	return n.DB + "." + n.Name
}

func showArgs(args []CallArg) string {
	var out []string
	for _, a := range args {
		text := "NULL"
		if a.Child >= 0 {
			text = fmt.Sprintf("$%d", a.Child)
		} else if a.Text != nil {
			text = *a.Text
		}
		if a.Name != "" {
			text = a.Name + "=>" + text
		}
		out = append(out, text)
	}
	return strings.Join(out, " | ")
}

// showDefinition prints a CREATE TABLE in one line.
func showDefinition(s CreateTable) string {
	d := s.Definition
	var fields []string
	for _, f := range d.Fields {
		fields = append(fields, showField(f))
	}
	out := showName(s.Table) + ": " + strings.Join(fields, ", ")
	if len(d.PrimaryKeys) > 0 {
		out += "; pk " + strings.Join(d.PrimaryKeys, ",")
	}
	if len(d.PartitionKeys) > 0 {
		out += "; by " + strings.Join(d.PartitionKeys, ",")
	}
	for _, k := range d.OptionKeys {
		out += "; " + k + "=" + d.Options[k]
	}
	if d.HasComment {
		out += "; #" + d.Comment
	}
	if s.IfNotExists {
		out += "; if not exists"
	}
	if s.Like != nil {
		out += "; like " + showName(*s.Like)
		if len(s.LikeExcluding) > 0 {
			out += " without " + strings.Join(s.LikeExcluding, ",")
		}
	}
	if s.HasQuery {
		out += "; query"
	}
	if len(s.Ignored) > 0 {
		out += "; ignored " + strings.Join(s.Ignored, ", ")
	}
	return out
}

func showMove(m *schema.Move) string {
	switch {
	case m == nil:
		return ""
	case m.After == "":
		return " first"
	}
	return " after " + m.After
}

func showChange(c schema.Change) string {
	switch c := c.(type) {
	case schema.SetOption:
		return "set " + c.Key + "=" + c.Value
	case schema.ResetOption:
		return "reset " + c.Key
	case schema.SetComment:
		if c.Comment == nil {
			return "no comment"
		}
		return "comment " + *c.Comment
	case schema.RenameColumn:
		return "rename " + strings.Join(c.Path, ".") + " to " + c.To
	case schema.ChangeType:
		return fmt.Sprintf("type %s %s keep %t", strings.Join(c.Path, "."), c.Type, c.KeepNullability)
	case schema.ChangeNullability:
		return fmt.Sprintf("nullable %s %t", strings.Join(c.Path, "."), c.Nullable)
	case schema.ChangeComment:
		return "comment " + strings.Join(c.Path, ".") + " " + c.Comment
	case schema.ChangeDefault:
		if c.Default == nil {
			return "no default " + strings.Join(c.Path, ".")
		}
		return "default " + strings.Join(c.Path, ".") + " " + *c.Default
	case schema.ChangePosition:
		return "move " + c.Move.Column + showMove(&c.Move)
	case schema.DropPrimaryKey:
		return "drop key"
	}
	return fmt.Sprintf("%T", c)
}

func showColumn(d ColumnDefinition) string {
	f := d.Field
	f.Name = strings.Join(d.Path, ".")
	out := showField(f) + showMove(d.Move)
	if d.PrimaryKey {
		out += " key"
	}
	return out
}

func showAction(a Action) string {
	maps := func(specs []map[string]*string) string {
		var out []string
		for _, m := range specs {
			out = append(out, showMap(m))
		}
		return strings.Join(out, " ")
	}
	when := func(b bool, text string) string {
		if b {
			return text
		}
		return ""
	}
	switch a := a.(type) {
	case Change:
		return showChange(a.Change)
	case AddColumns:
		return "add " + showColumn(a.Column) + when(a.IfNotExists, " if")
	case ModifyColumn:
		return "modify " + strings.Join(a.Path, ".") + ": " + showColumn(a.Column)
	case DropColumn:
		return "drop " + strings.Join(a.Path, ".") + when(a.IfExists, " if")
	case AddPrimaryKey:
		return "key " + strings.Join(a.Columns, ",")
	case RenameTo:
		return "rename to " + showName(a.To)
	case AddPartitions:
		return "add partitions " + maps(a.Specs) + when(a.IfNotExists, " if")
	case DropPartitions:
		return "drop partitions " + maps(a.Specs) + when(a.IfExists, " if")
	case TagAction:
		return a.Procedure + "(" + showArgs(a.Args) + ")" + when(a.IfNotExists, " if not") + when(a.IfExists, " if")
	}
	return fmt.Sprintf("%T", a)
}

// show prints a statement that defines data.
func show(st Statement) string {
	switch s := st.(type) {
	case CreateTable:
		return showDefinition(s)
	case AlterTable:
		var out []string
		for _, a := range s.Actions {
			out = append(out, showAction(a))
		}
		text := showName(s.Table) + ": " + strings.Join(out, "; ")
		if len(s.Ignored) > 0 {
			text += "; ignored " + strings.Join(s.Ignored, ", ")
		}
		if s.Keys {
			text += "; keys"
		}
		if s.IfExists {
			text += "; if exists"
		}
		return text
	case Call:
		return showName(s.Procedure) + "(" + showArgs(s.Args) + ")"
	case TruncateTable:
		out := showName(s.Table)
		for _, m := range s.Partitions {
			out += " " + showMap(m)
		}
		return out
	}
	return strings.TrimPrefix(fmt.Sprintf("%T%+v", st, st), "dialect.")
}

// TestDefinitions parses statements that define data, each followed by a line of what it says.
func TestDefinitions(t *testing.T) {
	b, err := os.ReadFile("testdata/definitions.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := NewParser(Options{})
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		want, ok := strings.CutPrefix(lines[i+1], "\t")
		if !ok {
			t.Fatalf("line %d: %q", i+2, lines[i+1])
		}
		parsed, err := p.ParseStatement(lines[i], Mode{})
		if err != nil {
			t.Errorf("%s\n  %v", lines[i], err)
			continue
		}
		st, ok := AsStatement(parsed.Statement)
		if !ok {
			t.Errorf("%s\n  is a %T", lines[i], parsed.Statement)
			continue
		}
		if got := show(st); got != want {
			t.Errorf("%s\n  got  %s\n  want %s", lines[i], got, want)
		}
	}
}

func TestDefinitionErrors(t *testing.T) {
	p := NewParser(Options{})
	for _, c := range []struct {
		text   string
		number int
		part   string
	}{
		{"CREATE TABLE", ErrnoSyntax, "near ''"},
		{"CREATE TABLE t", ErrnoSyntax, "near ''"},
		{"CREATE TABLE t ()", ErrnoNoColumns, "at least 1 column"},
		{"CREATE TABLE t (a)", ErrnoSyntax, "near ')'"},
		{"CREATE TABLE t (a INT,)", ErrnoSyntax, "near ')'"},
		{"CREATE TABLE t (a INT", ErrnoSyntax, "near ''"},
		{"CREATE TABLE t (a INTT)", ErrnoSyntax, "near 'INTT)'"},
		{"CREATE TABLE t (a INT) foo", ErrnoSyntax, "near 'foo'"},
		{"CREATE TABLE t (a INT, A STRING)", ErrnoDuplicateField, "Duplicate column name 'A'"},
		{"CREATE TABLE t (a INT PRIMARY KEY, PRIMARY KEY (a))", ErrnoMultipleKey, "Multiple primary key"},
		{"CREATE TABLE t (a INT AUTO_INCREMENT)", ErrnoNotSupported, "AUTO_INCREMENT"},
		{"CREATE TABLE t (id SERIAL)", ErrnoNotSupported, "AUTO_INCREMENT"},
		{"CREATE TABLE t (a INT, b AS a + 1)", ErrnoNotSupported, "computed column b"},
		{"CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a + 1) STORED)", ErrnoNotSupported, "computed column b"},
		{"CREATE TABLE t (a INT METADATA FROM 'x')", ErrnoNotSupported, "metadata column a"},
		{"CREATE TABLE t (a POINT)", ErrnoNotSupported, "POINT"},
		{"CREATE TABLE t (a INTERVAL)", ErrnoNotSupported, "INTERVAL"},
		{"CREATE TABLE t (a DECIMAL(39, 2))", ErrnoTooBigPrecision, "39"},
		{"CREATE TABLE t (a DECIMAL(3, 4))", ErrnoTooBigPrecision, "M must be >= D"},
		{"CREATE TABLE t (a TIMESTAMP(10))", ErrnoTooBigPrecision, "10"},
		{"CREATE TABLE t (a CHAR(0))", ErrnoTooBigPrecision, "0"},
		{"CREATE TABLE t (a BIT(65))", ErrnoTooBigPrecision, "65"},
		{"CREATE TABLE t (a FLOAT(54))", ErrnoTooBigPrecision, "54"},
		{"CREATE TABLE t (a VARCHAR(99999999999))", ErrnoTooBigPrecision, "too big"},
		{"CREATE TABLE t (a VECTOR<STRING, 3>)", ErrnoTooBigPrecision, "STRING"},
		{"CREATE TABLE t (a TIMESTAMP WITH TIME ZONE)", ErrnoNotSupported, "TIME ZONE"},
		{"CREATE TABLE t (a ARRAY<INT)", ErrnoSyntax, "near ')'"},
		{"CREATE TABLE t (a ARRAY<INT>>)", ErrnoSyntax, "near '>>)'"},
		{"CREATE TABLE t (a ROW<x INT, x INT>)", ErrnoDuplicateField, "'x'"},
		{"CREATE TABLE t (a INT) PARTITION BY HASH (a)", ErrnoNotSupported, "PARTITION BY HASH"},
		{"CREATE TABLE t (a INT) PARTITIONED BY (bucket(4, a))", ErrnoNotSupported, "bucket"},
		{"CREATE TABLE t (a INT) USING parquet", ErrnoNotSupported, "parquet"},
		{"CREATE TABLE t (a INT, WATERMARK FOR x AS x)", ErrnoBadField, "'x'"},
		{"CREATE TABLE t (a INT) WITH ('a')", ErrnoSyntax, "near ')'"},
		{"CREATE TABLE t LIKE", ErrnoSyntax, "near ''"},
		{"CREATE TABLE t AS", ErrnoSyntax, "near ''"},
		{"CREATE TABLE t AS SELECT", ErrnoSyntax, "near ''"},
		{"CREATE TABLE t AS SELECT FROM x", ErrnoSyntax, "near"},
		{"CREATE TEMPORARY TABLE t (a INT)", ErrnoNotSupported, "TEMPORARY"},
		{"CREATE OR REPLACE TABLE t (a INT)", ErrnoNotSupported, "REPLACE"},
		{"REPLACE TABLE t AS SELECT 1", ErrnoNotSupported, "REPLACE TABLE"},
		{"CREATE DATABASE d LOCATION '/x'", ErrnoNotSupported, "LOCATION"},
		{"DROP TABLE", ErrnoSyntax, "near ''"},
		{"DROP TABLE t x", ErrnoSyntax, "near 'x'"},
		{"DROP TABLE \"t\"", ErrnoSyntax, "\"t\""},
		{"ALTER TABLE t FOO", ErrnoSyntax, "near 'FOO'"},
		{"ALTER TABLE t ADD", ErrnoSyntax, "near ''"},
		{"ALTER TABLE t SET ()", ErrnoSyntax, "near ')'"},
		{"ALTER TABLE t ADD PARTITION (PARTITION p0 VALUES LESS THAN (3))", ErrnoNotSupported, "partition"},
		{"ALTER TABLE t DROP PARTITION p0", ErrnoNotSupported, "partition"},
		{"ALTER TABLE t TRUNCATE PARTITION p0", ErrnoNotSupported, "TRUNCATE PARTITION"},
		{"ALTER TABLE t PARTITION BY HASH (a)", ErrnoNotSupported, "PARTITION"},
		{"ALTER TABLE t ADD WATERMARK FOR a AS a", ErrnoNotSupported, "WATERMARK"},
		{"ALTER TABLE t ALTER c SET DEFAULT (UUID())", ErrnoNotSupported, "DEFAULT"},
		{"ALTER TABLE t CREATE TAG", ErrnoSyntax, "near ''"},
		{"TRUNCATE TABLE t PARTITION (dt)", ErrnoSyntax, "near ')'"},
		{"RENAME TABLE a b", ErrnoSyntax, "near 'b'"},
		{"LOAD DATA LOCAL INFILE 'x' INTO TABLE t PARTITION (p0)", ErrnoNoSuchPartition, "'p0' in table 't'"},
		{"CALL", ErrnoSyntax, "near ''"},
		{"CALL p(", ErrnoSyntax, "near '('"},
		{"CALL p(1,)", ErrnoSyntax, "near ')'"},
		{"CALL p(a =>)", ErrnoSyntax, "near ')'"},
		{"CALL p(1 2)", ErrnoSyntax, "2"},
		{"CALL p() x", ErrnoSyntax, "near 'x'"},
	} {
		_, err := p.ParseStatement(c.text, Mode{})
		if e, ok := err.(*Error); !ok || e.Number != c.number || !strings.Contains(e.Message, c.part) {
			t.Errorf("%s: %v, want %d with %q", c.text, err, c.number, c.part)
		}
	}
}

// TestDeepType gives a type that is nested without an end.
func TestDeepType(t *testing.T) {
	text := "CREATE TABLE t (a " + strings.Repeat("ARRAY<", 1000) + "INT" + strings.Repeat(">", 1000) + ")"
	if _, err := NewParser(Options{}).ParseStatement(text, Mode{}); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Fatal(err)
	}
	text = "CREATE TABLE t (a INT" + strings.Repeat(" ARRAY", 1000) + ")"
	if _, err := NewParser(Options{}).ParseStatement(text, Mode{}); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Fatal(err)
	}
}
