package sqlengine

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/lsm"
	"github.com/tributarydb/tributary/storage/maintain"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/table"
)

var _ planner.WritableCatalog = (*warehouse)(nil)

// textType is the type of values in statements.
var textType = &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}

// schemaChecks are what new schemas are checked against by the packages that know.
func schemaChecks() catalog.Checks {
	return catalog.Checks{
		Castable: func(t *schema.Type, text string) error {
			_, err := cast.Scalar(textType, t, column.BytesScalar([]byte(text)))
			return err
		},
		Engine: func(s *schema.TableSchema) error {
			_, err := lsm.NewEngine(lsm.TableInfo{Fields: s.Fields, PrimaryKeys: s.PrimaryKeys, Options: s.Options})
			return err
		},
	}
}

// dataName takes a name apart that a statement changes: a table or a branch of one.
func dataName(db, name, method string) (objectName, error) {
	on, err := parseObjectName(name)
	switch {
	case err != nil:
		return on, err
	case on.system != "":
		return on, errs.Invalidf("Cannot '%s' for system table '%s.%s', please use data table.", method, db, name)
	case strings.EqualFold(on.branch, snapshot.MainBranch):
		on.branch = ""
	}
	return on, nil
}

// mainName is dataName for what can be done with a table only, not with a branch.
func mainName(db, name, method string) (string, error) {
	on, err := dataName(db, name, method)
	if err == nil && strings.Contains(name, "$") {
		err = errs.Invalidf("Cannot '%s' for branch table '%s.%s', please modify the table with the default branch.", method, db, name)
	}
	return on.table, err
}

// CreateDatabase makes a database.
func (w *warehouse) CreateDatabase(ctx context.Context, name string) error {
	if name == catalog.DefaultDatabase { // listed even without its folder
		return errs.Existsf("Database %s already exists.", name)
	}
	return w.cat.CreateDatabase(ctx, name)
}

// DropDatabase removes a database.
func (w *warehouse) DropDatabase(ctx context.Context, name string, cascade bool) error {
	if cascade {
		w.leave(w.cat.DatabaseDir(name))
	}
	return w.cat.DropDatabase(ctx, name, cascade)
}

// CreateTable makes a table.
func (w *warehouse) CreateTable(ctx context.Context, db, name string, def schema.Definition) error {
	name, err := mainName(db, name, "createTable")
	if err != nil {
		return err
	}
	return w.cat.CreateTable(ctx, db, name, def)
}

// Definition returns what CREATE TABLE … LIKE copies of a table or branch.
func (w *warehouse) Definition(ctx context.Context, db, name string) (schema.Definition, error) {
	on, err := dataName(db, name, "alterTable")
	if err != nil {
		return schema.Definition{}, err
	}
	t, err := w.cat.Load(ctx, db, on.table, on.branch)
	if err != nil {
		return schema.Definition{}, err
	}
	return t.Schema.Definition(), nil
}

// AlterTable gives a table or branch a new schema.
func (w *warehouse) AlterTable(ctx context.Context, db, name string, changes []schema.Change) error {
	on, err := dataName(db, name, "alterTable")
	if err != nil {
		return err
	}
	return w.cat.AlterTable(ctx, db, on.table, on.branch, changes)
}

// DropTable removes a table.
func (w *warehouse) DropTable(ctx context.Context, db, name string) error {
	name, err := mainName(db, name, "dropTable")
	if err != nil {
		return err
	}
	w.leave(w.cat.TableDir(db, name))
	return w.cat.DropTable(ctx, db, name)
}

// RenameTable moves a table.
func (w *warehouse) RenameTable(ctx context.Context, db, name, toDB, to string) error {
	name, err := mainName(db, name, "renameTable")
	if err != nil {
		return err
	}
	if to, err = mainName(toDB, to, "renameTable"); err != nil {
		return err
	}
	w.leave(w.cat.TableDir(db, name))
	return w.cat.RenameTable(ctx, db, name, toDB, to)
}

// openForChange opens a table or branch whose newest state is to be changed.
func (w *warehouse) openForChange(ctx context.Context, db, name, method string, options map[string]string) (*table.Table, error) {
	on, err := dataName(db, name, method)
	if err != nil {
		return nil, err
	}
	return table.Open(ctx, w.env, db, on.table, table.OpenOptions{Branch: on.branch, Dynamic: options})
}

// OpenSink starts a statement that writes rows.
func (w *warehouse) OpenSink(ctx context.Context, db, name string, o relation.SinkOptions) (relation.Sink, error) {
	t, err := w.openForChange(ctx, db, name, "write", nil)
	if err != nil {
		return nil, err
	}
	sink, err := t.OpenSink(ctx, o)
	if err != nil {
		return nil, err
	}
	return &maintainedSink{Sink: sink, after: w.maintenance(t)}, nil
}

// HoldWrites implements planner.WriteHolder.
func (w *warehouse) HoldWrites(ctx context.Context, db, name string) (context.Context, func(), error) {
	t, err := w.openForChange(ctx, db, name, "write", nil)
	if err != nil {
		return ctx, func() {}, err
	}
	return t.HoldWrites(ctx)
}

// maintainedSink does after its commit what the table's options ask for.
type maintainedSink struct {
	relation.Sink
	after func(ctx context.Context)
}

