package catalog

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

const databaseSuffix = ".db"

// Filesystem is the catalog of a warehouse directory.
type Filesystem struct {
	fio       fileio.FileIO
	warehouse string
	schemas   *schema.Cache
	checks    Checks
}

// NewFilesystem returns the catalog of a warehouse directory. schemas may be
// nil, or shared with other readers.
func NewFilesystem(fio fileio.FileIO, warehouse string, schemas *schema.Cache) *Filesystem {
	if schemas == nil {
		schemas = &schema.Cache{}
	}
	return &Filesystem{fio: fio, warehouse: warehouse, schemas: schemas}
}

// FileIO is the file system of the warehouse.
func (c *Filesystem) FileIO() fileio.FileIO { return c.fio }

// Warehouse is the warehouse's directory.
func (c *Filesystem) Warehouse() string { return c.warehouse }

// checkName refuses names that cannot be those of a directory entry.
func checkName(kind, name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return errs.Invalidf("%s name '%s' is not possible", kind, name)
	}
	return nil
}

// DatabaseDir returns the directory of a database.
func (c *Filesystem) DatabaseDir(db string) (string, error) {
	if err := checkName("database", db); err != nil {
		return "", err
	}
	return path.Join(c.warehouse, db+databaseSuffix), nil
}

// Databases lists the directories `<name>.db`.
func (c *Filesystem) Databases(ctx context.Context) ([]string, error) {
	infos, err := c.fio.List(ctx, c.warehouse)
	if err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil, errs.NotFoundf("the warehouse %s does not exist", c.warehouse)
		}
		return nil, err
	}
	var out []string
	for _, i := range infos {
		if n, ok := strings.CutSuffix(i.Name, databaseSuffix); ok && n != "" && i.IsDir && !strings.HasPrefix(n, ".") {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// DatabaseExists reports whether the database's directory exists.
func (c *Filesystem) DatabaseExists(ctx context.Context, db string) (bool, error) {
	dir, err := c.DatabaseDir(db)
	if err != nil {
		return false, nil
	}
	return isDir(ctx, c.fio, dir)
}

func isDir(ctx context.Context, fio fileio.FileIO, dir string) (bool, error) {
	i, err := fio.Stat(ctx, dir)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil && i.IsDir, err
}

// Tables lists the sub-directories of the database that have a schema file.
// Other directories and files in it do not count.
func (c *Filesystem) Tables(ctx context.Context, db string) ([]string, error) {
	dir, err := c.DatabaseDir(db)
	if err != nil {
		return nil, err
	}
	infos, err := c.fio.List(ctx, dir)
	if err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil, errs.NotFoundf("Database '%s' does not exist: there is no directory %s", db, dir)
		}
		return nil, err
	}
	var out []string
	for _, i := range infos {
		if !i.IsDir || strings.HasPrefix(i.Name, ".") {
			continue
		}
		has, err := c.hasSchema(ctx, path.Join(dir, i.Name))
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue // a directory that cannot be read is no table
		}
		if has {
			out = append(out, i.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// hasSchema reports whether a directory holds a schema file, cheaply in the
// usual case that schema-0 is there.
func (c *Filesystem) hasSchema(ctx context.Context, dir string) (bool, error) {
	m := schema.NewManager(c.fio, dir, c.schemas)
	if i, err := c.fio.Stat(ctx, m.Path(0)); err == nil && !i.IsDir {
		return true, nil
	}
	ids, err := m.IDs(ctx)
	return len(ids) > 0, err
}

// TableDir returns the directory of a table.
func (c *Filesystem) TableDir(db, table string) (string, error) {
	dir, err := c.DatabaseDir(db)
	if err != nil {
		return "", err
	}
	if err := checkName("table", table); err != nil {
		return "", err
	}
	return path.Join(dir, table), nil
}

// TableExists reports whether a table has a schema file.
func (c *Filesystem) TableExists(ctx context.Context, db, table string) (bool, error) {
	dir, err := c.TableDir(db, table)
	if err != nil {
		return false, nil
	}
	return c.hasSchema(ctx, dir)
}

// Load loads the latest schema of a table's branch.
func (c *Filesystem) Load(ctx context.Context, db, table, branch string) (*Table, error) {
	dir, err := c.TableDir(db, table)
	if err != nil {
		return nil, errs.NotFoundf("Table '%s.%s' does not exist", db, table)
	}
	if branch == "" {
		branch = snapshot.MainBranch
	}
	if branch != snapshot.MainBranch {
		ok, err := c.hasSchema(ctx, dir)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, c.missing(db, table, dir)
		}
		ok, err = snapshot.BranchExists(ctx, c.fio, dir, branch)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errs.NotFoundf("table '%s.%s': %w", db, table, snapshot.BranchNotFound(branch))
		}
	}
	t := &Table{
		Database: db, Name: table, Branch: branch, Dir: dir,
		Schemas: schema.NewManager(c.fio, snapshot.BranchDir(dir, branch), c.schemas),
	}
	ids, err := t.Schemas.IDs(ctx)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		if branch != snapshot.MainBranch {
			return nil, errs.Corruptf("branch '%s' of table '%s.%s' has no schema: %s is empty", branch, db, table, t.Schemas.Dir())
		}
		return nil, c.missing(db, table, dir)
	}
	if t.Schema, err = t.Schemas.Get(ctx, ids[len(ids)-1]); err != nil {
		return nil, errs.New(errs.ClassOf(err), "table '%s.%s': %w", db, table, err)
	}
	return t, nil
}

func (c *Filesystem) missing(db, table, dir string) error {
	return errs.NotFoundf("Table '%s.%s' does not exist: there is no schema file in %s", db, table, path.Join(dir, "schema"))
}

var _ Catalog = (*Filesystem)(nil)
