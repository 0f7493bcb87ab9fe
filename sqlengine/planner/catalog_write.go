package planner

import (
	"context"
	"time"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// WritableCatalog is a Catalog whose databases and tables can be changed. A
// catalog that is no WritableCatalog is served read-only. Table names are full names as
// typed ("T", "T$branch_b"); the catalog refuses what cannot be done to a branch or a
// system table. Methods are atomic: an error means that nothing changed.
type WritableCatalog interface {
	Catalog

	// CreateDatabase makes a database; errs.Exists where there is one.
	CreateDatabase(ctx context.Context, name string) error
	// DropDatabase removes a database; errs.NotFound where there is none,
	// errs.Invalid where it has tables and cascade is not set.
	DropDatabase(ctx context.Context, name string, cascade bool) error

	// CreateTable makes a table; errs.Exists where there is one.
	CreateTable(ctx context.Context, db, name string, def schema.Definition) error
	// Definition returns what a CREATE TABLE … LIKE copies of a table.
	Definition(ctx context.Context, db, name string) (schema.Definition, error)
	// AlterTable applies changes as one new schema version of the table or branch.
	AlterTable(ctx context.Context, db, name string, changes []schema.Change) error
	// DropTable removes a table, its branches and its files.
	DropTable(ctx context.Context, db, name string) error
	// RenameTable moves a table; errs.Exists where the target exists.
	RenameTable(ctx context.Context, db, name, toDB, to string) error
	// TruncateTable removes all rows.
	TruncateTable(ctx context.Context, db, name string) error
	// DropPartitions removes the partitions that match one of the specs (column
	// name to value text, nil text = NULL; a spec may name some of the partition
	// columns only). With ifExists a spec without a match is no error.
	DropPartitions(ctx context.Context, db, name string, specs []map[string]*string, ifExists bool) error
	// AddPartitions registers partitions, which a catalog without partition metadata only checks.
	AddPartitions(ctx context.Context, db, name string, specs []map[string]*string, ifNotExists bool) error

	// OpenSink starts the writing of one statement.
	OpenSink(ctx context.Context, db, name string, opts relation.SinkOptions) (relation.Sink, error)
}

// WriteHolder is a WritableCatalog that can keep a table still for a statement that others have outrun.
type WriteHolder interface {
	// HoldWrites lets nobody else of this server commit to the table until the first commit under the returned context, or
	// release, which is never nil. A context that has it already comes back as it is.
	HoldWrites(ctx context.Context, db, name string) (held context.Context, release func(), err error)
}

// ProcedureCatalog is a Catalog with procedures in its database sys.
type ProcedureCatalog interface {
	Catalog
	// Call runs a procedure (name without "sys."). Its result is a small relation. An unknown
	// procedure is errs.NotFound.
	Call(ctx context.Context, name string, args []ProcedureArg, opts CallOptions) (relation.Relation, error)
	// Procedures lists the procedures' names, ascending.
	Procedures() []string
}

// ProcedureArg is one argument of a CALL.
type ProcedureArg struct {
	// Name is the argument's name of the form name => value, "" for a positional one.
	Name string
	// Value is the argument's text (numbers and booleans as written); nil = NULL.
	Value *string
}

// CallOptions are the circumstances of a CALL.
type CallOptions struct {
	// Database is the session's current database, "" for none: where a table argument names none.
	Database string
	// Branch is the session's branch, "" for main: what a table argument without a branch means.
	Branch string
	// TimeZone is the session's zone, never nil.
	TimeZone *time.Location
	// Progress, where not nil, takes a text that says how far a long procedure is.
	Progress func(text string)
	// Where binds a condition over the partition columns of a table; over other columns it is errs.Invalid.
	Where func(db, table, text string, partition []schema.Field) (func(values []column.Scalar) (bool, error), error)
}
