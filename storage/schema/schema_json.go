package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tributarydb/tributary/storage/errs"
)

// CurrentVersion is the newest version of schema files that is read, and the
// one that is written.
const CurrentVersion = 3

// MaxFields bounds the number of fields of a table, nested ones included.
const MaxFields = 100_000

// object is a JSON object with its keys in file order.
type object struct {
	keys []string
	vals map[string]any
}

// decodeJSON reads one JSON document. Numbers stay json.Number, objects keep
// their key order; of a repeated key the last value counts.
func decodeJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := decodeValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is text after the end of the JSON document")
	}
	return v, nil
}

func decodeValue(dec *json.Decoder, depth int) (any, error) {
	if depth > 4*MaxTypeDepth {
		return nil, fmt.Errorf("JSON nested deeper than %d levels", 4*MaxTypeDepth)
	}
	tok, err := dec.Token()
	if err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	d, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if d == '[' {
		out := []any{}
		for dec.More() {
			v, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err := dec.Token()
		return out, eofErr(err)
	}
	out := &object{vals: map[string]any{}}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, eofErr(err)
		}
		key, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("an object key is not a text")
		}
		v, err := decodeValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if _, dup := out.vals[key]; !dup {
			out.keys = append(out.keys, key)
		}
		out.vals[key] = v
	}
	_, err = dec.Token()
	return out, eofErr(err)
}

func eofErr(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ParseTable parses the content of a schema file; name is the file's path,
// for messages. The defaults of old versions are applied (section 2 of the
// format). A damaged file is errs.Corrupt, an unknown version errs.Unsupported.
func ParseTable(name string, data []byte) (*TableSchema, error) {
	s, err := parseTable(data)
	if err != nil {
		if errs.ClassOf(err) == errs.Unsupported {
			return nil, errs.Unsupportedf("schema file %s: %w", name, err)
		}
		return nil, errs.Corruptf("schema file %s is damaged: %w", name, err)
	}
	return s, nil
}

func parseTable(data []byte) (*TableSchema, error) {
	v, err := decodeJSON(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("it is not a JSON object")
	}
	s := &TableSchema{Options: map[string]string{}}
	version, err := o.int("version", 1)
	if err != nil {
		return nil, err
	}
	if version < 1 || version > CurrentVersion {
		return nil, errs.Unsupportedf("its version is %d, known are 1 to %d", version, CurrentVersion)
	}
	s.Version = int(version)
	if s.ID, err = o.int("id", -1); err != nil {
		return nil, err
	}
	if s.ID < 0 {
		return nil, fmt.Errorf("'id' is missing or negative")
	}
	list, ok := o.vals["fields"].([]any)
	if !ok {
		return nil, fmt.Errorf("'fields' is missing or not an array")
	}
	budget := MaxFields
	if s.Fields, err = parseFields(list, 0, &budget); err != nil {
		return nil, err
	}
	highest, err := o.int("highestFieldId", int64(HighestID(s.Fields)))
	if err != nil {
		return nil, err
	}
	s.HighestFieldID = int(highest)
	if s.PartitionKeys, err = o.strings("partitionKeys"); err != nil {
		return nil, err
	}
	if s.PrimaryKeys, err = o.strings("primaryKeys"); err != nil {
		return nil, err
	}
	if err := s.parseOptions(o.vals["options"]); err != nil {
		return nil, err
	}
	if s.Comment, err = o.text("comment"); err != nil {
		return nil, err
	}
	s.HasComment = o.vals["comment"] != nil
	if s.TimeMillis, err = o.int("timeMillis", 0); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, f := range s.Fields {
		if seen[f.Name] {
			return nil, fmt.Errorf("column '%s' is there twice", f.Name)
		}
		seen[f.Name] = true
	}
	for _, keys := range [][]string{s.PartitionKeys, s.PrimaryKeys} {
		for _, k := range keys {
			if !seen[k] {
				return nil, fmt.Errorf("key column '%s' is not a column", k)
			}
		}
	}
	if s.Version <= 1 {
		s.addOption("bucket", "1")
	}
	if s.Version <= 2 {
		s.addOption("file.format", "orc")
	}
	return s, nil
}

// parseOptions reads the options object; values that are not texts (which
// Java accepts) become their JSON text, null values are left out.
func (s *TableSchema) parseOptions(v any) error {
	if v == nil {
		return nil
	}
	o, ok := v.(*object)
	if !ok {
		return fmt.Errorf("'options' is not an object")
	}
	for _, k := range o.keys {
		switch x := o.vals[k].(type) {
		case nil:
		case string:
			s.addOption(k, x)
		case json.Number:
			s.addOption(k, x.String())
		case bool:
			s.addOption(k, strconv.FormatBool(x))
		default:
			return fmt.Errorf("option '%s' is not a text", k)
		}
	}
	return nil
}

// addOption adds an option that is not there yet.
func (s *TableSchema) addOption(k, v string) {
	if _, ok := s.Options[k]; !ok {
		s.Options[k] = v
		s.OptionKeys = append(s.OptionKeys, k)
	}
}

// int reads an integer member; def where it is missing or null.
func (o *object) int(key string, def int64) (int64, error) {
	switch x := o.vals[key].(type) {
	case nil:
		return def, nil
	case json.Number:
		n, err := strconv.ParseInt(x.String(), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("'%s' is not an integer: %s", key, x)
		}
		return n, nil
	}
	return 0, fmt.Errorf("'%s' is not a number", key)
}

// text reads a text member; "" where it is missing or null.
func (o *object) text(key string) (string, error) {
	switch x := o.vals[key].(type) {
	case nil:
		return "", nil
	case string:
		return x, nil
	}
	return "", fmt.Errorf("'%s' is not a text", key)
}

// strings reads an array of texts; empty where it is missing or null.
func (o *object) strings(key string) ([]string, error) {
	v := o.vals[key]
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("'%s' is not an array", key)
	}
	out := make([]string, len(list))
	for i, x := range list {
		if out[i], ok = x.(string); !ok {
			return nil, fmt.Errorf("'%s' holds something that is not a text", key)
		}
	}
	return out, nil
}

