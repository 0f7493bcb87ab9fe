package commit

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// publish makes one snapshot of a change, again on a newer base where somebody
// else was faster (FileStoreCommitImpl.tryCommit). It returns nil where nothing had to be done.
func (c *Committer) publish(ctx context.Context, r *Request, ch *change) (_ *snapshot.Snapshot, err error) {
	// doubt is the error of an earlier attempt whose outcome is not known, at snapshot doubtID.
	var doubt error
	var doubtID int64
	defer func() {
		if err != nil && doubt != nil && !errs.Is(err, errs.Uncertain) {
			err = errs.Uncertainf("%w; then: %w", doubt, err)
		}
	}()
	opts := c.t.Schema.Options
	retries := schema.OptCommitRetries.Value(opts)
	most := schema.OptCommitMaxWait.Value(opts)
	wait := min(schema.OptCommitMinWait.Value(opts), most)
	timeout, limited, err := schema.OptCommitTimeout.Lookup(opts)
	if err != nil {
		return nil, err
	}
	start := c.t.Clock()
	for try := 0; ; try++ {
		latest, err := c.t.Snapshots.Latest(ctx)
		if err != nil {
			return nil, err
		}
		if doubt != nil {
			done, settled, err := c.committed(ctx, r, ch, doubtID, latest)
			if err != nil || done != nil {
				return done, err
			}
			if settled {
				doubt = nil
			}
		}
		if err := c.checkRead(ctx, r, latest); err != nil {
			return nil, err
		}
		s, written, created, err := c.attempt(ctx, r, ch, latest)
		if c.t.Snapshots.Expired(ctx, latest, err) {
			err = nil // others have committed and expired what this one was to follow on: a lost race
		} else if err == nil && s == nil {
			return nil, nil
		}
		if err != nil && !errs.Is(err, errs.Uncertain) {
			return nil, err
		}
		if created {
			left, err := c.leftBehind(context.WithoutCancel(ctx), s)
			if err != nil {
				return nil, err
			}
			if !left {
				c.t.Snapshots.WriteLatestHint(ctx, s.ID)
				return s, nil
			}
			c.t.Store.Delete(ctx, written...)
		}
		if err != nil {
			if doubt == nil {
				doubtID = s.ID
			}
			doubt = err
		}
		if try >= retries || limited && c.t.Clock().Sub(start) >= timeout {
			if doubt != nil {
				return nil, doubt
			}
			return nil, errs.Conflictf("table %s: a commit lost the race against other writers %d times; repeat the statement, or raise the option 'commit.max-retries'", c.t.Label, try+1)
		}
		if err := c.t.Sleep(ctx, c.jitter(wait)); err != nil {
			return nil, err
		}
		wait = min(2*wait, most)
	}
}

// jitter varies a wait by up to a half.
func (c *Committer) jitter(d time.Duration) time.Duration {
	var b [1]byte
	_, _ = c.t.Random.Read(b[:])
	return d/2 + d*time.Duration(b[0])/256
}

// committed looks among the snapshots from id first on for one that an attempt
// of unknown outcome made: by user, identifier and kind. settled is true where it is sure that
// there is none; where ids that it would have are gone, the error is errs.Uncertain.
func (c *Committer) committed(ctx context.Context, r *Request, ch *change, first int64, latest *snapshot.Snapshot) (done *snapshot.Snapshot, settled bool, err error) {
	if latest == nil || latest.ID < first {
		return nil, false, nil
	}
	for id := latest.ID; id >= first; id-- {
		s, err := c.t.Snapshots.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			return nil, false, errs.Uncertainf("table %s: snapshot %d, which this commit may have published, is gone", c.t.Label, id)
		}
		if err != nil {
			return nil, false, err
		}
		if s.CommitUser == r.User && s.CommitIdentifier == r.Identifier && s.CommitKind == ch.kind {
			return s, true, nil
		}
	}
	return nil, true, nil
}

