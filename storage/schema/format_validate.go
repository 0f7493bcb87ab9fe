package schema

import (
	"slices"
	"strings"
)

// fileFormats are the formats of data files that Paimon 2.0.0 and its modules know.
var fileFormats = []string{"avro", "blob", "csv", "json", "lance", "orc", "parquet", "row", "text"}

// Greatest precisions that Avro files can hold.
const (
	maxAvroTime      = 3
	maxAvroTimestamp = 6
)

// formats checks that the file formats exist and can hold the columns (FileFormat.validateDataFields).
func (v *validator) formats() {
	format := strings.ToLower(option(v, OptFileFormat))
	if !slices.Contains(fileFormats, format) {
		v.fail("Could not find any factory for identifier '%s' of option 'file.format': no file format has this name; there are %s", format, strings.Join(fileFormats, ", "))
		return
	}
	fields := v.ordinaryFields()
	v.holds(format, fields)
	levels, _ := optional(v, optFormatPerLevel)
	optional(v, optCompressionPerLevel)
	for _, l := range levels {
		if !strings.EqualFold(l.Value, "avro") {
			continue
		}
		for _, f := range fields {
			v.must(!isTimestamp(f.Type.Root) || f.Type.Precision <= maxAvroTimestamp, "'file.format.per.level' entry '%s:avro' is incompatible with column '%s' of type %s: "+
				"Avro supports timestamp precision up to 6, got %d. Either lower the column precision, drop the per-level mapping for level %s, "+
				"or use a different format (parquet or orc) for that level.", l.Key, f.Name, f.Type, f.Type.Precision, l.Key)
		}
	}
}

// holds checks that a format can hold the columns.
func (v *validator) holds(format string, fields []Field) {
	switch format {
	case "text":
		v.must(len(fields) == 1 && isText(fields[0].Type.Root), "Text format only supports a single string column")
		return
	case "blob":
		v.must(len(fields) == 1, "BlobFileFormat only support one field.")
		return
	}
	for _, f := range fields {
		v.typeHeld(format, f.Type)
	}
}

// typeHeld checks that a format can hold values of a type.
func (v *validator) typeHeld(format string, t *Type) {
	r := t.Root
	switch format {
	case "orc":
		v.must(r != VectorType && r != Variant && r != Blob && r != Geometry && r != Geography, "Unsupported type: %s", t)
	case "avro":
		v.must(r != Time || t.Precision <= maxAvroTime, "Avro does not support TIME type with precision: %d, it only supports precision less than %d.", t.Precision, maxAvroTime)
		v.must(!isTimestamp(r) || t.Precision <= maxAvroTimestamp, "Avro does not support TIMESTAMP type with precision: %d, it only supports precision less than %d.", t.Precision, maxAvroTimestamp)
		v.must(r != Variant, "Unsupported to derive Schema for type: %s", t)
	case "csv":
		v.must(!t.IsNested(), "Unsupported data type for CSV format: %s", t)
	case "json":
		v.must(r != Multiset && r != Variant, "Unsupported data type for JSON format: %s", t)
	}
	if r == Variant {
		return
	}
	for _, c := range ChildTypes(t) {
		v.typeHeld(format, c)
	}
}

// ordinaryFields are the columns that lie in ordinary data files.
func (v *validator) ordinaryFields() []Field {
	inline := append(setOf(v.s.Options["blob-descriptor-field"]), setOf(v.s.Options["blob-view-field"])...)
	vectors := v.s.Options["vector.file.format"] != ""
	var out []Field
	for _, f := range v.s.Fields {
		if IsBlobField(f.Type) && !slices.Contains(inline, f.Name) || vectors && f.Type.Root == VectorType {
			continue
		}
		out = append(out, f)
	}
	return out
}

// setOf splits a list and leaves empty items out.
func setOf(text string) []string {
	return slices.DeleteFunc(trimmedList(text), func(s string) bool { return s == "" })
}

