package enginetest

import (
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"gopkg.in/src-d/go-errors.v1"
)

// step is a statement and what it has to answer.
type step struct {
	query    string
	bindings map[string]sqlparser.Expr
	// client names the session that runs it; newSession asks for a fresh one.
	client     string
	newSession bool

	// rows are the expected rows, nil where they do not matter; columns their names, if these matter.
	rows    []sql.Row
	columns []*sql.Column

	// fails says that an error is expected; kind and message say which, where they are known.
	fails   bool
	kind    *errors.Kind
	message string

	// warnings is how many warnings there have to be, all with the number warning and with warningText in them.
	warning, warnings int
	warningText       string
}

// testCase is a test: statements that prepare it, and steps.
type testCase struct {
	name  string
	setup []string
	steps []step
	// single says that the only step is the test itself: its entry has no second part.
	single bool
}

// text is everything that the test says, to find the tables that it uses.
func (c testCase) text() string {
	var b strings.Builder
	for _, s := range c.setup {
		b.WriteString(s + "\n")
	}
	for _, s := range c.steps {
		b.WriteString(s.query + "\n")
	}
	return b.String()
}

// queryCases makes tests of queries.
func queryCases(lists ...[]queries.QueryTest) (cases []testCase) {
	for _, list := range lists {
		for _, q := range list {
			if !ours(q.Dialect) {
				continue
			}
			cases = append(cases, testCase{name: q.Query, single: true,
				steps: []step{{query: q.Query, bindings: q.Bindings, rows: q.Expected, columns: q.ExpectedColumns}}})
		}
	}
	return cases
}

// writeCases makes tests of a statement that writes, and a query that sees what it wrote.
func writeCases(lists ...[]queries.WriteQueryTest) (cases []testCase) {
	for _, list := range lists {
		for _, w := range list {
			if w.Skip || !ours(w.Dialect) {
				continue
			}
			c := testCase{name: w.WriteQuery, steps: []step{{query: w.WriteQuery, bindings: w.Bindings, rows: w.ExpectedWriteResult}}}
			if w.SelectQuery != "" {
				c.steps = append(c.steps, step{query: w.SelectQuery, rows: w.ExpectedSelect})
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// errorCases makes tests of queries that fail.
func errorCases(lists ...[]queries.QueryErrorTest) (cases []testCase) {
	for _, list := range lists {
		for _, q := range list {
			cases = append(cases, testCase{name: q.Query, single: true,
				steps: []step{{query: q.Query, bindings: q.Bindings, fails: true, kind: q.ExpectedErr, message: q.ExpectedErrStr}}})
		}
	}
	return cases
}

// failCases makes tests of statements that fail, whatever the error.
func failCases(lists ...[]queries.GenericErrorQueryTest) (cases []testCase) {
	for _, list := range lists {
		for _, q := range list {
			cases = append(cases, testCase{name: q.Name, single: true, steps: []step{{query: q.Query, fails: true}}})
		}
	}
	return cases
}

// scriptCases makes tests of scripts.
func scriptCases(lists ...[]queries.ScriptTest) (cases []testCase) {
	for _, list := range lists {
		for _, s := range list {
			if !ours(s.Dialect) {
				continue
			}
			assertions := s.Assertions
			if len(assertions) == 0 {
				assertions = []queries.ScriptTestAssertion{{Query: s.Query, Expected: s.Expected, ExpectedErr: s.ExpectedErr}}
			}
			cases = append(cases, testCase{name: s.Name, setup: s.SetUpScript, steps: steps(assertions)})
		}
	}
	return cases
}

// transactionCases makes tests of scripts with several clients.
func transactionCases(list []queries.TransactionTest) (cases []testCase) {
	for _, s := range list {
		c := testCase{name: s.Name, setup: s.SetUpScript, steps: steps(s.Assertions)}
		for i := range c.steps {
			c.steps[i].client = clientOf(c.steps[i].query)
		}
		cases = append(cases, c)
	}
	return cases
}

// clientComment names the session of a statement.
var clientComment = regexp.MustCompile(`^\s*/\*\s*client\s+(\w+)\s*\*/`)

// clientOf reads the comment that names a statement's session.
func clientOf(query string) string {
	if m := clientComment.FindStringSubmatch(query); m != nil {
		return m[1]
	}
	return ""
}

// collationCases makes tests of scripts about character sets.
func collationCases(list []queries.CharsetCollationEngineTest) (cases []testCase) {
	for _, s := range list {
		c := testCase{name: s.Name, setup: s.SetUpScript}
		for _, q := range s.Queries {
			c.steps = append(c.steps, step{query: q.Query, rows: q.Expected, fails: q.Error || q.ErrKind != nil, kind: q.ErrKind})
		}
		cases = append(cases, c)
	}
	return cases
}

// convertCases makes tests of comparisons between a column and a value of another type.
func convertCases() (cases []testCase) {
	for _, c := range queries.ConvertTests {
		q := "select count(*) from typestable where " + c.Field + " " + c.Op + " " + c.Operand
		cases = append(cases, testCase{name: q, single: true, steps: []step{{query: q, rows: []sql.Row{{c.ExpCnt}}}}})
	}
	return cases
}

// regexpCases makes tests of regular expressions.
func regexpCases() (cases []testCase) {
	for _, r := range queries.RegexTests {
		cases = append(cases, testCase{name: r.Query, single: true,
			steps: []step{{query: r.Query, rows: r.Expected, fails: r.ExpectedErr != nil, kind: r.ExpectedErr}}})
	}
	return cases
}

// steps makes steps of assertions; those that go-mysql-server itself skips are left out.
func steps(assertions []queries.ScriptTestAssertion) (out []step) {
	for _, a := range assertions {
		if a.Skip || !ours(a.Dialect) {
			continue
		}
		s := step{query: a.Query, bindings: a.Bindings, newSession: a.NewSession, rows: a.Expected, columns: a.ExpectedColumns,
			fails: a.ExpectedErr != nil || a.ExpectedErrStr != "", kind: a.ExpectedErr, message: a.ExpectedErrStr,
			warning: a.ExpectedWarning, warnings: a.ExpectedWarningsCount, warningText: a.ExpectedWarningMessageSubstring}
		if a.SkipResultsCheck {
			s.rows = nil
		}
		out = append(out, s)
	}
	return out
}

// ours reports whether a test is for MySQL's dialect.
func ours(dialect string) bool { return dialect == "" || dialect == "mysql" }