// leftBehind reports whether a snapshot that was just published is not part of the
// history, and removes it then. An attempt that was held up for so long that its id was given to somebody
// else, whose snapshot has expired since, finds the id free: nobody would ever see what it published. As expiry
// takes the oldest snapshots first, the snapshot before must be gone for that as well. errs.Uncertain: nobody can tell.
func (c *Committer) leftBehind(ctx context.Context, s *snapshot.Snapshot) (bool, error) {
	if s.ID == snapshot.FirstID {
		return false, nil
	}
	// Whatever cannot be read here leaves the commit as it is: published.
	if there, err := c.t.Snapshots.Exists(ctx, s.ID-1); err != nil || there {
		return false, nil
	}
	ids, err := c.t.Snapshots.IDs(ctx)
	if err != nil || len(ids) == 0 || ids[len(ids)-1] <= s.ID {
		return false, nil
	}
	next, err := c.t.Snapshots.Get(ctx, s.ID+1)
	switch {
	case err == nil:
		follows, err := c.follows(ctx, s, next)
		if errs.Is(err, errs.Uncertain) {
			return false, err
		}
		if err != nil || follows {
			return false, nil
		}
	case !errs.Is(err, errs.NotFound):
		return false, nil
	}
	// If this one has expired itself meanwhile, it was part of the history.
	if now, err := c.t.Snapshots.Get(ctx, s.ID); err != nil || now.UUID != s.UUID {
		return false, nil
	}
	_ = c.t.FIO.Delete(ctx, c.t.Snapshots.Path(s.ID)) // if it stays, expiry takes it
	return true, nil
}

// follows reports whether the state before next is that of s. errs.Uncertain: what is there does not tell.
func (c *Committer) follows(ctx context.Context, s, next *snapshot.Snapshot) (bool, error) {
	base, err := c.t.Store.ReadList(ctx, next.BaseManifestList)
	if err != nil {
		return false, err
	}
	delta, err := c.t.Store.ReadList(ctx, s.DeltaManifestList)
	if err != nil {
		return true, err
	}
	if len(delta) == 0 {
		return c.followsIndex(ctx, s, next, base)
	}
	has := map[string]bool{}
	for i := range base {
		has[base[i].Name] = true
	}
	if has[delta[0].Name] {
		return true, nil
	}
	// It may have been merged into another manifest: its effect is there then.
	entries, err := c.t.Store.ReadManifest(ctx, delta[0].Name, delta[0].Size)
	if err != nil || len(entries) == 0 {
		return true, err
	}
	last := entries[len(entries)-1]
	live, err := c.t.Store.Live(ctx, base, c.t.Schema.PartitionTypes(), nil)
	if err != nil {
		return true, err
	}
	found := slices.ContainsFunc(live, func(e *manifest.Entry) bool { return e.File.Name == last.File.Name && e.File.Level == last.File.Level })
	return found == (last.Kind == manifest.Add), nil
}

// followsIndex is follows for a snapshot that changes no data files, but perhaps the index: deletion vectors. base are the manifests
// of the state before next.
func (c *Committer) followsIndex(ctx context.Context, s, next *snapshot.Snapshot, base []manifest.FileInfo) (bool, error) {
	if s.IndexManifest == "" || s.IndexManifest == next.IndexManifest {
		return true, nil
	}
	mine, err := c.t.Store.ReadList(ctx, s.BaseManifestList)
	if err != nil {
		return true, err
	}
	states := [2]map[string]bool{}
	for i, infos := range [][]manifest.FileInfo{mine, base} {
		live, err := c.t.Store.Live(ctx, infos, c.t.Schema.PartitionTypes(), nil)
		if err != nil {
			return true, err
		}
		states[i] = map[string]bool{}
		for _, e := range live {
			states[i][e.File.Name+"@"+strconv.Itoa(e.File.Level)] = true
		}
	}
	if !maps.Equal(states[0], states[1]) {
		return false, nil
	}
	// The data files are the same: its index files tell, unless next has replaced them.
	ours, err := c.t.Store.ReadIndexManifest(ctx, s.IndexManifest)
	if err != nil {
		return true, err
	}
	theirs, err := c.t.Store.ReadIndexManifest(ctx, next.IndexManifest)
	if err != nil {
		return true, err
	}
	names := map[string]bool{}
	for i := range theirs {
		names[theirs[i].Name] = true
	}
	if !slices.ContainsFunc(ours, func(e manifest.IndexEntry) bool { return !names[e.Name] }) {
		return true, nil
	}
	if first, err := c.t.Snapshots.EarliestID(ctx); err == nil && first > s.ID {
		return false, nil // expiry says that the snapshot of this id is gone
	}
	return false, errs.Uncertainf("table %s: snapshot %d was made while others committed and expired snapshots; whether it is part of the table's history cannot be told", c.t.Label, s.ID)
}
