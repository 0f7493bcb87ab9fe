package procedures

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/table"
)

func init() {
	defineWhole("compact_database", "including_databases?, mode?, including_tables?, excluding_tables?, table_options|options?, partition_idle_time?, compact_strategy?", compactDatabase)
}

// compactDatabase rewrites the files of all tables whose names match (CompactDatabaseProcedure). The mode
// only says how Paimon's jobs are built.
func compactDatabase(ctx context.Context, c *call) (*result, error) {
	if m := c.text("mode"); m != "" && !strings.EqualFold(m, "divided") && !strings.EqualFold(m, "combined") {
		return nil, errs.Invalidf("procedure %s: Unsupported mode: %s; the modes are divided and combined", c.procedure, m)
	}
	full, err := c.compactFully()
	if err != nil {
		return nil, err
	}
	options, err := c.options("table_options")
	if err != nil {
		return nil, err
	}
	idle, err := c.duration("partition_idle_time")
	if err != nil {
		return nil, err
	}
	names, err := c.matchingTables(ctx)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errs.Invalidf("procedure %s: no tables to be compacted. possible cause is that there are no tables detected after pattern matching", c.procedure)
	}
	// One table that cannot be compacted does not keep the others from it.
	var failed []string
	var first error
	for _, n := range names {
		if err := c.compactNamed(ctx, n, table.CompactOptions{Full: full, Options: options, Progress: c.opts.Progress}, idle); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			failed = append(failed, n.db+"."+n.table)
			if first == nil {
				first = err
			}
		}
	}
	switch {
	case first == nil:
		return success(), nil
	case len(failed) == 1:
		return nil, first
	}
	return nil, errs.New(errs.ClassOf(first), "%w (not compacted: %s; the other tables were)", first, strings.Join(failed, ", "))
}

func (c *call) compactNamed(ctx context.Context, n tableName, o table.CompactOptions, idle *time.Duration) error {
	t, err := table.Open(ctx, c.env.Tables, n.db, n.table, table.OpenOptions{Zone: c.opts.Zone})
	if errs.Is(err, errs.NotFound) {
		return nil // dropped meanwhile
	}
	if err != nil {
		return err
	}
	if idle != nil && t.StoredSchema().Partitioned() {
		if o.Partitions, err = idlePartitions(ctx, t, nil, time.Now().Add(-*idle)); err != nil {
			return err
		}
	}
	if err := c.skipExpired(ctx, n, t, &o); err != nil {
		return err
	}
	return c.compact(ctx, n, t, o)
}

// matchingTables lists the tables whose database and full name match the arguments' regular expressions.
func (c *call) matchingTables(ctx context.Context) ([]tableName, error) {
	databases, err := c.pattern("including_databases")
	if err != nil {
		return nil, err
	}
	include, err := c.pattern("including_tables")
	if err != nil {
		return nil, err
	}
	exclude, err := c.pattern("excluding_tables")
	if err != nil {
		return nil, err
	}
	all, err := c.env.Tables.Catalog.Databases(ctx)
	if err != nil {
		return nil, err
	}
	var out []tableName
	for _, db := range all {
		if databases != nil && !databases.MatchString(db) {
			continue
		}
		tables, err := c.env.Tables.Catalog.Tables(ctx, db)
		if err != nil {
			return nil, err
		}
		for _, name := range tables {
			full := db + "." + name
			if include != nil && !include.MatchString(full) || exclude != nil && exclude.MatchString(full) {
				continue
			}
			out = append(out, tableName{db: db, table: name})
		}
	}
	return out, nil
}

// pattern reads an argument that is a regular expression for a whole name; nil = it was not given.
func (c *call) pattern(name string) (*regexp.Regexp, error) {
	if !c.has(name) {
		return nil, nil
	}
	re, err := regexp.Compile("^(?:" + c.text(name) + ")$")
	if err != nil {
		return nil, errs.Invalidf("procedure %s: the argument '%s' is no regular expression: %w", c.procedure, name, err)
	}
	return re, nil
}