func parseFields(list []any, depth int, budget *int) ([]Field, error) {
	out := make([]Field, 0, len(list))
	for i, x := range list {
		if *budget--; *budget < 0 {
			return nil, fmt.Errorf("there are more than %d fields", MaxFields)
		}
		o, ok := x.(*object)
		if !ok {
			return nil, fmt.Errorf("field %d is not an object", i)
		}
		var f Field
		id, err := o.int("id", -1)
		if err != nil || id < 0 || id > MaxLength {
			return nil, fmt.Errorf("field %d has no valid 'id'", i)
		}
		f.ID = int(id)
		if f.Name, ok = o.vals["name"].(string); !ok {
			return nil, fmt.Errorf("field %d has no 'name'", i)
		}
		if f.Type, err = parseTypeJSON(o.vals["type"], depth, budget); err != nil {
			return nil, fmt.Errorf("field '%s': %w", f.Name, err)
		}
		if f.Description, err = o.text("description"); err != nil {
			return nil, fmt.Errorf("field '%s': %w", f.Name, err)
		}
		switch d := o.vals["defaultValue"].(type) {
		case nil:
		case string:
			f.Default = &d
		default:
			return nil, fmt.Errorf("field '%s': 'defaultValue' is not a text", f.Name)
		}
		out = append(out, f)
	}
	return out, nil
}

