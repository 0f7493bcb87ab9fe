package commit

import (
	"context"
	"errors"
	"slices"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// maxFollowed bounds the snapshots between what a statement read and its commit;
// a statement that is further behind has to be repeated.
const maxFollowed = 10_000

// Read is what a statement has read before it wrote: UPDATE, DELETE, MERGE, INSERT … SELECT of the same table.
type Read struct {
	// Base is the snapshot that was read; nil = there was none.
	Base *snapshot.Snapshot
	// Relevant decides whether a change that somebody else made since then
	// matters, for example by partition, bucket and key range; nil = every one does.
	Relevant func(RowChange) (bool, error)
	// Postponed says that the table may have a postpone bucket: a compaction that moves rows out of it adds them to
	// the buckets that are read.
	Postponed bool
}

// RowChange is a change of the rows of one bucket that another commit made.
// Compactions are none, they leave the rows as they are, but for those of a postpone bucket (Read.Postponed).
type RowChange struct {
	// Snapshot is the commit.
	Snapshot *snapshot.Snapshot
	// Partition is a framed BinaryRow.
	Partition    []byte
	Bucket       int
	TotalBuckets int
	// Kind says whether File came or went.
	Kind manifest.Kind
	// File is nil where rows were deleted by deletion vectors; Vectors are those then.
	File    *manifest.DataFile
	Vectors *manifest.IndexEntry
}

// checkRead asks whether the statement may still be committed on latest.
func (c *Committer) checkRead(ctx context.Context, r *Request, latest *snapshot.Snapshot) (err error) {
	if r.Read != nil {
		err = c.follow(ctx, r.Read, latest)
	}
	if err == nil && r.Check != nil {
		err = r.Check(ctx, latest)
	}
	if errs.Is(err, errs.Conflict) {
		return errs.Conflictf("%w%w", err, stale{})
	}
	return err
}

// Overtaken makes an error of reading a snapshot that has expired meanwhile one that Stale reports.
func Overtaken(label string, err error) error {
	return errs.Conflictf("table %s: the snapshot that the statement read has expired meanwhile; repeat the statement: %w%w", label, err, stale{})
}

// stale marks the conflicts that Request.Read and Request.Check find.
type stale struct{}

func (stale) Error() string { return "" }

// Stale reports whether a commit failed because what its statement had read has changed since: nothing was
// published, and with what there is now it may succeed.
func Stale(err error) bool {
	return errs.Is(err, errs.Conflict) && errors.Is(err, stale{})
}

// follow looks at what was committed since a statement read its snapshot.
func (c *Committer) follow(ctx context.Context, read *Read, latest *snapshot.Snapshot) error {
	gone := func() error {
		return errs.Conflictf("table %s: the snapshot that the statement read is no longer part of the table's history; repeat the statement", c.t.Label)
	}
	first := int64(snapshot.FirstID)
	if b := read.Base; b != nil {
		if latest == nil || latest.ID < b.ID {
			return gone()
		}
		now := latest
		if latest.ID > b.ID {
			var err error
			// It may have expired, then what follows on it is still there or the walk below fails.
			if now, err = c.t.Snapshots.Get(ctx, b.ID); err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
		}
		if now != nil && !sameCommit(now, b) {
			return gone()
		}
		first = b.ID + 1
	}
	if latest == nil || latest.ID < first {
		return nil
	}
	if latest.ID-first >= maxFollowed {
		return errs.Conflictf("table %s: %d snapshots were committed since the statement read it; repeat the statement", c.t.Label, latest.ID-first+1)
	}
	for id := first; id <= latest.ID; id++ {
		s, err := c.t.Snapshots.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			return gone()
		}
		if err != nil {
			return err
		}
		moves := read.Postponed && s.CommitKind == snapshot.Compact
		if !moves && s.CommitKind != snapshot.Append && s.CommitKind != snapshot.Overwrite {
			continue
		}
		changes, err := c.changesOf(ctx, s)
		if err != nil {
			return err
		}
		if moves && !slices.ContainsFunc(changes, func(x RowChange) bool { return x.Bucket == schema.PostponeBucket }) {
			continue
		}
		for i := range changes {
			in := true
			if read.Relevant != nil {
				if in, err = read.Relevant(changes[i]); err != nil {
					return err
				}
			}
			if in {
				return errs.Conflictf("table %s: snapshot %d, which another writer committed, changed what the statement had read; repeat the statement", c.t.Label, s.ID)
			}
		}
	}
	return nil
}

// sameCommit reports whether two snapshots of one id are the same: after a
// rollback an id is used again. Paimon before 2.0 writes no UUID.
func sameCommit(a, b *snapshot.Snapshot) bool {
	return a.ID == b.ID && a.UUID == b.UUID && a.DeltaManifestList == b.DeltaManifestList
}

// changesOf lists what a snapshot changed: the files of its delta, and the index
// files of deletion vectors that were not in the snapshot before.
func (c *Committer) changesOf(ctx context.Context, s *snapshot.Snapshot) ([]RowChange, error) {
	infos, err := c.t.Store.ReadList(ctx, s.DeltaManifestList)
	if err != nil {
		return nil, err
	}
	lists, err := c.t.Store.ReadManifests(ctx, infos)
	if err != nil {
		return nil, err
	}
	var out []RowChange
	for _, list := range lists {
		for i := range list {
			e := &list[i]
			out = append(out, RowChange{Snapshot: s, Partition: e.Partition, Bucket: e.Bucket, TotalBuckets: e.TotalBuckets, Kind: e.Kind, File: e.File})
		}
	}
	if s.IndexManifest == "" || s.CommitKind == snapshot.Append {
		return out, nil
	}
	now, err := c.t.Store.ReadIndexManifest(ctx, s.IndexManifest)
	if err != nil {
		return nil, err
	}
	before := map[string]bool{}
	if s.ID > snapshot.FirstID {
		prev, err := c.t.Snapshots.Get(ctx, s.ID-1)
		switch {
		case errs.Is(err, errs.NotFound): // expired: everything may be new
		case err != nil:
			return nil, err
		default:
			if prev.IndexManifest == s.IndexManifest {
				return out, nil
			}
			old, err := c.t.Store.ReadIndexManifest(ctx, prev.IndexManifest)
			if err != nil && !errs.Is(err, errs.NotFound) {
				return nil, err
			}
			for i := range old {
				before[old[i].Name] = true
			}
		}
	}
	for i := range now {
		if e := &now[i]; e.Type == manifest.IndexDeletionVectors && !before[e.Name] {
			out = append(out, RowChange{Snapshot: s, Partition: e.Partition, Bucket: e.Bucket, Kind: manifest.Add, Vectors: e})
		}
	}
	return out, nil
}
