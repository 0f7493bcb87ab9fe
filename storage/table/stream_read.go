package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

const (
	// streamPoll is how often a streaming read looks for the next snapshot.
	streamPoll = 20 * time.Millisecond
	// streamCheck is how often it looks whether the history still is the one it follows.
	streamCheck = time.Second
	// streamSettle is how long rows have been handed on before a consumer's progress counts them as sent. It is
	// longer than rows wait in the buffer of a connection.
	streamSettle = 250 * time.Millisecond
)

// stream plans a streaming read: one morsel that never ends by itself. Fallback and chain
// branches take no part in it.
func (p *planner) stream(ctx context.Context) error {
	t := p.t
	pinned, err := t.latest(ctx)
	if err != nil {
		return err
	}
	r := &resolver{mgr: t.snaps, opts: t.schema.Options, zone: t.opts.Zone, label: t.Label(), pinned: pinned}
	start, err := r.streamStart(ctx)
	if err != nil {
		return err
	}
	if start.next > snapshot.FirstID && start.full == nil {
		if earliest, err := t.snaps.EarliestID(ctx); err != nil {
			return err
		} else if latest, err := t.snaps.LatestID(ctx); err != nil {
			return err
		} else if start.next > latest+1 && earliest > 0 {
			return errs.NotFoundf("table %s: a streaming read cannot begin at snapshot %d: the newest one is %d", t.Label(), start.next, latest)
		}
	}
	producer, err := schema.OptChangelogProducer.Get(t.schema.Options)
	if err != nil {
		return err
	}
	m := &streamMorsel{p: p, start: start, changelog: producer != "none" && t.schema.HasPrimaryKey(), consumer: schema.OptConsumerID.Value(t.schema.Options)}
	m.req = scan.Request{Filter: p.want.Filter, KeepDeletes: p.view.Kind, CreatedAfter: start.createdAfter}
	switch producer {
	case "lookup": // the state that the changelog continues
		m.req.Levels = func(l int) bool { return l > 0 }
	case "full-compaction":
		top := scan.TopLevel(t.schema)
		m.req.Levels = func(l int) bool { return l == top }
	}
	if !t.schema.HasPrimaryKey() {
		m.req.Levels = nil
	}
	m.req.Postponed = !m.changelog && t.schema.BucketMode() == schema.Postpone
	overwrites, err := p.readsOverwrites(producer)
	if err != nil {
		return err
	}
	m.overwrites = overwrites
	normal, err := p.normalizes(&start, producer)
	if err != nil {
		return err
	}
	if normal {
		p.plan.Morsels = append(p.plan.Morsels, p.newNormalize(m))
	} else {
		p.plan.Morsels = append(p.plan.Morsels, m)
	}
	p.inexact = true
	text := fmt.Sprintf("changes from snapshot %d on, without end", start.next)
	if start.full != nil {
		text = fmt.Sprintf("snapshot %d, then ", start.full.ID) + text
	}
	if m.changelog {
		text += fmt.Sprintf(", by changelog files (%s)", producer)
	} else {
		text += ", by files of APPEND snapshots"
	}
	if overwrites {
		text += " and of OVERWRITE snapshots"
	}
	if normal {
		text += ", completed by the last row of each key"
	}
	p.plan.Info = append(p.plan.Info, relation.Note{Key: "stream of branch " + t.branch, Value: text})
	return nil
}

// readsOverwrites reports whether the options ask for the changes of OVERWRITE snapshots.
func (p *planner) readsOverwrites(producer string) (bool, error) {
	s := p.t.schema
	key := optStreamOverwrite
	if !s.HasPrimaryKey() {
		key = optStreamAppendOvw
	}
	v, ok := s.Options[key]
	if !ok {
		return false, nil
	}
	on, err := schema.ParseBool(v)
	if err != nil {
		return false, errs.Invalidf("option '%s' has the value '%s': %w", key, v, err)
	}
	if on && s.HasPrimaryKey() && (producer == "lookup" || producer == "full-compaction") {
		return false, errs.Invalidf("table %s: Cannot set %s to true when changelog producer is full-compaction or lookup because it will read duplicated changes.", p.t.Label(), key)
	}
	return on, nil
}

// streamMorsel is a streaming read.
type streamMorsel struct {
	p         *planner
	start     streamStart
	req       scan.Request
	changelog bool
	// overwrites says that OVERWRITE snapshots are read.
	overwrites bool
	consumer   string
}

// Weight is not known: a stream is read by one goroutine.
func (m *streamMorsel) Weight() int64 { return 0 }

// Open starts reading.
func (m *streamMorsel) Open(ctx context.Context) (relation.Reader, error) {
	s := &streamReader{m: m, t: m.p.t, next: m.start.next}
	if m.start.full != nil {
		plan, err := s.t.Source().Plan(ctx, m.start.full, m.req)
		if err != nil {
			return nil, err
		}
		s.take(plan)
	}
	return s, nil
}

// streamReader follows a branch.
type streamReader struct {
	m *streamMorsel
	t *Table
	// morsels are what is left of the present snapshot, r the one being read.
	morsels []relation.Morsel
	r       relation.Reader
	// next is the snapshot to come.
	next int64
	// marks are progress that is not recorded yet, waiting says that the last is that of next.
	marks   []streamMark
	waiting bool
	checked time.Time
}

// streamMark says since when all rows of the snapshots before next have been handed on.
type streamMark struct {
	next int64
	at   time.Time
}

