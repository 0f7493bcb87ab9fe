package table

import (
	"context"
	"maps"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/write"
)

const (
	// GroupRows and GroupBytes are the size up to which the rows of a statement wait in
	// memory for its Commit, so that statements that end together share a snapshot.
	GroupRows  = 4096
	GroupBytes = 1 << 20
)

// sink takes the rows of one statement.
type sink struct {
	t       *Table
	schema  *schema.TableSchema
	over    map[string]string
	o       relation.SinkOptions
	gate    *writeGate
	static  write.Static
	replace *commit.Overwrite
	// watermark is what the snapshot records at least, epoch milliseconds; nil = nothing.
	watermark *int64

	intake *write.Intake
	// held are the rows of a small statement; w takes those of others.
	held *write.RowStore
	w    *write.Writer
	user string
	// touched are the buckets that were written and may be worth compacting, stalled says that one has so many sorted runs
	// that the statement waits for a compaction.
	touched []bucketName
	stalled bool
	// base is what the statement has read, where based is set; nil = an empty branch.
	based bool
	base  *snapshot.Snapshot
	// gone are the rows that the statement removes; nil without SinkOptions.Positions.
	gone *removals
	// relevant says which changes since base matter; nil = those of the buckets that are written.
	relevant func(commit.RowChange) (bool, error)
	// failed is set once a batch was refused: what is there is no statement any more.
	failed   error
	finished bool
}

// open prepares for the first batch.
func (s *sink) open() (err error) {
	if s.o.Positions {
		if err := s.openPlaced(); err != nil {
			return err
		}
	}
	// A writer that takes no row checks whether the table can be written.
	if s.w, err = s.newWriter(); err != nil {
		return err
	}
	if s.intake, err = write.NewIntake(s.t.Label(), s.schema, s.static); err != nil {
		return err
	}
	if s.replace == nil && s.gone == nil {
		s.w, s.held = nil, write.NewRowStore(s.schema.Fields)
	}
	return nil
}

func (s *sink) newWriter() (*write.Writer, error) {
	user, err := s.committer().NewUser()
	if err != nil {
		return nil, err
	}
	s.user = user
	return write.New(s.target(user), write.Options{Overwrite: s.replace != nil})
}

// Fields are the table's columns, and relation.PositionFields where rows are removed by them.
func (s *sink) Fields() []schema.Field {
	if s.gone != nil {
		return s.gone.fields
	}
	return s.schema.Fields
}

// Write takes the rows of the batch that count.
func (s *sink) Write(ctx context.Context, b *column.Batch, kinds []int32) error {
	if s.finished {
		return errs.Invalidf("table %s: the statement has ended", s.t.Label())
	}
	if s.failed != nil {
		return s.failed
	}
	err := s.take(ctx, b, kinds)
	if err != nil {
		s.failed = err
	}
	return err
}

func (s *sink) take(ctx context.Context, b *column.Batch, kinds []int32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.gone != nil {
		return s.takePlaced(ctx, b, kinds)
	}
	rows, err := s.intake.Check(b, kinds)
	if err != nil {
		return err
	}
	if s.w == nil {
		s.held.Add(rows)
		if s.held.Rows() <= GroupRows && s.held.Bytes() <= GroupBytes {
			return nil
		}
		if s.w, err = s.newWriter(); err != nil {
			return err
		}
		held := s.held
		s.held = nil
		defer held.Release()
		return held.Each(func(r write.Rows) error { return s.w.Write(ctx, r) })
	}
	return s.w.Write(ctx, rows)
}

// Abort throws the rows away.
func (s *sink) Abort() {
	if s.finished {
		return
	}
	s.finished = true
	s.release()
	if s.w != nil {
		s.w.Abort(context.Background())
	}
}

func (s *sink) release() {
	if s.held != nil {
		s.held.Release()
		s.held = nil
	}
}

