package snapshot

import (
	"context"
	"slices"

	"github.com/tributarydb/tributary/storage/errs"
)

// search runs a binary search over the existing snapshots. step tells which
// way to go from a snapshot (negative left, positive right, 0 stop) and
// whether it is the best so far. Snapshots that vanish meanwhile are left out.
// It is SnapshotManager's search, which on equal or disordered times does not
// promise the first or last of them; answers agree with it.
func (m *Manager) search(ctx context.Context, ids []int64, step func(*Snapshot) (dir int, take bool)) (*Snapshot, error) {
	var best *Snapshot
	lo, hi := 0, len(ids)-1
	for lo <= hi {
		mid := lo + (hi-lo)/2
		s, err := m.Get(ctx, ids[mid])
		if errs.Is(err, errs.NotFound) {
			ids = slices.Delete(slices.Clone(ids), mid, mid+1)
			hi--
			continue
		}
		if err != nil {
			return nil, err
		}
		dir, take := step(s)
		if take {
			best = s
		}
		switch {
		case dir == 0:
			return best, nil
		case dir < 0:
			hi = mid - 1
		default:
			lo = mid + 1
		}
	}
	return best, nil
}

// AtOrBefore returns the newest snapshot committed at or before t (epoch
// milliseconds); nil where none was.
func (m *Manager) AtOrBefore(ctx context.Context, t int64) (*Snapshot, error) {
	ids, err := m.IDs(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	first, err := m.Earliest(ctx)
	if err != nil || first == nil || first.TimeMillis > t {
		return nil, err
	}
	return m.search(ctx, ids, func(s *Snapshot) (int, bool) {
		switch {
		case s.TimeMillis > t:
			return -1, false
		case s.TimeMillis < t:
			return 1, true
		}
		return 0, true
	})
}

// AtOrAfter returns the first snapshot committed at or after t (epoch
// milliseconds); nil where none was.
func (m *Manager) AtOrAfter(ctx context.Context, t int64) (*Snapshot, error) {
	ids, err := m.IDs(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return m.search(ctx, ids, func(s *Snapshot) (int, bool) {
		switch {
		case s.TimeMillis > t:
			return -1, true
		case s.TimeMillis < t:
			return 1, false
		}
		return 0, true
	})
}

// AtOrAfterWatermark returns the first snapshot whose watermark is at least
// w; nil where none is.
func (m *Manager) AtOrAfterWatermark(ctx context.Context, w int64) (*Snapshot, error) {
	ids, err := m.IDs(ctx)
	if err != nil {
		return nil, err
	}
	// Watermarks never fall, but snapshots without one may lie anywhere between.
	for _, id := range ids {
		s, err := m.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if x, ok := s.HasWatermark(); ok && x >= w {
			return s, nil
		}
	}
	return nil, nil
}
