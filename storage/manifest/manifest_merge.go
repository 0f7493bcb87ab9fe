package manifest

import (
	"context"
	"slices"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
)

// Defaults of MergeOptions.
const (
	DefaultFullMergeSize = 16 << 20
	DefaultMergeMinCount = 30
)

// MergeOptions say when manifests are merged (section 4.7 of the format).
type MergeOptions struct {
	WriteOptions
	// FullMergeSize is option manifest.full-compaction-threshold-size: the size of
	// changed and small manifests that leads to a full merge; 0 = DefaultFullMergeSize.
	FullMergeSize int64
	// MinCount is option manifest.merge-min-count; 0 = DefaultMergeMinCount.
	MinCount int
	// Always merges fully, whatever the sizes (procedure compact_manifest).
	Always bool
}

// MergeManifests replaces manifests of a base by fewer ones with the same live
// entries in the same order (ManifestFileMerger). The result names old manifests that stay and
// new ones; written lists the new ones. On an error the new ones have been removed.
func (s *Store) MergeManifests(ctx context.Context, infos []FileInfo, o MergeOptions) (out, written []FileInfo, err error) {
	if o.TargetSize <= 0 {
		o.TargetSize = DefaultTargetSize
	}
	if o.FullMergeSize <= 0 {
		o.FullMergeSize = DefaultFullMergeSize
	}
	if o.MinCount <= 0 {
		o.MinCount = DefaultMergeMinCount
	}
	defer func() {
		if err != nil {
			s.Delete(ctx, NamesOf(written)...)
			out, written = nil, nil
		}
	}()
	out, written, done, err := s.mergeFully(ctx, infos, &o)
	if err != nil || done {
		return out, written, err
	}
	return s.mergeSmall(ctx, infos, &o)
}

// mergeFully removes deletions, with the entries that they cancel, if the
// manifests that have to change are big enough together.
func (s *Store) mergeFully(ctx context.Context, infos []FileInfo, o *MergeOptions) (out, written []FileInfo, done bool, err error) {
	var size int64
	deletes := false
	for i := range infos {
		if mustChange(&infos[i], o) {
			size += infos[i].Size
		}
		deletes = deletes || infos[i].Deleted > 0
	}
	if !o.Always && size < o.FullMergeSize || o.Always && !deletes && len(infos) < 2 {
		return nil, nil, false, nil
	}
	all, err := s.ReadManifests(ctx, infos)
	if err != nil {
		return nil, nil, false, err
	}
	parts := NewPartitions(o.PartitionTypes)
	deleted, ranged := map[string]bool{}, map[string]bool{}
	for _, m := range all {
		for i := range m {
			if m[i].Kind != Delete {
				continue
			}
			p, err := parts.Canonical(m[i].Partition)
			if err != nil {
				return nil, nil, false, err
			}
			deleted[m[i].Identity(p)], ranged[p] = true, true
		}
	}
	var partitions [][]column.Scalar
	for p := range ranged {
		vals, err := binrow.DecodeRow(o.PartitionTypes, []byte(p))
		if err != nil {
			return nil, nil, false, err
		}
		partitions = append(partitions, vals)
	}
	var merged []Entry
	changed := 0
	for i, m := range all {
		change := mustChange(&infos[i], o) || o.Always
		if !change && len(deleted) > 0 {
			change = mayHold(&infos[i], partitions, o)
		}
		if !change {
			out = append(out, infos[i])
			continue
		}
		changed++
		for j := range m {
			if m[j].Kind == Delete {
				continue
			}
			p, err := parts.Canonical(m[j].Partition)
			if err != nil {
				return nil, nil, false, err
			}
			if !deleted[m[j].Identity(p)] {
				merged = append(merged, m[j])
			}
		}
	}
	if changed < 2 && !deletes {
		return nil, nil, false, nil
	}
	if written, err = s.WriteManifests(ctx, merged, o.WriteOptions); err != nil {
		return nil, nil, false, err
	}
	return append(out, written...), written, true, nil
}

func mustChange(i *FileInfo, o *MergeOptions) bool {
	return i.Deleted > 0 || i.Size < o.TargetSize
}

// mayHold reports whether the partition bounds of a manifest leave one of the partitions in.
func mayHold(info *FileInfo, partitions [][]column.Scalar, o *MergeOptions) bool {
	for _, p := range partitions {
		in := true
		for c, v := range p {
			st, ok := info.PartitionColumn(o.PartitionTypes, c)
			if !ok || v.Null || !st.HasBounds {
				continue
			}
			if binrow.Compare([]column.Scalar{v}, []column.Scalar{st.Min}) < 0 || binrow.Compare([]column.Scalar{v}, []column.Scalar{st.Max}) > 0 {
				in = false
				break
			}
		}
		if in {
			return true
		}
	}
	return false
}

// mergeSmall joins neighbouring manifests until they reach the target size, and
// the rest if there are many.
func (s *Store) mergeSmall(ctx context.Context, infos []FileInfo, o *MergeOptions) (out, written []FileInfo, err error) {
	var group []FileInfo
	var size int64
	flush := func() error {
		if len(group) < 2 {
			out = append(out, group...)
		} else {
			w, err := s.join(ctx, group, o)
			written = append(written, w...)
			if err != nil {
				return err
			}
			out = append(out, w...)
		}
		group, size = nil, 0
		return nil
	}
	for _, i := range infos {
		group = append(group, i)
		if size += i.Size; size >= o.TargetSize {
			if err := flush(); err != nil {
				return nil, written, err
			}
		}
	}
	if len(group) < o.MinCount {
		return append(out, group...), written, nil
	}
	err = flush()
	return out, written, err
}

// join merges the entries of some manifests in order: an addition and its
// deletion within them vanish together, other deletions stay.
func (s *Store) join(ctx context.Context, infos []FileInfo, o *MergeOptions) ([]FileInfo, error) {
	all, err := s.ReadManifests(ctx, infos)
	if err != nil {
		return nil, err
	}
	parts := NewPartitions(o.PartitionTypes)
	var entries []*Entry
	at := map[string]int{} // of additions, by identity
	for _, m := range all {
		for i := range m {
			e := &m[i]
			p, err := parts.Canonical(e.Partition)
			if err != nil {
				return nil, err
			}
			id := e.Identity(p)
			if e.Kind == Add {
				at[id] = len(entries)
				entries = append(entries, e)
				continue
			}
			if k, ok := at[id]; ok {
				entries[k] = nil
				delete(at, id)
				continue
			}
			entries = append(entries, e)
		}
	}
	entries = slices.DeleteFunc(entries, func(e *Entry) bool { return e == nil })
	flat := make([]Entry, len(entries))
	for i, e := range entries {
		flat[i] = *e
	}
	return s.WriteManifests(ctx, flat, o.WriteOptions)
}