// Commit publishes the rows.
func (s *sink) Commit(ctx context.Context) (relation.Committed, error) {
	out := relation.Committed{}
	if s.finished {
		return out, errs.Invalidf("table %s: the statement has ended", s.t.Label())
	}
	if s.failed != nil {
		s.Abort()
		return out, s.failed
	}
	s.finished = true
	defer s.release()
	var id, removed int64
	var err error
	switch {
	case s.gone != nil && len(s.gone.rows) > 0:
		if id, removed, err = s.commitRemovals(ctx); err == nil {
			s.compactWritten(ctx)
		}
	case s.gone != nil && s.w.Rows() == 0:
		s.w.Abort(ctx)
	case s.w != nil:
		id, err = s.commitAlone(ctx, s.w)
	case s.held.Rows() == 0:
	case s.based || holdOf(ctx, s.gate) != nil: // the leader of a group would wait for who holds the writes
		id, err = s.commitHeld(ctx)
	default:
		id, err = s.gate.submit(ctx, s)
	}
	if err != nil {
		return out, err
	}
	if c := s.t.env.Writing.Compactions; c != nil && s.stalled {
		c.await(ctx, s.t)
	}
	return relation.Committed{Snapshot: id, Rows: s.intake.Taken() + removed}, nil
}

// Based implements relation.BasedSink for a table, or what embeds one.
func (s *sink) Based(ctx context.Context, rel relation.Relation) error {
	t, ok := rel.(interface {
		ReadBase(ctx context.Context) (dir, branch string, snap *snapshot.Snapshot, err error)
	})
	if !ok {
		return errs.Unsupportedf("table %s: what the statement has read is no table", s.t.Label())
	}
	dir, branch, snap, err := t.ReadBase(ctx)
	if err != nil {
		return err
	}
	if dir != s.t.dir || branch != s.t.branch {
		return errs.Invalidf("table %s: the statement has read another table or branch", s.t.Label())
	}
	if s.gone != nil {
		if err := s.gone.basedOn(s.t.Label(), rel); err != nil {
			return err
		}
	}
	if !s.based {
		s.based, s.base = true, snap
	}
	return nil
}

// ReadBase is the snapshot that plain reads of the table see, nil for an empty branch, and where it lies.
func (t *Table) ReadBase(ctx context.Context) (dir, branch string, snap *snapshot.Snapshot, err error) {
	st, err := t.State(ctx)
	if err != nil {
		return "", "", nil, err
	}
	if st.Explicit || st.Kind != FullState {
		return "", "", nil, errs.Invalidf("table %s: a statement that writes cannot depend on a past state", t.Label())
	}
	return t.dir, t.branch, st.Snapshot, nil
}

// commitHeld publishes the rows in memory of a statement that shares its snapshot with no other.
func (s *sink) commitHeld(ctx context.Context) (int64, error) {
	unlock, err := s.gate.lock(ctx)
	if err != nil {
		return 0, err
	}
	id, err := writeGroup(ctx, []*groupMember{{s: s, ctx: ctx}})
	unlock()
	if err == nil {
		s.compactWritten(ctx)
	}
	return id, err
}

// commitAlone publishes a writer's rows, which are those of this statement only.
func (s *sink) commitAlone(ctx context.Context, w *write.Writer) (int64, error) {
	unlock, err := s.gate.lock(ctx)
	if err != nil {
		w.Abort(ctx)
		return 0, err
	}
	id, err := s.publish(ctx, w, nil)
	unlock()
	if err != nil {
		return id, err
	}
	s.compactWritten(ctx)
	return id, nil
}

// compactWritten compacts what a statement alone has published, where that is due.
func (s *sink) compactWritten(ctx context.Context) {
	me := []*sink{s}
	if compactsWith(s.schema) == compactsWaiting {
		compactTouched(ctx, me)
		return
	}
	askCompaction(me)
	compactQuietly(ctx, me)
}

