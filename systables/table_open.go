package systables

import (
	"sort"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// openers are the table-level system tables by name.
var openers = map[string]func(*table.Table) (relation.Relation, error){
	"snapshots": snapshots, "schemas": schemas, "options": options, "manifests": manifests,
	"statistics": statistics, "aggregation_fields": aggregationFields,
	"files": files, "file_key_ranges": fileKeyRanges, "file_indexes": fileIndexes,
	"partitions": partitions, "buckets": buckets, "table_indexes": tableIndexes,
	"tags": tags, "branches": branches, "consumers": consumers,
	"audit_log": auditLog, "binlog": binlog, "ro": readOptimized, "row_tracking": rowTracking,
}

// Names lists the table-level system tables.
func Names() []string {
	out := make([]string, 0, len(openers))
	for n := range openers {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// Open opens a system table of a table or branch. Names are looked up in lower
// case; an unknown one is errs.NotFound.
func Open(t *table.Table, name string) (relation.Relation, error) {
	open := openers[strings.ToLower(name)]
	if open == nil {
		return nil, errs.NotFoundf("Table '%s$%s' doesn't exist: there is no system table '%s'; there are %s", t.Label(), name, name, strings.Join(Names(), ", "))
	}
	return open(t)
}
