package schema

import (
	"maps"
	"slices"
	"strings"
)

// indexedColumn is a column, or the values of one key of a MAP column, with the kinds of its file indexes.
type indexedColumn struct {
	column, key string
	nested      bool
}

// indexColumn reads `column` or `column[key]`.
func indexColumn(text string) indexedColumn {
	if at := strings.IndexByte(text, '['); at >= 0 && strings.HasSuffix(text, "]") {
		return indexedColumn{column: text[:at], key: text[at+1 : len(text)-1], nested: true}
	}
	return indexedColumn{column: text}
}

const fileIndexPrefix, fileIndexColumns = "file-index.", ".columns"

// fileIndexes checks the options of file indexes (FileIndexOptions, validateFileIndex).
func (v *validator) fileIndexes() {
	kinds := map[indexedColumn][]string{}
	var columns []indexedColumn
	var parameters []string
	for _, k := range slices.Sorted(maps.Keys(v.s.Options)) {
		rest, ok := strings.CutPrefix(k, fileIndexPrefix)
		if !ok {
			continue
		}
		kind, ok := strings.CutSuffix(rest, fileIndexColumns)
		if !ok {
			parameters = append(parameters, k)
			continue
		}
		for _, name := range trimmedList(v.s.Options[k]) {
			v.must(name != "", "Wrong option in %s, should not have empty column", k)
			c := indexColumn(name)
			if kinds[c] == nil {
				columns = append(columns, c)
			}
			kinds[c] = append(kinds[c], kind)
		}
	}
	for _, k := range parameters {
		v.indexParameter(k, kinds)
	}
	for _, c := range columns {
		v.indexedColumn(c, kinds[c])
	}
}

// indexParameter checks an option file-index.<kind>.<column>.<parameter>.
func (v *validator) indexParameter(k string, kinds map[indexedColumn][]string) {
	parts := strings.Split(strings.TrimPrefix(k, fileIndexPrefix), ".")
	if len(parts) != 3 {
		return
	}
	kind, name := parts[0], parts[1]
	for c, have := range kinds {
		if slices.Contains(have, kind) && (c == indexColumn(name) || c.nested && c.column == name) {
			return
		}
	}
	v.fail("Wrong file index option '%s': column '%s' is not declared in 'file-index.%s.columns'. Please add 'file-index.%s.columns' = '%s' before setting column options. "+
		"For map nested index, declare it like '<map-column>[<map-key>]'.", k, name, kind, kind, name)
}

func (v *validator) indexedColumn(c indexedColumn, kinds []string) {
	i := v.s.Index(c.column)
	if i < 0 {
		v.fail("Column '%s' specified in 'file-index.<index-type>.columns' does not exist in table schema. Existing columns: %s. (option 'file-index.%s.columns')",
			c.column, columnList(Names(v.s.Fields)), strings.Join(kinds, "|"))
		return
	}
	t := v.s.Fields[i].Type
	if c.nested {
		const nested = "Column '%s' is configured as nested column in 'file-index.<index-type>.columns'"
		v.must(t.Root == Map, nested+" but is not a map type. Only map type supports nested column.", c.column)
		if v.err != nil {
			return
		}
		v.must(isText(t.Key.Root), nested+", but its map key type is %s. Only CHAR/VARCHAR/STRING is supported.", c.column, t.Key)
		v.must(!v.sharedLayout(c.column), "Column '%s' is configured with map.storage-layout=shared-shredding, which does not support nested file index.", c.column)
		t = t.Elem
	}
	for _, kind := range kinds {
		why, known := indexable(kind, t)
		switch {
		case !known:
			v.fail("Can't find file index for type: %s", kind)
		case kind == "range-bitmap" && strings.HasPrefix(why, "The "):
			v.fail("%s (column '%s')", why, c.column)
		case why != "":
			v.fail("Column '%s' with type '%s' is not supported by '%s' index. %s", c.column, t, kind, why)
		}
	}
}

// indexable says why values of a type cannot be in a file index of a kind; "" where they can. known is false for kinds that are none.
func indexable(kind string, t *Type) (why string, known bool) {
	r := t.Root
	var word string
	switch {
	case r == Decimal:
		word = "decimal"
	case r == Binary || r == Varbinary:
		word = "type binary"
	case r == Boolean:
		word = "type boolean"
	case r >= Variant:
		word = "type " + strings.ToLower(r.String())
	}
	switch kind {
	case "bloom-filter":
		if word == "" || r == Binary || r == Varbinary {
			return "", true
		}
		return "Does not support " + word, true
	case "bitmap":
		if word == "" || r == Boolean {
			return "", true
		}
		return "Does not support " + word, true
	case "bsi":
		if isInteger(r) || r == Decimal || r == Date || r == Time || isTimestamp(r) {
			return "", true
		}
		return t.String() + " type is not support to build bsi index yet.", true
	case "range-bitmap":
		switch {
		case r == Decimal && t.Precision > MaxCompactPrecision:
			return "The range-bitmap index only supports DECIMAL with a precision in [0, 18].", true
		case isTimestamp(r) && t.Precision > 6:
			return "The range-bitmap index only supports TIMESTAMP with a precision in [0, 6].", true
		case r == Binary || r == Varbinary || r >= Variant:
			return "data type " + t.String() + "is not supported.", true
		}
		return "", true
	}
	return "", false
}

// keyIndexOptions are the options that list the columns with an index of a primary-key table.
var keyIndexOptions = []string{"pk-vector.index.columns", "pk-btree.index.columns", "pk-bitmap.index.columns", "pk-full-text.index.columns"}

