package systables

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/index/fileindex"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// manifests is T$manifests (ManifestsTable): those of the state's snapshot.
func manifests(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(col("file_name", str), col("file_size", bigint), col("num_added_files", bigint), col("num_deleted_files", bigint),
			col("schema_id", bigint), null("min_partition_stats", str), null("max_partition_stats", str), null("min_row_id", bigint), null("max_row_id", bigint)),
		key: []string{"file_name"},
		fill: func(ctx context.Context, emit func() *row) error {
			snap, err := stateSnapshot(ctx, t)
			if err != nil || snap == nil {
				return err
			}
			types := t.Schema().PartitionTypes()
			for _, list := range []string{snap.BaseManifestList, snap.DeltaManifestList, snap.ChangelogManifestList} {
				if list == "" {
					continue
				}
				infos, err := t.Store().ReadList(ctx, list)
				if err != nil {
					return err
				}
				for i := range infos {
					m := &infos[i]
					r := emit()
					r.text(m.Name)
					r.int(m.Size)
					r.int(m.Added)
					r.int(m.Deleted)
					r.int(m.SchemaID)
					r.text(framedText(types, m.PartitionStats.Min))
					r.text(framedText(types, m.PartitionStats.Max))
					r.intIf(m.MinRowID)
					r.intIf(m.MaxRowID)
				}
			}
			return nil
		},
	}, nil
}

// framedText prints a framed row of partition bounds; {} for an empty one.
func framedText(types []*schema.Type, framed []byte) string {
	vals, err := binrow.DecodeRow(types, framed)
	if err != nil {
		return "{}"
	}
	return rowText("{", "}", types, vals)
}

func partitionText(f *scan.File, types []*schema.Type) string {
	return rowText("{", "}", types, f.Partition)
}

// keyText prints a file's least or greatest key.
func keyText(t *table.Table, key []column.Scalar) (string, bool) {
	if !t.Schema().HasPrimaryKey() || key == nil {
		return "", false
	}
	parts := make([]string, len(key))
	for i, typ := range t.Schema().KeyTypes() {
		parts[i] = boundText(typ, true, key[i])
	}
	return "[" + strings.Join(parts, ", ") + "]", true
}

func (r *row) key(t *table.Table, key []column.Scalar) {
	if s, ok := keyText(t, key); ok {
		r.text(s)
	} else {
		r.null()
	}
}

// snapshotColumns gives the columns that $files maps statistics to: those of
// the snapshot under time travel, else today's.
func snapshotColumns(ctx context.Context, t *table.Table) (*schema.TableSchema, error) {
	st, err := t.State(ctx)
	if err != nil || !st.Explicit || st.Snapshot == nil {
		return t.Schema(), err
	}
	return t.Schemas().Get(ctx, st.Snapshot.SchemaID)
}

// files is T$files (FilesTable): the live data files of all levels.
func files(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(null("partition", str), col("bucket", integer), col("file_path", str), col("file_format", str), col("schema_id", bigint),
			col("level", integer), col("record_count", bigint), col("file_size_in_bytes", bigint), null("min_key", str), null("max_key", str),
			col("null_value_counts", str), col("min_value_stats", str), col("max_value_stats", str),
			null("min_sequence_number", bigint), null("max_sequence_number", bigint), null("creation_time", timestamp3),
			null("deleteRowCount", bigint), null("file_source", str), null("first_row_id", bigint), null("write_cols", stringArray)),
		key: []string{"file_path"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, err := t.LiveFiles(ctx)
			if err != nil {
				return err
			}
			shown, err := snapshotColumns(ctx, t)
			if err != nil {
				return err
			}
			types := t.Schema().PartitionTypes()
			mappers := map[int64]*manifest.StatsMapper{}
			for _, f := range list {
				m := mappers[f.Meta.SchemaID]
				if m == nil {
					fs, err := t.Schemas().Get(ctx, f.Meta.SchemaID)
					if err != nil {
						return err
					}
					m = manifest.NewStatsMapper(fs.Fields, shown.Fields)
					mappers[f.Meta.SchemaID] = m
				}
				r := emit()
				r.fileHead(f, types)
				r.int(int64(f.Meta.Level))
				r.int(f.Meta.RowCount)
				r.int(f.Meta.Size)
				r.key(t, f.MinKey)
				r.key(t, f.MaxKey)
				nulls, lo, hi := statsTexts(f, m, shown.Fields)
				r.text(nulls)
				r.text(lo)
				r.text(hi)
				r.int(f.Meta.MinSequence)
				r.int(f.Meta.MaxSequence)
				if f.Meta.CreationMillis == nil {
					r.null()
				} else {
					r.millis(*f.Meta.CreationMillis)
				}
				r.intIf(f.Meta.DeleteRows)
				r.source(f.Meta.Source)
				r.intIf(f.Meta.FirstRowID)
				b := r.builder()
				if f.Meta.WriteColumns == nil {
					b.AppendNull()
				} else {
					for _, c := range f.Meta.WriteColumns {
						b.Child(0).AppendString(c)
					}
					b.EndList()
				}
			}
			return nil
		},
	}, nil
}