// parseTypeJSON parses a type's JSON: a text, or an object of a constructed type.
func parseTypeJSON(v any, depth int, budget *int) (*Type, error) {
	if depth > MaxTypeDepth {
		return nil, fmt.Errorf("the type is nested deeper than %d levels", MaxTypeDepth)
	}
	if s, ok := v.(string); ok {
		p := &typeParser{src: s}
		t, err := p.parse(depth)
		if err == nil {
			if p.space(); p.pos < len(s) {
				err = fmt.Errorf("unexpected '%s'", s[p.pos:])
			}
		}
		if err != nil {
			return nil, fmt.Errorf("type '%s': %w", s, err)
		}
		return t, nil
	}
	o, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("the type is missing, or neither a text nor an object")
	}
	kind, _ := o.vals["type"].(string)
	// Java looks for the words anywhere in the text.
	upper := strings.ToUpper(kind)
	notNull := strings.Contains(upper, "NOT NULL")
	word, _, _ := strings.Cut(strings.TrimSpace(upper), " ")
	var t *Type
	switch word {
	case "ARRAY", "MULTISET", "VECTOR":
		e, err := parseTypeJSON(o.vals["element"], depth+1, budget)
		if err != nil {
			return nil, err
		}
		switch word {
		case "ARRAY":
			t = &Type{Root: Array, Elem: e}
		case "MULTISET":
			t = &Type{Root: Multiset, Elem: e}
		default:
			n, err := o.int("length", 0)
			if err != nil {
				return nil, err
			}
			if n < 1 || n > MaxLength {
				return nil, fmt.Errorf("VECTOR length %d is not in 1..%d", n, MaxLength)
			}
			if t, err = vectorOf(e, int(n)); err != nil {
				return nil, err
			}
		}
	case "MAP":
		k, err := parseTypeJSON(o.vals["key"], depth+1, budget)
		if err != nil {
			return nil, err
		}
		e, err := parseTypeJSON(o.vals["value"], depth+1, budget)
		if err != nil {
			return nil, err
		}
		t = &Type{Root: Map, Key: k, Elem: e}
	case "ROW":
		list, ok := o.vals["fields"].([]any)
		if !ok {
			return nil, fmt.Errorf("a ROW type has no 'fields'")
		}
		fs, err := parseFields(list, depth+1, budget)
		if err != nil {
			return nil, err
		}
		t = &Type{Root: Row, Fields: fs}
	default:
		return nil, fmt.Errorf("unknown constructed type '%s'", kind)
	}
	t.NotNull = notNull
	return t, nil
}

// ParseFieldsJSON parses a JSON array of fields as schema files hold it.
func ParseFieldsJSON(data []byte) ([]Field, error) {
	v, err := decodeJSON(data)
	if err != nil {
		return nil, errs.Invalidf("fields: %w", err)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errs.Invalidf("fields: not a JSON array")
	}
	budget := MaxFields
	fs, err := parseFields(list, 0, &budget)
	if err != nil {
		return nil, errs.Invalidf("fields: %w", err)
	}
	return fs, nil
}

// FieldsJSON returns the compact JSON text of fields, as `$schemas` shows it.
func FieldsJSON(fields []Field) string {
	var b jsonWriter
	b.fields(fields)
	return string(b.buf)
}

// TypeJSON returns the compact JSON text of a type.
func TypeJSON(t *Type) string {
	var b jsonWriter
	b.typ(t)
	return string(b.buf)
}

// MapJSON returns the compact JSON object of texts, keys in the order given.
func MapJSON(keys []string, vals map[string]string) string {
	var b jsonWriter
	b.mapping(keys, vals)
	return string(b.buf)
}

// ListJSON returns the compact JSON array of texts.
func ListJSON(list []string) string {
	var b jsonWriter
	b.list(list)
	return string(b.buf)
}

// JSON returns the content of s's schema file as Java's writer prints it, member by member and blank by blank.
func (s *TableSchema) JSON() []byte {
	var b jsonWriter
	b.raw(`{"version":`).int(int64(s.Version)).raw(`,"id":`).int(s.ID).raw(`,"fields":`).fields(s.Fields)
	b.raw(`,"highestFieldId":`).int(int64(s.HighestFieldID))
	b.raw(`,"partitionKeys":`).list(s.PartitionKeys)
	b.raw(`,"primaryKeys":`).list(s.PrimaryKeys)
	b.raw(`,"options":`).mapping(s.OptionKeys, s.Options)
	if s.Comment != "" || s.HasComment {
		b.raw(`,"comment":`).str(s.Comment)
	}
	b.raw(`,"timeMillis":`).int(s.TimeMillis).raw(`}`)
	return prettyJSON(b.buf)
}

