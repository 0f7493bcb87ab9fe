package systables

import (
	"context"
	"strings"

	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// OpenGlobal opens a table of database sys; an unknown one is errs.NotFound.
func OpenGlobal(env *table.Env, name string) (relation.Relation, error) {
	switch strings.ToLower(name) {
	case "tables":
		return globalTables(env), nil
	case "partitions":
		return globalPartitions(env), nil
	case "all_table_options":
		return allTableOptions(env), nil
	}
	return nil, errs.NotFoundf("database %s has no table '%s'; there are all_table_options, partitions, tables", catalog.SystemDatabase, name)
}

// GlobalNames lists the tables of database sys.
func GlobalNames() []string { return []string{"all_table_options", "partitions", "tables"} }

// eachTable opens every table of the warehouse; one that cannot be read is left out and logged.
func eachTable(ctx context.Context, env *table.Env, fn func(db, name string, t *table.Table) error) error {
	dbs, err := env.Catalog.Databases(ctx)
	if err != nil {
		return err
	}
	for _, db := range dbs {
		names, err := env.Catalog.Tables(ctx, db)
		if err != nil {
			return err
		}
		for _, n := range names {
			t, err := table.Open(ctx, env, db, n, table.OpenOptions{})
			if err != nil {
				env.Log.Warn("a table that cannot be read is left out", "table", db+"."+n, "error", err)
				continue
			}
			if err := fn(db, n, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func globalTables(env *table.Env) relation.Relation {
	return &memory{
		cols: fields(null("database_name", str), null("table_name", str), null("table_type", str), null("partitioned", boolean), null("primary_key", boolean),
			null("owner", str), null("created_at", bigint), null("created_by", str), null("updated_at", bigint), null("updated_by", str),
			null("record_count", bigint), null("file_size_in_bytes", bigint), null("file_count", bigint), null("last_file_creation_time", bigint)),
		key: []string{"database_name", "table_name"},
		fill: func(ctx context.Context, emit func() *row) error {
			return eachTable(ctx, env, func(db, name string, t *table.Table) error {
				r := emit()
				r.text(db)
				r.text(name)
				r.text("table")
				r.bool(t.Schema().Partitioned())
				r.bool(t.Schema().HasPrimaryKey())
				for range 9 {
					r.null() // kept by other catalogs only
				}
				return nil
			})
		},
	}
}

func globalPartitions(env *table.Env) relation.Relation {
	return &memory{
		cols: fields(null("database_name", str), null("table_name", str), null("partition_name", str), null("record_count", bigint),
			null("file_size_in_bytes", bigint), null("file_count", bigint), null("last_file_creation_time", bigint), null("done", boolean)),
		key: []string{"database_name", "table_name", "partition_name"},
		fill: func(ctx context.Context, emit func() *row) error {
			return eachTable(ctx, env, func(db, name string, t *table.Table) error {
				if !t.Schema().Partitioned() {
					return nil
				}
				list, err := t.PartitionFiles(ctx)
				if err != nil {
					return err
				}
				for _, p := range list {
					s := sumFiles(p.Files, p.Updated)
					r := emit()
					r.text(db)
					r.text(name)
					r.text(p.Of.PartitionSpec(p.Values))
					r.int(s.rows)
					r.int(s.bytes)
					r.int(s.files)
					r.intIf(s.updated)
					r.bool(false)
				}
				return nil
			})
		},
	}
}

func allTableOptions(env *table.Env) relation.Relation {
	return &memory{
		cols: fields(null("database_name", str), null("table_name", str), null("key", str), null("value", str)),
		fill: func(ctx context.Context, emit func() *row) error {
			return eachTable(ctx, env, func(db, name string, t *table.Table) error {
				s := t.StoredSchema()
				line := func(k, v string) {
					r := emit()
					r.text(db)
					r.text(name)
					r.text(k)
					r.text(v)
				}
				for _, k := range ownOptions(s) {
					line(k, s.Options[k])
				}
				line("path", t.Dir())
				return nil
			})
		},
	}
}
