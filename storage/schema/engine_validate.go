package schema

import (
	"maps"
	"slices"
	"strings"
)

// fieldOptions checks the options fields.<columns>.<option> (validateFieldsPrefix).
func (v *validator) fieldOptions() {
	for _, k := range slices.Sorted(maps.Keys(v.s.Options)) {
		if !strings.HasPrefix(k, "fields") {
			continue
		}
		segments := strings.Split(strings.TrimRight(k, "."), ".")
		if len(segments) < 2 {
			v.fail("The option '%s' names no column: options of columns are fields.<column>.<option>", k)
			return
		}
		names := strings.Split(segments[1], ",")
		for _, n := range names {
			v.must(n == "default-aggregate-function" || v.s.Index(n) >= 0, "Field %s can not be found in table schema. (option '%s')", n, k)
		}
		if len(segments) > 3 && len(names) == 1 {
			if i := v.s.Index(names[0]); i >= 0 {
				v.must(v.s.Fields[i].Type.Root != Row, "Nested-field path is not supported on ROW field '%s': %s", names[0], k)
			}
		}
	}
}

// sequenceFields are the columns of option sequence.field.
func (v *validator) sequenceFields() []string {
	if text, ok := v.s.Options["sequence.field"]; ok {
		return trimmedList(text)
	}
	return nil
}

func (v *validator) sequence() {
	seq := v.sequenceFields()
	for _, f := range seq {
		v.must(v.s.Index(f) >= 0, "Sequence field: '%s' can not be found in table schema.", f)
		_, aggregated := v.s.FieldOption(f, "aggregate-function")
		v.must(!aggregated, "Should not define aggregation on sequence field: '%s'.", f)
		n := 0
		for _, other := range seq {
			if other == f {
				n++
			}
		}
		v.must(n == 1, "Sequence field '%s' is defined repeatedly.", f)
	}
	if len(seq) == 0 {
		return
	}
	v.must(option(v, OptMergeEngine) != "first-row", "Do not support use sequence field on FIRST_ROW merge engine.")
	v.must(!v.s.CrossPartition(), "You can not use sequence.field in cross partition update case (Primary key constraint '%s' not include all partition fields '%s').",
		columnList(v.s.PrimaryKeys), columnList(v.s.PartitionKeys))
}

// mergeFunction checks the options of the merge engine.
func (v *validator) mergeFunction() {
	if option(v, OptMergeEngine); v.err == nil && v.s.HasPrimaryKey() && v.ctx.Engine != nil {
		v.keep(v.ctx.Engine(v.s))
	}
}

func (v *validator) changelog() {
	p := option(v, OptChangelogProducer)
	v.must(p == "none" || v.s.HasPrimaryKey(), "Can not set changelog-producer on table without primary keys, please define primary keys.")
	overwrite := option(v, optStreamingReadOverwrite)
	v.must(!overwrite || p != "full-compaction" && p != "lookup",
		"Cannot set streaming-read-overwrite to true when changelog producer is full-compaction or lookup because it will read duplicated changes.")
	_, delta := optional(v, OptFullCompactionCommits)
	v.must(!delta || p != "lookup", "'full-compaction.delta-commits' is incompatible with 'changelog-producer'='lookup'. "+
		"Use 'changelog-producer'='full-compaction' to get periodic full compaction with changelog generation, or remove 'full-compaction.delta-commits'.")
}

func (v *validator) retention() {
	option(v, OptTargetFileRows)
	least, most := option(v, OptSnapshotRetainMin), option(v, OptSnapshotRetainMax)
	v.must(least > 0, "snapshot.num-retained.min should be at least 1")
	v.must(least <= most, "snapshot.num-retained.min should not be larger than snapshot.num-retained.max")
	if n, set := optional(v, OptChangelogRetainMin); set {
		least = n
	}
	if n, set := optional(v, OptChangelogRetainMax); set {
		most = n
	}
	v.must(least > 0, "changelog.num-retained.min should be at least 1")
	v.must(least <= most, "changelog.num-retained.min should not be larger than changelog.num-retained.max")
}

