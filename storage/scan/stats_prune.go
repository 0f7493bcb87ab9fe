package scan

import (
	"context"
	"slices"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// FileStats returns what the manifest knows of the table's columns over a
// file: by index into Source.Schema.Fields, mapped by field id from the schema
// that the file was written with.
func (s *Source) FileStats(ctx context.Context, f *File) (func(col int) (predicate.Stats, bool), error) {
	fileSchema, err := s.Schemas.Get(ctx, f.Meta.SchemaID)
	if err != nil {
		return nil, err
	}
	m := manifest.NewStatsMapper(fileSchema.Fields, s.Schema.Fields)
	return func(col int) (predicate.Stats, bool) {
		if slices.Contains(s.Schema.PartitionKeys, s.Schema.Fields[col].Name) {
			return predicate.Stats{}, false // the partition row decides
		}
		return m.Column(f.Meta, col)
	}, nil
}

// mayMatchValue reports whether a file may hold a row that the filter accepts.
func (c *collector) mayMatchValue(ctx context.Context, f *File) (bool, error) {
	if c.req.Filter == nil {
		return true, nil
	}
	get, err := c.src.FileStats(ctx, f)
	if err != nil {
		return false, err
	}
	return predicate.MayMatch(c.req.Filter, get), nil
}

// keyFilter returns the part of the filter over trimmed key columns, over
// indexes into the key; nil for none.
func (s *Source) keyFilter(f predicate.Predicate) predicate.Predicate {
	if f == nil {
		return nil
	}
	pos := map[int]int{}
	for i, k := range s.Schema.TrimmedPrimaryKeys() {
		pos[s.Schema.Index(k)] = i
	}
	return predicate.RemapColumns(f, func(i int) int {
		if k, ok := pos[i]; ok {
			return k
		}
		return -1
	})
}

// mayMatchKey reports whether a key-value file may hold a key that the filter
// accepts: by its key statistics and the bounds of its first key column.
func mayMatchKey(filter predicate.Predicate, f *File, types []*schema.Type) bool {
	if filter == nil {
		return true
	}
	return predicate.MayMatch(filter, func(i int) (predicate.Stats, bool) {
		st, ok := f.Meta.KeyColumn(types, i)
		if ok && st.HasBounds {
			return st, true
		}
		if i == 0 && len(f.MinKey) > 0 && !f.MinKey[0].Null && !f.MaxKey[0].Null {
			return predicate.Stats{Rows: f.Meta.RowCount, Nulls: -1, HasBounds: true, Min: f.MinKey[0], Max: f.MaxKey[0]}, true
		}
		return st, ok
	})
}

// maxPrunedKeys bounds the key combinations that bucket pruning tries.
const maxPrunedKeys = 1000

// bucketPruner knows the bucket keys that a filter allows.
type bucketPruner struct {
	function string
	types    []*schema.Type
	ids      []int
	same     map[int64]bool
	keys     [][]column.Scalar
	byTotal  map[int]map[int]bool
	only     *int
}

// newBucketPruner looks for equalities on every bucket key among the filter's conjuncts.
func (s *Source) newBucketPruner(f predicate.Predicate) *bucketPruner {
	p := &bucketPruner{byTotal: map[int]map[int]bool{}, same: map[int64]bool{}}
	if b, set, err := schema.OptScanBucket.Lookup(s.Schema.Options); err == nil && set {
		p.only = &b
	}
	names := s.Schema.BucketKeys()
	if f == nil || len(names) == 0 {
		return p
	}
	p.function = schema.OptBucketFunction.Value(s.Schema.Options)
	combos := [][]column.Scalar{nil}
	for _, n := range names {
		col := s.Schema.Index(n)
		if col < 0 {
			return p
		}
		p.types = append(p.types, s.Schema.Fields[col].Type)
		p.ids = append(p.ids, s.Schema.Fields[col].ID)
		lits := equalities(f, col)
		if lits == nil || len(combos)*len(lits) > maxPrunedKeys {
			return p
		}
		var next [][]column.Scalar
		for _, c := range combos {
			for _, l := range lits {
				next = append(next, append(slices.Clone(c), l))
			}
		}
		combos = next
	}
	p.keys = combos
	return p
}

// equalities returns the values that a conjunct limits the column to; nil = any.
func equalities(f predicate.Predicate, col int) []column.Scalar {
	for _, c := range predicate.Conjuncts(f) {
		if l, ok := c.(*predicate.Leaf); ok && l.Column == col && (l.Op == predicate.Eq || l.Op == predicate.In) {
			return l.Literals
		}
	}
	return nil
}

// keeps reports whether the bucket of an entry may hold a wanted key. The
// entry's own bucket count decides, and only where its file's schema has the
// bucket keys with today's types: another type hashes to another bucket.
func (p *bucketPruner) keeps(ctx context.Context, src *Source, e *manifest.Entry) (bool, error) {
	if p.only != nil && e.Bucket != *p.only {
		return false, nil
	}
	if p.keys == nil || e.TotalBuckets <= 0 || e.Bucket < 0 {
		return true, nil
	}
	same, err := p.sameTypes(ctx, src, e.File.SchemaID)
	if err != nil || !same {
		return true, err
	}
	set, ok := p.byTotal[e.TotalBuckets]
	if !ok {
		set = map[int]bool{}
		for _, k := range p.keys {
			b, err := binrow.Bucket(p.function, p.types, k, e.TotalBuckets)
			if err != nil {
				set = nil
				break
			}
			set[b] = true
		}
		p.byTotal[e.TotalBuckets] = set
	}
	return set == nil || set[e.Bucket], nil
}

func (p *bucketPruner) sameTypes(ctx context.Context, src *Source, schemaID int64) (bool, error) {
	if same, ok := p.same[schemaID]; ok {
		return same, nil
	}
	fileSchema, err := src.Schemas.Get(ctx, schemaID)
	if err != nil {
		return false, err
	}
	same := true
	for i, id := range p.ids {
		j := slices.IndexFunc(fileSchema.Fields, func(f schema.Field) bool { return f.ID == id })
		same = same && j >= 0 && fileSchema.Fields[j].Type.EqualIgnoreNull(p.types[i])
	}
	p.same[schemaID] = same
	return same, nil
}
