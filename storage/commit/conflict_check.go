package commit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// liveOf reads the live entries of the partitions that match.
func (c *Committer) liveOf(ctx context.Context, latest *snapshot.Snapshot, match func(partition []byte) (bool, error)) ([]*manifest.Entry, error) {
	if latest == nil {
		return nil, nil
	}
	infos, err := c.baseOf(ctx, latest)
	if err != nil {
		return nil, err
	}
	var failed error
	seen := map[string]bool{}
	live, err := c.t.Store.Live(ctx, infos, c.t.Schema.PartitionTypes(), func(e *manifest.Entry) bool {
		in, ok := seen[string(e.Partition)]
		if !ok {
			if in, err = match(e.Partition); err != nil {
				failed = err
			}
			seen[string(e.Partition)] = in
		}
		return in
	})
	if err == nil {
		err = failed
	}
	return live, err
}

// resolve completes the entries of a change for the base that it will have: an
// OVERWRITE deletes what is live in its partitions.
func (c *Committer) resolve(ctx context.Context, ch *change, latest *snapshot.Snapshot) (delta []manifest.Entry, indexDelete []manifest.IndexEntry, err error) {
	o := ch.overwrite
	if o == nil {
		return ch.delta, ch.indexDelete, nil
	}
	types := c.t.Schema.PartitionTypes()
	parts := manifest.NewPartitions(types)
	touched := map[string]bool{}
	for i := range ch.delta {
		p, err := parts.Canonical(ch.delta[i].Partition)
		if err != nil {
			return nil, nil, err
		}
		touched[p] = true
	}
	keys := c.t.Schema.PartitionKeys
	match := func(framed []byte) (bool, error) {
		if o.Match == nil && o.Dynamic && len(keys) > 0 {
			p, err := parts.Canonical(framed)
			return touched[p], err
		}
		vals, err := binrow.DecodeRow(types, framed)
		if err != nil {
			return false, err
		}
		if o.Match != nil {
			return o.Match(vals), nil
		}
		for name, want := range o.Static {
			i := slices.Index(keys, name)
			if i < 0 {
				return false, errs.Invalidf("table %s: '%s' is no partition column", c.t.Label, name)
			}
			if vals[i].Null != want.Null || !want.Null && binrow.Compare(vals[i:i+1], []column.Scalar{want}) != 0 {
				return false, nil
			}
		}
		return true, nil
	}
	for i := range ch.delta {
		in, err := match(ch.delta[i].Partition)
		if err != nil {
			return nil, nil, err
		}
		if !in {
			return nil, nil, errs.Invalidf("Trying to overwrite partition %s of table %s, but the changes in %s does not belong to this partition",
				staticText(o), c.t.Label, c.partitionText(ch.delta[i].Partition))
		}
	}
	live, err := c.liveOf(ctx, latest, match)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range live {
		d := *e
		d.Kind = manifest.Delete
		delta = append(delta, d)
	}
	delta = append(delta, ch.delta...)
	indexDelete = append(indexDelete, ch.indexDelete...)
	if latest != nil && latest.IndexManifest != "" {
		old, err := c.t.Store.ReadIndexManifest(ctx, latest.IndexManifest)
		if err != nil {
			return nil, nil, err
		}
		for i := range old {
			in, err := match(old[i].Partition)
			if err != nil {
				return nil, nil, err
			}
			if in {
				indexDelete = append(indexDelete, old[i])
			}
		}
	}
	return delta, indexDelete, nil
}