func (v *validator) recordLevel() {
	v.must(v.s.HasPrimaryKey() || !option(v, optStreamingReadOverwrite), "Doesn't support streaming read the changes from overwrite when the primary keys are "+
		"not defined. Please use streaming-read-append-overwrite to enable the streaming read overwrite commit for append table.")
	name, set := v.s.Options["record-level.time-field"]
	if !set {
		return
	}
	i := v.s.Index(name)
	if i < 0 {
		v.fail("Can not find time field %s for record level expire.", name)
		return
	}
	t := v.s.Fields[i].Type
	v.must(t.Root == Int || t.Root == BigInt || isTimestamp(t.Root), "The record level time field type should be one of INT, BIGINT, or TIMESTAMP, but field type is %s.", t)
}

func (v *validator) mergeEngine() {
	p := option(v, OptChangelogProducer)
	v.must(option(v, OptMergeEngine) != "first-row" || p == "none" || p == "lookup", "Only support 'none' and 'lookup' changelog-producer on FIRST_ROW merge engine")
	if f, set := v.s.Options["rowkind.field"]; set {
		v.must(v.s.Index(f) >= 0, "Rowkind field: '%s' can not be found in table schema.", f)
	}
}

func (v *validator) deletionVectors() {
	if !option(v, OptDeletionVectors) {
		return
	}
	p := option(v, OptChangelogProducer)
	v.must(p == "none" || p == "input" || p == "lookup", "Deletion vectors mode is only supported for NONE/INPUT/LOOKUP changelog producer now.")
	v.must(option(v, OptClusteringOverride) || option(v, OptMergeEngine) != "first-row",
		"First row merge engine does not need deletion vectors because there is no deletion of old data in this merge engine.")
}

func (v *validator) snapshotOrdering() {
	if !option(v, OptSeqSnapshotOrder) {
		return
	}
	v.must(v.s.HasPrimaryKey(), "sequence.snapshot-ordering = true requires a primary-key table; append-only tables cannot use snapshot-based sequence ordering.")
	v.must(len(v.sequenceFields()) == 0, "sequence.snapshot-ordering = true is mutually exclusive with sequence.field; the snapshot id is the sole tiebreaker.")
	v.must(option(v, OptWriteOnly), "sequence.snapshot-ordering = true requires write-only = true. Snapshot ordering relies on snapshot id to "+
		"determine record order, but inline compaction happens before snapshot creation — files have not been stamped with the correct "+
		"snapshot id yet. Use dedicated compaction job instead.")
}

// aggregateFunctions are the functions of the merge engines aggregation and partial-update.
var aggregateFunctions = []string{
	"bool_and", "bool_or", "collect", "first_non_null_value", "first_not_null_value", "first_value", "hll_sketch", "last_non_null_value", "last_value", "listagg", "max",
	"merge_map", "merge_map_with_keytime", "min", "nested_update", "nested_partial_update", "primary-key", "product", "rbm32", "rbm64", "sum", "theta_sketch",
}

// aggregators checks that the aggregate functions exist, and that retracts have one meaning (validateMergeFunctionFactory).
func (v *validator) aggregators() {
	e := option(v, OptMergeEngine)
	if !v.s.HasPrimaryKey() || e == "deduplicate" || e == "first-row" {
		return
	}
	removes := option(v, OptAggRemoveOnDelete)
	for _, f := range v.s.Fields {
		key := "fields." + f.Name + ".aggregate-function"
		name, set := v.s.Options[key]
		if !set {
			key = "fields.default-aggregate-function"
			name, set = v.s.Options[key]
		}
		v.must(!set || slices.Contains(aggregateFunctions, name), "Could not find any factory for identifier '%s' of option '%s': no aggregate function has this name; there are %s",
			name, key, strings.Join(aggregateFunctions, ", "))
		retract := "fields." + f.Name + ".ignore-retract"
		v.must(!removes || !set && e != "aggregation" || !strings.EqualFold(v.s.Options[retract], "true"),
			"%s and %s have conflicting behavior so should not be enabled at the same time.", OptAggRemoveOnDelete.Key(), retract)
	}
}

func (v *validator) rowTracking() {
	tracking, evolution, bucket := option(v, OptRowTracking), option(v, OptDataEvolution), option(v, OptBucket)
	incremental := option(v, optClusteringIncremental)
	if tracking {
		v.must(!v.s.HasPrimaryKey(), "Cannot define primary-key for row tracking table.")
		v.must(bucket == -1, "Cannot define bucket for row tracking table, it only support bucket = -1")
	}
	if evolution {
		v.must(tracking, "Data evolution config must enabled with row-tracking.enabled")
		v.must(!incremental, "Data evolution config must disabled with clustering.incremental")
	}
	v.dedicatedColumns(evolution)
}

