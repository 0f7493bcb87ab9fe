package table

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Env is what tables of a warehouse share: files, caches, the log. Its caches
// hold immutable files by name only. It is safe for concurrent use.
type Env struct {
	FIO       fileio.FileIO
	Catalog   catalog.Catalog
	Manifests *manifest.Cache
	Readers   *read.Env
	Log       *slog.Logger
	// Writing is what writers share.
	Writing WriteEnv
	// NormalizeBytes bounds the keys and rows that a streaming read with option scan.normalize keeps; 0 = DefaultNormalizeBytes.
	NormalizeBytes int64
}

// Sizes of the caches of an Env.
const (
	manifestCacheBytes = 256 << 20
	vectorCacheBytes   = 64 << 20
	pageCacheBytes     = 128 << 20
)

// NewEnv returns an environment over a catalog's files; log may be nil.
func NewEnv(fio fileio.FileIO, cat catalog.Catalog, log *slog.Logger) *Env {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Env{FIO: fio, Catalog: cat, Manifests: manifest.NewCache(manifestCacheBytes), Readers: read.NewEnv(vectorCacheBytes, pageCacheBytes), Log: log}
}

// Forget drops what the caches keep of files that were deleted: without it they fill up with what nobody can ask for.
func (e *Env) Forget(paths []string) {
	e.Manifests.Forget(paths)
	e.Readers.Forget(paths)
}

// OpenOptions say which branch and state of a table to open.
type OpenOptions struct {
	// Branch is the branch's name; "" = main.
	Branch string
	// Dynamic are the options of the statement, over those of the table.
	Dynamic map[string]string
	// SnapshotSchema asks for the columns of the snapshot that Dynamic's time
	// travel options select, as the AS OF syntaxes do. Otherwise the newest columns are shown.
	SnapshotSchema bool
	// Zone is the time zone of date-time texts in options; nil = UTC.
	Zone *time.Location
	// Positions adds relation.PositionFields to the columns, where rows are to be removed by them. Tables whose
	// rows do not lie in files as they are, and states other than the newest, are errs.Unsupported or errs.Invalid.
	Positions bool
}

// Table is one branch of a table in one state. It is safe for concurrent use;
// everything it is asked is answered from the same snapshot.
type Table struct {
	env      *Env
	database string
	name     string
	branch   string
	dir      string
	stored   *schema.TableSchema
	schema   *schema.TableSchema
	schemas  *schema.Manager
	snaps    *snapshot.Manager
	store    *manifest.Store
	opts     OpenOptions

	pinOnce sync.Once
	pinned  *snapshot.Snapshot
	pinErr  error

	stateOnce sync.Once
	state     *State
	stateErr  error

	// second is the branch of lower precedence of a fallback or primary read,
	// first of higher; both nil where there is one branch. One of them is t itself.
	first, second *Table
	chain         *chain

	// places numbers the data files that rows come from; nil without OpenOptions.Positions.
	places *places
}

// Open opens a table. A missing table or branch is errs.NotFound.
func Open(ctx context.Context, env *Env, database, name string, opts OpenOptions) (*Table, error) {
	if b := opts.Dynamic["branch"]; b != "" && opts.Branch == "" {
		opts.Branch = b
	}
	if strings.EqualFold(opts.Branch, snapshot.MainBranch) || strings.TrimSpace(opts.Branch) == "" {
		opts.Branch = snapshot.MainBranch
	}
	t, err := openBranch(ctx, env, database, name, opts)
	if err != nil {
		return nil, err
	}
	if err := t.openOthers(ctx); err != nil {
		return nil, err
	}
	if opts.SnapshotSchema {
		if err := t.useSnapshotSchema(ctx); err != nil {
			return nil, err
		}
	}
	if opts.Positions {
		if err := t.checkPositions(ctx); err != nil {
			return nil, err
		}
		t.places = newPlaces(t.schema.Fields)
	}
	return t, nil
}

