package snapshot

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
)

// MainBranch is the name of the branch that is the table's directory itself.
const MainBranch = "main"

const (
	snapshotPrefix = "snapshot-"
	tagPrefix      = "tag-"
	changelogPre   = "changelog-"
	consumerPrefix = "consumer-"
	branchPrefix   = "branch-"
	hintLatest     = "LATEST"
	hintEarliest   = "EARLIEST"
	// hintTries and hintWait are how often an unreadable hint is read: a
	// writer may truncate it in place.
	hintTries = 3
	hintWait  = time.Millisecond
	// parseTries and parseWait do the same for JSON files.
	parseTries = 3
	parseWait  = 10 * time.Millisecond
	// maxSkip is how many expired ids after the earliest one are tried.
	maxSkip = 300
)

// BranchDir returns the directory of a branch's schema, snapshot, tag,
// changelog and consumer directories.
func BranchDir(tableDir, branch string) string {
	if branch == "" || branch == MainBranch {
		return tableDir
	}
	return path.Join(tableDir, "branch", branchPrefix+branch)
}

// Manager reads the states of one branch.
type Manager struct {
	fio      fileio.FileIO
	tableDir string
	branch   string
	dir      string
}

// NewManager returns the manager of a branch; branch "" is main.
func NewManager(fio fileio.FileIO, tableDir, branch string) *Manager {
	if branch == "" {
		branch = MainBranch
	}
	return &Manager{fio: fio, tableDir: tableDir, branch: branch, dir: BranchDir(tableDir, branch)}
}

// Branch is the branch's name.
func (m *Manager) Branch() string { return m.branch }

// Dir is the branch's directory.
func (m *Manager) Dir() string { return m.dir }

// Path returns the path of a snapshot file.
func (m *Manager) Path(id int64) string {
	return m.dir + "/snapshot/" + snapshotPrefix + strconv.FormatInt(id, 10)
}

// readJSON reads a file and parses it, again where that fails, as a writer
// may be about to replace it.
func readJSON[T any](ctx context.Context, m *Manager, p string, parse func([]byte) (T, error)) (out T, err error) {
	for try := range parseTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return out, ctx.Err()
			case <-time.After(parseWait):
			}
		}
		var data []byte
		if data, err = m.fio.ReadFile(ctx, p); err != nil {
			return out, err
		}
		if out, err = parse(data); err == nil || !errs.Is(err, errs.Corrupt) {
			return out, err
		}
	}
	return out, err
}

// Get reads a snapshot: errs.NotFound where it is missing or has expired.
func (m *Manager) Get(ctx context.Context, id int64) (*Snapshot, error) {
	p := m.Path(id)
	s, err := readJSON(ctx, m, p, func(b []byte) (*Snapshot, error) { return Parse("snapshot file "+p, b) })
	if err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil, errs.NotFoundf("snapshot %d does not exist: there is no file %s; it may have expired", id, p)
		}
		return nil, err
	}
	if s.ID != id {
		return nil, errs.Corruptf("snapshot file %s is damaged: it holds the id %d", p, s.ID)
	}
	return s, nil
}

// Expired reports whether an error comes from the expiry of the snapshot that was read: a file was not found, which
// counts as damage where it holds data, and the snapshot is no longer there either. What was read can be read anew from
// the newest one then.
func (m *Manager) Expired(ctx context.Context, s *Snapshot, err error) bool {
	if s == nil || !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Corrupt) {
		return false
	}
	there, err := m.Exists(ctx, s.ID)
	return err == nil && !there
}

// Exists reports whether a snapshot's file exists.
func (m *Manager) Exists(ctx context.Context, id int64) (bool, error) {
	return exists(ctx, m.fio, m.Path(id))
}

