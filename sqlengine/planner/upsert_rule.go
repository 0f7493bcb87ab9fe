package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Options that decide whether the rows of a key can be known.
const (
	optionMergeEngine = "merge-engine"
	optionBucket      = "bucket"
	postponeBucket    = "-2"
)

// findUpsert decides whether the statement has to know which keys are there, and refuses it where nobody can.
func (n *insertNode) findUpsert(ctx *sql.Context, ins *plan.InsertInto) error {
	updates := len(ins.OnDupExprs) > 0
	if !updates && !ins.Ignore || n.load != nil {
		return nil
	}
	t := n.table
	w, err := n.engine.writable()
	if err != nil {
		return err
	}
	def, err := w.Definition(ctx, t.db, t.object)
	if err != nil {
		return missingTable(err, t.db, t.name)
	}
	what := "INSERT IGNORE"
	if updates {
		what = "INSERT … ON DUPLICATE KEY UPDATE"
	}
	keys := primaryKeys(def)
	engine := strings.ToLower(def.Options[optionMergeEngine])
	switch {
	case len(keys) == 0 && !updates, engine == engineFirstRow && !updates:
		return nil // a row is never in the way; or the table itself keeps the first one
	case len(keys) == 0:
		return errs.Unsupportedf("%s needs a primary key, and table %s.%s has none: no row is a duplicate; use INSERT", what, t.db, t.name)
	case engine != "" && engine != engineDeduplicate:
		return errs.Unsupportedf("%s would have to replace the row of a key, and table %s.%s merges rows: it has 'merge-engine' = '%s'; use INSERT", what, t.db, t.name, engine)
	}
	if err := knowsRows(what, t.db, t.name, def, keys); err != nil {
		return err
	}
	if t.target.Overwrite {
		return errs.Unsupportedf("%s is no INSERT OVERWRITE", what)
	}
	u := &upsert{keys: keys, ignore: !updates}
	if updates {
		if u.sets, err = n.duplicateSets(ins); err != nil {
			return err
		}
	}
	n.upsert = u
	return nil
}

// optionSet reports whether an option of a table has a value other than false.
func optionSet(options map[string]string, name string) bool {
	v := strings.TrimSpace(options[name])
	return v != "" && !strings.EqualFold(v, "false")
}

// ofSeveralBranches is the option by which a table shows the rows of several branches, "" where it shows its own only.
func ofSeveralBranches(options map[string]string) string {
	for _, o := range []string{"scan.fallback-branch", "scan.primary-branch", "chain-table.enabled"} {
		if optionSet(options, o) {
			return o
		}
	}
	return ""
}

// knowsRows refuses tables where a read does not tell whether a key is there, or a new row need not replace the old one.
func knowsRows(what, db, table string, def schema.Definition, keys []string) error {
	refuse := func(why string) error {
		return errs.Unsupportedf("%s has to know which keys table %s.%s has: %s; use INSERT", what, db, table, why)
	}
	if o := ofSeveralBranches(def.Options); o != "" {
		return refuse("with option '" + o + "' its rows are those of several branches")
	}
	switch {
	case strings.TrimSpace(def.Options[optionBucket]) == postponeBucket:
		return refuse("with 'bucket' = '-2' rows are not seen before a compaction")
	case optionSet(def.Options, optRowKindField):
		return refuse("with option 'rowkind.field' a row may delete its key")
	}
	for _, p := range partitionKeys(def) {
		if !slices.Contains(keys, p) {
			return refuse("its primary key lacks the partition column '" + p + "', so that a key may be in another partition")
		}
	}
	return nil
}
