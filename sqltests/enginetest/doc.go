// Package enginetest runs the test data of go-mysql-server's package of the
// same name against the whole server: queries, INSERT and DDL with the answers
// that go-mysql-server expects, over a real MySQL connection in the text
// protocol.
//
// Its role: tests only. The data are exported values of
// go-mysql-server/enginetest/queries and …/scriptgen/setup; they are imported,
// not copied. Each suite has a server over an empty warehouse. Tables of suites
// that only read are made once, a script begins with empty databases.
//
// The tests may import go-mysql-server and vitess (for the data), sqlengine,
// sqltests/embedded and sqltests/runner. Nothing may import the package.
//
// # Comparison
//
// Numbers are compared by value, decimals exactly, doubles up to 1e-12, an
// expected double with a DECIMAL up to half a unit of its last digit; times by
// value, JSON by structure, booleans as 0 and 1. Rows are compared in order
// where the outermost query has an ORDER BY. An expected error has to be an
// error that says more than "not supported", with MySQL's number where
// go-mysql-server knows it.
//
// # What is left out
//
// skips.txt lists the tests that fail, each under the reason why it cannot pass
// and under the text with which it has to fail. A listed test that passes, fails
// otherwise or does not exist fails the run, as does a test that is not listed
// and fails. Its format:
//
//	reason: why the entries below cannot pass
//	fails with: a part of the failure; several lines are alternatives
//	sometimes passes        where it depends on other tests
//	SUITE | NAME            the whole script
//	SUITE | NAME > QUERY    one statement of a script
//	SUITE | QUERY           a query
//
// Queries are written in one line; long ones are cut and end in a hash. With
//
//	go test ./sqltests/enginetest -failures FILE
//
// the failures that are not listed are written to FILE as lines "entry TAB failure".
// -suite REGEXP runs some of the suites, -server USER@HOST:PORT asks another server, to see what MySQL answers.
//
// Whole suites about what a Paimon table does not have are not in the list of
// suites: triggers, stored procedures, events, foreign keys, views, CHECK
// constraints, generated columns, full-text, vector and spatial indexes, user
// privileges, and the texts of go-mysql-server's plans.
package enginetest
