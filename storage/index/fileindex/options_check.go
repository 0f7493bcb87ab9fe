package fileindex

import (
	"maps"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Kinds are the kinds of indexes that can be declared.
var Kinds = []string{BloomFilter, Bitmap, BSI, RangeBitmap}

// Check refuses options that declare indexes which cannot be built, as Paimon does when a schema is made
// (SchemaValidation.validateFileIndex): unknown kinds, columns that are not there or of another type, options of
// columns without an index. Errors are errs.Invalid and errs.Unsupported, with Paimon's words.
func Check(s *schema.TableSchema) error {
	specs, err := Specs(s.Options)
	if err != nil {
		return err
	}
	if err := checkDeclared(specs, s.Options); err != nil {
		return err
	}
	for _, x := range specs {
		if err := checkSpec(x, s.Fields); err != nil {
			return err
		}
	}
	return nil
}

// checkDeclared looks for options of columns that no option file-index.<type>.columns names.
func checkDeclared(specs []Spec, options map[string]string) error {
	for _, k := range slices.Sorted(maps.Keys(options)) {
		rest, ok := strings.CutPrefix(k, optionPrefix)
		if !ok || strings.HasSuffix(k, columnsSuffix) {
			continue
		}
		part := strings.Split(rest, ".")
		if len(part) != 3 {
			continue // no option of a column
		}
		if slices.ContainsFunc(specs, func(s Spec) bool {
			return s.Type == part[0] && (s.name() == part[1] || s.Nested && s.Column == part[1])
		}) {
			continue
		}
		list := optionPrefix + part[0] + columnsSuffix
		return errs.Invalidf("Wrong file index option '%s': column '%s' is not declared in '%s'. Please add '%s' = '%s' before setting column options. "+
			"For map nested index, declare it like '<map-column>[<map-key>]'.", k, part[1], list, list, part[1])
	}
	return nil
}

func checkSpec(s Spec, fields []schema.Field) error {
	if !slices.Contains(Kinds, s.Type) {
		return errs.Invalidf("Can't find file index for type: %s. There are these: %s", s.Type, strings.Join(Kinds, ", "))
	}
	at := slices.IndexFunc(fields, func(f schema.Field) bool { return f.Name == s.Column })
	if at < 0 {
		return errs.Invalidf("Column '%s' specified in '%s%s%s' does not exist in table schema. Existing columns: [%s].", s.Column, optionPrefix, s.Type, columnsSuffix, strings.Join(schema.Names(fields), ", "))
	}
	t := fields[at].Type
	if s.Nested {
		switch {
		case t.Root != schema.Map:
			return errs.Invalidf("Column '%s' is configured as nested column in '%s%s%s' but is not a map type. Only map type supports nested column.", s.Column, optionPrefix, s.Type, columnsSuffix)
		case t.Key.Root != schema.Varchar && t.Key.Root != schema.Char:
			return errs.Invalidf("Column '%s' is configured as nested column in '%s%s%s', but its map key type is %s. Only CHAR/VARCHAR/STRING is supported.", s.Column, optionPrefix, s.Type, columnsSuffix, t.Key)
		}
		t = t.Elem
	}
	s.Options = map[string]string{"items": "1"} // only the type counts
	_, err := newIndexBuilder(&s, t, keyOf(t))
	return err
}