// take makes morsels of a plan: of a bucket's files in the order of their rows, those of a postpone bucket, which are
// the newest of their partition, last.
func (s *streamReader) take(plan *scan.Plan) {
	waits := func(sp *scan.Split) int {
		if sp.Bucket == schema.PostponeBucket {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(plan.Splits, func(a, b *scan.Split) int {
		x, y := a.Files[0], b.Files[0]
		return cmp.Or(cmp.Compare(x.PartitionID, y.PartitionID), cmp.Compare(waits(a), waits(b)), cmp.Compare(x.Bucket, y.Bucket), cmp.Compare(x.Meta.MinSequence, y.Meta.MinSequence))
	})
	for _, sp := range plan.Splits {
		s.morsels = append(s.morsels, read.Morsels(s.m.p.handles, sp, s.m.p.want)...)
	}
}

// Next returns the next batch, and waits where there is none yet. It ends with the context.
func (s *streamReader) Next(ctx context.Context) (*column.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.r != nil {
			b, err := s.r.Next(ctx)
			if err == nil {
				return b, nil
			}
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			r := s.r
			s.r = nil
			if err := r.Close(); err != nil {
				return nil, err
			}
		}
		if len(s.morsels) > 0 {
			m := s.morsels[0]
			s.morsels = s.morsels[1:]
			r, err := m.Open(ctx)
			if err != nil {
				return nil, err
			}
			s.r = r
			continue
		}
		if s.m.consumer != "" && !s.waiting {
			s.waiting = true
			s.marks = append(s.marks, streamMark{s.next, time.Now()})
		}
		if err := s.note(ctx); err != nil {
			return nil, err
		}
		snap, err := s.await(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.follow(ctx, snap); err != nil {
			return nil, err
		}
	}
}

// follow takes up the changes of a snapshot (section 15.2 of the format).
func (s *streamReader) follow(ctx context.Context, snap *snapshot.Snapshot) error {
	s.next = snap.ID + 1
	s.waiting = false
	req := s.m.req
	req.CreatedAfter, req.Levels = nil, nil
	overwrite := snap.CommitKind == snapshot.Overwrite && s.m.overwrites
	if overwrite && s.t.schema.HasPrimaryKey() {
		return s.takeOverwrite(ctx, snap, req)
	}
	wanted := snap.CommitKind == snapshot.Append || overwrite
	if s.m.changelog {
		wanted = snap.ChangelogManifestList != "" && snap.CommitKind != snapshot.Overwrite
	}
	if !wanted {
		return nil
	}
	plan, err := s.t.Source().Changes(ctx, []*snapshot.Snapshot{snap}, s.m.changelog, req)
	if err != nil {
		return err
	}
	s.take(plan)
	return nil
}

// await returns the next snapshot, as soon as it is there.
func (s *streamReader) await(ctx context.Context) (*snapshot.Snapshot, error) {
	timer := time.NewTimer(streamPoll)
	defer timer.Stop()
	for {
		snap, err := s.t.snaps.Get(ctx, s.next)
		if err == nil || !errs.Is(err, errs.NotFound) {
			return snap, err
		}
		if now := time.Now(); now.Sub(s.checked) >= streamCheck {
			s.checked = now
			if snap, err := s.check(ctx); snap != nil || err != nil {
				return snap, err
			}
		}
		if err := s.note(ctx); err != nil {
			return nil, err
		}
		relation.Waits(ctx)
		timer.Reset(streamPoll)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

// check looks why the next snapshot is missing: it is to come, it has expired, and then perhaps only its changelog is
// left, or a rollback took those before it.
func (s *streamReader) check(ctx context.Context) (*snapshot.Snapshot, error) {
	earliest, err := s.t.snaps.EarliestID(ctx)
	if err != nil {
		return nil, err
	}
	latest, err := s.t.snaps.LatestID(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case earliest > s.next:
		if s.m.changelog {
			snap, err := s.t.snaps.Changelog(ctx, s.next)
			if err == nil || !errs.Is(err, errs.NotFound) {
				return snap, err
			}
		}
		return nil, errs.NotFoundf("table %s: The snapshot with id %d has expired. Keep snapshots or changelogs for longer ('snapshot.time-retained', 'changelog.time-retained'), or read with a 'consumer-id', which holds what it has not read yet.", s.t.Label(), s.next)
	case latest < s.next-1 && s.next > snapshot.FirstID:
		return nil, errs.Conflictf("table %s: snapshot %d, whose rows this read has shown, is gone: the table was rolled back to snapshot %d, or made anew; start the read again", s.t.Label(), s.next-1, latest)
	}
	return nil, nil
}

// note records the consumer's progress, as far as the rows of the snapshots before have been sent.
func (s *streamReader) note(ctx context.Context) error {
	n := 0
	for n < len(s.marks) && time.Since(s.marks[n].at) >= streamSettle {
		n++
	}
	if n == 0 {
		return nil
	}
	next := s.marks[n-1].next
	s.marks = slices.Delete(s.marks, 0, n)
	return s.t.snaps.WriteConsumer(ctx, snapshot.Consumer{ID: s.m.consumer, NextSnapshot: next})
}

// Close ends the read.
func (s *streamReader) Close() error {
	s.morsels = nil
	if s.r == nil {
		return nil
	}
	r := s.r
	s.r = nil
	return r.Close()
}