// Commit publishes the rows. What maintenance cannot do does not concern the statement: the commit stands.
func (s *maintainedSink) Commit(ctx context.Context) (relation.Committed, error) {
	done, err := s.Sink.Commit(ctx)
	if err == nil && done.Snapshot > 0 {
		s.after(ctx)
	}
	return done, err
}

// Based implements relation.BasedSink.
func (s *maintainedSink) Based(ctx context.Context, rel relation.Relation) error {
	b, ok := s.Sink.(relation.BasedSink)
	if !ok {
		return errs.Unsupportedf("rows of this table cannot be written by what is there")
	}
	return b.Based(ctx, rel)
}

// maintenance returns the work after a commit to a table's branch: expiry and automatic tags.
func (w *warehouse) maintenance(t *table.Table) func(ctx context.Context) {
	return func(ctx context.Context) {
		m := maintain.New(maintain.Target{
			FIO: t.Env().FIO, Dir: t.Dir(), Label: t.Label(), Branch: t.Branch(), Schemas: w.schemas, Manifests: w.env.Manifests, Deleted: w.env.Forget, Zone: t.Zone(), Log: w.env.Log,
		})
		_ = m.AfterCommit(ctx) // it logs what fails
	}
}

// committer publishes to a table's branch.
func committer(t *table.Table) *commit.Committer {
	return commit.New(commit.Target{
		FIO: t.Env().FIO, Dir: t.Dir(), Label: t.Label(), Schema: t.StoredSchema(), Schemas: t.Schemas(), Snapshots: t.Snapshots(), Store: t.Store(),
	})
}

// TruncateTable removes all rows.
func (w *warehouse) TruncateTable(ctx context.Context, db, name string) error {
	t, err := w.openForChange(ctx, db, name, "truncateTable", nil)
	if err != nil {
		return err
	}
	_, err = committer(t).Truncate(ctx)
	return err
}

// partitionSpec are values of some partition columns.
type partitionSpec struct {
	values map[int]column.Scalar // by the index of the partition column
	text   string                // as messages show it
}

func (s *partitionSpec) matches(partition []column.Scalar) bool {
	for i, v := range s.values {
		if i >= len(partition) || v.Null != partition[i].Null || !v.Null && v.Compare(partition[i]) != 0 {
			return false
		}
	}
	return true
}

// readSpecs reads the texts of partition specs.
func readSpecs(t *table.Table, specs []map[string]*string) ([]partitionSpec, error) {
	s := t.StoredSchema()
	if !s.Partitioned() {
		return nil, errs.Invalidf("Table %s is not partitioned.", t.Label())
	}
	fields := s.PartitionFields()
	var out []partitionSpec
	for _, spec := range specs {
		p := partitionSpec{values: map[int]column.Scalar{}}
		var texts []string
		for name, v := range spec {
			i := schema.IndexOf(fields, name)
			if i < 0 {
				return nil, errs.Invalidf("table %s: '%s' is no partition column; these are: %s", t.Label(), name, strings.Join(s.PartitionKeys, ", "))
			}
			typ := fields[i].Type
			value, text := column.NullScalar(schema.KindOf(typ)), "NULL"
			if v != nil {
				text = *v
			}
			if v != nil && *v != schema.OptPartitionDefault.Value(s.Options) {
				var err error
				if value, err = cast.Scalar(textType, typ, column.BytesScalar([]byte(*v))); err != nil {
					return nil, errs.Invalidf("table %s: '%s' is no value of partition column '%s' of type %s: %w", t.Label(), *v, name, typ, err)
				}
			}
			p.values[i] = value
			texts = append(texts, name+"="+text)
		}
		sort.Strings(texts)
		p.text = "{" + strings.Join(texts, ", ") + "}"
		out = append(out, p)
	}
	return out, nil
}

// DropPartitions removes the partitions that match one of the specs.
func (w *warehouse) DropPartitions(ctx context.Context, db, name string, specs []map[string]*string, ifExists bool) error {
	t, err := w.openForChange(ctx, db, name, "dropPartitions", nil)
	if err != nil {
		return err
	}
	want, err := readSpecs(t, specs)
	if err != nil {
		return err
	}
	files, _, err := t.NewestFiles(ctx)
	if err != nil {
		return err
	}
	found := make([]bool, len(want))
	for _, f := range files {
		for i := range want {
			found[i] = found[i] || want[i].matches(f.Partition)
		}
	}
	if i := slices.Index(found, false); i >= 0 && !ifExists {
		return errs.NotFoundf("Partition %s of table %s does not exist.", want[i].text, t.Label())
	}
	if !slices.Contains(found, true) {
		return nil
	}
	_, err = committer(t).DropPartitions(ctx, func(partition []column.Scalar) bool {
		for i := range want {
			if want[i].matches(partition) {
				return true
			}
		}
		return false
	})
	return err
}

// AddPartitions checks the partitions: a warehouse of files has those with rows only.
func (w *warehouse) AddPartitions(ctx context.Context, db, name string, specs []map[string]*string, _ bool) error {
	t, err := w.openForChange(ctx, db, name, "createPartitions", nil)
	if err != nil {
		return err
	}
	want, err := readSpecs(t, specs)
	if err != nil {
		return err
	}
	for i := range want {
		if n := len(t.StoredSchema().PartitionKeys); len(want[i].values) != n {
			return errs.Invalidf("table %s: partition %s has %d of %d partition columns", t.Label(), want[i].text, len(want[i].values), n)
		}
	}
	return nil
}