func exists(ctx context.Context, fio fileio.FileIO, p string) (bool, error) {
	_, err := fio.Stat(ctx, p)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// IDs lists the snapshots that exist, ascending. Names that are not numbers,
// and the hints, do not count; a missing directory is an empty list.
func (m *Manager) IDs(ctx context.Context) ([]int64, error) {
	return m.listIDs(ctx, "snapshot", snapshotPrefix)
}

func (m *Manager) listIDs(ctx context.Context, sub, prefix string) ([]int64, error) {
	infos, err := m.fio.List(ctx, m.dir+"/"+sub)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, i := range infos {
		if id, ok := schema.NumberedName(i.Name, prefix); ok && id >= FirstID && !i.IsDir {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// hint reads a hint file; 0 where it holds nothing usable.
func (m *Manager) hint(ctx context.Context, sub, name string) int64 {
	for try := range hintTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return 0
			case <-time.After(hintWait):
			}
		}
		b, err := m.fio.ReadFile(ctx, m.dir+"/"+sub+"/"+name)
		if err != nil {
			return 0
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
			return max(n, 0)
		}
	}
	return 0
}

// LatestID returns the newest snapshot's id; 0 where there is none.
func (m *Manager) LatestID(ctx context.Context) (int64, error) {
	return m.latestID(ctx, "snapshot", snapshotPrefix)
}

// latestID trusts the hint only where its snapshot exists and the next one
// does not (section 1.2; Java does without the first check).
func (m *Manager) latestID(ctx context.Context, sub, prefix string) (int64, error) {
	base := m.dir + "/" + sub + "/" + prefix
	if h := m.hint(ctx, sub, hintLatest); h > 0 {
		next, err := exists(ctx, m.fio, base+strconv.FormatInt(h+1, 10))
		if err != nil {
			return 0, err
		}
		if !next {
			here, err := exists(ctx, m.fio, base+strconv.FormatInt(h, 10))
			if err != nil {
				return 0, err
			}
			if here {
				return h, nil
			}
		}
	}
	ids, err := m.listIDs(ctx, sub, prefix)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[len(ids)-1], nil
}

// EarliestID returns the oldest snapshot's id; 0 where there is none.
func (m *Manager) EarliestID(ctx context.Context) (int64, error) {
	return m.earliestID(ctx, "snapshot", snapshotPrefix)
}

func (m *Manager) earliestID(ctx context.Context, sub, prefix string) (int64, error) {
	if h := m.hint(ctx, sub, hintEarliest); h > 0 {
		here, err := exists(ctx, m.fio, m.dir+"/"+sub+"/"+prefix+strconv.FormatInt(h, 10))
		if err != nil {
			return 0, err
		}
		if here {
			return h, nil
		}
	}
	ids, err := m.listIDs(ctx, sub, prefix)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

// Latest reads the newest snapshot; nil where the branch has none (an empty table).
func (m *Manager) Latest(ctx context.Context) (*Snapshot, error) {
	for try := 0; ; try++ {
		id, err := m.LatestID(ctx)
		if err != nil || id == 0 {
			return nil, err
		}
		s, err := m.Get(ctx, id)
		// A rollback may take the newest snapshot away in between.
		if errs.Is(err, errs.NotFound) && try < parseTries {
			continue
		}
		return s, err
	}
}

// Earliest reads the oldest snapshot that can be read; nil where there is none.
func (m *Manager) Earliest(ctx context.Context) (*Snapshot, error) {
	id, err := m.EarliestID(ctx)
	if err != nil || id == 0 {
		return nil, err
	}
	// Expiry may delete it in between.
	for skip := range int64(maxSkip) {
		s, err := m.Get(ctx, id+skip)
		if !errs.Is(err, errs.NotFound) {
			return s, err
		}
	}
	ids, err := m.IDs(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return m.Get(ctx, ids[0])
}

// List reads all snapshots, ascending by id. Damaged files are left out and
// reported joined in err, beside the good ones.
func (m *Manager) List(ctx context.Context) ([]*Snapshot, error) {
	ids, err := m.IDs(ctx)
	if err != nil {
		return nil, err
	}
	return collect(ctx, ids, m.Get)
}

// collect reads many, keeping what can be read. What vanished meanwhile is no error.
func collect[K, V any](ctx context.Context, keys []K, get func(context.Context, K) (V, error)) ([]V, error) {
	out := make([]V, 0, len(keys))
	var bad []error
	for _, k := range keys {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := get(ctx, k)
		switch {
		case err == nil:
			out = append(out, v)
		case errs.Is(err, errs.NotFound):
		default:
			bad = append(bad, err)
		}
	}
	return out, errors.Join(bad...)
}

// ChangelogPath returns the path of a long-lived changelog.
func (m *Manager) ChangelogPath(id int64) string {
	return m.dir + "/changelog/" + changelogPre + strconv.FormatInt(id, 10)
}

// ChangelogIDs lists the long-lived changelogs, ascending.
func (m *Manager) ChangelogIDs(ctx context.Context) ([]int64, error) {
	return m.listIDs(ctx, "changelog", changelogPre)
}

// Changelog reads a long-lived changelog (section 3.3).
func (m *Manager) Changelog(ctx context.Context, id int64) (*Snapshot, error) {
	p := m.ChangelogPath(id)
	s, err := readJSON(ctx, m, p, func(b []byte) (*Snapshot, error) { return Parse("changelog file "+p, b) })
	if errs.Is(err, errs.NotFound) {
		return nil, errs.NotFoundf("changelog %d does not exist: there is no file %s", id, p)
	}
	return s, err
}
