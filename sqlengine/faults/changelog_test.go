package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/table"
)

// errGap says that changelogs and snapshots do not follow on each other.
var errGap = errors.New("a snapshot is missing")

// change is a row of a changelog.
type change struct {
	kind int32
	row  string
}

// replay follows the changelog of a branch from its first snapshot on, or from the first that is left, and returns the rows
// that there are then, ascending. tells is false where they cannot be known by it. Of changelogs that say what a row was before it
// demands that each change fits: no +I of a key that is there, no -U or -D of another row than the one that is there. errGap:
// a snapshot is missing among those that are left.
func (r *reader) replay(ctx context.Context, env *table.Env, t *table.Table, m *snapshot.Manager, snaps []*snapshot.Snapshot, logs []int64) (rows []string, tells bool, err error) {
	s := t.StoredSchema()
	producer := schema.OptChangelogProducer.Value(s.Options)
	engine := schema.OptMergeEngine.Value(s.Options)
	if producer == "none" || producer == "input" && engine != "deduplicate" {
		return nil, false, nil // records as they were written are not the rows that come of them
	}
	var all []*snapshot.Snapshot
	for _, id := range logs {
		x, err := m.Changelog(ctx, id)
		if err != nil {
			return nil, false, err
		}
		if len(snaps) == 0 || id < snaps[0].ID { // else expiry is about to take the snapshot
			all = append(all, x)
		}
	}
	all = append(all, snaps...)
	l := &follower{keys: keysOf(s), rows: map[string]string{}, loose: map[string]bool{}, strict: producer != "input"}
	for i, x := range all {
		if i > 0 && x.ID != all[i-1].ID+1 {
			return nil, false, errGap
		}
		if i == 0 {
			l.partial, l.seen = x.ID != snapshot.FirstID, map[string]bool{}
		}
		gone := len(snaps) == 0 || x.ID < snaps[0].ID
		if err := r.follow(ctx, env, t, l, x, gone); err != nil {
			return nil, true, fmt.Errorf("changelog of snapshot %d: %w", x.ID, err)
		}
	}
	if l.partial {
		return nil, false, nil // the rows that no change was about are not known
	}
	return slices.Sorted(maps.Values(l.rows)), true, nil
}

// keysOf are the indexes of the primary key and of the partition columns: a key that moves to another partition goes in one and
// comes in the other, and the changes of two partitions have no order.
func keysOf(s *schema.TableSchema) (out []int) {
	for _, k := range append(slices.Clone(s.PrimaryKeys), s.PartitionKeys...) {
		out = append(out, s.Index(k))
	}
	return out
}

// follow applies one snapshot's changes; gone says that there is nothing but its changelog.
func (r *reader) follow(ctx context.Context, env *table.Env, t *table.Table, l *follower, s *snapshot.Snapshot, gone bool) error {
	if s.CommitKind == snapshot.Overwrite {
		// It has no changelog; whoever follows the table has to read it anew.
		if gone {
			l.replace(nil)
			l.partial = true
			return nil
		}
		at, err := table.Open(ctx, env, t.Database(), t.Name(), table.OpenOptions{Branch: t.Branch(), Dynamic: map[string]string{"scan.snapshot-id": strconv.FormatInt(s.ID, 10)}})
		if err != nil {
			return err
		}
		rows, err := r.rowsOf(ctx, at, s)
		if err == nil {
			l.replace(rows)
		}
		return err
	}
	if s.ChangelogManifestList == "" {
		return nil
	}
	changes, err := r.changesOf(ctx, env, t, s)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := l.apply(c); err != nil {
			return err
		}
	}
	return nil
}

// changesOf reads the changelog of a snapshot, which may have expired itself.
func (r *reader) changesOf(ctx context.Context, env *table.Env, t *table.Table, s *snapshot.Snapshot) ([]change, error) {
	key := fmt.Sprint(s.UUID, t.StoredSchema().ID)
	r.mu.Lock()
	changes, ok := r.changes[key]
	r.mu.Unlock()
	if ok {
		return changes, nil
	}
	plan, err := t.Source().Changes(ctx, []*snapshot.Snapshot{s}, true, scan.Request{KeepDeletes: true})
	if err != nil {
		return nil, err
	}
	want := read.Want{Kind: true}
	for i := range t.Fields() {
		want.Columns = append(want.Columns, i)
	}
	handles := env.Readers.NewHandles(ctx)
	var morsels []relation.Morsel
	for _, sp := range plan.Splits {
		morsels = append(morsels, read.Morsels(handles, sp, want)...)
	}
	if changes, err = readMorsels(ctx, t.Fields(), morsels, true); err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.changes[key] = changes
	r.mu.Unlock()
	return changes, nil
}

// follower has what somebody who follows a changelog knows of the rows.
type follower struct {
	keys []int
	rows map[string]string
	// loose are keys whose next change may be any: an OVERWRITE wrote or removed them.
	loose map[string]bool
	// strict demands that changes fit the rows.
	strict bool
	// partial says that the rows before the first change are not known.
	partial bool
	seen    map[string]bool
}

func (l *follower) key(row string) string {
	cells := strings.Split(row, "|")
	var key []string
	for _, i := range l.keys {
		key = append(key, cells[i])
	}
	return strings.Join(key, "|")
}

// replace takes what an OVERWRITE has left.
func (l *follower) replace(rows []string) {
	old := l.rows
	l.rows = map[string]string{}
	for _, row := range rows {
		k := l.key(row)
		l.rows[k] = row
		if old[k] != row {
			l.loose[k] = true
		}
		delete(old, k)
	}
	for k := range old {
		l.loose[k] = true
	}
	l.partial, l.seen = false, map[string]bool{}
}

func (l *follower) apply(c change) error {
	k := l.key(c.row)
	old, had := l.rows[k]
	check := l.strict && !l.loose[k]
	if l.partial && !l.seen[k] {
		check = false
		l.seen[k] = true
	}
	delete(l.loose, k)
	switch c.kind {
	case lsm.Insert, lsm.UpdateAfter:
		if check && had {
			return fmt.Errorf("%s comes although %s is there", c.row, old)
		}
		l.rows[k] = c.row
	default:
		if check && old != c.row {
			return fmt.Errorf("%s goes, but the row is %q", c.row, old)
		}
		delete(l.rows, k)
	}
	return nil
}
