package maintain

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Target is the branch of a table that is maintained.
type Target struct {
	FIO fileio.FileIO
	// Dir is the table's directory, Label its name in messages, e.g. default.t.
	Dir, Label string
	// Branch is the branch that the functions act on; "" = main.
	Branch string
	// Options are dynamic options over those of the branch's newest schema; may be nil.
	Options map[string]string
	// Schemas and Manifests are the caches of the server; nil = none.
	Schemas   *schema.Cache
	Manifests *manifest.Cache
	// Deleted takes the paths of files that were deleted, so that caches forget them; nil = nobody keeps any.
	Deleted func(paths []string)
	// Zone is the time zone of tag times and of partition times; nil = UTC.
	Zone *time.Location
	// Clock and Random are those of the machine where they are nil.
	Clock  func() time.Time
	Random io.Reader
	// Log takes what is no error of the caller: nil = nothing.
	Log *slog.Logger
	// Progress takes a text that says how far long work is; nil = nobody listens.
	Progress func(text string)
}

// Table maintains one branch of a table. It keeps no state of the table: every call
// looks at the files anew. It is safe for concurrent use; calls of one process
// that change references or delete files of one table run one after the other.
type Table struct {
	t     Target
	store *manifest.Store
	own   *branch
}

// New returns the maintenance of a branch; nothing is read.
func New(t Target) *Table {
	if t.Branch == "" {
		t.Branch = snapshot.MainBranch
	}
	if t.Schemas == nil {
		t.Schemas = &schema.Cache{}
	}
	if t.Deleted == nil {
		t.Deleted = func([]string) {}
	}
	if t.Zone == nil {
		t.Zone = time.UTC
	}
	if t.Clock == nil {
		t.Clock = time.Now
	}
	if t.Random == nil {
		t.Random = rand.Reader
	}
	if t.Log == nil {
		t.Log = slog.New(slog.DiscardHandler)
	}
	x := &Table{t: t, store: manifest.NewStore(t.FIO, t.Dir, t.Manifests)}
	x.own = x.branch(t.Branch)
	return x
}

// branch is one branch as maintenance sees it.
type branch struct {
	name    string
	snaps   *snapshot.Manager
	schemas *schema.Manager
}

func (t *Table) branch(name string) *branch {
	dir := snapshot.BranchDir(t.t.Dir, name)
	return &branch{
		name: name, snaps: snapshot.NewManager(t.t.FIO, t.t.Dir, name),
		schemas: schema.NewManager(t.t.FIO, dir, t.t.Schemas),
	}
}

// schema reads the newest schema of the own branch, with the dynamic options.
func (t *Table) schema(ctx context.Context) (*schema.TableSchema, error) {
	s, err := t.own.schemas.Latest(ctx)
	if err != nil {
		return nil, errs.New(errs.ClassOf(err), "table %s: %w", t.t.Label, err)
	}
	return s.WithOptions(t.t.Options), nil
}

// others are all branches of the table but the own one, main included.
func (t *Table) others(ctx context.Context) ([]*branch, error) {
	list, err := snapshot.Branches(ctx, t.t.FIO, t.t.Dir)
	if err != nil {
		return nil, err
	}
	var out []*branch
	if t.own.name != snapshot.MainBranch {
		out = append(out, t.branch(snapshot.MainBranch))
	}
	for _, b := range list {
		if b.Name != t.own.name {
			out = append(out, t.branch(b.Name))
		}
	}
	return out, nil
}

// lockRefs is snapshot.LockRefs of the table.
func (t *Table) lockRefs(ctx context.Context) (unlock func(), err error) {
	return snapshot.LockRefs(ctx, t.t.FIO, t.t.Dir)
}

// lockBoth locks the table's references and the line of snapshots of a branch.
func (t *Table) lockBoth(ctx context.Context, branch string) (unlock func(), err error) {
	refs, err := t.lockRefs(ctx)
	if err != nil {
		return nil, err
	}
	line, err := snapshot.LockBranch(ctx, t.t.FIO, t.t.Dir, branch)
	if err != nil {
		refs()
		return nil, err
	}
	return func() { line(); refs() }, nil
}

// localMicros is an instant's local date-time in the target's zone, read as UTC, in microseconds.
func (t *Table) localMicros(at time.Time) int64 {
	_, offset := at.In(t.t.Zone).Zone()
	return at.Add(time.Duration(offset) * time.Second).UnixMicro()
}