// keyIndexes checks the options of the indexes of primary-key tables.
func (v *validator) keyIndexes() {
	lists := map[string][]string{}
	for _, k := range keyIndexOptions {
		if text, ok := v.s.Options[k]; ok {
			lists[k] = trimmedList(text)
		}
		_, twice := repeated(lists[k])
		v.must(!twice, "%s must not contain duplicate columns, but is %s.", k, columnList(lists[k]))
	}
	var all []string
	for _, k := range keyIndexOptions {
		all = append(all, lists[k]...)
	}
	if n, twice := repeated(all); twice {
		v.fail("Column '%s' can own at most one primary-key index.", n)
	}
	v.sortedIndexes(lists)
	v.vectorIndex(lists[keyIndexOptions[0]])
	v.textIndex(lists[keyIndexOptions[3]])
}

// indexTable checks what all indexes of primary-key tables need.
func (v *validator) indexTable(what string) {
	n := option(v, OptBucket)
	v.must(n > 0 || n == PostponeBucket, what+" fixed or postpone bucket mode (bucket > 0 or bucket = -2), but bucket is %d.", n)
}

func (v *validator) sortedIndexes(lists map[string][]string) {
	if len(lists[keyIndexOptions[1]])+len(lists[keyIndexOptions[2]]) == 0 {
		return
	}
	const what = "Primary-key BTree and Bitmap indexes "
	v.must(option(v, OptDeletionVectors), what+"require deletion-vectors.enabled = true.")
	v.must(v.s.HasPrimaryKey(), what+"require a primary-key table.")
	v.indexTable(what + "require")
	v.must(!option(v, OptDVMergeOnRead), what+"require deletion-vectors.merge-on-read = false.")
	v.must(!option(v, OptClusteringOverride), what+"do not support pk-clustering-override.")
	for _, k := range keyIndexOptions[1:3] {
		for _, c := range lists[k] {
			v.must(v.s.Index(c) >= 0, "%s entry '%s' must reference an existing column.", k, c)
		}
	}
	for _, k := range keyIndexOptions[1:3] {
		for _, c := range lists[k] {
			if i := v.s.Index(c); i >= 0 && v.s.Fields[i].Type.Root >= Variant {
				v.fail("%s entry '%s' cannot be of type %s", k, c, v.s.Fields[i].Type)
			}
		}
	}
}

func (v *validator) vectorIndex(columns []string) {
	if len(columns) == 0 || v.err != nil {
		return
	}
	const key, what = "pk-vector.index.columns", "Primary-key vector index "
	v.must(len(columns) == 1, "%s must contain exactly one column in the first release, but is %s.", key, columnList(columns))
	c := columns[0]
	engine := option(v, OptMergeEngine)
	kind, _ := v.s.FieldOption(c, "pk-vector.index.type")
	v.must(c != "", "%s must contain a non-empty column.", key)
	v.must(strings.TrimSpace(kind) != "", "fields.%s.pk-vector.index.type must be configured when a primary-key vector index is defined.", c)
	v.must(v.s.HasPrimaryKey(), what+"requires a primary-key table.")
	dv := option(v, OptDeletionVectors)
	v.must(engine == "first-row" || dv, what+"requires deletion-vectors.enabled = true.")
	v.must(!dv || !option(v, OptDVMergeOnRead), what+"with merge-engine = %s requires deletion-vectors.merge-on-read = false.", engine)
	v.indexTable(what + "requires")
	v.must(!option(v, OptClusteringOverride), what+"does not support pk-clustering-override.")
	i := v.s.Index(c)
	v.must(i >= 0 && v.s.Fields[i].Type.Root == VectorType, "%s entry '%s' must reference a VECTOR column.", key, c)
	if v.err != nil {
		return
	}
	v.must(v.s.Fields[i].Type.Elem.Root == Float, "%s entry '%s' must use FLOAT elements.", key, c)
	metric, ok := v.s.FieldOption(c, "pk-vector.distance.metric")
	metric = strings.ReplaceAll(strings.ToLower(metric), "-", "_")
	v.must(!ok || slices.Contains([]string{"l2", "cosine", "inner_product"}, metric), "fields.%s.pk-vector.distance.metric must be one of l2, cosine, inner_product, but is %s.", c, metric)
}

func (v *validator) textIndex(columns []string) {
	if len(columns) == 0 || v.err != nil {
		return
	}
	const key, what = "pk-full-text.index.columns", "Primary-key full-text index "
	v.must(len(columns) == 1, "%s must contain exactly one column in the first release, but is %s.", key, columnList(columns))
	c := columns[0]
	v.must(c != "", "%s must contain a non-empty column.", key)
	v.must(v.s.HasPrimaryKey(), what+"requires a primary-key table.")
	dv := option(v, OptDeletionVectors)
	v.must(option(v, OptMergeEngine) == "first-row" || dv, what+"requires deletion-vectors.enabled = true.")
	v.must(!dv || !option(v, OptDVMergeOnRead), what+"requires deletion-vectors.merge-on-read = false.")
	v.indexTable(what + "requires")
	v.must(!option(v, OptClusteringOverride), what+"does not support pk-clustering-override.")
	i := v.s.Index(c)
	v.must(i >= 0, "%s entry '%s' must reference an existing column.", key, c)
	v.must(i < 0 || isText(v.s.Fields[i].Type.Root), "%s entry '%s' must reference a CHAR/VARCHAR/STRING column.", key, c)
}

// keyIndexed reports whether a column has an index of a primary-key table: it can neither be renamed nor dropped.
func (s *TableSchema) keyIndexed(column string) bool {
	return slices.ContainsFunc(keyIndexOptions, func(k string) bool {
		text, ok := s.Options[k]
		return ok && slices.Contains(trimmedList(text), column)
	})
}
