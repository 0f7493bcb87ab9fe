package sqlengine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/schema"
)

// schemaCase is a table definition, changes of it one after the other, and what Apache Paimon 2.0.0 answered to each step.
type schemaCase struct {
	Create struct {
		Fields        json.RawMessage `json:"fields"`
		PartitionKeys []string        `json:"partitionKeys"`
		PrimaryKeys   []string        `json:"primaryKeys"`
		Options       orderedOptions  `json:"options"`
		Comment       *string         `json:"comment"`
	} `json:"create"`
	// Data says that the table has a snapshot.
	Data bool `json:"data"`
	// Alter are lists of changes, each in the JSON of Paimon's SchemaChange.
	Alter [][]json.RawMessage `json:"alter"`
	// Answers has one for the definition and one for each list of changes.
	Answers []struct {
		// Schema is the schema file without blanks, "" where it was not kept.
		Schema string `json:"schema"`
		Error  string `json:"error"`
		// Ours is the answer here where it is another one on purpose: "ok", or the text of an error.
		Ours string `json:"ours"`
	} `json:"answers"`
}

// orderedOptions are options in the order of their JSON.
type orderedOptions struct {
	keys   []string
	values map[string]string
}

func (o *orderedOptions) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &o.values); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		if key, ok := token.(string); ok && i%2 == 1 {
			o.keys = append(o.keys, key)
		}
	}
}

// TestSchemasAsPaimon replays definitions and changes of schemas and compares errors and schema files with Paimon's.
func TestSchemasAsPaimon(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/schemas/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, f := range files {
		replaySchemas(t, f)
	}
}

func replaySchemas(t *testing.T, name string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	n := 0
	for lines.Scan() {
		n++
		var c schemaCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s:%d: %v", name, n, err)
		}
		fail := func(format string, args ...any) {
			t.Helper()
			t.Errorf("%s:%d %s\n  "+format, append([]any{name, n, lines.Text()}, args...)...)
		}
		replaySchema(c, fail)
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Fatalf("%s: %d cases, %v", name, n, err)
	}
}

func replaySchema(c schemaCase, fail func(string, ...any)) {
	checks := schemaChecks()
	ctx := schema.Context{HasSnapshot: c.Data, Castable: checks.Castable, Engine: checks.Engine, Clock: func() time.Time { return time.UnixMilli(0) }, Name: "default.t"}
	fields, err := schema.ParseFieldsJSON(c.Create.Fields)
	if err != nil {
		fail("%v", err)
		return
	}
	def := schema.Definition{Fields: fields, PartitionKeys: c.Create.PartitionKeys, PrimaryKeys: c.Create.PrimaryKeys, Options: c.Create.Options.values, OptionKeys: c.Create.Options.keys}
	if c.Create.Comment != nil {
		def.Comment, def.HasComment = *c.Create.Comment, true
	}
	s, err := schema.NewTable(def, ctx)
	for i, want := range c.Answers {
		if i > 0 {
			var changes []schema.Change
			for _, raw := range c.Alter[i-1] {
				ch, err := parseChange(raw)
				if err != nil {
					fail("%s: %v", raw, err)
					return
				}
				changes = append(changes, ch)
			}
			var next *schema.TableSchema
			if next, err = s.Apply(changes, ctx); err == nil {
				s = next
			}
		}
		refused := want.Error
		switch {
		case want.Ours == "ok":
			refused = ""
		case want.Ours != "":
			refused = want.Ours
		}
		refused = wantedText(refused)
		switch {
		case err == nil && refused != "":
			fail("step %d: accepted; wanted the error %s", i, refused)
		case err != nil && refused == "":
			fail("step %d: refused: %v", i, err)
		case err != nil && !strings.Contains(err.Error(), refused):
			fail("step %d:\n got the error %v\n        wanted %s", i, err, refused)
		case err == nil && want.Schema != "" && compact(s.JSON()) != compact([]byte(want.Schema)):
			fail("step %d:\n got %s\nwant %s", i, s.JSON(), want.Schema)
		}
		if (err != nil) != (want.Error != "") { // what follows is about another table
			return
		}
		if err != nil && i == 0 {
			return
		}
		if err == nil { // as the next statement reads it
			if s, err = schema.ParseTable("schema", s.JSON()); err != nil {
				fail("step %d: reading what was written: %v", i, err)
				return
			}
		}
	}
}

func compact(data []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return err.Error()
	}
	return b.String()
}

var (
	parseError   = regexp.MustCompile(`^Could not parse value '(.*?)' for key '(.*?)'`)
	unknownError = regexp.MustCompile(`^Could not find any factory for identifier '.*?'`)
)

// wantedText is what an error has to contain for one of Paimon's: its first message, where that is not only about Java.
func wantedText(refused string) string {
	refused, _, _ = strings.Cut(refused, " | ")
	if m := parseError.FindStringSubmatch(refused); m != nil {
		return "option '" + m[2] + "' has the value '" + m[1] + "'"
	}
	if m := unknownError.FindString(refused); m != "" {
		return m
	}
	return refused
}

// parseChange reads a change in Paimon's JSON.
func parseChange(raw json.RawMessage) (schema.Change, error) {
	var x struct {
		Action, Key, NewName  string
		Value                 string
		FieldNames            []string
		DataType, NewDataType json.RawMessage
		Comment, NewComment   *string
		NewDefaultValue       *string
		KeepNullability       bool
		NewNullability        bool
		Move                  *struct{ FieldName, ReferenceFieldName, Type string }
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return nil, err
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	typ := func(raw json.RawMessage) (*schema.Type, error) {
		f, err := schema.ParseFieldsJSON([]byte(`[{"id":0,"name":"x","type":` + string(raw) + `}]`))
		if err != nil {
			return nil, err
		}
		return f[0].Type, nil
	}
	var move *schema.Move
	if x.Move != nil {
		move = &schema.Move{Column: x.Move.FieldName, After: x.Move.ReferenceFieldName}
		switch x.Move.Type {
		case "LAST":
			move.Last = true
		case "BEFORE":
			return nil, errBefore
		}
	}
	switch x.Action {
	case "setOption":
		return schema.SetOption{Key: x.Key, Value: x.Value}, nil
	case "removeOption":
		return schema.ResetOption{Key: x.Key}, nil
	case "updateComment":
		return schema.SetComment{Comment: x.Comment}, nil
	case "addColumn":
		t, err := typ(x.DataType)
		return schema.AddColumn{Path: x.FieldNames, Type: t, Comment: text(x.Comment), Move: move}, err
	case "renameColumn":
		return schema.RenameColumn{Path: x.FieldNames, To: x.NewName}, nil
	case "dropColumn":
		return schema.DropColumn{Path: x.FieldNames}, nil
	case "updateColumnType":
		t, err := typ(x.NewDataType)
		return schema.ChangeType{Path: x.FieldNames, Type: t, KeepNullability: x.KeepNullability}, err
	case "updateColumnNullability":
		return schema.ChangeNullability{Path: x.FieldNames, Nullable: x.NewNullability}, nil
	case "updateColumnComment":
		return schema.ChangeComment{Path: x.FieldNames, Comment: text(x.NewComment)}, nil
	case "updateColumnDefaultValue":
		return schema.ChangeDefault{Path: x.FieldNames, Default: x.NewDefaultValue}, nil
	case "updateColumnPosition":
		return schema.ChangePosition{Move: *move}, nil
	case "dropPrimaryKey":
		return schema.DropPrimaryKey{}, nil
	}
	return nil, errors.New("unknown action " + x.Action)
}

var errBefore = errors.New("there is no position before another column here")
