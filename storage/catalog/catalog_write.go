package catalog

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Writable is a catalog that can be changed. Methods are atomic: an error
// means that nothing changed, but for errs.Uncertain.
type Writable interface {
	Catalog
	// CreateDatabase makes a database; errs.Exists where there is one.
	CreateDatabase(ctx context.Context, db string) error
	// DropDatabase removes a database: errs.NotFound where there is none,
	// errs.Invalid where it has tables and cascade is not set.
	DropDatabase(ctx context.Context, db string, cascade bool) error
	// CreateTable makes a table: errs.Exists where there is one, errs.NotFound without the database.
	CreateTable(ctx context.Context, db, table string, def schema.Definition) error
	// AlterTable applies changes to a branch ("" = main) as one new schema version.
	AlterTable(ctx context.Context, db, table, branch string, changes []schema.Change) error
	// DropTable removes a table with its branches and files.
	DropTable(ctx context.Context, db, table string) error
	// RenameTable moves a table; errs.Exists where the target exists.
	RenameTable(ctx context.Context, db, table, toDB, to string) error
}

// Checks are what schemas are checked against beyond themselves; nil functions check nothing.
type Checks struct {
	// Castable checks the text of a column's default value.
	Castable func(t *schema.Type, text string) error
	// Engine checks the options of the merge engine.
	Engine func(s *schema.TableSchema) error
	// Clock gives the time of new schemas; nil = time.Now.
	Clock func() time.Time
}

// SetChecks sets what new schemas are checked against.
func (c *Filesystem) SetChecks(x Checks) { c.checks = x }

// alterTries bounds how often a change is applied anew because another one was faster.
const alterTries = 50

// errSystemDatabase is what Paimon says of changes of database sys.
func errSystemDatabase() error { return errs.Invalidf("Can't do operation on system database.") }

// newName refuses names that a new database or table cannot have.
func newName(kind, name string) error {
	if err := checkName(kind, name); err != nil {
		return err
	}
	if strings.HasPrefix(name, ".") || strings.TrimSpace(name) != name || strings.ContainsAny(name, "\\\n\r\t") {
		return errs.Invalidf("%s name '%s' is not possible", kind, name)
	}
	if kind == "table" && strings.Contains(name, "$") {
		return errs.Invalidf("Table name '%s' cannot contain '$', which separates branches and system tables", name)
	}
	return nil
}

// CreateDatabase implements Writable: a directory.
func (c *Filesystem) CreateDatabase(ctx context.Context, db string) error {
	if db == SystemDatabase {
		return errSystemDatabase()
	}
	if err := newName("database", db); err != nil {
		return err
	}
	dir, err := c.DatabaseDir(db)
	if err != nil {
		return err
	}
	if there, err := isDir(ctx, c.fio, dir); err != nil {
		return err
	} else if there {
		return errs.Existsf("Database %s already exists.", db)
	}
	return fileio.MakeDir(ctx, c.fio, dir)
}

// DropDatabase implements Writable.
func (c *Filesystem) DropDatabase(ctx context.Context, db string, cascade bool) error {
	if db == SystemDatabase {
		return errSystemDatabase()
	}
	dir, err := c.DatabaseDir(db)
	if err != nil {
		return err
	}
	if there, err := isDir(ctx, c.fio, dir); err != nil {
		return err
	} else if !there {
		return errs.NotFoundf("Database %s does not exist.", db)
	}
	tables, err := c.Tables(ctx, db)
	if err != nil {
		return err
	}
	if len(tables) > 0 && !cascade {
		return errs.Invalidf("Database %s is not empty.", db)
	}
	for _, t := range tables {
		if err := c.DropTable(ctx, db, t); err != nil {
			return err
		}
	}
	return fileio.RemoveTree(context.WithoutCancel(ctx), c.fio, dir)
}

// context returns what a table's new schema is checked against.
func (c *Filesystem) context(ctx context.Context, name, dir, branch string) (schema.Context, error) {
	x := schema.Context{Name: name, Castable: c.checks.Castable, Engine: c.checks.Engine, Clock: c.checks.Clock}
	if dir == "" {
		return x, nil
	}
	latest, err := snapshot.NewManager(c.fio, dir, branch).LatestID(ctx)
	if err != nil {
		return x, err
	}
	x.HasSnapshot = latest > 0
	x.BranchExists = func(name string) (bool, error) { return snapshot.BranchExists(ctx, c.fio, dir, name) }
	return x, nil
}

