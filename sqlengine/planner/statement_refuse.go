package planner

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

// parser refuses statements that write, before names are looked up.
type parser struct {
	*dialect.Parser
	readOnly bool
}

var _ sql.Parser = (*parser)(nil)

// ParseSimple implements sql.Parser.
func (p *parser) ParseSimple(query string) (sqlparser.Statement, error) {
	s, err := p.Parser.ParseSimple(query)
	if err != nil {
		return nil, err
	}
	return p.prepare(s)
}

// Parse implements sql.Parser.
func (p *parser) Parse(ctx *sql.Context, query string, multi bool) (sqlparser.Statement, string, string, error) {
	s, text, rest, err := p.Parser.Parse(ctx, query, multi)
	if err == nil {
		s, err = p.prepare(s)
	}
	return s, text, rest, err
}

// ParseWithOptions implements sql.Parser.
func (p *parser) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, options sqlparser.ParserOptions) (sqlparser.Statement, string, string, error) {
	s, text, rest, err := p.Parser.ParseWithOptions(ctx, query, delimiter, multi, options)
	if err == nil {
		s, err = p.prepare(s)
	}
	return s, text, rest, err
}

// ParseOneWithOptions implements sql.Parser.
func (p *parser) ParseOneWithOptions(ctx context.Context, query string, options sqlparser.ParserOptions) (sqlparser.Statement, int, error) {
	s, at, err := p.Parser.ParseOneWithOptions(ctx, query, options)
	if err == nil {
		s, err = p.prepare(s)
	}
	return s, at, err
}

// prepare makes a statement ready for the binder, or returns why it is not run.
func (p *parser) prepare(s sqlparser.Statement) (sqlparser.Statement, error) {
	if what := writes(s); what != "" && p.readOnly { // before an UPDATE becomes something else
		if err := p.refuse(s); err != nil {
			return s, err
		}
	}
	s, err := rewriteChange(s)
	if err != nil {
		return nil, err
	}
	return s, p.refuse(s)
}

// refuse returns the error for a statement that writes; others are made ready for the binder.
func (p *parser) refuse(s sqlparser.Statement) error {
	if s == nil {
		return nil
	}
	switch s := s.(type) {
	case *sqlparser.Insert:
		carryValues(s)
		if err := carryDuplicates(s); err != nil {
			return err
		}
	case *sqlparser.Load:
		if err := prepareLoad(s); err != nil {
			return err
		}
	}
	if err := refuseJSONTable(s); err != nil {
		return err
	}
	balanceUnions(s)
	rewriteExpressions(s)
	if set, ok := s.(*sqlparser.Set); ok {
		if err := knownVariables(set); err != nil {
			return err
		}
	}
	if writesFile(s) {
		return errmap.New(1290, "HY000", "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement")
	}
	if err := refuseSystemTarget(s); err != nil {
		return err
	}
	what, own := writes(s), inserts(s)
	if d, ok := dialect.AsStatement(s); ok {
		what, own = changes(d), true
	}
	if what == "" || own && !p.readOnly {
		return nil
	}
	if p.readOnly {
		return errmap.Wrap(errs.ReadOnlyf("%s", what), 1290, "HY000",
			"The Tributary server is running with the --read-only option so it cannot execute this statement (%s)", what)
	}
	if strings.HasSuffix(what, " VIEW") {
		return errs.Unsupportedf("%s is not supported: a warehouse of files keeps no views; begin the query with WITH name AS (SELECT …), or keep its rows with CREATE TABLE … AS SELECT", what)
	}
	return errs.Unsupportedf("This version of Tributary doesn't yet support '%s'", what)
}

// refuseSystemTarget refuses rows for a system table.
func refuseSystemTarget(s sqlparser.Statement) error {
	var name string
	switch s := s.(type) {
	case *sqlparser.Insert:
		name, _, _ = dialect.DecodeInsertTarget(s.Table.Name.String())
	case *sqlparser.Load:
		name = s.Table.Name.String()
	}
	return refuseSystemName(name)
}

// refuseSystemName refuses to write a system table.
func refuseSystemName(name string) error {
	parts := strings.Split(name, "$")
	if len(parts) == 1 || len(parts) == 2 && strings.HasPrefix(parts[1], "branch_") {
		return nil
	}
	return errs.Invalidf("Cannot 'write' for system table '%s', please use data table.", name)
}

