package planner

import (
	"context"
	"time"

	"github.com/tributarydb/tributary/storage/relation"
)

// Catalog finds databases and tables. It is safe for concurrent use.
type Catalog interface {
	// Databases lists the databases of the warehouse.
	Databases(ctx context.Context) ([]string, error)
	// TableNames lists the data tables of a database; warnings name what could
	// not be listed and why. errs.NotFound where there is no such database.
	TableNames(ctx context.Context, db string) (names []string, warnings []string, err error)
	// Open resolves a full name as typed: "T", "T$branch_b", "T$snapshots",
	// "T$branch_b$files". The relation is pinned to a snapshot. errs.NotFound where there is none.
	Open(ctx context.Context, db, name string, opts OpenOptions) (relation.Relation, error)
}

// OpenOptions say how a table is to be read. At most one of Version, Timestamp
// and AsOf is set.
type OpenOptions struct {
	// Options are the dynamic options of an OPTIONS hint.
	Options map[string]string
	// Version is what VERSION AS OF names: a tag, a snapshot id, or watermark-N.
	Version string
	// Timestamp is what TIMESTAMP AS OF or FOR SYSTEM_TIME AS OF names: a time
	// in TimeZone, or epoch seconds.
	Timestamp string
	// AsOf is a plain AS OF: a tag, a snapshot id, or a time.
	AsOf string
	// TimeZone is the session's zone, never nil: it reads times in options and
	// shows times of system tables.
	TimeZone *time.Location
	// ForChange asks for the rows of a data table that a statement is going to change: all that are committed, even
	// those that reads see after a compaction only, and where the table has no primary key with two more columns at the
	// end, relation.FileColumn and relation.PositionColumn.
	ForChange bool
}

// Described is implemented by relations that can say more about their table, for
// SHOW CREATE TABLE, SHOW TABLE STATUS and information_schema.
type Described interface {
	// PartitionKeys names the partition columns, empty for none.
	PartitionKeys() []string
	// TableOptions are the table's own options.
	TableOptions() map[string]string
}

// Partition is one line of SHOW PARTITIONS.
type Partition struct {
	// Name is the partition's spec, e.g. dt=2026-01-01/hh=5.
	Name string
	// Values are the partition values' texts in the order of the partition keys, nil for null.
	Values []*string
	// Rows, Bytes and Files count what its live data files hold; -1 unknown.
	Rows, Bytes, Files int64
	// Updated is the time of the newest file; zero unknown.
	Updated time.Time
}

// Partitioned is implemented by relations that can list their partitions.
type Partitioned interface {
	Partitions(ctx context.Context) ([]Partition, error)
}

// Sized is implemented by relations that know the size of their data files.
type Sized interface {
	// DataSize returns the bytes of the live data files.
	DataSize(ctx context.Context) (bytes int64, err error)
}

// SystemDatabase is the name of the virtual database of global system tables
// and procedures.
const SystemDatabase = "sys"