func (r *row) fileHead(f *scan.File, types []*schema.Type) {
	r.text(partitionText(f, types))
	r.int(int64(f.Bucket))
	r.text(f.Path)
	r.text(f.Format)
	r.int(f.Meta.SchemaID)
}

func (r *row) source(s *int32) {
	switch {
	case s == nil:
		r.null()
	case *s == manifest.SourceAppend:
		r.text("APPEND")
	default:
		r.text("COMPACT")
	}
}

// statsTexts prints null counts and bounds of a file, by column name.
func statsTexts(f *scan.File, m *manifest.StatsMapper, cols []schema.Field) (nulls, lo, hi string) {
	order := make([]int, len(cols))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return cols[order[a]].Name < cols[order[b]].Name })
	var n, l, h []string
	for _, i := range order {
		c := cols[i]
		s, t, ok := m.Stored(f.Meta, i)
		count := "null"
		if ok && s.Nulls >= 0 {
			count = strconv.FormatInt(s.Nulls, 10)
		}
		n = append(n, c.Name+"="+count)
		l = append(l, c.Name+"="+castBound(t, c.Type, ok && s.HasBounds, s.Min))
		h = append(h, c.Name+"="+castBound(t, c.Type, ok && s.HasBounds, s.Max))
	}
	wrap := func(p []string) string { return "{" + strings.Join(p, ", ") + "}" }
	return wrap(n), wrap(l), wrap(h)
}

// fileKeyRanges is T$file_key_ranges (FileKeyRangesTable).
func fileKeyRanges(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(null("partition", str), col("bucket", integer), col("file_path", str), col("file_format", str), col("schema_id", bigint),
			col("level", integer), col("record_count", bigint), col("file_size_in_bytes", bigint), null("min_key", str), null("max_key", str), null("first_row_id", bigint)),
		key: []string{"file_path"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, err := t.LiveFiles(ctx)
			if err != nil {
				return err
			}
			types := t.Schema().PartitionTypes()
			for _, f := range list {
				r := emit()
				r.fileHead(f, types)
				r.int(int64(f.Meta.Level))
				r.int(f.Meta.RowCount)
				r.int(f.Meta.Size)
				r.key(t, f.MinKey)
				r.key(t, f.MaxKey)
				r.intIf(f.Meta.FirstRowID)
			}
			return nil
		},
	}, nil
}

// sums adds up files.
type sums struct {
	rows, bytes, files int64
	updated            *int64
	total              int
	vectors            int64
	vectorsKnown       bool
}

func sumFiles(list []*scan.File, updated *int64) sums {
	s := sums{vectorsKnown: true, total: -1, updated: updated}
	for _, f := range list {
		s.rows += f.Meta.RowCount
		s.bytes += f.Meta.Size
		s.files++
		s.total = f.TotalBuckets
		if f.Vector != nil {
			if c := f.Vector.Range.Cardinality; c != nil {
				s.vectors += *c
			} else {
				s.vectorsKnown = false
			}
		}
	}
	return s
}

func (r *row) sums(s sums) {
	r.int(s.rows)
	r.int(s.bytes)
	r.int(s.files)
	if s.updated == nil {
		r.null()
	} else {
		r.millis(*s.updated)
	}
}

// partitions is T$partitions (PartitionsTable): those of the fallback branch
// included, sorted by name.
func partitions(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(null("partition", str), col("record_count", bigint), col("file_size_in_bytes", bigint), col("file_count", bigint),
			null("last_update_time", timestamp3), null("created_at", timestamp3), null("created_by", str), null("updated_by", str),
			null("options", str), col("total_buckets", integer), col("done", boolean), null("deleted_record_count", bigint)),
		key: []string{"partition"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, err := t.PartitionFiles(ctx)
			if err != nil {
				return err
			}
			type line struct {
				name string
				s    sums
			}
			lines := make([]line, len(list))
			for i, p := range list {
				lines[i] = line{p.Of.PartitionSpec(p.Values), sumFiles(p.Files, p.Updated)}
			}
			sort.SliceStable(lines, func(a, b int) bool { return lines[a].name < lines[b].name })
			for _, l := range lines {
				r := emit()
				r.text(l.name)
				r.sums(l.s)
				r.null()
				r.null()
				r.null()
				r.null()
				r.int(int64(l.s.total))
				r.bool(false)
				if l.s.vectorsKnown {
					r.int(l.s.vectors)
				} else {
					r.null()
				}
			}
			return nil
		},
	}, nil
}