// inserts reports a statement that insertRule serves.
func inserts(s sqlparser.Statement) bool {
	switch s := s.(type) {
	case *sqlparser.Insert, *sqlparser.Load:
		return true
	case *sqlparser.Explain:
		return inserts(s.Statement)
	}
	return false
}

// changes names a statement of package dialect that changes tables or databases; "" for others.
func changes(s dialect.Statement) string {
	switch s := s.(type) {
	case dialect.CreateTable:
		return "CREATE TABLE"
	case dialect.DropTables:
		return "DROP TABLE"
	case dialect.DropViews:
		return "DROP VIEW"
	case dialect.RenameTables:
		return "RENAME TABLE"
	case dialect.TruncateTable:
		return "TRUNCATE TABLE"
	case dialect.AlterTable:
		return "ALTER TABLE"
	case dialect.CreateIndex:
		return "CREATE INDEX"
	case dialect.DropIndex:
		return "DROP INDEX"
	case dialect.CreateDatabase:
		return "CREATE DATABASE"
	case dialect.DropDatabase:
		return "DROP DATABASE"
	case dialect.AlterDatabase:
		return "ALTER DATABASE"
	case dialect.AnalyzeTable:
		return "ANALYZE TABLE … COMPUTE STATISTICS"
	case dialect.Call:
		return "CALL"
	case dialect.Explain:
		return writes(s.Statement)
	}
	return ""
}

// knownVariables refuses SET of a name that is no variable, which the binder would look for among columns.
func knownVariables(s *sqlparser.Set) error {
	for _, e := range s.Exprs {
		name := strings.ToLower(e.Name.Name.String())
		if e.Scope == sqlparser.SetScope_User || strings.HasPrefix(name, "@") || setWords[name] {
			continue
		}
		if _, _, ok := sql.SystemVariables.GetGlobal(name); !ok {
			return sql.ErrUnknownSystemVariable.New(e.Name.Name.String())
		}
	}
	return nil
}

// setWords are what SET may name besides variables.
var setWords = map[string]bool{"names": true, "charset": true, "character set": true, sqlparser.TransactionStr: true}

// writes names a statement that changes tables, databases or accounts; "" for others.
func writes(s sqlparser.Statement) string {
	switch s := s.(type) {
	case *sqlparser.Insert:
		if s.Action == sqlparser.ReplaceStr {
			return "REPLACE"
		}
		return "INSERT"
	case *sqlparser.Update:
		return "UPDATE"
	case *sqlparser.Delete:
		return "DELETE"
	case *sqlparser.Load:
		return "LOAD DATA"
	case *sqlparser.DDL:
		return ddlName(s)
	case *sqlparser.AlterTable:
		return "ALTER TABLE"
	case *sqlparser.DBDDL:
		return upper(s.Action) + " DATABASE"
	case *sqlparser.CreateUser, *sqlparser.RenameUser, *sqlparser.DropUser:
		return "account management"
	case *sqlparser.CreateRole, *sqlparser.DropRole:
		return "role management"
	case *sqlparser.GrantPrivilege, *sqlparser.GrantRole, *sqlparser.GrantProxy:
		return "GRANT"
	case *sqlparser.RevokePrivilege, *sqlparser.RevokeAllPrivileges, *sqlparser.RevokeRole, *sqlparser.RevokeProxy:
		return "REVOKE"
	case *sqlparser.Explain:
		return writes(s.Statement)
	case *sqlparser.Stream:
		return "STREAM"
	case *sqlparser.CreateSpatialRefSys:
		return "CREATE SPATIAL REFERENCE SYSTEM"
	}
	return ""
}

// writesFile reports SELECT … INTO OUTFILE or DUMPFILE: no statement writes files of the server's machine.
func writesFile(s sqlparser.Statement) bool {
	sel, ok := s.(sqlparser.SelectStatement)
	if !ok {
		return false
	}
	into := sel.GetInto()
	return into != nil && (into.Outfile != "" || into.Dumpfile != "")
}

// ddlName names a CREATE, ALTER, DROP, RENAME or TRUNCATE.
func ddlName(s *sqlparser.DDL) string {
	object := "TABLE"
	switch {
	case s.ViewSpec != nil || len(s.FromViews) > 0:
		object = "VIEW"
	case s.TriggerSpec != nil:
		object = "TRIGGER"
	case s.ProcedureSpec != nil:
		object = "PROCEDURE"
	case s.EventSpec != nil:
		object = "EVENT"
	case s.IndexSpec != nil:
		object = "INDEX"
	}
	return upper(s.Action) + " " + object
}

func upper(s string) string { return strings.ToUpper(s) }
