package commit

import (
	"context"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
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
		s, created, err := c.attempt(ctx, r, ch, latest)
		if err != nil && !errs.Is(err, errs.Uncertain) {
			return nil, err
		}
		if created {
			c.t.Snapshots.WriteLatestHint(ctx, s.ID)
			return s, nil
		}
		if err == nil && s == nil {
			return nil, nil
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
