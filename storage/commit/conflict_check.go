package commit

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// checkConflicts makes the checks of section 12.3 of the format, and those that this
// committer makes beyond Paimon's: an APPEND must use the bucket count that its
// partitions have, and a bucket's deletion vectors must not be lost.
func (a *attempt) checkConflicts(ctx context.Context) error {
	touched, err := a.partitions(a.delta)
	if err != nil {
		return err
	}
	full, bucketed := a.ch.kind != snapshot.Append, false
	for i := range a.indexAdd {
		full = full || a.indexAdd[i].Global != nil
		if a.indexAdd[i].Type != manifest.IndexDeletionVectors {
			continue
		}
		full = true
		p, err := a.parts.Canonical(a.indexAdd[i].Partition)
		if err != nil {
			return err
		}
		touched[p] = true
	}
	if err := a.checkStrict(ctx, touched); err != nil {
		return err
	}
	for i := range a.delta {
		full = full || a.delta[i].Kind == manifest.Delete
		bucketed = bucketed || a.delta[i].TotalBuckets > 0
	}
	if !full && !bucketed || len(touched) == 0 {
		return nil
	}
	live, err := a.liveIn(ctx, touched)
	if err != nil {
		return err
	}
	if err := a.checkBuckets(live); err != nil || !full {
		return err
	}
	state, err := a.applyDelta(live)
	if err != nil {
		return err
	}
	if err := a.checkLevels(state); err != nil {
		return err
	}
	return a.checkVectors(state)
}

// applyDelta returns the live files after the commit, by identity. A deletion must
// find its file, an addition must not.
func (a *attempt) applyDelta(live []*manifest.Entry) (map[string]*manifest.Entry, error) {
	label := a.c.t.Label
	state := make(map[string]*manifest.Entry, len(live)+len(a.delta))
	for _, e := range live {
		id, err := a.identity(e)
		if err != nil {
			return nil, err
		}
		state[id] = e
	}
	added := map[string]bool{}
	for i := range a.delta {
		e := &a.delta[i]
		id, err := a.identity(e)
		if err != nil {
			return nil, err
		}
		switch {
		case e.Kind == manifest.Add && (state[id] != nil || added[id]):
			return nil, errs.Conflictf("table %s: data file %s is committed already; repeat the statement", label, e.File.Name)
		case e.Kind == manifest.Add:
			added[id], state[id] = true, e
		case added[id]:
			return nil, errs.Invalidf("table %s: a commit adds and deletes data file %s", label, e.File.Name)
		case state[id] == nil:
			return nil, errs.Conflictf("table %s: data file %s was removed by another writer meanwhile (a compaction or an overwrite); repeat the statement", label, e.File.Name)
		default:
			delete(state, id)
		}
	}
	return state, nil
}

