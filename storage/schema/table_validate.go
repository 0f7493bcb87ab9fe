package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// reservedNames are the system columns, which no table may have.
var reservedNames = []string{FieldNameSequence, FieldNameKind, FieldNameLevel, FieldNameRowKind, FieldNameRowID}

// Validate checks a schema and its options as every schema change does
// (SchemaValidation; section 9 of the SQL surface). Errors are errs.Invalid with Paimon's words.
func (s *TableSchema) Validate(ctx Context) error {
	for _, check := range []func(Context) error{
		s.checkColumns, s.checkKeys, s.checkOptionValues, s.checkDefaults, s.checkChangelog, s.checkRetention, s.checkBuckets, s.checkSequence, s.checkFieldOptions,
		s.checkEngineOptions, s.checkRecordLevel, s.checkRowTracking, s.checkScan, s.checkBranches, s.checkChain, s.checkIndexes,
	} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	if ctx.Indexes != nil {
		if err := ctx.Indexes(s); err != nil {
			return err
		}
	}
	if ctx.Engine != nil && s.HasPrimaryKey() {
		return ctx.Engine(s)
	}
	return nil
}

func (s *TableSchema) on(key string) bool { return strings.EqualFold(s.Options[key], "true") }

func (s *TableSchema) checkColumns(Context) error {
	seen := map[string]bool{}
	for _, f := range s.Fields {
		switch {
		case f.Name == "":
			return errs.Invalidf("A column has no name")
		case seen[f.Name]:
			return errs.Existsf("Table column [%s] must not contain duplicate fields. Found: [%s]", strings.Join(Names(s.Fields), ", "), f.Name)
		case slices.Contains(reservedNames, f.Name):
			return errs.Invalidf("Field name[%s] in schema cannot be exist in [%s], which are reserved for system columns", f.Name, strings.Join(reservedNames, ", "))
		case strings.HasPrefix(f.Name, KeyFieldPrefix):
			return errs.Invalidf("Field name[%s] in schema cannot start with [%s], which is reserved for key columns", f.Name, KeyFieldPrefix)
		}
		seen[f.Name] = true
		if err := checkType(f.Name, f.Type, 0); err != nil {
			return err
		}
	}
	return nil
}

