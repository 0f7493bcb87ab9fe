package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// Validate checks a schema and its options as every schema change does (SchemaValidation of 2.0.0, in its order; section 9 of
// the SQL surface). Errors are errs.Invalid with Paimon's words.
func (s *TableSchema) Validate(ctx Context) error {
	v := &validator{s: s, ctx: ctx}
	for _, check := range []func(){
		v.columns, v.keys, v.defaults, v.bucketKeys, v.keyTypes, v.buckets, v.startupMode, v.fieldOptions, v.sequence, v.mergeFunction, v.changelog, v.retention,
		v.blobs, v.formats, v.reserved, v.recordLevel, v.mergeEngine, v.deletionVectors, v.snapshotOrdering, v.vectors, v.keyIndexes, v.aggregators, v.mapLayouts,
		v.variantShredding, v.fileIndexes, v.rowTracking, v.clustering, v.chain, v.sequenceColumn, v.clusteringOverride, v.manifestSort, v.settings, v.branches,
	} {
		if check(); v.err != nil {
			return v.err
		}
	}
	return nil
}

// validator checks a schema; what follows the first error does not count.
type validator struct {
	s   *TableSchema
	ctx Context
	err error
}

func (v *validator) keep(err error) {
	if v.err == nil {
		v.err = err
	}
}

func (v *validator) fail(format string, args ...any) { v.keep(errs.Invalidf(format, args...)) }

// must demands a condition.
func (v *validator) must(ok bool, format string, args ...any) {
	if !ok {
		v.fail(format, args...)
	}
}

// option is the value of an option; a wrong one is the error.
func option[T any](v *validator, o *Option[T]) T {
	x, _, err := strictly(o, v.s.Options)
	v.keep(err)
	return x
}

// optional is option with whether it is set.
func optional[T any](v *validator, o *Option[T]) (T, bool) {
	x, set, err := strictly(o, v.s.Options)
	v.keep(err)
	return x, set
}

// strictly is Lookup without what readers forgive.
func strictly[T any](o *Option[T], options map[string]string) (T, bool, error) {
	x, set, err := o.Lookup(options)
	if err == nil && set {
		for _, k := range append([]string{o.Info.Key}, o.Info.Fallbacks...) {
			if text, ok := options[k]; ok {
				return x, true, checkStrict(&o.Info, k, text)
			}
		}
	}
	return x, set, err
}

// columnList prints names as Java prints a list.
func columnList(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

// repeated returns the first name that is there twice.
func repeated(names []string) (string, bool) {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return n, true
		}
	}
	return "", false
}

// columns checks the names and types of columns (Schema.normalizeFields).
func (v *validator) columns() {
	names := Names(v.s.Fields)
	if n, twice := repeated(names); twice {
		v.keep(errs.Existsf("Table column %s must not contain duplicate fields. Found: [%s]", columnList(names), n))
	}
	for _, f := range v.s.Fields {
		v.must(f.Name != "", "A column has no name")
		v.keep(checkType(f.Name, f.Type, 0))
	}
}

