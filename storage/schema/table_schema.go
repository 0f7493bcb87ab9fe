package schema

import (
	"slices"
	"strings"
)

// TableSchema is the content of one schema file (Paimon's TableSchema). It is
// immutable once loaded.
type TableSchema struct {
	// Version of the file format, 1 where the file has none.
	Version int
	ID      int64
	Fields  []Field
	// HighestFieldID is the highest id ever given to a field of this table.
	HighestFieldID int
	PartitionKeys  []string
	PrimaryKeys    []string
	// Options as stored, plus the defaults that old versions imply. Unknown ones are kept.
	Options map[string]string
	// OptionKeys are the keys of Options in the file's order.
	OptionKeys []string
	Comment    string
	// HasComment is set where the file has a comment, an empty one too.
	HasComment bool
	// TimeMillis is when the schema was made, 0 unknown.
	TimeMillis int64
}

// Ids of the system fields (SpecialFields).
const (
	// KeyFieldIDStart is added to a key column's id for its _KEY_ copy.
	KeyFieldIDStart = 1073741823
	FieldIDSequence = 2147483646
	FieldIDKind     = 2147483645
	FieldIDLevel    = 2147483644
	FieldIDRowKind  = 2147483643
	FieldIDRowID    = 2147483642
)

// Names of the system fields.
const (
	KeyFieldPrefix    = "_KEY_"
	FieldNameSequence = "_SEQUENCE_NUMBER"
	FieldNameKind     = "_VALUE_KIND"
	FieldNameLevel    = "_LEVEL"
	FieldNameRowKind  = "rowkind"
	FieldNameRowID    = "_ROW_ID"
)

// HighestID returns the highest id of fields, nested ones included, system
// ids left out; -1 for none.
func HighestID(fields []Field) int {
	top := -1
	var walk func(t *Type)
	add := func(fs []Field) {
		for _, f := range fs {
			if f.ID < KeyFieldIDStart {
				top = max(top, f.ID)
			}
			walk(f.Type)
		}
	}
	walk = func(t *Type) {
		if t == nil {
			return
		}
		add(t.Fields)
		walk(t.Key)
		walk(t.Elem)
	}
	add(fields)
	return top
}

// Index returns the position of a column, -1 where there is none.
func (s *TableSchema) Index(name string) int { return IndexOf(s.Fields, name) }

// IndexOf returns the position of a field by name, -1 where there is none.
func IndexOf(fields []Field, name string) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
}

// Select returns the fields of the given names; unknown names are left out.
func Select(fields []Field, names []string) []Field {
	out := make([]Field, 0, len(names))
	for _, n := range names {
		if i := IndexOf(fields, n); i >= 0 {
			out = append(out, fields[i])
		}
	}
	return out
}

// Types returns the types of fields.
func Types(fields []Field) []*Type {
	out := make([]*Type, len(fields))
	for i, f := range fields {
		out[i] = f.Type
	}
	return out
}

