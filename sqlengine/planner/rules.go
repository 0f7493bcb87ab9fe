package planner

import (
	"reflect"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// Ids of our rules; go-mysql-server's own are small.
const (
	pushdownRuleID analyzer.RuleId = 10_000 + iota
	replaceRuleID
	streamRuleID
	repairRuleID
	filterPushRuleID
	showRuleID
	pruneRuleID
	lookupRuleID
	unionRuleID
	distinctRuleID
	insertRuleID
)

// droppedRules are rules of go-mysql-server 0.20 that lose or invent rows:
// simplifyFilters (LIKE 'p%' as a range that ends at U+00FF), the unnesting of
// EXISTS and IN (NULLs), optimizeJoins (hash keys of different types, filters in joins), pushFilters
// (below full outer joins), applyHashIn (elements of other types are errors). Without them plans are executed as written.
var droppedRules = map[string]bool{
	"simplifyFilters": true, "unnestExistsSubqueries": true, "unnestInSubqueries": true, "optimizeJoins": true, "pushFilters": true,
	"applyHashIn": true,
}

var operateOnce sync.Once

// operate edits the analyzer's rule lists, which are variables of the process.
// Statements that insert, update or delete have batches made of them.
func operate() {
	operateOnce.Do(func() {
		analyzer.OnceBeforeDefault = append([]analyzer.Rule{{Id: distinctRuleID, Apply: distinctRule}, {Id: unionRuleID, Apply: unionRule}}, without(analyzer.OnceBeforeDefault)...)
		analyzer.DefaultRules = without(analyzer.DefaultRules)
		analyzer.OnceAfterDefault = without(analyzer.OnceAfterDefault)
		rules := []analyzer.Rule{{Id: pruneRuleID, Apply: pruneRule}}
		for _, r := range analyzer.OnceAfterAll {
			if r.Id == analyzer.TrackProcessId {
				rules = append(rules,
					analyzer.Rule{Id: insertRuleID, Apply: insertRule},
					analyzer.Rule{Id: pushdownRuleID, Apply: pushdownRule},
					analyzer.Rule{Id: replaceRuleID, Apply: replaceRule},
					analyzer.Rule{Id: showRuleID, Apply: showRule},
					analyzer.Rule{Id: streamRuleID, Apply: streamRule},
					analyzer.Rule{Id: repairRuleID, Apply: repairRule},
					analyzer.Rule{Id: lookupRuleID, Apply: lookupRule},
				)
			}
			rules = append(rules, r)
		}
		analyzer.OnceAfterAll = rules
	})
}

// without leaves out the dropped rules and puts ours in their place.
func without(rules []analyzer.Rule) []analyzer.Rule {
	var out []analyzer.Rule
	for _, r := range rules {
		name := r.Id.String()
		if name == "pushFilters" {
			out = append(out, analyzer.Rule{Id: filterPushRuleID, Apply: filterPushRule})
		}
		if !droppedRules[name] {
			out = append(out, r)
		}
	}
	return out
}

// engineOf finds our engine behind an analyzer; nil for an analyzer of somebody else.
func engineOf(a *analyzer.Analyzer) *Engine {
	if p, ok := a.Catalog.DbProvider.(*Provider); ok {
		return p.engine
	}
	return nil
}

func pushdownRule(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if engineOf(a) == nil || plan.IsDDLNode(n) {
		return n, transform.SameTree, nil
	}
	out, err := newPushdown(ctx, n, a.ExecBuilder, scope.IsEmpty()).visit(n, nil)
	if err != nil || sameNode(out, n) {
		return n, transform.SameTree, err
	}
	return out, transform.NewTree, nil
}

// isTop reports whether a rule works on a statement's own plan, not on that of a subquery.
func isTop(scope *plan.Scope, sel analyzer.RuleSelector) bool {
	return scope.IsEmpty() && sel(analyzer.TrackProcessId)
}

// replaceRule gives the vector executor the plan.
func replaceRule(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	e := engineOf(a)
	if e == nil || e.replace == nil || !isTop(scope, sel) {
		return n, transform.SameTree, nil
	}
	out, err := e.replace(ctx, n)
	if err != nil || out == nil || sameNode(out, n) {
		return n, transform.SameTree, err
	}
	return out, transform.NewTree, nil
}

func streamRule(_ *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if engineOf(a) == nil || !isTop(scope, sel) {
		return n, transform.SameTree, nil
	}
	out := streamScan(n)
	if sameNode(out, n) {
		return n, transform.SameTree, nil
	}
	return out, transform.NewTree, nil
}

// sameNode compares nodes by identity; nodes that are not pointers may not be comparable and are never the same.
func sameNode(a, b sql.Node) bool {
	ta := reflect.TypeOf(a)
	return ta == reflect.TypeOf(b) && ta != nil && ta.Comparable() && a == b
}