func checkType(name string, t *Type, depth int) error {
	if depth > MaxTypeDepth {
		return errs.Invalidf("The type of column '%s' is nested too deeply", name)
	}
	if n, twice := repeated(Names(t.Fields)); twice {
		return errs.Existsf("Column %s has the field '%s' twice", name, n)
	}
	if t.Root == VectorType && !isVectorElement(t.Elem.Root) {
		return errs.Invalidf("Invalid element type for vector: %s", t.Elem)
	}
	for _, c := range ChildTypes(t) {
		if err := checkType(name, c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func isVectorElement(r Root) bool {
	return r == Boolean || isInteger(r) || r == Float || r == Double
}

// keys checks the names of key columns (Schema.normalizeFields).
func (v *validator) keys() {
	names := Names(v.s.Fields)
	check := func(what, fields string, keys []string) {
		n, twice := repeated(keys)
		v.must(!twice, "%s key constraint %s must not contain duplicate columns. Found: [%s]", what, columnList(keys), n)
		for _, k := range keys {
			v.must(slices.Contains(names, k), "Table column %s should include all %s %s", columnList(names), fields, columnList(keys))
		}
	}
	check("Partition", "partition fields", v.s.PartitionKeys)
	check("Primary", "primary key constraint", v.s.PrimaryKeys)
	if v.s.HasPrimaryKey() && !slices.ContainsFunc(v.s.PrimaryKeys, func(k string) bool { return !slices.Contains(v.s.PartitionKeys, k) }) {
		v.fail("Primary key constraint %s should not be same with partition fields %s, this will result in only one record in a partition",
			columnList(v.s.PrimaryKeys), columnList(v.s.PartitionKeys))
	}
}

// defaults checks the default values (CatalogUtils.validateCreateTable).
func (v *validator) defaults() {
	auto := option(v, optAutoCreate)
	v.must(!auto, "The value of auto-create property should be false.")
	rows := option(v, OptTargetFileRows)
	v.must(rows > 0, "target-file-row-num should be at least 1.")
	option(v, OptTableType)
	for _, f := range v.s.Fields {
		v.keep(checkDefault(v.ctx, f))
	}
}

// checkDefault checks the text of a column's default value. As in Paimon, quotes around it are not part of the value.
func checkDefault(ctx Context, f Field) error {
	if f.Default == nil || ctx.Castable == nil {
		return nil
	}
	if err := ctx.Castable(f.Type, DefaultText(*f.Default)); err != nil {
		return errs.Invalidf("Unsupported default value `%s` for type %s: column '%s': %w", *f.Default, f.Type, f.Name, err)
	}
	return nil
}

// DefaultText is the value that the text of a default stands for: it may stand in quotes (DefaultValueUtils).
func DefaultText(text string) string {
	if strings.HasPrefix(text, "'") && strings.HasSuffix(text, "'") {
		return text[1:max(1, len(text)-1)]
	}
	return text
}

// keyClass is the class that Paimon names a type by that no key can have; "" for types that keys can have.
func keyClass(t *Type) string {
	switch t.Root {
	case Map:
		return "MapType"
	case Array:
		return "ArrayType"
	case Row:
		return "RowType"
	case Multiset:
		return "MultisetType"
	case VectorType:
		return "VectorType"
	}
	return ""
}

// keyTypes checks the types of key columns.
func (v *validator) keyTypes() {
	upsert := splitList(option(v, optUpsertKey))
	for _, list := range []struct {
		keys []string
		what string
	}{{v.s.PrimaryKeys, "primary key"}, {v.s.PartitionKeys, "partition"}, {upsert, "upsert key"}} {
		for _, k := range list.keys {
			i := v.s.Index(k)
			if i < 0 {
				v.fail("Cannot find field: %s", k)
				return
			}
			c := keyClass(v.s.Fields[i].Type)
			v.must(c == "", "The type %s in %s field %s is unsupported", c, list.what, k)
			if r := v.s.Fields[i].Type.Root; len(v.s.Options["blob-field"]) == 0 && (r == Variant || r == Geometry || r == Geography) {
				v.fail("The type %s in %s field %s is unsupported", v.s.Fields[i].Type.Kindless(), list.what, k)
			}
		}
	}
	v.must(len(upsert) == 0 || !v.s.HasPrimaryKey(), "Cannot define 'upsert-key' %s with 'primary-key' %s.", columnList(upsert), columnList(v.s.PrimaryKeys))
}

// splitList splits a list at its commas and keeps blanks; empty for an empty text.
func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// trimmedList splits a list at its commas and takes blanks away; items may be empty, but not the last ones, as Java splits.
func trimmedList(text string) []string {
	if text != "" {
		text = strings.TrimRight(text, ",")
		if text == "" {
			return nil
		}
	}
	out := strings.Split(text, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// bucketKeys checks option bucket-key (TableSchema.originalBucketKeys).
func (v *validator) bucketKeys() {
	option(v, OptBucket)
	text := v.s.Options["bucket-key"]
	if strings.TrimSpace(text) == "" {
		return
	}
	keys := strings.Split(text, ",")
	for _, k := range keys {
		v.must(v.s.Index(k) >= 0, "Field names %s should contains all bucket keys %s.", columnList(Names(v.s.Fields)), columnList(keys))
	}
	for _, k := range keys {
		v.must(!slices.Contains(v.s.PartitionKeys, k), "Bucket keys %s should not in partition keys %s.", columnList(keys), columnList(v.s.PartitionKeys))
	}
	for _, k := range keys {
		v.must(!v.s.HasPrimaryKey() || slices.Contains(v.s.PrimaryKeys, k), "Primary keys %s should contains all bucket keys %s.", columnList(v.s.PrimaryKeys), columnList(keys))
	}
	if n, twice := repeated(keys); twice {
		v.fail("Field names must be unique. Found duplicates: [%s]", n)
	}
}

// buckets checks the number of buckets.
func (v *validator) buckets() {
	n := option(v, OptBucket)
	_, hasKey := v.s.Options["bucket-key"]
	_, delta := optional(v, OptFullCompactionCommits)
	switch {
	case v.err != nil:
	case n == -1:
		v.must(!hasKey, "Cannot define 'bucket-key' with bucket = -1, please remove the 'bucket-key' setting or specify a bucket number.")
		v.must(v.s.HasPrimaryKey() || !delta, "AppendOnlyTable of unaware or dynamic bucket does not support 'full-compaction.delta-commits'")
	case n < 1 && (n != PostponeBucket || !v.s.HasPrimaryKey()):
		v.fail("The number of buckets needs to be greater than 0.")
	default:
		keys := v.s.BucketKeys()
		v.must(len(keys) > 0, "You should define a 'bucket-key' for bucketed append mode.")
		var nested []string
		for _, f := range v.s.Fields {
			if r := f.Type.Root; slices.Contains(keys, f.Name) && (r == Array || r == Multiset || r == Map || r == Row) {
				nested = append(nested, f.Name)
			}
		}
		v.must(len(nested) == 0, "nested type can not in bucket-key, in your table these key are %s", columnList(nested))
	}
}

// reservedNames are the system columns, which no table may have, in Java's order.
var reservedNames = []string{FieldNameKind, FieldNameRowID, FieldNameRowKind, FieldNameLevel, FieldNameSequence}

func (v *validator) reserved() {
	for _, n := range Names(v.s.Fields) {
		v.must(!slices.Contains(reservedNames, n), "Field name[%s] in schema cannot be exist in %s, which are reserved for system columns", n, columnList(reservedNames))
		v.must(!strings.HasPrefix(n, KeyFieldPrefix), "Field name[%s] in schema cannot start with [%s], which is reserved for key columns", n, KeyFieldPrefix)
	}
}

// settings are read by every writer of Paimon: a wrong value would make the table useless there.
func (v *validator) settings() {
	option(v, OptZstdLevel)
	option(v, optFileBlockSize)
	option(v, OptFileIndexThreshold)
	option(v, optReadBatchSize)
	option(v, optWriteBatchSize)
	option(v, optWriteBatchMemory)
	if v.s.HasPrimaryKey() {
		option(v, OptIgnoreDelete)
		option(v, OptRowDeduplicate)
		option(v, OptForceLookup)
	}
}

// branches checks that the branches exist that options name.
func (v *validator) branches() {
	fallback, primary := strings.TrimSpace(v.s.Options["scan.fallback-branch"]), strings.TrimSpace(v.s.Options["scan.primary-branch"])
	v.must(fallback == "" || primary == "", "Cannot set both 'scan.fallback-branch' and 'scan.primary-branch' at the same time.")
	for _, k := range []string{"scan.fallback-branch", "scan.primary-branch"} {
		v.branch(k, v.s.Options[k])
	}
	if snapshot, delta := v.s.Options["scan.fallback-snapshot-branch"], v.s.Options["scan.fallback-delta-branch"]; option(v, OptChainTable) && snapshot != "" && delta != "" {
		v.branch("scan.fallback-snapshot-branch", snapshot)
		v.branch("scan.fallback-delta-branch", delta)
	}
}

func (v *validator) branch(key, name string) {
	if strings.TrimSpace(name) == "" || name == "main" || v.err != nil {
		return
	}
	exists := false
	if v.ctx.BranchExists != nil {
		var err error
		if exists, err = v.ctx.BranchExists(name); err != nil {
			v.keep(fmt.Errorf("looking for branch '%s': %w", name, err))
			return
		}
	}
	v.must(exists, "Cannot set '%s' = '%s' because the branch '%s' does not exist.", key, name, name)
}
