package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// Directives are comments of new columns that give them Paimon's own types (ColumnDirectiveUtils): `__BLOB_FIELD; comment` makes a
// BLOB of BYTES, `__VECTOR_FIELD;128; comment` a VECTOR of an ARRAY. They are taken out of the comment, and the column is added to an option.
const vectorDirective = "__VECTOR_FIELD"

var blobDirectives = []struct{ marker, option string }{
	{"__BLOB_VIEW_FIELD", "blob-view-field"}, {"__BLOB_DESCRIPTOR_FIELD", "blob-descriptor-field"}, {"__BLOB_FIELD", "blob-field"},
}

// applyDirective turns a column whose comment is a directive into what it asks for, and adds it to the option.
func (s *TableSchema) applyDirective(f *Field) error {
	text := strings.TrimSpace(f.Description)
	switch {
	case strings.HasPrefix(text, "__VECTOR"):
		return s.vectorDirective(f, text)
	case strings.HasPrefix(text, "__BLOB"):
		return s.blobDirective(f, text)
	}
	return nil
}

// cutMarker takes a marker from a directive; ok is false where it is another one.
func cutMarker(text, marker string) (rest string, ok bool) {
	if text == marker {
		return "", true
	}
	return strings.CutPrefix(text, marker+";")
}

func (s *TableSchema) blobDirective(f *Field, text string) error {
	for _, d := range blobDirectives {
		rest, ok := cutMarker(text, d.marker)
		if !ok {
			continue
		}
		t, err := blobOf(f, d.option)
		if err != nil {
			return err
		}
		f.Type, f.Description = t, strings.TrimSpace(rest)
		s.listColumn(d.option, f.Name)
		return nil
	}
	return errs.Invalidf("Unsupported BLOB directive in column comment: '%s'. Supported directives are '__BLOB_FIELD', '__BLOB_DESCRIPTOR_FIELD' and '__BLOB_VIEW_FIELD'.", text)
}

// blobOf is the BLOB type of a column of bytes.
func blobOf(f *Field, option string) (*Type, error) {
	bytes := func(t *Type) bool { return t.Root == Varbinary || t.Root == Binary || t.Root == Blob }
	blob := func(t *Type) *Type { return &Type{Root: Blob, NotNull: t.NotNull} }
	t := f.Type
	if (t.Root == Array || t.Root == Map) && option != "blob-field" {
		what := "ARRAY<BLOB>"
		if t.Root == Map {
			what = "MAP<X, BLOB>"
		}
		return nil, errs.Invalidf("Column %s declared with '%s' must be of BYTES, BINARY or BLOB type, but was %s. %s is only supported by 'blob-field'.", f.Name, option, t, what)
	}
	switch {
	case t.Root == Array && bytes(t.Elem):
		return &Type{Root: Array, NotNull: t.NotNull, Elem: blob(t.Elem)}, nil
	case t.Root == Array:
		return nil, errs.Invalidf("Column %s declared with a BLOB directive must be of BYTES, BINARY, BLOB, ARRAY<BYTES>, ARRAY<BINARY> or ARRAY<BLOB> type, but was %s.", f.Name, t)
	case t.Root == Map && bytes(t.Elem):
		return &Type{Root: Map, NotNull: t.NotNull, Key: t.Key, Elem: blob(t.Elem)}, nil
	case t.Root == Map:
		return nil, errs.Invalidf("Column %s declared with a BLOB directive must have a BINARY, VARBINARY or BLOB map value type, but was %s.", f.Name, t)
	case bytes(t):
		return blob(t), nil
	}
	return nil, errs.Invalidf("Column %s declared with a BLOB directive must be of BYTES, BINARY, BLOB, ARRAY<BYTES>, ARRAY<BINARY> or ARRAY<BLOB> type, or a "+
		"supported MAP<X, BYTES/BINARY/BLOB> type, but was %s.", f.Name, t)
}

func (s *TableSchema) vectorDirective(f *Field, text string) error {
	rest, ok := cutMarker(text, vectorDirective)
	if !ok {
		return errs.Invalidf("Unsupported VECTOR directive in column comment: '%s'. Supported directive is '%s'.", text, vectorDirective)
	}
	if text == vectorDirective {
		return errs.Invalidf("VECTOR directive '%s' requires a dimension, e.g. '%s;128' or '%s;128; my comment'.", text, vectorDirective, vectorDirective)
	}
	size, comment, _ := strings.Cut(rest, ";")
	size = strings.TrimSpace(size)
	n, err := strconv.ParseInt(size, 10, 32)
	switch {
	case err != nil:
		return errs.Invalidf("Expected an integer dimension after '%s;', but got: '%s'.", vectorDirective, size)
	case n < 1:
		return errs.Invalidf("Vector dimension must be >= 1, but got: %d.", n)
	case f.Type.Root != Array:
		return errs.Invalidf("Column %s declared with a VECTOR directive must be of ARRAY type, but was %s.", f.Name, f.Type)
	case !isVectorElement(f.Type.Elem.Root):
		return errs.Invalidf("Invalid element type for vector: %s", f.Type.Elem)
	}
	f.Type = &Type{Root: VectorType, NotNull: f.Type.NotNull, Elem: f.Type.Elem, Length: int(n)}
	f.Description = strings.TrimSpace(comment)
	s.listColumn("vector-field", f.Name)
	return nil
}

// listColumn adds a column to an option that lists columns.
func (s *TableSchema) listColumn(option, column string) {
	if have := s.Options[option]; have != "" {
		column = have + "," + column
	}
	s.putOption(option, column)
}

// unlistColumn takes a dropped column out of the options of its type.
func (s *TableSchema) unlistColumn(f Field) {
	var keys []string
	switch {
	case IsBlobField(f.Type):
		for _, d := range blobDirectives {
			keys = append(keys, d.option)
		}
	case f.Type.Root == VectorType:
		keys = []string{"vector-field"}
		s.removeOption("field." + f.Name + ".vector-dim")
	case f.Type.Root == Map:
		for _, o := range []string{".map.storage-layout", ".map.shared-shredding.max-columns", ".map.shared-shredding.column-placement-policy"} {
			s.removeOption("fields." + f.Name + o)
		}
	}
	for _, k := range keys {
		if s.Options[k] == "" {
			continue
		}
		rest := slices.DeleteFunc(setOf(s.Options[k]), func(n string) bool { return n == f.Name })
		if len(rest) == 0 {
			s.removeOption(k)
		} else {
			s.putOption(k, strings.Join(rest, ","))
		}
	}
}