func checkType(name string, t *Type, depth int) error {
	if depth > MaxTypeDepth {
		return errs.Invalidf("The type of column '%s' is nested too deeply", name)
	}
	seen := map[string]bool{}
	for _, f := range t.Fields {
		if seen[f.Name] {
			return errs.Existsf("Column %s has the field '%s' twice", name, f.Name)
		}
		seen[f.Name] = true
	}
	for _, c := range ChildTypes(t) {
		if err := checkType(name, c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *TableSchema) checkKeys(Context) error {
	names := strings.Join(Names(s.Fields), ", ")
	for _, list := range []struct {
		keys       []string
		what, kind string
	}{{s.PrimaryKeys, "primary key constraint", "primary key"}, {s.PartitionKeys, "partition fields", "partition"}} {
		seen := map[string]bool{}
		for _, k := range list.keys {
			i := s.Index(k)
			if i < 0 {
				return errs.Invalidf("Table column [%s] should include all %s [%s]", names, list.what, strings.Join(list.keys, ", "))
			}
			if seen[k] {
				return errs.Invalidf("The %s [%s] must not contain duplicate columns. Found: [%s]", list.what, strings.Join(list.keys, ", "), k)
			}
			seen[k] = true
			if t := s.Fields[i].Type; t.IsNested() || t.Root == Blob || t.Root == Geometry || t.Root == Geography {
				return errs.Invalidf("The type %s in %s field %s is unsupported", t.Kindless(), list.kind, k)
			}
		}
	}
	if len(s.PrimaryKeys) > 0 && len(s.PartitionKeys) > 0 {
		rest := slices.DeleteFunc(slices.Clone(s.PrimaryKeys), func(k string) bool { return slices.Contains(s.PartitionKeys, k) })
		if len(rest) == 0 {
			return errs.Invalidf("Primary key constraint [%s] should not be same with partition fields [%s], this will result in only one record in a partition", strings.Join(s.PrimaryKeys, ", "), strings.Join(s.PartitionKeys, ", "))
		}
	}
	return nil
}

func (s *TableSchema) checkOptionValues(Context) error {
	for _, k := range slices.Sorted(maps.Keys(s.Options)) {
		if err := CheckOption(k, s.Options[k]); err != nil {
			return err
		}
	}
	if s.on("auto-create") {
		return errs.Invalidf("The option 'auto-create' must be false for tables of a catalog")
	}
	if n := OptTargetFileRows.Value(s.Options); n < 1 {
		return errs.Invalidf("The option 'target-file-row-num' must be at least 1, it is %d", n)
	}
	return nil
}

func (s *TableSchema) checkDefaults(ctx Context) error {
	if ctx.Castable == nil {
		return nil
	}
	for _, f := range s.Fields {
		if f.Default == nil {
			continue
		}
		if err := ctx.Castable(f.Type, *f.Default); err != nil {
			return errs.Invalidf("Unsupported default value `%s` for type %s of column %s: %w", *f.Default, f.Type, f.Name, err)
		}
	}
	return nil
}

func (s *TableSchema) producer() string { return OptChangelogProducer.Value(s.Options) }

func (s *TableSchema) checkChangelog(Context) error {
	p := s.producer()
	if p != "none" && !s.HasPrimaryKey() {
		return errs.Invalidf("Can not set changelog-producer on table without primary keys, please define primary keys.")
	}
	if s.on("streaming-read-overwrite") && (p == "full-compaction" || p == "lookup") {
		return errs.Invalidf("Cannot set streaming-read-overwrite to true when changelog producer is full-compaction or lookup because it will read duplicated changes.")
	}
	_, delta := s.Options["full-compaction.delta-commits"]
	if delta && p == "lookup" {
		return errs.Invalidf("Cannot set full-compaction.delta-commits with changelog-producer lookup: the lookup producer makes its changelog at each commit")
	}
	if s.on("deletion-vectors.enabled") && s.HasPrimaryKey() && p != "none" && p != "input" && p != "lookup" {
		return errs.Invalidf("Deletion vectors mode is only supported for NONE/INPUT/LOOKUP changelog producer now.")
	}
	if s.on("table-read.sequence-number.enabled") && !s.HasPrimaryKey() {
		return errs.Invalidf("Cannot enable 'table-read.sequence-number.enabled' for a table without primary keys.")
	}
	return nil
}

func (s *TableSchema) checkRetention(Context) error {
	lo, hi := OptSnapshotRetainMin.Value(s.Options), OptSnapshotRetainMax.Value(s.Options)
	switch {
	case lo < 1:
		return errs.Invalidf("snapshot.num-retained.min should be at least 1")
	case lo > hi:
		return errs.Invalidf("snapshot.num-retained.min should not be larger than snapshot.num-retained.max")
	}
	number := func(key string, def int) (int, error) {
		v, ok := s.Options[key]
		if !ok {
			return def, nil
		}
		n, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil {
			return 0, errs.Invalidf("option '%s' has the value '%s', which is no number", key, v)
		}
		return n, nil
	}
	clo, err := number("changelog.num-retained.min", lo)
	if err != nil {
		return err
	}
	chi, err := number("changelog.num-retained.max", hi)
	if err != nil {
		return err
	}
	switch {
	case clo < 1:
		return errs.Invalidf("changelog.num-retained.min should be at least 1")
	case clo > chi:
		return errs.Invalidf("changelog.num-retained.min should not be larger than changelog.num-retained.max")
	case chi < hi, clo < lo:
		return errs.Invalidf("changelog.num-retained should not be less than snapshot.num-retained, a changelog lives at least as long as its snapshot")
	}
	return nil
}

func (s *TableSchema) checkBuckets(Context) error {
	n, err := OptBucket.Get(s.Options)
	if err != nil {
		return err
	}
	key, hasKey := s.Options["bucket-key"]
	switch {
	case n == 0 || n < PostponeBucket || n == PostponeBucket && !s.HasPrimaryKey():
		return errs.Invalidf("The number of buckets needs to be greater than 0.")
	case n == -1 && hasKey:
		return errs.Invalidf("Cannot define 'bucket-key' with bucket = -1, please remove the 'bucket-key' setting or specify a bucket number.")
	case n > 0 && !s.HasPrimaryKey() && !hasKey:
		return errs.Invalidf("You should define a 'bucket-key' for bucketed append mode.")
	}
	if _, set := s.Options["full-compaction.delta-commits"]; set && n == -1 && !s.HasPrimaryKey() {
		return errs.Invalidf("AppendOnlyTable of unaware or dynamic bucket does not support 'full-compaction.delta-commits'")
	}
	if !hasKey {
		return nil
	}
	for _, k := range strings.Split(key, ",") {
		i := s.Index(k)
		switch {
		case i < 0:
			return errs.Invalidf("Field names [%s] should contains all bucket keys [%s].", strings.Join(Names(s.Fields), ", "), key)
		case slices.Contains(s.PartitionKeys, k):
			return errs.Invalidf("Bucket keys [%s] should not in partition keys [%s].", key, strings.Join(s.PartitionKeys, ", "))
		case s.HasPrimaryKey() && !slices.Contains(s.PrimaryKeys, k):
			return errs.Invalidf("Primary keys [%s] should contains all bucket keys [%s].", strings.Join(s.PrimaryKeys, ", "), key)
		case s.Fields[i].Type.IsNested():
			return errs.Invalidf("The type %s of the bucket key %s is nested and cannot be hashed", s.Fields[i].Type.Kindless(), k)
		}
	}
	return nil
}

func (s *TableSchema) engine() string { return OptMergeEngine.Value(s.Options) }

// sequenceFields are the columns of option sequence.field.
func (s *TableSchema) sequenceFields() []string {
	return commaList(s.Options["sequence.field"])
}

func (s *TableSchema) checkSequence(Context) error {
	seq := s.sequenceFields()
	seen := map[string]bool{}
	for _, f := range seq {
		switch {
		case s.Index(f) < 0:
			return errs.Invalidf("Sequence field: '%s' can not be found in table schema.", f)
		case seen[f]:
			return errs.Invalidf("Sequence field '%s' is defined repeatedly.", f)
		}
		seen[f] = true
		if _, ok := s.FieldOption(f, "aggregate-function"); ok {
			return errs.Invalidf("Should not define aggregation on sequence field: '%s'.", f)
		}
	}
	if len(seq) > 0 && s.CrossPartition() {
		return errs.Invalidf("You can not use sequence.field in cross partition update case (Primary key constraint [%s] not include all partition fields [%s]).", strings.Join(s.PrimaryKeys, ", "), strings.Join(s.PartitionKeys, ", "))
	}
	if s.on("sequence.snapshot-ordering") {
		switch {
		case !s.HasPrimaryKey():
			return errs.Invalidf("sequence.snapshot-ordering = true requires a primary key")
		case !s.on("write-only"):
			return errs.Invalidf("sequence.snapshot-ordering = true requires write-only = true. Use a dedicated compaction job instead.")
		case len(seq) > 0:
			return errs.Invalidf("sequence.snapshot-ordering = true cannot be used with sequence.field.")
		}
	}
	if f, ok := s.Options["rowkind.field"]; ok {
		i := s.Index(f)
		if i < 0 {
			return errs.Invalidf("Rowkind field: '%s' can not be found in table schema.", f)
		}
		if !isText(s.Fields[i].Type.Root) {
			return errs.Invalidf("The row kind field '%s' must be a STRING column, its type is %s", f, s.Fields[i].Type)
		}
	}
	return nil
}

// tableWide are keys below "fields." that name no column.
var tableWide = map[string]bool{"fields.default-aggregate-function": true}

func (s *TableSchema) checkFieldOptions(Context) error {
	group := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(s.Options)) {
		rest, ok := strings.CutPrefix(k, "fields.")
		if !ok || tableWide[k] {
			continue
		}
		names, suffix := s.fieldKey(rest)
		for _, n := range names {
			if s.Index(n) < 0 {
				return errs.Invalidf("Field %s can not be found in table schema. (option '%s')", n, k)
			}
		}
		if suffix != "sequence-group" {
			continue
		}
		for _, f := range commaList(s.Options[k]) {
			switch {
			case s.Index(f) < 0:
				return errs.Invalidf("Field %s can not be found in table schema. (option '%s')", f, k)
			case group[f] != "":
				return errs.Invalidf("Field %s is defined repeatedly by multiple groups: %s, %s", f, group[f], strings.Join(names, ","))
			case slices.Contains(names, f):
				return errs.Invalidf("The sequence field group: %s is a sequence field itself and cannot be in its own group (option '%s')", f, k)
			case slices.Contains(s.PrimaryKeys, f):
				return errs.Invalidf("The sequence-group fields should not contain primary key field %s (option '%s')", f, k)
			}
			group[f] = strings.Join(names, ",")
		}
	}
	for f, g := range group {
		if _, ok := group[g]; ok && !strings.Contains(g, ",") {
			return errs.Invalidf("The sequence field group %s is defined repeatedly: it is in a group itself and orders %s", g, f)
		}
	}
	return nil
}

// fieldKey splits "a,b.sequence-group" into columns and the rest; a column's name may have dots.
func (s *TableSchema) fieldKey(rest string) (names []string, suffix string) {
	best := strings.IndexByte(rest, '.')
	for i := range len(rest) {
		if rest[i] != '.' {
			continue
		}
		all := true
		for _, n := range strings.Split(rest[:i], ",") {
			all = all && s.Index(strings.TrimSpace(n)) >= 0
		}
		if all {
			best = i
		}
	}
	if best < 0 {
		return nil, ""
	}
	for _, n := range strings.Split(rest[:best], ",") {
		names = append(names, strings.TrimSpace(n))
	}
	return names, rest[best+1:]
}

func (s *TableSchema) checkEngineOptions(Context) error {
	if s.engine() != "first-row" {
		return nil
	}
	if !s.HasPrimaryKey() {
		return nil
	}
	switch {
	case s.producer() != "none" && s.producer() != "lookup":
		return errs.Invalidf("Only support 'none' and 'lookup' changelog-producer on FIRST_ROW merge engine")
	case len(s.sequenceFields()) > 0:
		return errs.Invalidf("Do not support use sequence field on FIRST_ROW merge engine.")
	case s.on("deletion-vectors.enabled") && !s.on("pk-clustering-override"):
		return errs.Invalidf("First row merge engine does not need deletion vectors because there is no deletion of old data in this merge engine.")
	}
	return nil
}

func (s *TableSchema) checkRecordLevel(Context) error {
	if _, ok := s.Options["record-level.expire-time"]; !ok {
		return nil
	}
	f := s.Options["record-level.time-field"]
	i := s.Index(f)
	if f == "" || i < 0 {
		return errs.Invalidf("You should set an existing column as 'record-level.time-field' when 'record-level.expire-time' is set, it is '%s'", f)
	}
	switch r := s.Fields[i].Type.Root; r {
	case Int, BigInt, Timestamp, TimestampLTZ:
		return nil
	default:
		return errs.Invalidf("The record level time field type should be one of INT, BIGINT, or TIMESTAMP, but field type is %s", s.Fields[i].Type)
	}
}

func (s *TableSchema) checkRowTracking(Context) error {
	tracking, evolution := s.on("row-tracking.enabled"), s.on("data-evolution.enabled")
	switch {
	case tracking && s.HasPrimaryKey():
		return errs.Invalidf("Cannot define primary-key for row tracking table.")
	case tracking && s.Bucket() != -1:
		return errs.Invalidf("Cannot define bucket for row tracking table, it only support bucket = -1")
	case evolution && !tracking:
		return errs.Invalidf("Data evolution config must enabled with row-tracking.enabled")
	case evolution && s.on("deletion-vectors.enabled"):
		return errs.Invalidf("Data evolution config must disabled with deletion-vectors.enabled")
	}
	if s.on("clustering.incremental") && s.HasPrimaryKey() {
		return errs.Invalidf("Cannot define primary-key for incremental clustering table.")
	}
	for _, k := range commaList(s.Options["clustering.columns"]) {
		if s.Index(k) < 0 {
			return errs.Invalidf("Column '%s' of 'clustering.columns' does not exist in table schema", k)
		}
	}
	if f := s.Options["manifest-sort.partition-field"]; f != "" && !slices.Contains(s.PartitionKeys, f) {
		return errs.Invalidf("The option 'manifest-sort.partition-field' must name a partition column, '%s' is none", f)
	}
	return nil
}

// startKeys are the options that each select a state to read.
var startKeys = []string{"scan.snapshot-id", "scan.tag-name", "scan.watermark", "scan.timestamp", "scan.timestamp-millis"}

func (s *TableSchema) checkScan(Context) error {
	var set []string
	for _, k := range startKeys {
		if _, ok := s.Options[k]; ok {
			set = append(set, k)
		}
	}
	if len(set) > 1 {
		return errs.Invalidf("[%s] must be null when you set [%s]", strings.Join(set[1:], ","), set[0])
	}
	mode := s.Options["scan.mode"]
	if len(set) == 1 && (mode == "latest-full" || mode == "latest" || mode == "full" || mode == "compacted-full") {
		return errs.Invalidf("%s must be null when you use %s for scan.mode", set[0], mode)
	}
	return nil
}

func (s *TableSchema) checkBranches(ctx Context) error {
	fallback, primary := s.Options["scan.fallback-branch"], s.Options["scan.primary-branch"]
	if fallback != "" && primary != "" {
		return errs.Invalidf("Cannot set both 'scan.fallback-branch' and 'scan.primary-branch' at the same time.")
	}
	keys := []string{"scan.fallback-branch", "scan.primary-branch"}
	if s.on("chain-table.enabled") {
		keys = append(keys, "scan.fallback-snapshot-branch", "scan.fallback-delta-branch")
	}
	for _, k := range keys {
		b := s.Options[k]
		if b == "" || b == "main" {
			continue
		}
		exists := false
		if ctx.BranchExists != nil {
			var err error
			if exists, err = ctx.BranchExists(b); err != nil {
				return fmt.Errorf("looking for branch '%s': %w", b, err)
			}
		}
		if !exists {
			return errs.Invalidf("Cannot set '%s' = '%s' because the branch '%s' does not exist.", k, b, b)
		}
	}
	return nil
}

func (s *TableSchema) checkIndexes(Context) error {
	for _, k := range slices.Sorted(maps.Keys(s.Options)) {
		rest, ok := strings.CutPrefix(k, "file-index.")
		if !ok {
			continue
		}
		typ, ok := strings.CutSuffix(rest, ".columns")
		if !ok {
			continue
		}
		for _, c := range commaList(s.Options[k]) {
			name, _, _ := strings.Cut(c, "[") // a key of a MAP
			if s.Index(name) < 0 {
				return errs.Invalidf("Column '%s' specified in 'file-index.%s.columns' does not exist in table schema", c, typ)
			}
		}
	}
	return nil
}

// checkChain demands what a chain table needs (section 9 of the rules of fallback branches).
func (s *TableSchema) checkChain(Context) error {
	if !s.on("chain-table.enabled") {
		return nil
	}
	pattern, formatter := s.Options["partition.timestamp-pattern"], s.Options["partition.timestamp-formatter"]
	switch {
	case !s.HasPrimaryKey():
		return errs.Invalidf("Primary key is required for chain table.")
	case !s.Partitioned():
		return errs.Invalidf("Chain table must be partition table.")
	case s.Bucket() <= 0:
		return errs.Invalidf("Bucket number must be greater than 0 for chain table.")
	case len(s.sequenceFields()) == 0:
		return errs.Invalidf("Sequence field is required for chain table.")
	case pattern == "":
		return errs.Invalidf("Partition timestamp pattern is required for chain table.")
	case formatter == "":
		return errs.Invalidf("Partition timestamp formatter is required for chain table.")
	case s.producer() != "none" && s.producer() != "input":
		return errs.Invalidf("Changelog producer must be none or input for chain table.")
	case s.on("deletion-vectors.enabled") && s.engine() != "deduplicate":
		return errs.Invalidf("Deletion vectors of a chain table are supported with the merge engine deduplicate only.")
	}
	if keys := commaList(s.Options["chain-table.chain-partition-keys"]); len(keys) > 0 {
		n := len(s.PartitionKeys) - len(keys)
		if n < 0 || !slices.Equal(s.PartitionKeys[n:], keys) {
			return errs.Invalidf("chain-table.chain-partition-keys [%s] must be a contiguous suffix of the partition keys [%s].", strings.Join(keys, ", "), strings.Join(s.PartitionKeys, ", "))
		}
	}
	return nil
}
