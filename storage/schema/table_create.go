package schema

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

// Pseudo options of CREATE TABLE and ALTER TABLE: they become part of the schema.
const (
	optPrimaryKey = "primary-key"
	optPartition  = "partition"
	optComment    = "comment"
	optPath       = "path"
)

// Context is what a new schema is checked against.
type Context struct {
	// HasSnapshot says that the branch has data: then some options cannot be changed.
	HasSnapshot bool
	// BranchExists tells whether a branch of the table exists; nil = none does.
	BranchExists func(name string) (bool, error)
	// Castable checks the text of a default value; nil = not checked.
	Castable func(t *Type, text string) error
	// Engine checks the merge engine's options and functions; nil = not checked.
	Engine func(s *TableSchema) error
	// Name is the table in messages, `database.table`; "" = "the table".
	Name string
	// Clock gives the schema's time; nil = time.Now.
	Clock func() time.Time
}

func (c *Context) now() int64 {
	if c.Clock == nil {
		return time.Now().UnixMilli()
	}
	return c.Clock().UnixMilli()
}

// NewTable makes the first schema of a table (SchemaManager.createTable).
// Errors are errs.Invalid, with Paimon's words.
func NewTable(def Definition, ctx Context) (*TableSchema, error) {
	s := &TableSchema{
		Version: CurrentVersion, Options: map[string]string{}, PartitionKeys: slices.Clone(def.PartitionKeys), PrimaryKeys: slices.Clone(def.PrimaryKeys),
		Comment: def.Comment, HasComment: def.HasComment, TimeMillis: ctx.now(),
	}
	for _, k := range optionOrder(def.Options, def.OptionKeys) {
		v := def.Options[k]
		if err := checkGiven(k, v); err != nil {
			return nil, err
		}
		if k == optPath {
			return nil, errs.Invalidf("The option 'path' cannot be given: the catalog decides where the table lies")
		}
		s.Options[k] = v
	}
	s.OptionKeys = copyHashMap(HashOrder(optionOrder(def.Options, def.OptionKeys))).keys()
	if text, ok := s.Options[optComment]; ok {
		s.Comment, s.HasComment = text, true
		s.removeOption(optComment)
	}
	if err := s.takeKeys(); err != nil {
		return nil, err
	}
	if len(def.Fields) == 0 {
		return nil, errs.Invalidf("A table must have at least one column")
	}
	next := 0
	for _, f := range def.Fields {
		f.ID = next
		next++
		f.Type = renumber(f.Type, &next)
		s.Fields = append(s.Fields, f)
	}
	// What the definition says counts before what its comments ask for.
	for _, check := range []func(*validator){(*validator).columns, (*validator).keys, (*validator).defaults} {
		v := &validator{s: s, ctx: ctx}
		if check(v); v.err != nil {
			return nil, v.err
		}
	}
	given := slices.Clone(s.OptionKeys)
	for i := range s.Fields {
		if err := s.applyDirective(&s.Fields[i]); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(given, s.OptionKeys) {
		s.OptionKeys = copyHashMap(alteredKeys(given, s.OptionKeys)).keys()
	}
	s.HighestFieldID = HighestID(s.Fields)
	s.keysNotNull()
	return s, s.Validate(ctx)
}

// takeKeys makes keys of the options that stand for them (Schema.normalizePrimaryKeys).
func (s *TableSchema) takeKeys() error {
	if v, ok := s.Options[optPartition]; ok {
		if len(s.PartitionKeys) > 0 {
			return errs.Invalidf("Cannot define partition on DDL and table options at the same time.")
		}
		s.PartitionKeys = commaList(v)
		s.removeOption(optPartition)
	}
	if v, ok := s.Options[optPrimaryKey]; ok {
		if len(s.PrimaryKeys) > 0 {
			return errs.Invalidf("Cannot define primary key on DDL and table options at the same time.")
		}
		s.PrimaryKeys = commaList(v)
		s.removeOption(optPrimaryKey)
	}
	return nil
}

// putOption sets an option; a new one comes last until the keys are put in order.
func (s *TableSchema) putOption(key, value string) {
	if _, ok := s.Options[key]; !ok {
		s.OptionKeys = append(s.OptionKeys, key)
	}
	s.Options[key] = value
}

func (s *TableSchema) removeOption(key string) {
	delete(s.Options, key)
	s.OptionKeys = slices.DeleteFunc(s.OptionKeys, func(k string) bool { return k == key })
}

// keysNotNull makes the columns of the primary key NOT NULL.
func (s *TableSchema) keysNotNull() {
	for _, k := range s.PrimaryKeys {
		if i := s.Index(k); i >= 0 {
			s.Fields[i].Type = s.Fields[i].Type.WithNotNull(true)
		}
	}
}

func optionOrder(opts map[string]string, keys []string) []string {
	out := slices.Clone(keys)
	for _, k := range slices.Sorted(maps.Keys(opts)) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return slices.DeleteFunc(out, func(k string) bool { _, ok := opts[k]; return !ok })
}

func commaList(s string) []string {
	var out []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// renumber gives the fields of nested ROWs the next ids: what lies inside a field comes before it (ReassignFieldId).
func renumber(t *Type, next *int) *Type {
	if t == nil {
		return nil
	}
	c := *t
	c.Key, c.Elem = renumber(t.Key, next), renumber(t.Elem, next)
	if len(t.Fields) > 0 {
		c.Fields = make([]Field, len(t.Fields))
		for i, f := range t.Fields {
			f.Type = renumber(f.Type, next)
			f.ID = *next
			*next++
			c.Fields[i] = f
		}
	}
	return &c
}

// Definition returns what would make the table anew.
func (s *TableSchema) Definition() Definition {
	return Definition{
		Fields: slices.Clone(s.Fields), PartitionKeys: slices.Clone(s.PartitionKeys), PrimaryKeys: slices.Clone(s.PrimaryKeys),
		Options: maps.Clone(s.Options), OptionKeys: slices.Clone(s.OptionKeys), Comment: s.Comment, HasComment: s.HasComment,
	}
}

// Publish writes a schema's file if there is none of its id; created is false where there is.
func (m *Manager) Publish(ctx context.Context, s *TableSchema) (created bool, err error) {
	created, err = m.fio.PutIfAbsent(ctx, m.Path(s.ID), s.JSON())
	if err == nil {
		return created, nil
	}
	// Whether the file landed must be learnt even if the statement is being cancelled.
	ctx = context.WithoutCancel(ctx)
	data, readErr := m.fio.ReadFile(ctx, m.Path(s.ID))
	switch {
	case readErr == nil:
		return string(data) == string(s.JSON()), nil
	case errs.Is(readErr, errs.NotFound):
		return false, err
	}
	return false, errs.Uncertainf("schema %s may have been published or not: %w", m.Path(s.ID), err)
}
