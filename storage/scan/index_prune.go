package scan

import (
	"context"
	"maps"
	"slices"

	"github.com/tributarydb/tributary/storage/evolution"
	"github.com/tributarydb/tributary/storage/index/fileindex"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// indexFilter is the filter over the columns of a file's schema.
type indexFilter struct {
	fields []schema.Field
	filter predicate.Predicate
}

// mayMatchIndex reports whether a file may hold a row that the filter accepts, by the
// file indexes in its manifest entry (section 14). Those in files of their own are the reader's, and so are
// errors: a damaged index, or a column that cannot be read, fails the statement when the file is opened.
func (c *collector) mayMatchIndex(ctx context.Context, f *File) bool {
	if f.Meta.EmbeddedIndex == nil || c.req.Filter == nil || !schema.OptFileIndexRead.Value(c.src.Schema.Options) {
		return true
	}
	x := c.indexFilter(ctx, f.Meta.SchemaID)
	if x.filter == nil {
		return true
	}
	container, err := fileindex.Parse(f.Path, f.Meta.EmbeddedIndex)
	if err != nil {
		return true
	}
	rows, err := container.Evaluate(x.filter, x.fields, f.Meta.RowCount)
	return err != nil || !rows.None()
}

// indexFilter rewrites the filter for files of a schema.
func (c *collector) indexFilter(ctx context.Context, schemaID int64) indexFilter {
	if x, ok := c.indexFilters[schemaID]; ok {
		return x
	}
	var x indexFilter
	s := c.src.Schema
	if fileSchema, err := c.src.Schemas.Get(ctx, schemaID); err == nil {
		var wanted []schema.Field
		at := map[int]int{}
		for _, col := range slices.Sorted(maps.Keys(predicate.Columns(c.req.Filter))) {
			if slices.Contains(s.PartitionKeys, s.Fields[col].Name) {
				continue // the partition row decides
			}
			at[col] = len(wanted)
			wanted = append(wanted, s.Fields[col])
		}
		if m, err := evolution.Map(fileSchema.Fields, wanted); err == nil {
			x.fields = m.Read()
			x.filter = m.Filter(predicate.RemapColumns(c.req.Filter, func(i int) int {
				if k, ok := at[i]; ok {
					return k
				}
				return -1
			}))
		}
	}
	if c.indexFilters == nil {
		c.indexFilters = map[int64]indexFilter{}
	}
	c.indexFilters[schemaID] = x
	return x
}
