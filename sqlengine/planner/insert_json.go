package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// maxJSONDepth is MySQL's limit of nested JSON arrays and objects.
const maxJSONDepth = 100

// errDeepJSON is MySQL's ER_JSON_DOCUMENT_TOO_DEEP.
const errDeepJSON = 3157

// jsonText appends the JSON text of an ARRAY, MAP, MULTISET, ROW or VECTOR. What is wrong with it is an error in any mode: such
// values have no nearest one.
func (w *cellWriter) jsonText(s string) error {
	if w.typ.Root == schema.Variant {
		return errs.Unsupportedf("column '%s' has the type VARIANT, whose values cannot be written here", w.name)
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	x, err := decodeOrdered(dec, 0)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("the document root must not be followed by other values")
		}
	}
	if errors.Is(err, errJSONDepth) {
		return errmap.New(errDeepJSON, "22032", "The JSON document exceeds the maximum depth (%d) %s", maxJSONDepth, w.at())
	}
	if err != nil {
		return errmap.New(errInvalidJSON, "22032", "Invalid JSON text: \"%s\" at position %d in value %s; a %s is written as JSON",
			jsonComplaint(err), dec.InputOffset(), w.at(), w.typ.Kindless())
	}
	w.m.bytes += len(s)
	strict := *w.m
	strict.strict = true
	return (&jsonWriter{w: w, m: &strict}).value(w.out, w.typ, x, "$")
}

func jsonComplaint(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "The document is incomplete."
	}
	return err.Error()
}

// member is one member of a JSON object; objects keep their order.
type member struct {
	key   string
	value any
}

var errJSONDepth = errors.New("too deep")

// decodeOrdered reads one value: []member, []any, json.Number, string, bool or nil.
func decodeOrdered(dec *json.Decoder, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, errJSONDepth
	}
	tok, err := dec.Token()
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
			x, err := decodeOrdered(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		_, err := dec.Token()
		return out, err
	}
	out := []member{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, errors.New("missing a name for object member")
		}
		x, err := decodeOrdered(dec, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, member{key, x})
	}
	_, err = dec.Token()
	return out, err
}

// jsonWriter appends one document to a column.
type jsonWriter struct {
	w *cellWriter
	m *misfits
}

func (j *jsonWriter) mismatch(path string, t *schema.Type, x any) error {
	return errmap.New(errInvalidJSON, "22032", "Invalid JSON value %s: %s is %s, where the column has %s", j.w.at(), path, jsonKind(x), t.Kindless())
}

func jsonKind(x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case json.Number:
		return "the number " + shownValue(string(x))
	case string:
		return "the text \"" + shownValue(x) + "\""
	case []any:
		return "an array"
	}
	return "an object"
}

// jsonPath appends a member's name to a path.
func jsonPath(path, key string) string {
	for i, r := range key {
		if r != '_' && r != '$' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9' || i == 0) {
			return path + "." + strconv.Quote(key)
		}
	}
	if key == "" {
		return path + `.""`
	}
	return path + "." + key
}

