package table

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// openOthers opens the branches that the stored options name: those of a chain
// table, the fallback, or the primary branch. Hints do not count (section 3 of
// the branch rules), and a branch that vanished makes its option void.
func (t *Table) openOthers(ctx context.Context) error {
	o := t.stored.Options
	if isChain, err := schema.OptChainTable.Get(o); err != nil {
		return err
	} else if isChain {
		return t.openChain(ctx)
	}
	fallback, primary := o["scan.fallback-branch"], o["scan.primary-branch"]
	if fallback != "" && primary != "" {
		return errs.Invalidf("table %s: Cannot set both 'scan.fallback-branch' and 'scan.primary-branch' at the same time.", t.Label())
	}
	name := fallback + primary
	if strings.TrimSpace(name) == "" || name == t.branch {
		return nil
	}
	other, err := t.openOther(ctx, name)
	if err != nil || other == nil {
		return err
	}
	t.first, t.second = t, other
	if primary != "" {
		t.first, t.second = other, t
	}
	return nil
}

// openOther opens another branch of the same table with the statement's
// options rewritten for it; nil where it does not exist.
func (t *Table) openOther(ctx context.Context, name string) (*Table, error) {
	opts := t.opts
	opts.Branch = name
	opts.SnapshotSchema = false
	var err error
	if opts.Dynamic, err = t.rewriteOptions(ctx); err != nil {
		return nil, err
	}
	other, err := openBranch(ctx, t.env, t.database, t.name, opts)
	if errs.Is(err, errs.NotFound) {
		t.env.Log.Warn("the branch that a table reads through to does not exist; reading without it", "table", t.Label(), "branch", name)
		return nil, nil
	}
	return other, err
}

// rewriteOptions translates the dynamic options for another branch (section 8
// of the branch rules): a snapshot id becomes the newest snapshot of the other
// branch not later than it; branch and bucket stay each branch's own.
func (t *Table) rewriteOptions(ctx context.Context) (map[string]string, error) {
	out := maps.Clone(t.opts.Dynamic)
	delete(out, "branch")
	delete(out, "bucket")
	if _, set := out["scan.snapshot-id"]; !set {
		return out, nil
	}
	st, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	delete(out, "scan.snapshot-id")
	if st.Snapshot != nil {
		out[alignedTimeKey] = strconv.FormatInt(st.Snapshot.TimeMillis, 10)
	}
	return out, nil
}

// alignedTimeKey is an internal dynamic option: the commit time of the first
// branch's snapshot, by which the other branch's snapshot is found.
const alignedTimeKey = "tributary.aligned-time-millis"

// checkRowTypes compares the columns of two branches by position, ignoring
// nullability and names (section 4.7 of the branch rules).
func (t *Table) checkRowTypes() error {
	other, option := t.second, "scan.fallback-branch"
	if t.second == t {
		other, option = t.first, "scan.primary-branch"
	}
	a, b := t.schema.Fields, other.schema.Fields
	same := len(a) == len(b)
	for i := 0; same && i < len(a); i++ {
		same = a[i].Type.EqualIgnoreNull(b[i].Type)
	}
	if same {
		return nil
	}
	return errs.Invalidf("Branch %s and %s does not have the same row type. This validation is triggered because '%s' is configured to '%s'. "+
		"Row type of branch %s: %s. Row type of branch %s: %s. Give both branches the same columns in the same order, or RESET ('%s').",
		t.branch, other.branch, option, other.branch, t.branch, rowText(a), other.branch, rowText(b), option)
}

func rowText(fields []schema.Field) string {
	return (&schema.Type{Root: schema.Row, Fields: fields}).String()
}

// Branches lists the names of the branches that a plain read looks at, in order of precedence.
func (t *Table) Branches() []string {
	if t.first == nil {
		return []string{t.branch}
	}
	return []string{t.first.branch, t.second.branch}
}
