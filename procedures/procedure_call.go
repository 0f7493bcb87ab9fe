package procedures

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/maintain"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/table"
)

// Lake is what procedures need besides the tables themselves.
type Lake interface {
	// AlterTable applies changes of the schema to a table or branch ("T$branch_b").
	AlterTable(ctx context.Context, db, name string, changes []schema.Change) error
	// DropPartitions removes the partitions that match one of the specs.
	DropPartitions(ctx context.Context, db, name string, specs []map[string]*string, ifExists bool) error
}

// Env is what all calls share.
type Env struct {
	Tables *table.Env
	Lake   Lake
	// Schemas is the cache of schema files; nil = none.
	Schemas *schema.Cache
	Log     *slog.Logger
}

// Options are the circumstances of one call.
type Options struct {
	// Database is where a table argument without a database lies; "" = it must have one.
	Database string
	// Branch is the session's branch, "" = main: a table argument without a branch means it, in procedures that work on one branch.
	Branch string
	// Zone is the session's time zone; nil = UTC.
	Zone *time.Location
	// Progress takes a text that says how far a long procedure is; nil = nobody listens.
	Progress func(text string)
	// Where understands a condition over a table's partition columns, which are given; nil = nobody does.
	// A condition over other columns is errs.Invalid.
	Where func(ctx context.Context, text string, t *table.Table, partition []schema.Field) (func(values []column.Scalar) (bool, error), error)
}

// call is one call.
type call struct {
	*arguments
	env  *Env
	opts Options
}

// procedure is one procedure.
type procedure struct {
	params   []parameter
	variadic bool
	// whole says that the procedure names its branches itself, or works on all: the session's branch means nothing to it.
	whole bool
	run   func(ctx context.Context, c *call) (*result, error)
}

// procedures are all procedures by name.
var procedures = map[string]procedure{}

func define(name, list string, run func(ctx context.Context, c *call) (*result, error)) {
	procedures[name] = procedure{params: params(list), run: run}
}

// defineWhole defines a procedure that the session's branch means nothing to.
func defineWhole(name, list string, run func(ctx context.Context, c *call) (*result, error)) {
	procedures[name] = procedure{params: params(list), whole: true, run: run}
}

// Names lists the procedures, ascending.
func Names() []string { return slices.Sorted(maps.Keys(procedures)) }

// Call runs a procedure. An unknown one is errs.NotFound, wrong arguments are errs.Invalid.
func Call(ctx context.Context, env *Env, name string, args []Arg, opts Options) (relation.Relation, error) {
	p, ok := procedures[strings.ToLower(name)]
	if !ok {
		return nil, errs.NotFoundf("there is no procedure sys.%s", name)
	}
	if opts.Zone == nil {
		opts.Zone = time.UTC
	}
	a, err := bind(strings.ToLower(name), p.params, p.variadic, args)
	if err != nil {
		return nil, err
	}
	if p.whole {
		opts.Branch = ""
	}
	r, err := p.run(ctx, &call{a, env, opts})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// tableName is a table argument taken apart: 'db.T', 'T', 'db.T$branch_b'.
type tableName struct {
	db, table, branch string
	// said: the argument names a branch, be it main.
	said bool
}

// full is the name with its branch.
func (n tableName) full() string {
	if n.branch == "" {
		return n.table
	}
	return n.table + branchMark + n.branch
}

const branchMark = "$branch_"

func (c *call) tableName(text string) (tableName, error) {
	n := tableName{db: c.opts.Database, table: strings.Trim(text, "`")}
	if db, rest, ok := strings.Cut(text, "."); ok {
		n.db, n.table = strings.Trim(db, "`"), strings.Trim(rest, "`")
	}
	if n.db == "" {
		return n, errs.Invalidf("procedure %s: the table '%s' has no database; give it as 'database.table'", c.procedure, text)
	}
	if base, branch, ok := strings.Cut(n.table, branchMark); ok {
		n.table, n.branch, n.said = base, branch, true
		if strings.EqualFold(branch, "main") {
			n.branch = ""
		}
	}
	if n.table == "" || strings.Contains(n.table, "$") || strings.Contains(n.branch, "$") {
		return n, errs.Invalidf("procedure %s: '%s' names no table", c.procedure, text)
	}
	return n, nil
}

// target is the table that the argument `table` names, on the session's branch where it names none.
func (c *call) target(ctx context.Context) (tableName, error) {
	n, err := c.tableName(c.text("table"))
	if err != nil || n.said || c.opts.Branch == "" {
		return n, err
	}
	t, err := c.env.Tables.Catalog.Load(ctx, n.db, n.table, "")
	if err != nil {
		return n, err
	}
	there, err := snapshot.BranchExists(ctx, c.env.Tables.FIO, t.Dir, c.opts.Branch)
	if err != nil {
		return n, err
	}
	if !there {
		return n, errs.NotFoundf("Table '%s.%s%s%s' doesn't exist: the session works on branch '%s' (@@paimon_branch), which table '%s' has not; '%s.%s%smain' is the main branch, and SET paimon_branch = DEFAULT ends this",
			n.db, n.table, branchMark, c.opts.Branch, c.opts.Branch, n.table, n.db, n.table, branchMark)
	}
	n.branch = c.opts.Branch
	return n, nil
}

// named loads the table that the argument `table` names.
func (c *call) named(ctx context.Context) (tableName, *catalog.Table, error) {
	n, err := c.target(ctx)
	if err != nil {
		return n, nil, err
	}
	t, err := c.env.Tables.Catalog.Load(ctx, n.db, n.table, n.branch)
	return n, t, err
}

// maintain opens the table that the argument `table` names for maintenance, with dynamic options.
func (c *call) maintain(ctx context.Context, options map[string]string) (*maintain.Table, tableName, error) {
	n, t, err := c.named(ctx)
	if err != nil {
		return nil, n, err
	}
	return c.maintainer(n, t.Dir, options), n, nil
}

func (c *call) maintainer(n tableName, dir string, options map[string]string) *maintain.Table {
	return maintain.New(maintain.Target{
		FIO: c.env.Tables.FIO, Dir: dir, Label: n.db + "." + n.full(), Branch: n.branch, Options: options,
		Schemas: c.env.Schemas, Manifests: c.env.Tables.Manifests, Deleted: c.env.Tables.Forget, Zone: c.opts.Zone, Log: c.env.Log, Progress: c.opts.Progress,
	})
}

// open opens the table that the argument `table` names.
func (c *call) open(ctx context.Context) (*table.Table, error) {
	n, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	return table.Open(ctx, c.env.Tables, n.db, n.table, table.OpenOptions{Branch: n.branch, Zone: c.opts.Zone})
}

// committer publishes to a table's branch.
func committer(t *table.Table) *commit.Committer {
	return commit.New(commit.Target{
		FIO: t.Env().FIO, Dir: t.Dir(), Label: t.Label(), Schema: t.StoredSchema(), Schemas: t.Schemas(), Snapshots: t.Snapshots(), Store: t.Store(),
	})
}