// CreateTable implements Writable: the table is there when its first schema file is.
func (c *Filesystem) CreateTable(ctx context.Context, db, table string, def schema.Definition) error {
	if db == SystemDatabase {
		return errSystemDatabase()
	}
	if err := newName("table", table); err != nil {
		return err
	}
	if there, err := c.DatabaseExists(ctx, db); err != nil {
		return err
	} else if !there && db != DefaultDatabase {
		return errs.NotFoundf("Database %s does not exist.", db)
	}
	if there, err := c.TableExists(ctx, db, table); err != nil {
		return err
	} else if there {
		return errs.Existsf("Table %s.%s already exists.", db, table)
	}
	dir, err := c.TableDir(db, table)
	if err != nil {
		return err
	}
	x, err := c.context(ctx, db+"."+table, "", "")
	if err != nil {
		return err
	}
	s, err := schema.NewTable(def, x)
	if err != nil {
		return err
	}
	created, err := schema.NewManager(c.fio, dir, c.schemas).Publish(ctx, s)
	if err == nil && !created {
		return errs.Existsf("Table %s.%s already exists.", db, table)
	}
	return err
}

// AlterTable implements Writable.
func (c *Filesystem) AlterTable(ctx context.Context, db, table, branch string, changes []schema.Change) error {
	if db == SystemDatabase {
		return errSystemDatabase()
	}
	dir, err := c.TableDir(db, table)
	if err != nil {
		return err
	}
	m := schema.NewManager(c.fio, snapshot.BranchDir(dir, branch), c.schemas)
	for range alterTries {
		t, err := c.Load(ctx, db, table, branch)
		if err != nil {
			return err
		}
		x, err := c.context(ctx, db+"."+table, dir, branch)
		if err != nil {
			return err
		}
		next, err := t.Schema.Apply(changes, x)
		if err != nil {
			return err
		}
		created, err := m.Publish(ctx, next)
		if err != nil || created {
			return err
		}
	}
	return errs.Conflictf("table %s.%s: other changes of its schema were faster %d times; repeat the statement", db, table, alterTries)
}

// DropTable implements Writable: one rename to a name that nobody takes for a
// table makes it vanish; what a crash leaves then is no table. The files follow.
func (c *Filesystem) DropTable(ctx context.Context, db, table string) error {
	if db == SystemDatabase {
		return errSystemDatabase()
	}
	if there, err := c.TableExists(ctx, db, table); err != nil {
		return err
	} else if !there {
		return errs.NotFoundf("Table %s.%s does not exist.", db, table)
	}
	dir, err := c.TableDir(db, table)
	if err != nil {
		return err
	}
	// What lies in the warehouse and not in a database is no table for anybody.
	hidden := path.Join(c.warehouse, droppedPrefix+db+"-"+table+"-"+time.Now().UTC().Format("20060102150405.000000000"))
	if err := fileio.Move(ctx, c.fio, dir, hidden); err != nil {
		return err
	}
	// The table is gone: what remains is cleaning, which a cancelled statement finishes too. What
	// cannot be deleted is left to RemoveDropped.
	_ = fileio.RemoveTree(context.WithoutCancel(ctx), c.fio, hidden)
	return nil
}

// RenameTable implements Writable.
func (c *Filesystem) RenameTable(ctx context.Context, db, table, toDB, to string) error {
	if db == SystemDatabase || toDB == SystemDatabase {
		return errSystemDatabase()
	}
	if err := newName("table", to); err != nil {
		return err
	}
	if there, err := c.TableExists(ctx, db, table); err != nil {
		return err
	} else if !there {
		return errs.NotFoundf("Table %s.%s does not exist.", db, table)
	}
	if there, err := c.DatabaseExists(ctx, toDB); err != nil {
		return err
	} else if !there {
		return errs.NotFoundf("Database %s does not exist.", toDB)
	}
	if there, err := c.TableExists(ctx, toDB, to); err != nil {
		return err
	} else if there {
		return errs.Existsf("Table %s.%s already exists.", toDB, to)
	}
	from, err := c.TableDir(db, table)
	if err != nil {
		return err
	}
	target, err := c.TableDir(toDB, to)
	if err != nil {
		return err
	}
	return fileio.Move(ctx, c.fio, from, target)
}
