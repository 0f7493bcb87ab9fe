package maintain

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// AfterCommit does what the table's options ask for after a commit to the branch: it removes
// consumers without progress, makes automatic tags, and expires tags, snapshots, changelogs
// and partitions. A write-only table is left to others. What fails is logged and
// returned; the commit stands all the same.
func (t *Table) AfterCommit(ctx context.Context) error {
	s, err := t.schema(ctx)
	if err != nil {
		return err
	}
	if schema.OptWriteOnly.Value(s.Options) {
		return nil
	}
	// Somebody else may clean for long: the next commit looks again.
	unlock, ok := snapshot.TryLockRefs(t.t.FIO, t.t.Dir)
	if !ok {
		return nil
	}
	defer unlock()
	var failed []error
	step := func(what string, run func() error) {
		if ctx.Err() != nil {
			return
		}
		if err := run(); err != nil {
			failed = append(failed, err)
			t.t.Log.Warn("maintenance after a commit failed", "table", t.t.Label, "branch", t.own.name, "step", what, "error", err)
		}
	}
	// Consumers first, which would hold snapshots; then tags, of snapshots that are about to expire.
	step("consumers", func() error {
		age, set, err := schema.OptConsumerExpireTime.Lookup(s.Options)
		if err == nil && set {
			_, err = t.ExpireConsumers(ctx, t.t.Clock().Add(-age))
		}
		return err
	})
	if schema.OptTagAutoCreation.Value(s.Options) != "none" {
		step("automatic tags", func() error {
			_, err := t.createAutomaticTags(ctx, s)
			return err
		})
	}
	if schema.OptTagTimeExpire.Value(s.Options) {
		step("tags", func() error {
			_, err := t.expireTags(ctx, nil)
			return err
		})
	}
	step("snapshots", func() error {
		_, err := t.expireSnapshots(ctx, s, ExpireOptions{})
		return err
	})
	step("changelogs", func() error {
		c, err := t.resolve(s, ExpireOptions{}, false)
		if err == nil && c.decoupled {
			_, err = t.expireChangelogs(ctx, ExpireOptions{}, false)
		}
		return err
	})
	step("partitions", func() error {
		_, set, err := schema.OptPartitionExpireTime.Lookup(s.Options)
		if err != nil || !set || !s.Partitioned() {
			return err
		}
		every, err := schema.OptPartitionExpireCheck.Get(s.Options)
		if err != nil || !t.due(every) && !schema.OptEndInputExpire.Value(s.Options) {
			return err
		}
		_, err = t.ExpirePartitions(ctx, PartitionExpireOptions{})
		return err
	})
	return errors.Join(append(failed, ctx.Err())...)
}

// checkKey names a branch whose partitions are looked at now and then.
type checkKey struct {
	fio         fileio.FileIO
	dir, branch string
}

// checked has the time of the last look at the partitions of each branch, of this process.
var checked = struct {
	sync.Mutex
	at map[checkKey]time.Time
}{at: map[checkKey]time.Time{}}

// maxChecked bounds the branches that are remembered.
const maxChecked = 10_000

// due reports whether partitions are to be looked at, and counts that as done. The
// first look comes one interval after the process first committed to the branch.
func (t *Table) due(every time.Duration) bool {
	k := checkKey{t.t.FIO, t.t.Dir, t.own.name}
	now := t.t.Clock()
	checked.Lock()
	defer checked.Unlock()
	if len(checked.at) >= maxChecked {
		clear(checked.at)
	}
	last, ok := checked.at[k]
	if ok && now.Sub(last) < every || !ok && every > 0 {
		if !ok {
			checked.at[k] = now
		}
		return false
	}
	checked.at[k] = now
	return true
}

// ExpireConsumers removes the consumers without progress since a time, and returns how many.
func (t *Table) ExpireConsumers(ctx context.Context, olderThan time.Time) (int, error) {
	times, err := t.own.snaps.ConsumerTimes(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for id, at := range times {
		if at.Before(olderThan) {
			if err := t.own.snaps.DeleteConsumer(ctx, id); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
