package systables

import (
	"context"
	"strings"

	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/table"
)

// localMillis shows an instant in the statement's zone as the wall clock there.
func localMillis(t *table.Table, ms int64) int64 {
	return ms + zoneOffset(t.Zone(), ms)
}

// snapshots is T$snapshots (SnapshotsTable): one row for each snapshot that exists.
func snapshots(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("snapshot_id", bigint), col("schema_id", bigint), col("commit_user", str), col("commit_identifier", bigint),
			col("commit_kind", str), col("commit_time", timestamp3), col("base_manifest_list", str), col("delta_manifest_list", str),
			null("changelog_manifest_list", str), null("total_record_count", bigint), null("delta_record_count", bigint),
			null("changelog_record_count", bigint), null("watermark", bigint), null("next_row_id", bigint), null("operation", str)),
		key: []string{"snapshot_id"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, err := t.Snapshots().List(ctx)
			if err != nil {
				t.Env().Log.Warn("snapshots that cannot be read are left out", "table", t.Label(), "error", err)
			}
			for _, s := range list {
				r := emit()
				r.int(s.ID)
				r.int(s.SchemaID)
				r.text(s.CommitUser)
				r.int(s.CommitIdentifier)
				r.text(s.CommitKind)
				r.millis(localMillis(t, s.TimeMillis))
				r.text(s.BaseManifestList)
				r.text(s.DeltaManifestList)
				r.textIf(s.ChangelogManifestList)
				r.intIf(s.TotalRecordCount)
				r.intIf(s.DeltaRecordCount)
				r.intIf(s.ChangelogRecordCount)
				r.intIf(s.Watermark)
				r.intIf(s.NextRowID)
				r.textIf(s.Operation)
			}
			return nil
		},
	}, nil
}

// schemas is T$schemas (SchemasTable): one row for each schema file of the branch.
func schemas(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("schema_id", bigint), col("fields", str), col("partition_keys", str), col("primary_keys", str),
			col("options", str), null("comment", str), col("update_time", timestamp3)),
		key: []string{"schema_id"},
		fill: func(ctx context.Context, emit func() *row) error {
			all, err := t.Schemas().All(ctx)
			if err != nil {
				return err
			}
			for _, s := range all {
				r := emit()
				r.int(s.ID)
				r.text(schema.FieldsJSON(s.Fields))
				r.text(schema.ListJSON(s.PartitionKeys))
				r.text(schema.ListJSON(s.PrimaryKeys))
				r.text(schema.MapJSON(javaMapOrder(ownOptions(s)), s.Options))
				if s.HasComment {
					r.text(s.Comment)
				} else {
					r.null()
				}
				r.millis(localMillis(t, s.TimeMillis))
			}
			return nil
		},
	}, nil
}

// ownOptions are the option keys that a schema stores, without path.
func ownOptions(s *schema.TableSchema) []string {
	var out []string
	for _, k := range s.OptionKeys {
		if k != "path" {
			out = append(out, k)
		}
	}
	return out
}

// options is T$options (OptionsTable): the explicit options of the newest schema.
func options(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("key", str), col("value", str)), key: []string{"key"},
		fill: func(_ context.Context, emit func() *row) error {
			s := t.StoredSchema()
			for _, k := range ownOptions(s) {
				r := emit()
				r.text(k)
				r.text(s.Options[k])
			}
			return nil
		},
	}, nil
}

// statistics is T$statistics (StatisticTable): what ANALYZE left for the snapshot.
func statistics(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("snapshot_id", bigint), col("schema_id", bigint), null("mergedRecordCount", bigint), null("mergedRecordSize", bigint), null("colstat", str)),
		key:  []string{"snapshot_id"},
		fill: func(ctx context.Context, emit func() *row) error {
			snap, err := stateSnapshot(ctx, t)
			if err != nil || snap == nil || snap.Statistics == "" {
				return err
			}
			st, err := snapshot.ReadStatistics(ctx, t.Env().FIO, t.Dir(), snap.Statistics)
			if err != nil {
				return err
			}
			r := emit()
			r.int(st.SnapshotID)
			r.int(st.SchemaID)
			r.intIf(st.MergedRecordCount)
			r.intIf(st.MergedRecordSize)
			r.text(prettyJSON(st.ColumnsJSON))
			return nil
		},
	}, nil
}

// stateSnapshot is the snapshot that the statement's options select; nil = none.
func stateSnapshot(ctx context.Context, t *table.Table) (*snapshot.Snapshot, error) {
	st, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	if st.Snapshot == nil && len(st.Range) > 0 {
		return st.Range[len(st.Range)-1], nil
	}
	return st.Snapshot, nil
}

// aggregationFields is T$aggregation_fields (AggregationFieldsTable).
func aggregationFields(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("field_name", str), col("field_type", str), null("function", str), null("function_options", str), null("comment", str)),
		key:  []string{"field_name"},
		fill: func(_ context.Context, emit func() *row) error {
			s := t.StoredSchema()
			for _, f := range s.Fields {
				var keys, values []string
				for _, k := range schema.HashOrder(s.OptionKeys) { // the order in which Paimon keeps what it has read
					if strings.HasPrefix(k, "fields."+f.Name+".") {
						keys = append(keys, k)
						values = append(values, s.Options[k])
					}
				}
				r := emit()
				r.text(f.Name)
				r.text(f.Type.String())
				r.text("[" + strings.Join(values, ", ") + "]")
				r.text("[" + strings.Join(keys, ", ") + "]")
				r.textIf(f.Description)
			}
			return nil
		},
	}, nil
}

// tags is T$tags (TagsTable).
func tags(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("tag_name", str), col("snapshot_id", bigint), col("schema_id", bigint), col("commit_time", timestamp3),
			null("record_count", bigint), null("create_time", timestamp3), null("time_retained", str)),
		key: []string{"tag_name"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, err := t.Snapshots().Tags(ctx)
			if err != nil {
				t.Env().Log.Warn("tags that cannot be read are left out", "table", t.Label(), "error", err)
			}
			for _, x := range list {
				r := emit()
				r.text(x.Name)
				r.int(x.ID)
				r.int(x.SchemaID)
				r.millis(localMillis(t, x.TimeMillis))
				r.intIf(x.TotalRecordCount)
				if x.CreateMicros == nil {
					r.null()
				} else {
					r.millis(floorDiv(*x.CreateMicros, 1000))
				}
				if x.Retained == nil {
					r.null()
				} else {
					r.text(x.Retained.ISO())
				}
			}
			return nil
		},
	}, nil
}

// branches is T$branches (BranchesTable): those of the whole table.
func branches(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("branch_name", str), col("create_time", timestamp3)), key: []string{"branch_name"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, err := snapshot.Branches(ctx, t.Env().FIO, t.Dir())
			if err != nil {
				return err
			}
			for _, b := range list {
				r := emit()
				r.text(b.Name)
				r.millis(localMillis(t, b.Created.UnixMilli()))
			}
			return nil
		},
	}, nil
}

// consumers is T$consumers (ConsumersTable).
func consumers(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("consumer_id", str), col("next_snapshot_id", bigint)), key: []string{"consumer_id"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, err := t.Snapshots().Consumers(ctx)
			if err != nil {
				return err
			}
			for _, c := range list {
				r := emit()
				r.text(c.ID)
				r.int(c.NextSnapshot)
			}
			return nil
		},
	}, nil
}