// mapLayouts checks the storage layouts of MAP columns (validateMapStorageLayout).
func (v *validator) mapLayouts() {
	shredded := false
	for _, f := range v.layoutColumns() {
		i := v.s.Index(f)
		if i < 0 {
			v.fail("Column '%s' is configured with map.storage-layout but does not exist in table schema.", f)
			return
		}
		t := v.s.Fields[i].Type
		v.must(t.Root == Map, "Column '%s' is configured with map.storage-layout but its type is not MAP.", f)
		if v.err != nil || !v.sharedLayout(f) {
			continue
		}
		shredded = true
		const layout = "Column '%s' is configured with map.storage-layout=shared-shredding but "
		v.must(t.Key.Root == Varchar, layout+"its type is not MAP<STRING NOT NULL, T>.", f)
		v.must(t.Key.NotNull, layout+"its map key type is nullable.", f)
		v.positive("fields."+f+".map.shared-shredding.max-columns", "options map.shared-shredding.max-columns must > 0")
		if p, ok := v.s.FieldOption(f, "map.shared-shredding.column-placement-policy"); ok {
			v.must(slices.ContainsFunc(placementPolicies, func(x string) bool { return strings.EqualFold(x, p) }),
				"option 'fields.%s.map.shared-shredding.column-placement-policy' has the value '%s': it must be one of: %s", f, p, strings.Join(placementPolicies, ", "))
		}
	}
	if !shredded || v.err != nil {
		return
	}
	v.shreddedFormats()
	for _, f := range v.s.Fields {
		v.must(!containsType(f.Type, Variant), "MAP shared-shredding currently cannot be used with Variant fields.")
		v.must(!containsType(f.Type, Multiset), "MAP shared-shredding currently cannot be used with MULTISET fields.")
	}
	for _, f := range v.s.Fields {
		if v.sharedLayout(f.Name) {
			v.must(!containsType(f.Type.Elem, Blob), "MAP shared-shredding currently cannot contain BLOB fields.")
			v.must(!containsType(f.Type.Elem, VectorType), "MAP shared-shredding currently cannot contain VECTOR fields.")
		}
	}
	v.must(option(v, OptBucket) != PostponeBucket, "MAP shared-shredding currently does not support postpone bucket mode.")
}

var placementPolicies = []string{"plain", "lru"}

// shreddedFormats checks formats and compressions of shared-shredding.
func (v *validator) shreddedFormats() {
	format := func(key, f string) {
		v.must(f == "" || f == "parquet" || f == "orc", "MAP shared-shredding only supports parquet/orc file formats, but %s is %s.", key, f)
	}
	codec := func(key, c string) {
		v.must(c == "" || slices.Contains([]string{"none", "lz4", "zstd"}, strings.ToLower(c)), "MAP shared-shredding only supports none/lz4/zstd compression, but %s is %s.", key, c)
	}
	format("file.format", strings.ToLower(option(v, OptFileFormat)))
	levels, _ := optional(v, optFormatPerLevel)
	for _, l := range levels {
		format("file.format.per.level."+l.Key, strings.ToLower(l.Value))
	}
	format("changelog-file.format", strings.ToLower(v.s.Options["changelog-file.format"]))
	codec("file.compression", option(v, OptFileCompression))
	levels, _ = optional(v, optCompressionPerLevel)
	for _, l := range levels {
		codec("file.compression.per.level."+l.Key, l.Value)
	}
	codec("changelog-file.compression", v.s.Options["changelog-file.compression"])
}

// layoutColumns are the columns with an option map.storage-layout.
func (v *validator) layoutColumns() []string {
	var out []string
	for k := range v.s.Options {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(k, "fields."), ".map.storage-layout"); ok && strings.HasPrefix(k, "fields.") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// sharedLayout reports whether a column has the layout shared-shredding.
func (v *validator) sharedLayout(column string) bool {
	layout, ok := v.s.FieldOption(column, "map.storage-layout")
	v.must(!ok || strings.EqualFold(layout, "default") || strings.EqualFold(layout, "shared-shredding"),
		"option 'fields.%s.map.storage-layout' has the value '%s': it must be one of: default, shared-shredding", column, layout)
	return strings.EqualFold(layout, "shared-shredding")
}

// positive checks an integer option that must be greater than 0 where it is set.
func (v *validator) positive(key, message string) {
	text, ok := v.s.Options[key]
	if !ok {
		return
	}
	n, err := parseInt32(text)
	v.must(err == nil, "option '%s' has the value '%s': it must be an integer of 32 bits", key, text)
	v.must(n > 0, "%s", message)
}

// containsType reports whether a type is, or has inside, one of a root.
func containsType(t *Type, root Root) bool {
	if t.Root == root {
		return true
	}
	if t.Root == Variant {
		return false
	}
	return slices.ContainsFunc(ChildTypes(t), func(c *Type) bool { return containsType(c, root) })
}

// variantShredding checks the options of shredding variants.
func (v *validator) variantShredding() {
	rows, ratio := option(v, optVariantInferRows), option(v, optVariantMinRatio)
	v.must(rows > 0, "variant.shredding.maxInferBufferRow must be positive.")
	v.must(ratio >= 0 && ratio <= 1, "variant.shredding.minFieldCardinalityRatio must be between 0 and 1.")
	if option(v, optVariantMode) != "adaptive" {
		return
	}
	warm, keep := option(v, optVariantAdaptiveRows), option(v, optVariantRetention)
	v.must(warm > 0, "variant.shredding.adaptive.maxInferBufferRow must be positive.")
	v.must(keep >= 0 && keep <= ratio, "variant.shredding.adaptive.retentionRatio must be between 0 and variant.shredding.minFieldCardinalityRatio.")
}