// Names returns the names of fields.
func Names(fields []Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// HasPrimaryKey reports whether rows have a key.
func (s *TableSchema) HasPrimaryKey() bool { return len(s.PrimaryKeys) > 0 }

// Partitioned reports whether there are partition columns.
func (s *TableSchema) Partitioned() bool { return len(s.PartitionKeys) > 0 }

// TrimmedPrimaryKeys are the primary-key columns without partition columns,
// in primary-key order.
func (s *TableSchema) TrimmedPrimaryKeys() []string {
	var out []string
	for _, k := range s.PrimaryKeys {
		if !slices.Contains(s.PartitionKeys, k) {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return slices.Clone(s.PrimaryKeys)
	}
	return out
}

// PartitionFields are the partition columns, in key order.
func (s *TableSchema) PartitionFields() []Field { return Select(s.Fields, s.PartitionKeys) }

// TrimmedKeyFields are the columns of TrimmedPrimaryKeys: those that order the
// rows of a bucket.
func (s *TableSchema) TrimmedKeyFields() []Field {
	if len(s.PrimaryKeys) == 0 {
		return nil
	}
	return Select(s.Fields, s.TrimmedPrimaryKeys())
}

// PartitionTypes are the types of the manifest's _PARTITION row.
func (s *TableSchema) PartitionTypes() []*Type { return Types(s.PartitionFields()) }

// KeyTypes are the types of the manifest's _MIN_KEY and _MAX_KEY rows.
func (s *TableSchema) KeyTypes() []*Type { return Types(s.TrimmedKeyFields()) }

// CrossPartition reports whether a row of one key can move between
// partitions: the primary key does not contain every partition column.
func (s *TableSchema) CrossPartition() bool {
	if len(s.PrimaryKeys) == 0 || len(s.PartitionKeys) == 0 {
		return false
	}
	for _, p := range s.PartitionKeys {
		if !slices.Contains(s.PrimaryKeys, p) {
			return true
		}
	}
	return false
}

// BucketKeys are the columns that a row's bucket is computed from, in hash
// order; empty where the table has none.
func (s *TableSchema) BucketKeys() []string {
	if k := s.Options["bucket-key"]; strings.TrimSpace(k) != "" {
		return strings.Split(k, ",")
	}
	if len(s.PrimaryKeys) == 0 {
		return nil
	}
	return s.TrimmedPrimaryKeys()
}

// BucketMode says how rows are spread over buckets (section 6.1 of the format).
type BucketMode uint8

// The modes.
const (
	HashFixed BucketMode = iota
	HashDynamic
	KeyDynamic
	Postpone
	BucketUnaware
)

// String returns Paimon's name of the mode.
func (m BucketMode) String() string {
	return [...]string{"HASH_FIXED", "HASH_DYNAMIC", "KEY_DYNAMIC", "POSTPONE_MODE", "BUCKET_UNAWARE"}[m]
}

// PostponeBucket is the bucket number, and bucket count, of the postpone bucket.
const PostponeBucket = -2

// Bucket returns option bucket; -1 where it is not set or not a number.
func (s *TableSchema) Bucket() int {
	n, err := OptBucket.Get(s.Options)
	if err != nil {
		return -1
	}
	return n
}

// BucketMode returns how rows are spread over buckets.
func (s *TableSchema) BucketMode() BucketMode {
	b := s.Bucket()
	switch {
	case b == PostponeBucket:
		return Postpone
	case b > 0:
		return HashFixed
	case len(s.PrimaryKeys) == 0:
		return BucketUnaware
	case s.CrossPartition():
		return KeyDynamic
	}
	return HashDynamic
}

// KeyValueFields are the columns of a primary-key table's data files, as the
// file's schema has them (section 7.2): _KEY_ columns, unless thin;
// _SEQUENCE_NUMBER; _VALUE_KIND; all columns.
func (s *TableSchema) KeyValueFields(thin bool) []Field {
	var out []Field
	if !thin {
		for _, f := range s.TrimmedKeyFields() {
			out = append(out, Field{ID: KeyFieldIDStart + f.ID, Name: KeyFieldPrefix + f.Name, Type: f.Type})
		}
	}
	return append(append(out, SequenceField(), KindField()), s.Fields...)
}

// SequenceField is the system column _SEQUENCE_NUMBER.
func SequenceField() Field {
	return Field{ID: FieldIDSequence, Name: FieldNameSequence, Type: &Type{Root: BigInt, NotNull: true}}
}

// KindField is the system column _VALUE_KIND.
func KindField() Field {
	return Field{ID: FieldIDKind, Name: FieldNameKind, Type: &Type{Root: TinyInt, NotNull: true}}
}

// RowIDField is the system column _ROW_ID of row tracking.
func RowIDField() Field {
	return Field{ID: FieldIDRowID, Name: FieldNameRowID, Type: &Type{Root: BigInt}}
}

// WithOptions returns a copy of s whose options are overridden: dynamic
// options of a statement. An empty-keyed map returns s.
func (s *TableSchema) WithOptions(over map[string]string) *TableSchema {
	if len(over) == 0 {
		return s
	}
	c := *s
	c.Options = make(map[string]string, len(s.Options)+len(over))
	for k, v := range s.Options {
		c.Options[k] = v
	}
	c.OptionKeys = slices.Clone(s.OptionKeys)
	keys := make([]string, 0, len(over))
	for k := range over {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if _, ok := c.Options[k]; !ok {
			c.OptionKeys = append(c.OptionKeys, k)
		}
		c.Options[k] = over[k]
	}
	return &c
}