// buckets is T$buckets (BucketsTable), of the newest snapshot whatever the time travel.
func buckets(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(null("partition", str), col("bucket", integer), col("record_count", bigint), col("file_size_in_bytes", bigint), col("file_count", bigint), null("last_update_time", timestamp3)),
		key:  []string{"partition", "bucket"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, updated, err := t.NewestFiles(ctx)
			if err != nil {
				return err
			}
			types := t.Schema().PartitionTypes()
			type id struct {
				partition string
				bucket    int
			}
			groups, order, newest := map[id][]*scan.File{}, []id(nil), map[id]*int64{}
			for _, f := range list {
				k := id{partitionText(f, types), f.Bucket}
				if groups[k] == nil {
					order = append(order, k)
					newest[k] = updated(f.PartitionID, f.Bucket)
				}
				groups[k] = append(groups[k], f)
			}
			slices.SortFunc(order, func(a, b id) int {
				return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.bucket, b.bucket))
			})
			for _, k := range order {
				r := emit()
				r.text(k.partition)
				r.int(int64(k.bucket))
				r.sums(sumFiles(groups[k], newest[k]))
			}
			return nil
		},
	}, nil
}

var rangeType = &schema.Type{Root: schema.Row, Fields: []schema.Field{
	{ID: 0, Name: "f0", Type: str.WithNotNull(true)}, {ID: 1, Name: "f1", Type: integer.WithNotNull(true)},
	{ID: 2, Name: "f2", Type: integer.WithNotNull(true)}, {ID: 3, Name: "_CARDINALITY", Type: bigint},
}}

// tableIndexes is T$table_indexes (TableIndexesTable): the index files of the state.
func tableIndexes(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(null("partition", str), col("bucket", integer), col("index_type", str), col("file_name", str), col("file_size", bigint),
			col("row_count", bigint), null("dv_ranges", &schema.Type{Root: schema.Array, Elem: rangeType}),
			null("row_range_start", bigint), null("row_range_end", bigint), null("index_field_id", integer), null("index_field_name", str)),
		key: []string{"file_name"},
		fill: func(ctx context.Context, emit func() *row) error {
			snap, err := stateSnapshot(ctx, t)
			if err != nil || snap == nil {
				return err
			}
			entries, err := t.Store().ReadIndexManifest(ctx, snap.IndexManifest)
			if err != nil {
				return err
			}
			types := t.Schema().PartitionTypes()
			for i := range entries {
				e := &entries[i]
				r := emit()
				r.text(framedText(types, e.Partition))
				r.int(int64(e.Bucket))
				r.text(e.Type)
				r.text(e.Name)
				r.int(e.Size)
				r.int(e.RowCount)
				r.ranges(e)
				r.global(t, e.Global)
			}
			return nil
		},
	}, nil
}

func (r *row) ranges(e *manifest.IndexEntry) {
	b := r.builder()
	if e.Type != manifest.IndexDeletionVectors {
		b.AppendNull()
		return
	}
	for _, x := range e.Ranges {
		s := b.Child(0)
		s.Child(0).AppendString(x.DataFile)
		s.Child(1).AppendInt(x.Offset)
		s.Child(2).AppendInt(x.Length)
		if x.Cardinality == nil {
			s.Child(3).AppendNull()
		} else {
			s.Child(3).AppendInt(*x.Cardinality)
		}
		s.EndStruct()
	}
	b.EndList()
}

func (r *row) global(t *table.Table, g *manifest.GlobalIndex) {
	if g == nil {
		for range 4 {
			r.null()
		}
		return
	}
	r.int(g.RowRangeStart)
	r.int(g.RowRangeEnd)
	r.int(int64(g.FieldID))
	for _, f := range t.Schema().Fields {
		if f.ID == int(g.FieldID) {
			r.text(f.Name)
			return
		}
	}
	r.null()
}

// fileIndexes is T$file_indexes (FileIndexesTable of newer releases): the file indexes of the live files.
func fileIndexes(t *table.Table) (relation.Relation, error) {
	return &memory{
		cols: fields(null("partition", str), col("bucket", integer), col("file_path", str), col("file_size_in_bytes", bigint), col("record_count", bigint),
			col("schema_id", bigint), col("column_name", str), col("index_type", str), col("storage_type", str), null("index_file_path", str),
			col("index_size_in_bytes", bigint), col("index_container_size_in_bytes", bigint), col("is_empty", boolean)),
		key: []string{"file_path", "column_name", "index_type"},
		fill: func(ctx context.Context, emit func() *row) error {
			list, err := t.LiveFiles(ctx)
			if err != nil {
				return err
			}
			types := t.Schema().PartitionTypes()
			for _, f := range list {
				name, data, err := read.IndexContainer(ctx, f.SourceOr(t.Source()), f)
				if err != nil {
					return err
				}
				if data == nil {
					continue
				}
				c, err := fileindex.Parse(name, data)
				if err != nil {
					return err
				}
				for _, x := range c.Indexes() {
					r := emit()
					r.text(partitionText(f, types))
					r.int(int64(f.Bucket))
					r.text(f.Path)
					r.int(f.Meta.Size)
					r.int(f.Meta.RowCount)
					r.int(f.Meta.SchemaID)
					r.text(x.Column)
					r.text(x.Type)
					if name == f.Path {
						r.text("EMBEDDED")
						r.null()
					} else {
						r.text("FILE")
						r.text(name)
					}
					r.int(int64(len(x.Data)))
					r.int(int64(len(data)))
					r.bool(x.Empty)
				}
			}
			return nil
		},
	}, nil
}
