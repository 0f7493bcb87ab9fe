package snapshot

import (
	"context"
	"strconv"

	"github.com/tributarydb/tributary/storage/errs"
)

// Publish writes the snapshot's file if there is none of its id, the one step
// that makes a commit visible. created is false where somebody else has the id. The file is read
// again and compared by UUID, whatever the storage answered: it may have been written although
// the answer is an error, and on a local file system a Java process that checked the name just
// before can have replaced it. If that does not settle it the error is errs.Uncertain;
// any other error means that nothing was published.
func (m *Manager) Publish(ctx context.Context, s *Snapshot) (created bool, err error) {
	if s.UUID == "" {
		return false, errs.Invalidf("snapshot %d of branch '%s' has no UUID, by which its file is recognised", s.ID, m.branch)
	}
	created, err = m.fio.PutIfAbsent(ctx, m.Path(s.ID), s.JSON())
	// What happened must be learnt even if the statement is being cancelled.
	ctx = context.WithoutCancel(ctx)
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
