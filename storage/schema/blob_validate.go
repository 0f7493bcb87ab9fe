package schema

import (
	"slices"
	"strings"
)

// IsBlobField reports whether a column's values lie in blob files: BLOB, ARRAY<BLOB>, MAP<X, BLOB> (BlobType.isBlobFileField).
func IsBlobField(t *Type) bool {
	switch t.Root {
	case Blob:
		return true
	case Array, Map:
		return t.Elem.Root == Blob
	}
	return false
}

// blobs checks the columns and options of blobs.
func (v *validator) blobs() {
	for _, f := range v.s.Fields {
		if v.sharedLayout(f.Name) {
			continue // has errors of its own
		}
		v.must(IsBlobField(f.Type) && (f.Type.Root != Map || !containsType(f.Type.Key, Blob)) || !containsType(f.Type, Blob), "Field '%s' has unsupported nested BLOB type %s. BLOB is only supported as a "+
			"top-level BLOB, ARRAY<BLOB>, or MAP<X, BLOB> field.", f.Name, f.Type)
	}
	is := func(name string, want func(*Type) bool) bool {
		i := v.s.Index(name)
		return i >= 0 && want(v.s.Fields[i].Type)
	}
	if text, set := v.s.Options["blob-field"]; set {
		for _, n := range trimmedList(text) {
			v.must(is(n, IsBlobField), "Field '%s' in 'blob-field' must be a BLOB, ARRAY<BLOB> or MAP<X, BLOB> field in table schema.", n)
		}
	}
	plain := func(t *Type) bool { return t.Root == Blob }
	descriptors := setOf(v.s.Options["blob-descriptor-field"])
	for _, key := range []string{"blob-descriptor-field", "blob-view-field"} {
		for _, n := range setOf(v.s.Options[key]) {
			v.must(is(n, plain), "Field '%s' in '%s' must be a BLOB field in table schema. ARRAY<BLOB> and MAP<X, BLOB> are only supported by 'blob-field'.", n, key)
			v.must(key == "blob-descriptor-field" || !slices.Contains(descriptors, n), "Field '%s' in '%s' can not also be in 'blob-descriptor-field'.", n, key)
		}
	}
	v.managedBlobs()
}

// managedBlobs checks the blobs of primary-key tables (validatePrimaryKeyBlobConfiguration).
func (v *validator) managedBlobs() {
	if !v.s.HasPrimaryKey() {
		return
	}
	inline := append(setOf(v.s.Options["blob-descriptor-field"]), setOf(v.s.Options["blob-view-field"])...)
	var managed []string
	for _, f := range v.s.Fields {
		if IsBlobField(f.Type) && !slices.Contains(inline, f.Name) {
			managed = append(managed, f.Name)
		}
	}
	if len(managed) == 0 {
		return
	}
	none := func(what string, keys []string) {
		both := slices.DeleteFunc(slices.Clone(managed), func(n string) bool { return !slices.Contains(keys, n) })
		v.must(len(both) == 0, "Managed BLOB fields cannot be %s: %s.", what, columnList(both))
	}
	none("primary keys", v.s.PrimaryKeys)
	none("bucket keys", v.s.BucketKeys())
	none("sequence fields", v.sequenceFields())
	v.must(option(v, OptMergeEngine) == "deduplicate", "Primary-key managed BLOB tables only support the deduplicate merge engine.")
	v.must(option(v, OptChangelogProducer) == "none", "Primary-key managed BLOB tables only support changelog-producer 'none'.")
	_, external := v.s.Options["data-file.external-paths"]
	v.must(!external, "Primary-key managed BLOB tables do not support 'data-file.external-paths'.")
	v.must(!option(v, OptClusteringOverride), "Primary-key managed BLOB tables do not support 'pk-clustering-override'.")
}

// dedicatedColumns checks columns whose values lie in files of their own (validateRowTracking).
func (v *validator) dedicatedColumns(evolution bool) {
	blobs, vectors := []string{}, []string{}
	for _, f := range v.s.Fields {
		if IsBlobField(f.Type) {
			blobs = append(blobs, f.Name)
		}
		if f.Type.Root == VectorType {
			vectors = append(vectors, f.Name)
		}
	}
	partition := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(v.s.PartitionKeys, n) })
	}
	if len(blobs) > 0 {
		v.must(v.s.HasPrimaryKey() || evolution, "Data evolution config must enabled for table with BLOB, ARRAY<BLOB> or MAP<X, BLOB> type column.")
		v.must(len(v.s.Fields) > len(blobs), "Table with BLOB, ARRAY<BLOB> or MAP<X, BLOB> type column must have other normal columns.")
		v.must(!partition(blobs), "The BLOB, ARRAY<BLOB> or MAP<X, BLOB> type column can not be part of partition keys.")
	}
	format := strings.ToLower(v.s.Options["vector.file.format"])
	if format == "" {
		return
	}
	v.must(slices.Contains(fileFormats, format), "Could not find any factory for identifier '%s' of option 'vector.file.format': no file format has this name; there are %s", format, strings.Join(fileFormats, ", "))
	v.must(len(v.s.Fields) > len(vectors), "Table with VECTOR type column must have other normal columns.")
	v.must(!partition(vectors), "The vector-store columns can not be part of partition keys.")
	v.must(evolution, "Data evolution config must enabled for table with vector-store file format.")
	v.holds(format, Select(v.s.Fields, vectors))
}

// vectors checks option vector-field.
func (v *validator) vectors() {
	text := strings.TrimSpace(v.s.Options["vector-field"])
	if text == "" {
		return
	}
	for _, n := range strings.Split(text, ",") {
		if i := v.s.Index(n); i >= 0 {
			v.must(v.s.Fields[i].Type.Root == VectorType, "Field name[%s] is configured as vector-field so the type must be vector, but it is %s", n, v.s.Fields[i].Type)
		} else {
			v.fail("Some of the columns specified as vector-field are unknown.")
		}
	}
}