// prettyJSON indents compact JSON as Jackson does: the members of objects stand on lines of their own, the elements of arrays do not.
func prettyJSON(compact []byte) []byte {
	out := make([]byte, 0, 2*len(compact))
	depth, inText := 0, false
	line := func() {
		out = append(out, '\n')
		for range depth {
			out = append(out, "  "...)
		}
	}
	var open []byte // the brackets that are open
	for i, c := range compact {
		if inText {
			out = append(out, c)
			if c == '"' && !escapedAt(compact, i) {
				inText = false
			}
			continue
		}
		switch c {
		case '"':
			inText = true
			out = append(out, c)
		case '{', '[':
			out = append(out, c)
			open = append(open, c)
			switch next := compact[i+1]; {
			case next == '}' || next == ']':
				out = append(out, ' ')
			case c == '[':
				out = append(out, ' ')
			default:
				depth++
				line()
			}
		case '}', ']':
			empty := compact[i-1] == '{' || compact[i-1] == '['
			open = open[:len(open)-1]
			switch {
			case empty:
			case c == ']':
				out = append(out, ' ')
			default:
				depth--
				line()
			}
			out = append(out, c)
		case ',':
			out = append(out, c)
			if open[len(open)-1] == '[' {
				out = append(out, ' ')
			} else {
				line()
			}
		case ':':
			out = append(out, " : "...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// escapedAt reports whether the character at i stands behind an odd number of backslashes.
func escapedAt(text []byte, i int) bool {
	n := 0
	for i--; i >= 0 && text[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// jsonWriter writes compact JSON as Jackson does: no escaping of < > &.
type jsonWriter struct{ buf []byte }

func (w *jsonWriter) raw(s string) *jsonWriter {
	w.buf = append(w.buf, s...)
	return w
}

func (w *jsonWriter) int(n int64) *jsonWriter {
	w.buf = strconv.AppendInt(w.buf, n, 10)
	return w
}

func (w *jsonWriter) str(s string) *jsonWriter {
	w.buf = append(w.buf, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.buf = append(w.buf, '\\', byte(r))
		case r == '\n':
			w.buf = append(w.buf, `\n`...)
		case r == '\r':
			w.buf = append(w.buf, `\r`...)
		case r == '\t':
			w.buf = append(w.buf, `\t`...)
		case r == '\b':
			w.buf = append(w.buf, `\b`...)
		case r == '\f':
			w.buf = append(w.buf, `\f`...)
		case r < 0x20:
			w.buf = fmt.Appendf(w.buf, `\u%04X`, r)
		default:
			w.buf = utf8.AppendRune(w.buf, r)
		}
	}
	w.buf = append(w.buf, '"')
	return w
}

func (w *jsonWriter) list(list []string) *jsonWriter {
	w.raw("[")
	for i, s := range list {
		if i > 0 {
			w.raw(",")
		}
		w.str(s)
	}
	return w.raw("]")
}

func (w *jsonWriter) mapping(keys []string, vals map[string]string) *jsonWriter {
	w.raw("{")
	for i, k := range keys {
		if i > 0 {
			w.raw(",")
		}
		w.str(k).raw(":").str(vals[k])
	}
	return w.raw("}")
}

func (w *jsonWriter) fields(fields []Field) *jsonWriter {
	w.raw("[")
	for i, f := range fields {
		if i > 0 {
			w.raw(",")
		}
		w.raw(`{"id":`).int(int64(f.ID)).raw(`,"name":`).str(f.Name).raw(`,"type":`)
		w.typ(f.Type)
		if f.Description != "" {
			w.raw(`,"description":`).str(f.Description)
		}
		if f.Default != nil {
			w.raw(`,"defaultValue":`).str(*f.Default)
		}
		w.raw("}")
	}
	return w.raw("]")
}

func (w *jsonWriter) typ(t *Type) {
	null := ""
	if t.NotNull {
		null = " NOT NULL"
	}
	switch t.Root {
	case Array:
		w.raw(`{"type":"ARRAY` + null + `","element":`).typ(t.Elem)
	case Multiset:
		w.raw(`{"type":"MULTISET` + null + `","element":`).typ(t.Elem)
	case VectorType:
		w.raw(`{"type":"VECTOR` + null + `","element":`).typ(t.Elem)
		w.raw(`,"length":`).int(int64(t.Length))
	case Map:
		w.raw(`{"type":"MAP` + null + `","key":`).typ(t.Key)
		w.raw(`,"value":`).typ(t.Elem)
	case Row:
		w.raw(`{"type":"ROW` + null + `","fields":`).fields(t.Fields)
	default:
		w.str(t.String())
		return
	}
	w.raw("}")
}
