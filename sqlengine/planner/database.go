package planner

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
)

// Database is a database of the catalog.
type Database struct {
	name    string
	catalog Catalog
}

var (
	_ sql.VersionedDatabase = (*Database)(nil)
	_ sql.CollatedDatabase  = (*Database)(nil)
)

// Name implements sql.Database.
func (d *Database) Name() string { return d.name }

// GetCollation implements sql.CollatedDatabase.
func (d *Database) GetCollation(*sql.Context) sql.CollationID { return types.Collation }

// SetCollation implements sql.CollatedDatabase.
func (d *Database) SetCollation(*sql.Context, sql.CollationID) error {
	return errs.Unsupportedf("the collation of database %q is fixed: Paimon compares strings by their bytes", d.name)
}

// GetTableInsensitive implements sql.Database. Names are matched exactly, as
// lower_case_table_names = 0 says.
func (d *Database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	table, target, err := dialect.DecodeInsertTarget(name)
	if err != nil {
		return nil, false, err
	}
	t, ok, err := d.open(ctx, table, OpenOptions{ForChange: target.Change != nil})
	if err == nil && !ok && !target.IsZero() {
		err = errmap.New(1146, "42S02", "Table '%s.%s' doesn't exist", d.name, table) // without what travels on the name
	}
	if err != nil || !ok || target.IsZero() {
		return t, ok, err
	}
	plain, ok := t.(*Table)
	if !ok {
		return nil, false, errs.Unsupportedf("rows cannot be inserted into %s.%s", d.name, table)
	}
	it, err := newInsertTable(plain, target)
	return it, err == nil, err
}

// GetTableInsensitiveAsOf implements sql.VersionedDatabase: time travel and OPTIONS hints.
func (d *Database) GetTableInsensitiveAsOf(ctx *sql.Context, name string, asOf any) (sql.Table, bool, error) {
	opts, err := openOptions(asOf)
	if err != nil {
		return nil, false, err
	}
	return d.open(ctx, name, opts)
}

// openOptions reads go-mysql-server's AS OF value: package dialect's carrier, or what a client wrote.
func openOptions(asOf any) (OpenOptions, error) {
	switch v := asOf.(type) {
	case nil:
		return OpenOptions{}, nil
	case string:
		c, ok, err := dialect.DecodeCarrier(v)
		if err != nil {
			return OpenOptions{}, err
		}
		if !ok {
			return OpenOptions{AsOf: v}, nil
		}
		return OpenOptions{Options: c.Options, Version: c.Version, Timestamp: c.Timestamp, AsOf: c.AsOf, ForChange: c.Change}, nil
	case time.Time:
		return OpenOptions{Timestamp: v.Format("2006-01-02 15:04:05.999999")}, nil
	case int64:
		return OpenOptions{Version: strconv.FormatInt(v, 10)}, nil
	case int:
		return OpenOptions{Version: strconv.Itoa(v)}, nil
	}
	return OpenOptions{}, errs.Invalidf("AS OF takes a tag, a snapshot id or a time, not a value of type %T", asOf)
}

func (d *Database) open(ctx *sql.Context, name string, opts OpenOptions) (sql.Table, bool, error) {
	opts.TimeZone = SessionZone(ctx)
	at, err := onBranch(ctx, d.catalog, d.name, name, opts.Options)
	if err != nil {
		return nil, false, err
	}
	rel, err := pinned(ctx, d.catalog, d.name, at.name, opts)
	if isMissing(err) && !strings.Contains(name, "$") { // a missing branch or system table is told as it is
		if plainOpen(opts) {
			return nil, false, nil
		}
		// A missing snapshot or tag of an existing table is told as it is.
		if _, err2 := pinned(ctx, d.catalog, d.name, at.name, OpenOptions{TimeZone: opts.TimeZone}); isMissing(err2) {
			return nil, false, nil
		}
	}
	if err != nil {
		return nil, false, err
	}
	if rel, err = seenByOwner(ctx, d.catalog, d.name, at.name, opts, rel); err != nil {
		return nil, false, err
	}
	t := newTable(d.name, name, rel)
	t.object, t.lacks = at.name, at.lacks
	return t, true, nil
}

func plainOpen(o OpenOptions) bool {
	return len(o.Options) == 0 && o.Version == "" && o.Timestamp == "" && o.AsOf == ""
}

// GetTableNames implements sql.Database. What cannot be listed becomes warnings.
func (d *Database) GetTableNames(ctx *sql.Context) ([]string, error) {
	names, warnings, err := d.catalog.TableNames(ctx, d.name)
	if err != nil {
		if isMissing(err) && d.name == SystemDatabase {
			return nil, nil
		}
		return nil, err
	}
	for _, w := range warnings {
		ctx.Warn(warnCodeUnknown, "%s", w)
	}
	return names, nil
}

// GetTableNamesAsOf implements sql.VersionedDatabase: table names have no history.
func (d *Database) GetTableNamesAsOf(ctx *sql.Context, _ any) ([]string, error) {
	return d.GetTableNames(ctx)
}

// relationKey names a relation within a transaction.
func relationKey(db, name string, o OpenOptions) string {
	return fmt.Sprintf("%q.%q %q %q %q %q %v %v", db, name, o.Version, o.Timestamp, o.AsOf, o.Options, o.TimeZone, o.ForChange)
}

// pinned opens a relation, once per transaction: all references to a table see
// one snapshot.
func pinned(ctx *sql.Context, c Catalog, db, name string, opts OpenOptions) (relation.Relation, error) {
	tx, _ := ctx.GetTransaction().(*Transaction)
	key := relationKey(db, name, opts)
	if tx != nil {
		if rel, ok := tx.relation(key); ok {
			return rel, nil
		}
	}
	rel, err := c.Open(ctx, db, name, opts)
	if err != nil {
		return nil, err
	}
	if tx != nil {
		rel = tx.pin(key, rel)
	}
	return rel, nil
}