// openBranch opens one branch by itself.
func openBranch(ctx context.Context, env *Env, database, name string, opts OpenOptions) (*Table, error) {
	ct, err := env.Catalog.Load(ctx, database, name, opts.Branch)
	if err != nil {
		return nil, err
	}
	if typ := ct.Schema.Options["type"]; typ != "" && typ != "table" {
		return nil, errs.Unsupportedf("table %s.%s is of type '%s'; only type 'table' can be read", database, name, typ)
	}
	dynamic := maps.Clone(opts.Dynamic)
	delete(dynamic, "branch")
	for k, v := range dynamic {
		if err := ct.Schema.CheckDynamic(k, v); err != nil {
			return nil, err
		}
	}
	t := &Table{
		env: env, database: database, name: name, branch: ct.Branch, dir: ct.Dir, opts: opts,
		stored: ct.Schema, schema: ct.Schema.WithOptions(dynamic), schemas: ct.Schemas,
		snaps: snapshot.NewManager(env.FIO, ct.Dir, ct.Branch),
		store: manifest.NewStore(env.FIO, ct.Dir, env.Manifests),
	}
	if _, err := scanMode(t.schema.Options); err != nil {
		return nil, err
	}
	return t, nil
}

// useSnapshotSchema shows the columns that the state's snapshot had.
func (t *Table) useSnapshotSchema(ctx context.Context) error {
	st, err := t.State(ctx)
	if err != nil || st.Snapshot == nil || !st.Explicit {
		return err
	}
	old, err := t.schemas.Get(ctx, st.Snapshot.SchemaID)
	if err != nil {
		return err
	}
	dynamic := maps.Clone(t.opts.Dynamic)
	delete(dynamic, "branch")
	// The options in force are today's, the columns and keys the snapshot's (format section 2.7).
	c := *old
	c.Options, c.OptionKeys = t.schema.Options, t.schema.OptionKeys
	t.schema = &c
	return nil
}

// Database is the database's name.
func (t *Table) Database() string { return t.database }

// Name is the table's name without suffixes.
func (t *Table) Name() string { return t.name }

// Branch is the branch's name, "main" for the table itself.
func (t *Table) Branch() string { return t.branch }

// Dir is the table's directory.
func (t *Table) Dir() string { return t.dir }

// Label names the table in messages, e.g. default.T$branch_b.
func (t *Table) Label() string {
	l := t.database + "." + t.name
	if t.branch != snapshot.MainBranch {
		l += "$branch_" + t.branch
	}
	return l
}

// Env is the table's environment.
func (t *Table) Env() *Env { return t.env }

// Schema has the columns the table is read with, and the options in force.
func (t *Table) Schema() *schema.TableSchema { return t.schema }

// StoredSchema is the branch's newest schema as stored, without dynamic options.
func (t *Table) StoredSchema() *schema.TableSchema { return t.stored }

// Schemas are the branch's schema files.
func (t *Table) Schemas() *schema.Manager { return t.schemas }

// Snapshots are the branch's snapshots, tags and consumers.
func (t *Table) Snapshots() *snapshot.Manager { return t.snaps }

// Store reads the table's manifests.
func (t *Table) Store() *manifest.Store { return t.store }

// Zone is the time zone of the statement.
func (t *Table) Zone() *time.Location {
	if t.opts.Zone == nil {
		return time.UTC
	}
	return t.opts.Zone
}

// latest returns the branch's newest snapshot at the time it was first asked.
func (t *Table) latest(ctx context.Context) (*snapshot.Snapshot, error) {
	t.pinOnce.Do(func() { t.pinned, t.pinErr = t.snaps.Latest(ctx) })
	return t.pinned, t.pinErr
}

// State resolves what the options ask to see, once.
func (t *Table) State(ctx context.Context) (*State, error) {
	t.stateOnce.Do(func() {
		pinned, err := t.latest(ctx)
		if err != nil {
			t.stateErr = err
			return
		}
		r := &resolver{mgr: t.snaps, opts: t.schema.Options, zone: t.opts.Zone, label: t.Label(), pinned: pinned}
		t.state, t.stateErr = r.resolve(ctx)
	})
	return t.state, t.stateErr
}

// Source is the branch as scans see it.
func (t *Table) Source() *scan.Source {
	return &scan.Source{FIO: t.env.FIO, Root: t.dir, Branch: t.branch, Label: t.Label(), Schema: t.schema, Schemas: t.schemas, Store: t.store}
}
