package snapshot

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// Publish writes the snapshot's file if there is none of its id, the one step
// that makes a commit visible. created is false where somebody else has the id. The file is read
// again and compared by UUID, whatever the storage answered: it may have been written although
// the answer is an error, and on a local file system a Java process that checked the name just
// before can have replaced it, or be about to: see Settled. If that does not settle it the error is errs.Uncertain;
// any other error means that nothing was published.
func (m *Manager) Publish(ctx context.Context, s *Snapshot) (created bool, err error) {
	if s.UUID == "" {
		return false, errs.Invalidf("snapshot %d of branch '%s' has no UUID, by which its file is recognised", s.ID, m.branch)
	}
	created, err = m.fio.PutIfAbsent(ctx, m.Path(s.ID), s.JSON())
	// What happened must be learnt even if the statement is being cancelled.
	ctx = context.WithoutCancel(ctx)
	if created {
		m.awaitRivals(ctx, s.ID)
	}
	there, readErr := m.Get(ctx, s.ID)
	switch {
	case readErr == nil:
		return there.UUID == s.UUID, nil
	case err == nil && created:
		return true, nil
	case err != nil && errs.Is(readErr, errs.NotFound) && !errs.Is(err, errs.Uncertain):
		return false, err
	case err == nil:
		err = readErr
	}
	return false, errs.Uncertainf("snapshot %d of branch '%s' may have been published or not: %w", s.ID, m.branch, err)
}

const (
	// rivalWait is how often and rivalLimit for how long a file is waited for that another program is about to
	// rename. A program that has ended leaves its file for ever: one that did not change for rivalAge is not waited for.
	rivalWait  = time.Millisecond
	rivalLimit = 10 * time.Second
	rivalAge   = time.Minute
)

// Settled waits until nobody can replace a snapshot that exists any more, and reports whether it is
// still there. On a local file system Java writes a temporary file beside the snapshot's, looks whether the name is
// free and renames the file, which replaces what was published in between. As long as the temporary file is there
// this may be about to happen; once it is gone, whoever comes later finds the name taken.
func (m *Manager) Settled(ctx context.Context, s *Snapshot) (bool, error) {
	if !m.awaitRivals(ctx, s.ID) {
		return true, nil
	}
	now, err := m.Get(ctx, s.ID)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil && now.UUID == s.UUID, err
}

// awaitRivals waits for temporary files of other programs; waited says whether there were some.
func (m *Manager) awaitRivals(ctx context.Context, id int64) (waited bool) {
	lister, ok := m.fio.(fileio.NameLister)
	if !ok {
		return false
	}
	for start := time.Now(); ; waited = true {
		names, err := lister.Names(ctx, m.dir+"/snapshot")
		if err != nil || !slices.ContainsFunc(names, func(n string) bool { return m.isRival(ctx, n, id) }) || time.Since(start) > rivalLimit {
			return waited
		}
		select {
		case <-ctx.Done():
			return true
		case <-time.After(rivalWait):
		}
	}
}

// isRival reports whether a file is the temporary one of a program that publishes snapshots by renaming: of a
// name like `.snapshot-7.<uuid>.tmp`. Ours have no UUID in their names, and replace nothing.
func (m *Manager) isRival(ctx context.Context, name string, id int64) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(name, "."), snapshotPrefix+strconv.FormatInt(id, 10))
	if !ok || !strings.HasSuffix(rest, ".tmp") {
		return false
	}
	if _, err := uuid.Parse(strings.Trim(strings.TrimSuffix(rest, ".tmp"), ".-")); err != nil {
		return false
	}
	info, err := m.fio.Stat(ctx, m.dir+"/snapshot/"+name)
	return err == nil && time.Since(info.ModTime) < rivalAge
}

// WriteLatestHint records the newest id, best effort: the hint is never relied on.
func (m *Manager) WriteLatestHint(ctx context.Context, id int64) {
	m.writeHint(ctx, hintLatest, id)
}

// WriteEarliestHint records the oldest id, best effort.
func (m *Manager) WriteEarliestHint(ctx context.Context, id int64) {
	m.writeHint(ctx, hintEarliest, id)
}

func (m *Manager) writeHint(ctx context.Context, name string, id int64) {
	ctx = context.WithoutCancel(ctx)
	for range hintTries {
		if m.fio.Overwrite(ctx, m.dir+"/snapshot/"+name, strconv.AppendInt(nil, id, 10)) == nil {
			return
		}
	}
}
