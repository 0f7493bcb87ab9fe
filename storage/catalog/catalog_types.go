package catalog

import (
	"context"

	"github.com/tributarydb/tributary/storage/schema"
)

// DefaultDatabase exists in every catalog, with or without a directory.
const DefaultDatabase = "default"

// SystemDatabase is reserved for global system tables.
const SystemDatabase = "sys"

// Table is a table of one branch as the catalog knows it.
type Table struct {
	Database, Name string
	// Branch is "main" or the branch's name.
	Branch string
	// Dir is the table's directory, which holds data and manifests of all branches.
	Dir string
	// Schema is the branch's latest schema.
	Schema *schema.TableSchema
	// Schemas reads the branch's other schemas.
	Schemas *schema.Manager
}

// Catalog finds databases and tables. Missing ones are errs.NotFound. It is
// safe for concurrent use.
type Catalog interface {
	// Databases lists the databases, ascending.
	Databases(ctx context.Context) ([]string, error)
	// DatabaseExists reports whether a database exists.
	DatabaseExists(ctx context.Context, db string) (bool, error)
	// Tables lists the tables of a database, ascending: those with a schema
	// file, whether or not it can be read.
	Tables(ctx context.Context, db string) ([]string, error)
	// TableExists reports whether a table exists.
	TableExists(ctx context.Context, db, table string) (bool, error)
	// TableDir returns the directory of a table, which need not exist.
	TableDir(db, table string) (string, error)
	// Load loads the latest schema of a table's branch ("" = main).
	Load(ctx context.Context, db, table, branch string) (*Table, error)
}