// checkBuckets demands one bucket count a partition: of new files among each other
// and of the files that they join. Those are the ones that are live already or, with an OVERWRITE, the ones
// that it leaves.
func (a *attempt) checkBuckets(live []*manifest.Entry) error {
	gone := map[string]bool{}
	if a.ch.kind == snapshot.Overwrite {
		for i := range a.delta {
			if a.delta[i].Kind != manifest.Delete {
				continue
			}
			id, err := a.identity(&a.delta[i])
			if err != nil {
				return err
			}
			gone[id] = true
		}
	}
	counts := map[string]int{}
	for _, e := range live {
		if e.TotalBuckets <= 0 {
			continue
		}
		p, err := a.parts.Canonical(e.Partition)
		if err != nil {
			return err
		}
		if len(gone) == 0 || !gone[e.Identity(p)] {
			counts[p] = e.TotalBuckets
		}
	}
	for i := range a.delta {
		e := &a.delta[i]
		if e.Kind != manifest.Add || e.TotalBuckets <= 0 {
			continue
		}
		p, err := a.parts.Canonical(e.Partition)
		if err != nil {
			return err
		}
		if old, ok := counts[p]; ok && old != e.TotalBuckets {
			return BucketMismatch(a.c.t.Label, a.c.partitionText(e.Partition), e.TotalBuckets, old)
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
func (a *attempt) checkLevels(state map[string]*manifest.Entry) error {
	s := a.c.t.Schema
	if !s.HasPrimaryKey() || schema.OptClusteringOverride.Value(s.Options) {
		return nil
	}
	type place struct {
		partition     string
		bucket, level int
	}
	// Only places that get a file can get an overlap.
	changed := map[place]bool{}
	at := func(e *manifest.Entry) (place, error) {
		p, err := a.parts.Canonical(e.Partition)
		return place{p, e.Bucket, e.File.Level}, err
	}
	for i := range a.delta {
		if e := &a.delta[i]; e.Kind == manifest.Add && e.File.Level > 0 {
			p, err := at(e)
			if err != nil {
				return err
			}
			changed[p] = true
		}
	}
	levels := map[place][]*manifest.Entry{}
	for _, e := range state {
		p, err := at(e)
		if err != nil {
			return err
		}
		if changed[p] {
			levels[p] = append(levels[p], e)
		}
	}
	types := s.KeyTypes()
	type span struct {
		min, max []column.Scalar
		name     string
	}
	for p, files := range levels {
		spans := make([]span, 0, len(files))
		for _, e := range files {
			lo, err := binrow.DecodeRow(types, e.File.MinKey)
			if err != nil {
				return fmt.Errorf("data file %s: its least key: %w", e.File.Name, err)
			}
			hi, err := binrow.DecodeRow(types, e.File.MaxKey)
			if err != nil {
				return fmt.Errorf("data file %s: its greatest key: %w", e.File.Name, err)
			}
			spans = append(spans, span{lo, hi, e.File.Name})
		}
		slices.SortFunc(spans, func(a, b span) int { return binrow.Compare(a.min, b.min) })
		for i := 1; i < len(spans); i++ {
			if binrow.Compare(spans[i-1].max, spans[i].min) >= 0 {
				return errs.Conflictf("table %s, bucket %d: the keys of the files %s and %s of level %d would overlap, since another writer compacted meanwhile; repeat the statement",
					a.c.t.Label, p.bucket, spans[i-1].name, spans[i].name, p.level)
			}
		}
	}
	return nil
}

// checkStrict fails where, after the snapshot of option commit.strict-mode.last-safe-snapshot, another
// user compacted or overwrote the partitions that are touched, or appended to real
// buckets of those that an OVERWRITE touches (StrictModeChecker of 2.0).
func (a *attempt) checkStrict(ctx context.Context, touched map[string]bool) error {
	safe := schema.OptStrictSafeSnapshot.Value(a.c.t.Schema.Options)
	if safe < 0 || a.latest == nil || len(touched) == 0 {
		return nil
	}
	for id := a.latest.ID; id > safe; id-- {
		s, err := a.c.t.Snapshots.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			return nil // older ones have expired as well
		}
		if err != nil {
			return err
		}
		appended := s.CommitKind == snapshot.Append && a.ch.kind == snapshot.Overwrite
		if s.CommitUser == a.r.User || !appended && s.CommitKind != snapshot.Compact && s.CommitKind != snapshot.Overwrite {
			continue
		}
		in, err := a.touches(ctx, s, touched, appended)
		if err != nil {
			return err
		}
		if in {
			return errs.Conflictf("table %s: snapshot %d of kind %s changed the same partitions, later than the snapshot %d of option 'commit.strict-mode.last-safe-snapshot'", a.c.t.Label, id, s.CommitKind, safe)
		}
	}
	return nil
}

// touches reports whether a snapshot changed files of partitions; fixed counts
// files of real buckets only.
func (a *attempt) touches(ctx context.Context, s *snapshot.Snapshot, partitions map[string]bool, fixed bool) (bool, error) {
	changes, err := a.c.changesOf(ctx, s)
	if err != nil {
		return false, err
	}
	for _, x := range changes {
		if fixed && (x.File == nil || x.TotalBuckets <= 0) {
			continue
		}
		p, err := a.parts.Canonical(x.Partition)
		if err != nil {
			return false, err
		}
		if partitions[p] {
			return true, nil
		}
	}
	return false, nil
}