func staticText(o *Overwrite) string {
	var parts []string
	for k, v := range o.Static {
		parts = append(parts, fmt.Sprintf("%s=%v", k, scalarText(v)))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

func scalarText(v column.Scalar) string {
	switch {
	case v.Null:
		return "null"
	case v.Kind == column.KindBytes:
		return string(v.B)
	}
	return fmt.Sprint(v.I)
}

// partitionText names a partition in messages.
func (c *Committer) partitionText(framed []byte) string {
	fields := c.t.Schema.PartitionFields()
	vals, err := binrow.DecodeRow(schema.Types(fields), framed)
	if err != nil || len(vals) == 0 {
		return "the table"
	}
	texts, err := binrow.PartitionValues(fields, vals, schema.OptPartitionDefault.Value(c.t.Schema.Options), false)
	if err != nil {
		return "a partition"
	}
	for i := range texts {
		texts[i] = fields[i].Name + "=" + texts[i]
	}
	return strings.Join(texts, ",")
}

// checkConflicts makes the checks of section 12.3 of the format, and those that this
// committer makes beyond Paimon's: an APPEND must use the bucket count that its partitions have.
func (c *Committer) checkConflicts(ctx context.Context, ch *change, delta []manifest.Entry, latest *snapshot.Snapshot) error {
	if len(delta) == 0 {
		return c.checkStrict(ctx, ch, delta, latest)
	}
	parts := manifest.NewPartitions(c.t.Schema.PartitionTypes())
	touched := map[string]bool{}
	bucketed := false
	for i := range delta {
		p, err := parts.Canonical(delta[i].Partition)
		if err != nil {
			return err
		}
		touched[p] = true
		bucketed = bucketed || delta[i].TotalBuckets > 0
	}
	check := ch.kind != snapshot.Append
	for i := range delta {
		check = check || delta[i].Kind == manifest.Delete
	}
	if !check && !bucketed {
		return nil
	}
	live, err := c.liveOf(ctx, latest, func(framed []byte) (bool, error) {
		p, err := parts.Canonical(framed)
		return touched[p], err
	})
	if err != nil {
		return err
	}
	if ch.kind != snapshot.Overwrite || ch.overwrite == nil {
		if err := c.checkBuckets(parts, live, delta); err != nil {
			return err
		}
	}
	if !check {
		return nil
	}
	state := map[string]*manifest.Entry{}
	for _, e := range live {
		p, err := parts.Canonical(e.Partition)
		if err != nil {
			return err
		}
		state[e.Identity(p)] = e
	}
	added := map[string]bool{}
	for i := range delta {
		e := &delta[i]
		p, err := parts.Canonical(e.Partition)
		if err != nil {
			return err
		}
		id := e.Identity(p)
		if e.Kind == manifest.Add {
			if state[id] != nil || added[id] {
				return errs.Conflictf("table %s: data file %s is committed already; repeat the statement", c.t.Label, e.File.Name)
			}
			added[id], state[id] = true, e
			continue
		}
		if added[id] {
			return errs.Invalidf("table %s: a commit adds and deletes data file %s", c.t.Label, e.File.Name)
		}
		if state[id] == nil {
			return errs.Conflictf("table %s: data file %s was removed by another writer meanwhile (a compaction or an overwrite); repeat the statement", c.t.Label, e.File.Name)
		}
		delete(state, id)
	}
	if err := c.checkLevels(parts, state); err != nil {
		return err
	}
	return c.checkStrict(ctx, ch, delta, latest)
}

// checkBuckets demands one bucket count a partition.
func (c *Committer) checkBuckets(parts *manifest.Partitions, live []*manifest.Entry, delta []manifest.Entry) error {
	counts := map[string]int{}
	for _, e := range live {
		if e.TotalBuckets > 0 {
			p, err := parts.Canonical(e.Partition)
			if err != nil {
				return err
			}
			counts[p] = e.TotalBuckets
		}
	}
	for i := range delta {
		e := &delta[i]
		if e.Kind != manifest.Add || e.TotalBuckets <= 0 {
			continue
		}
		p, err := parts.Canonical(e.Partition)
		if err != nil {
			return err
		}
		if old, ok := counts[p]; ok && old != e.TotalBuckets {
			return BucketMismatch(c.t.Label, c.partitionText(e.Partition), e.TotalBuckets, old)
		}
		counts[p] = e.TotalBuckets
	}
	return nil
}

// BucketMismatch is the error of a write with another bucket count than the partition has.
func BucketMismatch(label, partition string, want, have int) error {
	return errs.Invalidf("Try to write table with a new bucket num %d, but the previous bucket num is %d. Please switch to batch mode, and perform INSERT OVERWRITE to rescale current data layout first. (table %s, partition %s)", want, have, label, partition)
}

// checkLevels demands disjoint key ranges of the files of each level above 0.
func (c *Committer) checkLevels(parts *manifest.Partitions, state map[string]*manifest.Entry) error {
	s := c.t.Schema
	if !s.HasPrimaryKey() || schema.OptClusteringOverride.Value(s.Options) {
		return nil
	}
	type place struct {
		partition     string
		bucket, level int
	}
	levels := map[place][]*manifest.Entry{}
	for _, e := range state {
		if e.File.Level == 0 {
			continue
		}
		p, err := parts.Canonical(e.Partition)
		if err != nil {
			return err
		}
		at := place{p, e.Bucket, e.File.Level}
		levels[at] = append(levels[at], e)
	}
	types := s.KeyTypes()
	for at, files := range levels {
		type span struct {
			min, max []column.Scalar
			name     string
		}
		spans := make([]span, 0, len(files))
		for _, e := range files {
			lo, err := binrow.DecodeRow(types, e.File.MinKey)
			if err != nil {
				return fmt.Errorf("data file %s: %w", e.File.Name, err)
			}
			hi, err := binrow.DecodeRow(types, e.File.MaxKey)
			if err != nil {
				return fmt.Errorf("data file %s: %w", e.File.Name, err)
			}
			spans = append(spans, span{lo, hi, e.File.Name})
		}
		slices.SortFunc(spans, func(a, b span) int { return binrow.Compare(a.min, b.min) })
		for i := 1; i < len(spans); i++ {
			if binrow.Compare(spans[i-1].max, spans[i].min) >= 0 {
				return errs.Conflictf("table %s, bucket %d: the keys of the files %s and %s of level %d would overlap, since another writer compacted meanwhile; repeat the statement",
					c.t.Label, at.bucket, spans[i-1].name, spans[i].name, at.level)
			}
		}
	}
	return nil
}

// checkStrict fails where somebody else compacted or overwrote after the snapshot of option commit.strict-mode.last-safe-snapshot.
func (c *Committer) checkStrict(ctx context.Context, ch *change, delta []manifest.Entry, latest *snapshot.Snapshot) error {
	safe := schema.OptStrictSafeSnapshot.Value(c.t.Schema.Options)
	if safe < 0 || latest == nil {
		return nil
	}
	for id := safe + 1; id <= latest.ID; id++ {
		s, err := c.t.Snapshots.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if s.CommitKind == snapshot.Compact || s.CommitKind == snapshot.Overwrite {
			return errs.Conflictf("table %s: snapshot %d is of kind %s and later than the snapshot %d of option 'commit.strict-mode.last-safe-snapshot'", c.t.Label, id, s.CommitKind, safe)
		}
	}
	return nil
}

// nextIndex applies changes to an index state (section 4.4 of the format).
// Entries of kinds that are not touched stay as they are.
func (c *Committer) nextIndex(old, add, remove []manifest.IndexEntry) ([]manifest.IndexEntry, error) {
	bucketed := c.t.Schema.HasPrimaryKey() || c.t.Schema.Bucket() > 0
	parts := manifest.NewPartitions(c.t.Schema.PartitionTypes())
	key := func(e *manifest.IndexEntry) (string, error) {
		p, err := parts.Canonical(e.Partition)
		if err != nil {
			return "", err
		}
		if e.Global == nil && (e.Type == manifest.IndexHash || e.Type == manifest.IndexDeletionVectors && bucketed) {
			return fmt.Sprintf("%s/%d/%s", e.Type, e.Bucket, p), nil
		}
		return "file/" + e.Name, nil
	}
	out := slices.Clone(old)
	for i := range remove {
		at := slices.IndexFunc(out, func(e manifest.IndexEntry) bool {
			return e.Name == remove[i].Name && bytes.Equal(e.Partition, remove[i].Partition)
		})
		if at < 0 {
			return nil, errs.Conflictf("table %s: index file %s was replaced by another writer meanwhile; repeat the statement", c.t.Label, remove[i].Name)
		}
		out = slices.Delete(out, at, at+1)
	}
	for i := range add {
		k, err := key(&add[i])
		if err != nil {
			return nil, err
		}
		at := -1
		for j := range out {
			kj, err := key(&out[j])
			if err != nil {
				return nil, err
			}
			if kj == k {
				at = j
				break
			}
		}
		if at >= 0 {
			out[at] = add[i]
		} else {
			out = append(out, add[i])
		}
	}
	if !bucketed {
		if err := oneVectorEach(c.t.Label, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// oneVectorEach refuses a state in which a data file has two deletion vectors.
func oneVectorEach(label string, entries []manifest.IndexEntry) error {
	seen := map[string]string{}
	for i := range entries {
		for _, r := range entries[i].Ranges {
			if other, ok := seen[r.DataFile]; ok {
				return errs.Conflictf("table %s: data file %s has deletion vectors in %s and %s, since another writer deleted rows of it meanwhile; repeat the statement", label, r.DataFile, other, entries[i].Name)
			}
			seen[r.DataFile] = entries[i].Name
		}
	}
	return nil
}
