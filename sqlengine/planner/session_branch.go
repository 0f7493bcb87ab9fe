package planner

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// branchVariable is the session's branch: what a table's name without a branch means.
const branchVariable = "paimon_branch"

// branchOption is the dynamic option that names a branch.
const branchOption = "branch"

// BranchCatalog is a Catalog that tells which branches a table has.
type BranchCatalog interface {
	Catalog
	// HasBranch reports whether a table has a branch; errs.NotFound where there is no such table.
	HasBranch(ctx context.Context, db, table, branch string) (bool, error)
}

// defineBranch makes the system variable.
func defineBranch() sql.SystemVariable {
	v := define(branchVariable, sql.SystemVariableScope_Both, true, gms.NewSystemStringType(branchVariable), "")
	v.NotifyChanged = checkBranch
	return v
}

// checkBranch refuses what cannot be a branch's name.
func checkBranch(_ *sql.Context, _ sql.SystemVariableScope, v sql.SystemVarValue) error {
	name, _ := v.Val.(string)
	digits := name != "" && strings.Trim(name, "0123456789") == ""
	if digits || strings.ContainsAny(name, "/\\$`'\"\x00") || strings.TrimSpace(name) != name || name == "." || name == ".." {
		return wrongBranch(name)
	}
	return nil
}

func wrongBranch(name string) error {
	return errmap.New(1231, "42000", "Variable '%s' can't be set to the value of '%s'", branchVariable, name)
}

// sessionBranch is the session's branch, "" for main.
func sessionBranch(ctx *sql.Context) string {
	v, err := ctx.GetSessionVariable(ctx, branchVariable)
	if err != nil {
		return ""
	}
	return branchOf(v)
}

// branchOf is a value of the variable as a branch, "" for main.
func branchOf(v any) string {
	b, _ := v.(string)
	if strings.EqualFold(b, mainBranch) {
		return ""
	}
	return b
}

// namesBranch reports whether a table's name says which branch is meant.
func namesBranch(name string) bool {
	_, rest, _ := strings.Cut(name, "$")
	return strings.HasPrefix(rest, branchPrefix)
}

// branchedName is a table's name as the session means it.
type branchedName struct {
	// name says its branch, unless that is main.
	name string
	// lacks is the session's branch where the table has none of that name: main is meant then.
	lacks string
}

// onBranch gives a table's name the session's branch, unless the name or the options say one.
func onBranch(ctx *sql.Context, c Catalog, db, name string, options map[string]string) (branchedName, error) {
	branch := sessionBranch(ctx)
	if _, said := options[branchOption]; branch == "" || said || db == SystemDatabase || namesBranch(name) {
		return branchedName{name: name}, nil
	}
	bc, ok := c.(BranchCatalog)
	if !ok {
		return branchedName{name: name, lacks: branch}, nil
	}
	table, system, isSystem := strings.Cut(name, "$")
	there, err := knownBranch(ctx, bc, db, table, branch)
	switch {
	case isMissing(err): // told by whoever opens it
		return branchedName{name: name}, nil
	case err != nil:
		return branchedName{}, err
	case !there:
		return branchedName{name: name, lacks: branch}, nil
	}
	full := table + "$" + branchPrefix + branch
	if isSystem {
		full += "$" + system
	}
	return branchedName{name: full}, nil
}

// knownBranch asks for a branch, once per transaction.
func knownBranch(ctx *sql.Context, c BranchCatalog, db, table, branch string) (bool, error) {
	tx, _ := ctx.GetTransaction().(*Transaction)
	key := db + "\x00" + table + "\x00" + branch
	if tx != nil {
		tx.mu.Lock()
		there, ok := tx.branches[key]
		tx.mu.Unlock()
		if ok {
			return there, nil
		}
	}
	there, err := c.HasBranch(ctx, db, table, branch)
	if err == nil && tx != nil {
		tx.mu.Lock()
		if tx.branches == nil {
			tx.branches = map[string]bool{}
		}
		tx.branches[key] = there
		tx.mu.Unlock()
	}
	return there, err
}

// lacksBranch is the error of a statement that would change a table which has not the session's branch.
func lacksBranch(db, table, branch string) error {
	return errmap.Wrap(errs.NotFoundf("branch '%s' of table %s.%s", branch, db, table), 1146, "42S02",
		"Table '%s.%s' doesn't exist: the session works on branch '%s' (@@%s), which table '%s' has not; "+
			"CALL sys.create_branch('%s.%s', '%s') makes it, `%s` is the main branch, and SET %s = DEFAULT ends this",
		db, table+"$"+branchPrefix+branch, branch, branchVariable, table, db, table, branch, table+"$"+branchPrefix+mainBranch, branchVariable)
}

// wholeTable refuses a statement that makes, drops or moves whole tables while the session stands on a branch of them.
func wholeTable(ctx *sql.Context, db, name, method string) error {
	b := sessionBranch(ctx)
	if b == "" || namesBranch(name) {
		return nil // the catalog refuses names with a branch
	}
	return errs.Invalidf("Cannot '%s' for branch table '%s.%s', please modify the table with the default branch. The session works on branch '%s': SET %s = DEFAULT ends this",
		method, db, name+"$"+branchPrefix+b, b, branchVariable)
}

// noteLacking tells of a table that is read from its main branch since it has not the session's.
func noteLacking(ctx *sql.Context, db, table, branch string) {
	text := "table " + db + "." + table + " has no branch '" + branch + "' (@@" + branchVariable + "): its main branch is read"
	for _, w := range ctx.Session.Warnings() {
		if w.Message == text {
			return
		}
	}
	ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: warnCodeUnknown, Message: text})
}

// noteBranches tells of the tables of a plan that are not read from the session's branch.
func noteBranches(ctx *sql.Context, n sql.Node) {
	if sessionBranch(ctx) == "" {
		return
	}
	transform.Inspect(n, func(n sql.Node) bool {
		if rt, ok := n.(*plan.ResolvedTable); ok {
			if t, ok := tableOf(rt); ok && t.lacks != "" {
				noteLacking(ctx, t.db, t.name, t.lacks)
			}
		}
		return true
	})
}