// publish prepares and commits a writer's files. The gate is locked. After a
// failure the files are removed, unless they may have been published. Where another process committed
// rows meanwhile that these have to follow on, the files are written anew; rebuild, where it is not nil,
// makes a writer with the same rows.
func (s *sink) publish(ctx context.Context, w *write.Writer, rebuild func() (*write.Writer, error)) (id int64, err error) {
	defer func() {
		if err == nil || errs.Is(err, errs.Uncertain) {
			w.Release()
		} else {
			w.Abort(ctx)
		}
	}()
	defer errs.Recover(&err, "writing table "+s.t.Label())
	retries := schema.OptCommitRetries.Value(s.schema.Options)
	for try := 0; ; try++ {
		id, err = s.publishOnce(ctx, w)
		if !commit.Stale(err) || s.based || try >= retries {
			return id, err
		}
		switch {
		case w.Repeatable():
			w.Discard(ctx)
		case rebuild != nil:
			w.Abort(ctx)
			next, err := rebuild()
			if err != nil {
				return 0, err
			}
			w = next
		default:
			return id, err
		}
	}
}

func (s *sink) publishOnce(ctx context.Context, w *write.Writer) (id int64, err error) {
	st, err := s.state(ctx)
	if err != nil {
		return 0, err
	}
	messages, err := w.Prepare(ctx, st)
	if s.t.snaps.Expired(ctx, st.Snapshot, err) {
		err = commit.Overtaken(s.t.Label(), err)
	}
	if err != nil {
		return 0, err
	}
	req := commit.Request{User: s.user, Identifier: commit.BatchIdentifier, Messages: messages, Overwrite: s.replace, Watermark: s.watermark, Operation: s.o.Operation}
	switch {
	case s.based && s.gone == nil: // rows that are removed by position are looked after by commitRemovals
		req.Read = &commit.Read{Base: s.base, Relevant: s.relevant}
		if s.relevant == nil {
			if req.Read.Relevant, err = commit.InBuckets(s.schema, messages); err != nil {
				return 0, err
			}
		}
	case w.Numbered() && !w.Exclusive():
		if req.Read, err = commit.SameBuckets(s.schema, st.Snapshot, messages); err != nil {
			return 0, err
		}
	}
	if req.Read != nil {
		req.Read.Postponed = s.t.stored.BucketMode() == schema.Postpone
	}
	if w.Exclusive() {
		req.Check = sameSnapshot(s.t.Label(), s.t.snaps, st.Snapshot)
	}
	res, err := s.committer().Commit(ctx, req)
	if err == nil {
		s.touch(w.Fills())
	}
	if n := len(res.Snapshots); n > 0 {
		return res.Snapshots[n-1].ID, err
	}
	return 0, err
}

// sameSnapshot demands that nobody has committed since a state was read: keys
// of dynamic buckets may have been given to other buckets.
// Compactions since then leave keys where they are.
func sameSnapshot(label string, snaps *snapshot.Manager, based *snapshot.Snapshot) func(context.Context, *snapshot.Snapshot) error {
	return func(ctx context.Context, latest *snapshot.Snapshot) error {
		if based == nil && latest == nil {
			return nil
		}
		conflict := errs.Conflictf("table %s: another writer committed while the rows' dynamic buckets were assigned; repeat the statement", label)
		if based == nil || latest == nil || latest.ID < based.ID {
			return conflict
		}
		now := latest
		for now.ID > based.ID {
			if now.CommitKind != snapshot.Compact {
				return conflict
			}
			next, err := snaps.Get(ctx, now.ID-1)
			if errs.Is(err, errs.NotFound) {
				return conflict
			}
			if err != nil {
				return err
			}
			now = next
		}
		if now.UUID != based.UUID {
			return conflict
		}
		return nil
	}
}

// fits reports whether the rows of two statements may share a snapshot.
func (s *sink) fits(o *sink) bool {
	return s.schema.ID == o.schema.ID && s.o.Operation == o.o.Operation && s.t.env == o.t.env && maps.Equal(s.over, o.over)
}
