package sqlengine

import (
	"context"
	"log/slog"
	"maps"
	"sort"
	"strings"
	"time"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	_ "github.com/tributarydb/tributary/storage/format/avro"    // reads avro data files
	_ "github.com/tributarydb/tributary/storage/format/blob"    // reads blob data files
	_ "github.com/tributarydb/tributary/storage/format/orc"     // reads orc data files
	_ "github.com/tributarydb/tributary/storage/format/parquet" // reads parquet data files
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/table"
)

// openWarehouse opens the catalog of a warehouse folder; with workers > 0 compactions that nobody waits for run beside
// the statements.
func openWarehouse(ctx context.Context, folder string, workers int, log *slog.Logger) (planner.Catalog, func() error, error) {
	fio := fileio.NewLocal()
	info, err := fio.Stat(ctx, folder)
	if err != nil {
		return nil, nil, errs.NotFoundf("warehouse %s: %w", folder, err)
	}
	if !info.IsDir {
		return nil, nil, errs.Invalidf("warehouse %s is a file; --warehouse takes a folder of <database>.db folders", folder)
	}
	w := newWarehouse(fio, folder, log)
	if workers <= 0 {
		return w, func() error { return nil }, nil
	}
	w.compactions = table.NewCompactions(ctx, w.env, workers, func(ctx context.Context, t *table.Table) { w.maintenance(t)(ctx) })
	return w, func() error { w.compactions.Close(); return nil }, nil
}

func newWarehouse(fio fileio.FileIO, folder string, log *slog.Logger) *warehouse {
	schemas := &schema.Cache{}
	cat := catalog.NewFilesystem(fio, folder, schemas)
	cat.SetChecks(schemaChecks())
	return &warehouse{cat: cat, env: table.NewEnv(fio, cat, log), schemas: schemas}
}

// FullCatalog is a catalog that can be read, changed and called.
type FullCatalog interface {
	planner.StatisticsCatalog
	planner.ProcedureCatalog
}

// NewCatalog is the catalog of a warehouse folder on any file system: for tests that give it to
// Options.Catalog, or to a planner of their own. log may be nil.
func NewCatalog(fio fileio.FileIO, folder string, log *slog.Logger) FullCatalog {
	return newWarehouse(fio, folder, log)
}

var _ planner.BranchCatalog = (*warehouse)(nil)

// warehouse joins storage's catalog and tables to the planner.
type warehouse struct {
	cat *catalog.Filesystem
	env *table.Env
	// schemas is the cache of schema files of all tables.
	schemas *schema.Cache
	// compactions runs what no statement waits for; nil = the statements that write do.
	compactions *table.Compactions
}