func (v *validator) clustering() {
	if !option(v, optClusteringIncremental) {
		return
	}
	v.must(!v.s.HasPrimaryKey(), "Cannot define primary-key for incremental clustering table.")
	if option(v, OptBucket) != -1 {
		v.must(!option(v, OptBucketAppendOrder), "bucket-append-ordered must be false for incremental clustering table.")
		v.must(!option(v, OptDeletionVectors), "Cannot enable deletion-vectors for incremental clustering table which bucket is not -1.")
	}
}

// chain demands what a chain table needs (section 9 of the rules of fallback branches).
func (v *validator) chain() {
	if !option(v, OptChainTable) {
		return
	}
	p := option(v, OptChangelogProducer)
	set := func(key string) bool { _, ok := v.s.Options[key]; return ok }
	v.must(option(v, OptTableType) == "table", "Chain table must be table type.")
	v.must(v.s.HasPrimaryKey(), "Primary key is required for chain table.")
	v.must(v.s.Partitioned(), "Chain table must be partition table.")
	v.must(option(v, OptBucket) > 0, "Bucket number must be greater than 0 for chain table.")
	v.must(len(v.sequenceFields()) > 0, "Sequence field is required for chain table.")
	v.must(p == "none" || p == "input", "Changelog producer must be none or input for chain table.")
	v.must(!option(v, OptDeletionVectors) || option(v, OptMergeEngine) == "deduplicate", "Chain tables only support deletion vectors with the deduplicate merge engine.")
	v.must(set("partition.timestamp-pattern"), "Partition timestamp pattern is required for chain table.")
	v.must(set("partition.timestamp-formatter"), "Partition timestamp formatter is required for chain table.")
	if _, expires := optional(v, OptPartitionExpireTime); expires {
		kind := option(v, OptPartitionExpireKind)
		v.must(kind == "values-time", "Chain table only supports 'values-time' partition expiration strategy, but found '%s'.", kind)
	}
	if text := v.s.Options["chain-table.chain-partition-keys"]; strings.TrimSpace(text) != "" {
		keys := trimmedList(text)
		n := len(v.s.PartitionKeys) - len(keys)
		v.must(n >= 0 && slices.Equal(v.s.PartitionKeys[max(n, 0):], keys), "chain-table.chain-partition-keys must be a contiguous suffix "+
			"of the table's partition keys. Partition keys: %s, chain partition keys: %s.", columnList(v.s.PartitionKeys), columnList(keys))
	}
}

func (v *validator) sequenceColumn() {
	v.must(!option(v, OptReadSequence) || v.s.HasPrimaryKey(), "Cannot enable 'table-read.sequence-number.enabled' for non-primary-key table. "+
		"Sequence number is only available for primary key tables.")
}

func (v *validator) clusteringOverride() {
	if !option(v, OptClusteringOverride) {
		return
	}
	const mode = "in 'pk-clustering-override' mode."
	engine, p := option(v, OptMergeEngine), option(v, OptChangelogProducer)
	_, expires := optional(v, OptRecordExpireTime)
	v.must(v.s.Options["clustering.columns"] != "", "Cannot support 'pk-clustering-override' mode without 'clustering.columns'.")
	v.must(option(v, OptDeletionVectors) || engine == "first-row", "Cannot support deletion-vectors disabled "+mode)
	v.must(!expires, "Cannot support record level expire time enabled "+mode)
	v.must(engine == "deduplicate" || engine == "first-row", "Cannot support merge engine: %s "+mode, engine)
	v.must(len(v.sequenceFields()) == 0, "Cannot support sequence field: %s "+mode, columnList(v.sequenceFields()))
	v.must(p == "none" || p == "input", "Cannot support changelog producer: %s "+mode, p)
}

func (v *validator) manifestSort() {
	if !option(v, optManifestSort) {
		return
	}
	v.must(option(v, OptDataEvolution) || v.s.Partitioned(), "Cannot enable 'manifest-sort.enabled' for non-partition table.")
	if f := v.s.Options["manifest-sort.partition-field"]; f != "" {
		v.must(slices.Contains(v.s.PartitionKeys, f), "'manifest-sort.partition-field' = '%s' is not a partition field. Available partition fields: %s.", f, columnList(v.s.PartitionKeys))
	}
}
