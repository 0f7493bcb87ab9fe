package dialect

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// features says which passes a statement can need, judged by its words. Walking
// a long INSERT for nothing would cost more than parsing it.
type features struct {
	headers, markers, windows, queries, operators, aggregates, partitions, names bool
}

// features looks through the words of the statement; text is what it was
// rewritten to.
func (s *script) features(text string) features {
	f := features{markers: strings.Contains(text, "tributary_"), headers: !s.is(0, "INSERT", "REPLACE")}
	from := false
	for i := range s.toks {
		if s.is(i, ",") {
			f.names = f.names || from
			continue
		}
		switch word := s.upper[i]; word {
		case "":
		case "SELECT", "VIEW":
			f.headers = true
		case "PARTITION":
			f.partitions = f.partitions || s.is(i+1, "(")
		case "WINDOW", "OVER":
			f.windows = true
		case "FROM":
			from = true
		case "WITH":
			f.names = true
		case "JOIN":
			f.queries, f.names = true, true
		case "LIMIT", "ORDER":
			f.queries = true
		case "*":
			f.names = f.names || s.is(i-1, ".")
		case "REGEXP", "RLIKE", "->", "->>":
			f.operators = true
		default:
			if s.is(i+1, "(") && s.kind(i) == KindWord && aggregateNames[strings.ToLower(word)] {
				f.aggregates = true
			}
		}
	}
	return f
}

// runPasses applies the AST passes that the statement needs, in their order:
// markers first, for they may become whole queries, then all others in one walk.
func runPasses(stmt sqlparser.Statement, mode Mode, f features) (sqlparser.Statement, error) {
	var err error
	if f.markers {
		if stmt, err = ResolveMarkers(stmt); err != nil {
			return nil, err
		}
	}
	if f.aggregates {
		if err := checkAggregates(stmt); err != nil {
			return nil, err
		}
		if mode.OnlyFullGroupBy {
			if err := CheckImplicitGrouping(stmt); err != nil {
				return nil, err
			}
		}
	}
	v := &visitor{}
	if f.operators || f.aggregates || f.windows {
		v.expr = func(e sqlparser.Expr) (sqlparser.Expr, error) {
			e, err := operatorToFunction(e)
			if err != nil {
				return nil, err
			}
			return tunnelAggregate(e)
		}
	}
	if f.windows || f.queries {
		v.table = normalizeJoin
		v.query = func(q sqlparser.SelectStatement) (sqlparser.SelectStatement, error) {
			q, err := expandWindows(q)
			if err != nil {
				return nil, err
			}
			if q, err = splitWindows(q); err != nil {
				return nil, err
			}
			return normalizeQuery(q)
		}
	}
	if f.names {
		next := v.query
		v.query = func(q sqlparser.SelectStatement) (sqlparser.SelectStatement, error) {
			var err error
			switch q := q.(type) {
			case *sqlparser.Select:
				err = checkNames(q)
			case *sqlparser.SetOp:
				err = checkWith(q.With)
			}
			if err != nil {
				return nil, err
			}
			if next == nil {
				return q, nil
			}
			return next(q)
		}
	}
	if f.partitions {
		join := v.table
		v.table = func(t sqlparser.TableExpr) error {
			if err := refusePartitions(t); err != nil || join == nil {
				return err
			}
			return join(t)
		}
	}
	if v.expr == nil && v.query == nil && v.table == nil {
		return stmt, nil
	}
	return walk(stmt, v)
}

// errMarker is for marker functions in other places than those the rewriting puts
// them in: somebody wrote one by hand.
var errMarker = &Error{Number: ErrnoSyntax, State: sqlStateSyntax, Message: "Wrong use of an internal function"}