// Databases lists the databases; `default` exists even without a folder.
func (w *warehouse) Databases(ctx context.Context) ([]string, error) {
	dbs, err := w.cat.Databases(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range dbs {
		if d == catalog.DefaultDatabase {
			return dbs, nil
		}
	}
	dbs = append(dbs, catalog.DefaultDatabase)
	sort.Strings(dbs)
	return dbs, nil
}

// HasBranch looks for a branch of a table.
func (w *warehouse) HasBranch(ctx context.Context, db, name, branch string) (bool, error) {
	t, err := w.cat.Load(ctx, db, name, "")
	if err != nil {
		return false, err
	}
	return snapshot.BranchExists(ctx, w.env.FIO, t.Dir, branch)
}

// TableNames lists the tables of a database that can be loaded; the others become warnings.
func (w *warehouse) TableNames(ctx context.Context, db string) (names, warnings []string, err error) {
	if db == planner.SystemDatabase {
		return nil, nil, nil
	}
	all, err := w.cat.Tables(ctx, db)
	if db == catalog.DefaultDatabase && errs.Is(err, errs.NotFound) {
		return nil, nil, nil // it exists without a folder
	}
	if err != nil {
		return nil, nil, err
	}
	for _, n := range all {
		if _, err := w.cat.Load(ctx, db, n, ""); err != nil {
			warnings = append(warnings, "table "+db+"."+n+" cannot be read: "+err.Error())
			continue
		}
		names = append(names, n)
	}
	return names, warnings, nil
}

// objectName is a table name as typed, taken apart at its `$` (section 1.1 of the SQL surface).
type objectName struct {
	table, branch, system string
}

const branchPrefix = "branch_"

func parseObjectName(name string) (objectName, error) {
	parts := strings.Split(name, "$")
	o := objectName{table: parts[0]}
	switch len(parts) {
	case 1:
		return o, nil
	case 2:
		if parts[1] == "" {
			return o, errs.NotFoundf("Table '%s' doesn't exist: the name of a system table, or branch_ and a branch, is missing after its '$'", name)
		}
		if b, ok := strings.CutPrefix(parts[1], branchPrefix); ok {
			o.branch = b
		} else {
			o.system = parts[1]
		}
		return o, nil
	case 3:
		b, ok := strings.CutPrefix(parts[1], branchPrefix)
		if !ok {
			return o, errs.Invalidf("System table can only contain one '$' separator, but this is: %s", name)
		}
		o.branch, o.system = b, parts[2]
		return o, nil
	}
	return o, errs.Invalidf("Invalid object name: %s has more than two '$'", name)
}

// Open opens a table, branch or system table by its name.
func (w *warehouse) Open(ctx context.Context, db, name string, o planner.OpenOptions) (relation.Relation, error) {
	if db == planner.SystemDatabase {
		return w.openGlobal(ctx, name, o)
	}
	on, err := parseObjectName(name)
	if err != nil {
		return nil, err
	}
	opts := table.OpenOptions{Branch: on.branch, Dynamic: maps.Clone(o.Options), Zone: o.TimeZone}
	if opts.Dynamic == nil {
		opts.Dynamic = map[string]string{}
	}
	if err := w.travel(ctx, db, on, o, &opts); err != nil {
		return nil, err
	}
	var t *table.Table
	if o.ForChange {
		t, err = w.openToChange(ctx, db, on, opts)
	} else {
		t, err = table.Open(ctx, w.env, db, on.table, opts)
	}
	if errs.Is(err, errs.NotFound) && on.branch+on.system != "" {
		return nil, errs.NotFoundf("Table '%s.%s' doesn't exist: not found: %w", db, name, err)
	}
	if err != nil {
		return nil, err
	}
	if on.system != "" {
		return w.openSystem(ctx, t, on.system)
	}
	return &dataTable{Table: t}, nil
}

// openToChange opens a table whose rows are read to be changed: all that are committed, and those of append tables with
// where they lie.
func (w *warehouse) openToChange(ctx context.Context, db string, on objectName, opts table.OpenOptions) (*table.Table, error) {
	plain, err := w.cat.Load(ctx, db, on.table, on.branch)
	switch {
	case err != nil:
		return nil, err
	case !plain.Schema.HasPrimaryKey():
		opts.Positions = true
	case schema.OptDeletionVectors.Value(plain.Schema.Options):
		opts.Dynamic["deletion-vectors.merge-on-read"] = "true"
	}
	return table.Open(ctx, w.env, db, on.table, opts)
}

// travel puts what an AS OF clause names into the options.
func (w *warehouse) travel(ctx context.Context, db string, on objectName, o planner.OpenOptions, opts *table.OpenOptions) error {
	switch {
	case o.Version != "":
		opts.Dynamic["scan.version"] = o.Version
	case o.Timestamp != "":
		opts.Dynamic["scan.timestamp"] = o.Timestamp
	case o.AsOf != "":
		t, err := table.Open(ctx, w.env, db, on.table, table.OpenOptions{Branch: on.branch})
		if err != nil {
			return err
		}
		isTag, err := t.Snapshots().HasTag(ctx, o.AsOf)
		if err != nil {
			return err
		}
		if _, timeErr := table.ParseTimestamp(o.AsOf, o.TimeZone); !isTag && timeErr == nil && !digits(o.AsOf) {
			opts.Dynamic["scan.timestamp"] = o.AsOf
		} else {
			opts.Dynamic["scan.version"] = o.AsOf
		}
	default:
		return nil
	}
	opts.SnapshotSchema = true
	return nil
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// dataTable adds what SHOW and information_schema ask of a table.
type dataTable struct{ *table.Table }

// PartitionKeys names the partition columns.
func (t *dataTable) PartitionKeys() []string { return t.Schema().PartitionKeys }

// TableOptions are the options stored with the table.
func (t *dataTable) TableOptions() map[string]string { return t.StoredSchema().Options }

// Partitions lists the partitions, those of the fallback branch included.
func (t *dataTable) Partitions(ctx context.Context) ([]planner.Partition, error) {
	parts, err := t.PartitionFiles(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]planner.Partition, len(parts))
	for i, p := range parts {
		spec, err := p.Of.Source().PartitionPath(p.Values)
		if err != nil {
			return nil, err
		}
		// Names are shown as they are, only paths have escapes.
		x := planner.Partition{Name: binrow.UnescapePath(spec), Files: int64(len(p.Files))}
		for k, v := range p.Values {
			x.Values = append(x.Values, nil)
			if !v.Null {
				text := p.Of.PartitionText(k, v)
				x.Values[k] = &text
			}
		}
		for _, f := range p.Files {
			x.Rows += f.Meta.RowCount
			x.Bytes += f.Meta.Size
			if c := f.Meta.CreationMillis; c != nil {
				if made := time.UnixMilli(*c); made.After(x.Updated) {
					x.Updated = made
				}
			}
		}
		out[i] = x
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// DataSize is the size of the live data files of the branch.
func (t *dataTable) DataSize(ctx context.Context) (int64, error) {
	files, err := t.LiveFiles(ctx)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, f := range files {
		n += f.Meta.Size
	}
	return n, nil
}
