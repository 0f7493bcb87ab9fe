package table

import (
	"context"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// partitionID identifies a partition by value (scan.File.PartitionID).
func partitionID(t *Table, values []column.Scalar) string {
	return string(binrow.EncodeRow(t.schema.PartitionTypes(), values))
}

// PartitionText is the text of a partition value in specifications: the value
// cast to STRING; the default name for NULL.
func (t *Table) PartitionText(i int, v column.Scalar) string {
	if v.Null {
		return schema.OptPartitionDefault.Value(t.schema.Options)
	}
	return string(cast.AppendScalar(nil, t.schema.PartitionFields()[i].Type, v))
}

// partitionHint turns option scan.partitions into a filter: `dt=x,hh=1;dt=y`,
// or max_pt() for the greatest partition; nil without it.
func (t *Table) partitionHint(ctx context.Context, st *State) (func([]column.Scalar) bool, error) {
	text, set := t.schema.Options["scan.partitions"]
	if !set || strings.TrimSpace(text) == "" {
		return nil, nil
	}
	keys := t.schema.PartitionKeys
	if len(keys) == 0 {
		return nil, errs.Invalidf("table %s: option scan.partitions needs a partitioned table", t.Label())
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "max_pt()", "max_two_pt()":
		n := 1
		if strings.Contains(strings.ToLower(text), "two") {
			n = 2
		}
		return t.greatestPartitions(ctx, st, n)
	}
	var specs []map[string]string
	for _, spec := range strings.Split(text, ";") {
		m := map[string]string{}
		for _, kv := range strings.Split(spec, ",") {
			k, v, ok := strings.Cut(kv, "=")
			k = strings.TrimSpace(k)
			known := false
			for _, key := range keys {
				known = known || key == k
			}
			if !ok || !known {
				return nil, errs.Invalidf("table %s: option scan.partitions: '%s' is no partition of the keys (%s); write e.g. %s=value", t.Label(), kv, strings.Join(keys, ", "), keys[0])
			}
			m[k] = strings.TrimSpace(v)
		}
		specs = append(specs, m)
	}
	return func(v []column.Scalar) bool {
		for _, m := range specs {
			match := true
			for i, k := range keys {
				if want, ok := m[k]; ok && want != t.PartitionText(i, v[i]) {
					match = false
				}
			}
			if match {
				return true
			}
		}
		return false
	}, nil
}

// greatestPartitions admits the n greatest partitions.
func (t *Table) greatestPartitions(ctx context.Context, st *State, n int) (func([]column.Scalar) bool, error) {
	parts, _, err := t.Source().Partitions(ctx, st.Snapshot, scan.Request{})
	if err != nil {
		return nil, err
	}
	var best [][]column.Scalar
	for _, p := range parts {
		at := len(best)
		for at > 0 && binrow.Compare(p, best[at-1]) > 0 {
			at--
		}
		best = append(best[:at], append([][]column.Scalar{p}, best[at:]...)...)
		if len(best) > n {
			best = best[:n]
		}
	}
	return func(v []column.Scalar) bool {
		for _, b := range best {
			if binrow.Compare(v, b) == 0 {
				return true
			}
		}
		return false
	}, nil
}

// PartitionFiles is a partition and its live files.
type PartitionFiles struct {
	Values []column.Scalar
	// Files are of all levels and of all buckets but the postpone bucket.
	Files []*scan.File
	// Of is the branch that supplies the partition.
	Of *Table
	// Updated is the latest creation time of the partition's files, those
	// removed since and still in the manifests included (wall clock milliseconds); nil unknown.
	Updated *int64
}

// PartitionFiles lists the partitions of the state with their files, those of
// the branch of lower precedence only where the other has none (listing of section 4).
func (t *Table) PartitionFiles(ctx context.Context) ([]PartitionFiles, error) {
	var branches []*Table
	switch {
	case t.first != nil:
		branches = []*Table{t.first, t.second}
	case t.chain != nil:
		branches = []*Table{t, t.chain.snap, t.chain.delta}
	default:
		return t.ownPartitionFiles(ctx)
	}
	have := map[string]bool{}
	var out []PartitionFiles
	for _, b := range branches {
		st, err := b.State(ctx)
		if err != nil {
			return nil, err
		}
		// A partition whose files no read sees yet counts as missing.
		_, visible, err := b.Source().Partitions(ctx, st.Snapshot, scan.Request{})
		if err != nil {
			return nil, err
		}
		list, err := b.ownPartitionFiles(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if id := partitionID(b, p.Values); visible[id] && !have[id] {
				have[id] = true
				out = append(out, p)
			}
		}
	}
	return out, nil
}

func (t *Table) ownPartitionFiles(ctx context.Context) ([]PartitionFiles, error) {
	st, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	files, updated, err := t.filesOf(ctx, st.Snapshot, false)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	var out []PartitionFiles
	for _, f := range files {
		i, ok := at[f.PartitionID]
		if !ok {
			i = len(out)
			at[f.PartitionID] = i
			out = append(out, PartitionFiles{Values: f.Partition, Of: t, Updated: updated(f.PartitionID, anyBucket)})
		}
		out[i].Files = append(out[i].Files, f)
	}
	return out, nil
}

// LiveFiles lists the live files of the state's snapshot in this branch, of all
// levels and of all buckets but the postpone bucket.
func (t *Table) LiveFiles(ctx context.Context) ([]*scan.File, error) {
	st, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	files, _, err := t.filesOf(ctx, st.Snapshot, false)
	return files, err
}

// NewestFiles lists the live files of the branch's newest snapshot, whatever the
// time travel, and tells when a bucket was last written.
func (t *Table) NewestFiles(ctx context.Context) (files []*scan.File, updated func(partitionID string, bucket int) *int64, err error) {
	snap, err := t.latest(ctx)
	if err != nil {
		return nil, nil, err
	}
	return t.filesOf(ctx, snap, true)
}

// anyBucket stands for all buckets of a partition.
const anyBucket = -1 << 31

func (t *Table) filesOf(ctx context.Context, snap *snapshot.Snapshot, postponed bool) ([]*scan.File, func(string, int) *int64, error) {
	src := t.Source()
	all, _, err := src.LiveFiles(ctx, snap, scan.Request{})
	if err != nil {
		return nil, nil, err
	}
	files := slices.DeleteFunc(all, func(f *scan.File) bool { return f.Bucket < 0 && !postponed })
	type id struct {
		partition string
		bucket    int
	}
	newest := map[id]*int64{}
	err = src.EachEntry(ctx, snap, func(partition string, e *manifest.Entry) {
		c := e.File.CreationMillis
		for _, k := range []id{{partition, e.Bucket}, {partition, anyBucket}} {
			if c != nil && (postponed || e.Bucket >= 0) && (newest[k] == nil || *c > *newest[k]) {
				newest[k] = c
			}
		}
	})
	return files, func(p string, b int) *int64 { return newest[id{p, b}] }, err
}

// PartitionSpec is a partition as $partitions names it, e.g. dt=2026-01-01/hh=5:
// values cast to STRING, the default name for NULL and blank ones; "" for an unpartitioned table.
func (t *Table) PartitionSpec(values []column.Scalar) string {
	parts := make([]string, len(values))
	for i, v := range values {
		text := t.PartitionText(i, v)
		if strings.TrimSpace(text) == "" {
			text = schema.OptPartitionDefault.Value(t.schema.Options)
		}
		parts[i] = t.schema.PartitionKeys[i] + "=" + text
	}
	return strings.Join(parts, "/")
}

// matchPartition is a filter by a predicate over partition keys.
func matchPartition(p predicate.Predicate) func([]column.Scalar) bool {
	return func(v []column.Scalar) bool {
		return predicate.Matches(p, func(i int) column.Scalar { return v[i] })
	}
}