// value appends x as a value of type t.
func (j *jsonWriter) value(out *column.Builder, t *schema.Type, x any, path string) error {
	if x == nil {
		if t.NotNull {
			return errmap.New(errNotNull, "23000", "Column '%s' cannot be null: %s is null at row %d", j.w.name, path, j.w.m.row)
		}
		out.AppendNull()
		return nil
	}
	switch t.Root {
	case schema.Array, schema.VectorType:
		list, ok := x.([]any)
		if !ok {
			return j.mismatch(path, t, x)
		}
		if t.Root == schema.VectorType && len(list) != t.Length {
			return errmap.New(errInvalidJSON, "22032", "Invalid JSON value %s: %s has %d elements, where the column has %s", j.w.at(), path, len(list), t.Kindless())
		}
		for i, e := range list {
			if err := j.value(out.Child(0), t.Elem, e, path+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
		out.EndList()
		return nil
	case schema.Map, schema.Multiset:
		return j.entries(out, t, x, path)
	case schema.Row:
		return j.row(out, t, x, path)
	}
	return j.scalar(out, t, x, path)
}

// entries appends an object as a MAP, or as a MULTISET of counts; the last of equal keys counts.
func (j *jsonWriter) entries(out *column.Builder, t *schema.Type, x any, path string) error {
	obj, ok := x.([]member)
	if !ok {
		return j.mismatch(path, t, x)
	}
	kids := schema.ChildTypes(t)
	last := map[string]int{}
	for i, m := range obj {
		last[m.key] = i
	}
	for i, m := range obj {
		if last[m.key] != i {
			continue
		}
		at := jsonPath(path, m.key)
		if err := j.key(out.Child(0), kids[0], m.key, at); err != nil {
			return err
		}
		if err := j.value(out.Child(1), kids[1], m.value, at); err != nil {
			return err
		}
	}
	out.EndList()
	return nil
}

// key appends the name of a member as a map key: the text of the value, or its JSON where it is nested.
func (j *jsonWriter) key(out *column.Builder, t *schema.Type, key, path string) error {
	switch {
	case t.IsNested():
		w := *j.w
		w.typ, w.out = t, out
		return w.jsonText(key)
	case t.Root == schema.Boolean:
		b, err := strconv.ParseBool(key)
		if err != nil {
			return j.mismatch(path, t, key)
		}
		out.AppendBool(b)
		return nil
	}
	return j.text(out, t, key, path)
}

// row appends an object as a ROW; fields that it lacks are NULL.
func (j *jsonWriter) row(out *column.Builder, t *schema.Type, x any, path string) error {
	obj, ok := x.([]member)
	if !ok {
		return j.mismatch(path, t, x)
	}
	values := make([]any, len(t.Fields))
	for _, m := range obj {
		i := schema.IndexOf(t.Fields, m.key)
		if i < 0 {
			var names []string
			for _, f := range t.Fields {
				names = append(names, f.Name)
			}
			return errmap.New(errInvalidJSON, "22032", "Invalid JSON value %s: %s has no field '%s'; its fields are: %s", j.w.at(), path, m.key, strings.Join(names, ", "))
		}
		values[i] = m.value
	}
	for i, f := range t.Fields {
		if err := j.value(out.Child(i), f.Type, values[i], jsonPath(path, f.Name)); err != nil {
			return err
		}
	}
	out.EndStruct()
	return nil
}

// scalar appends a value that is no container.
func (j *jsonWriter) scalar(out *column.Builder, t *schema.Type, x any, path string) error {
	_, _, isInt := integerRange(t.Root)
	switch v := x.(type) {
	case bool:
		if t.Root == schema.Boolean {
			out.AppendBool(v)
			return nil
		}
	case json.Number:
		if isInt || t.Root == schema.Decimal || t.Root == schema.Float || t.Root == schema.Double {
			return j.text(out, t, string(v), path)
		}
	case string:
		if !isInt && t.Root != schema.Boolean {
			return j.text(out, t, v, path)
		}
	}
	return j.mismatch(path, t, x)
}

// text appends a text, as the column's own values are read, but more strictly.
func (j *jsonWriter) text(out *column.Builder, t *schema.Type, s, path string) error {
	switch _, _, isInt := integerRange(t.Root); {
	case isInt:
		number, rest := numberPrefix(s)
		if d, _ := parseExact(number); number == "" || rest != "" || !d.IsInteger() {
			return j.mismatch(path, t, s)
		}
	case t.Root == schema.Binary || t.Root == schema.Varbinary || t.Root == schema.Blob:
		b, err := types.Base64(s)
		if err != nil {
			return j.mismatch(path, t, s)
		}
		s = string(b)
	}
	w := cellWriter{name: fmt.Sprintf("%s (%s)", j.w.name, path), typ: t, out: out, zone: j.w.zone, m: j.m}
	return w.text(s)
}
