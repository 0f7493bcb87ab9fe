package maintain

import (
	"context"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// ExpireOptions say what an expiry keeps. Fields that are nil come from the table's options.
type ExpireOptions struct {
	// RetainMax and RetainMin are the greatest and the least number that stays.
	RetainMax, RetainMin *int
	// OlderThan protects what was committed at or after it; nil = now less the time retained.
	OlderThan *time.Time
	// MaxDeletes bounds how many go in one run.
	MaxDeletes *int
	// Options are table options for this run, over those of the table.
	Options map[string]string
}

// expireConfig are the resolved limits.
type expireConfig struct {
	retainMax, retainMin, maxDeletes int
	olderThan                        int64 // epoch milliseconds
	// decoupled says that changelogs outlive their snapshots.
	decoupled bool
	// producesChangelog is false where the delta of a snapshot stands for its changelog.
	producesChangelog bool
	cleanDirectories  bool
	// consumersHold says that consumers stop the expiry.
	consumersHold bool
}

// changelogLimits are the options of long-lived changelogs; those that are not set equal those of snapshots.
type changelogLimits struct {
	retainMax, retainMin int
	retained             time.Duration
}

func resolveChangelog(o map[string]string, retainMax, retainMin int, retained time.Duration) (changelogLimits, error) {
	c := changelogLimits{retainMax, retainMin, retained}
	for _, x := range []struct {
		opt *schema.Option[int]
		to  *int
	}{{schema.OptChangelogRetainMax, &c.retainMax}, {schema.OptChangelogRetainMin, &c.retainMin}} {
		v, set, err := x.opt.Lookup(o)
		if err != nil {
			return c, err
		}
		if set {
			*x.to = v
		}
	}
	v, set, err := schema.OptChangelogRetainTime.Lookup(o)
	if set {
		c.retained = v
	}
	return c, err
}

// resolve computes the limits of an expiry of snapshots or, with changelogs set, of long-lived changelogs.
func (t *Table) resolve(s *schema.TableSchema, e ExpireOptions, changelogs bool) (c expireConfig, err error) {
	o := s.WithOptions(e.Options).Options
	if c.retainMax, err = schema.OptSnapshotRetainMax.Get(o); err != nil {
		return c, err
	}
	if c.retainMin, err = schema.OptSnapshotRetainMin.Get(o); err != nil {
		return c, err
	}
	retained, err := schema.OptSnapshotRetainTime.Get(o)
	if err != nil {
		return c, err
	}
	if c.maxDeletes, err = schema.OptSnapshotExpireLimit.Get(o); err != nil {
		return c, err
	}
	logs, err := resolveChangelog(o, c.retainMax, c.retainMin, retained)
	if err != nil {
		return c, err
	}
	c.decoupled = logs.retainMax > c.retainMax || logs.retainMin > c.retainMin || logs.retained > retained
	c.producesChangelog = schema.OptChangelogProducer.Value(o) != "none"
	c.cleanDirectories = schema.OptCleanEmptyDirs.Value(o)
	c.consumersHold = changelogs || !schema.OptConsumerChangelogOnly.Value(o)
	if changelogs {
		c.retainMax, c.retainMin, retained = logs.retainMax, logs.retainMin, logs.retained
	}
	if e.RetainMax != nil {
		c.retainMax = *e.RetainMax
	}
	if e.RetainMin != nil {
		c.retainMin = *e.RetainMin
	}
	if e.MaxDeletes != nil {
		c.maxDeletes = *e.MaxDeletes
	}
	c.olderThan = t.t.Clock().Add(-retained).UnixMilli()
	if e.OlderThan != nil {
		c.olderThan = e.OlderThan.UnixMilli()
	}
	if c.retainMax < c.retainMin {
		return c, errs.Invalidf("retainMax (%d) must not be less than retainMin (%d).", c.retainMax, c.retainMin)
	}
	c.retainMin = max(c.retainMin, 1)
	return c, nil
}

// leastNext is the least snapshot that a consumer still has to read; 0 = no consumer.
func (t *Table) leastNext(ctx context.Context) (int64, error) {
	list, err := t.own.snaps.Consumers(ctx)
	if err != nil {
		return 0, errs.New(errs.ClassOf(err), "table %s: what consumers need is not known and nothing expires; repair or remove the file: %w", t.t.Label, err)
	}
	var least int64
	for _, c := range list {
		if least == 0 || c.NextSnapshot < least {
			least = c.NextSnapshot
		}
	}
	return least, nil
}

// endOf returns the first id that stays: those of ids (ascending) before it go.
// An id stays if the one after it was committed at or after the limit (rule of 2.0.0).
func (t *Table) endOf(ctx context.Context, ids []int64, latest int64, c *expireConfig, get func(context.Context, int64) (*snapshot.Snapshot, error)) (int64, error) {
	end := latest - int64(c.retainMin) + 1
	if c.consumersHold {
		next, err := t.leastNext(ctx)
		if err != nil {
			return 0, err
		}
		if next > 0 {
			end = min(end, next)
		}
	}
	if c.maxDeletes < len(ids) {
		end = min(end, ids[max(c.maxDeletes, 0)])
	}
	must := latest - int64(c.retainMax) + 1
	for i, id := range ids {
		if id >= end {
			break
		}
		if id < must {
			continue
		}
		if i+1 == len(ids) {
			return id, nil
		}
		s, err := get(ctx, ids[i+1])
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if c.olderThan <= s.TimeMillis {
			return id, nil
		}
	}
	return end, nil
}
