package dialect

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Statement is a statement that vitess has no grammar for. The planner gives it
// a node through [Options].Plan.
type Statement interface {
	dialectStatement()
}

// Name is a possibly qualified object name as the user wrote it, without
// quotes. DB is empty for the current database.
type Name struct {
	DB, Name string
}

// PartitionValue is one p = v of a PARTITION clause. Value is the text of the
// literal; Null is set for NULL.
type PartitionValue struct {
	Column, Value string
	Null          bool
}

// Filter is the LIKE or WHERE of a SHOW statement. At most one is set.
type Filter struct {
	Like  *string
	Where sqlparser.Expr
}

// The statements of this package.
type (
	// ShowPartitions is SHOW PARTITIONS t [PARTITION (p = v, …)].
	ShowPartitions struct {
		Table Name
		Spec  []PartitionValue
	}
	// ShowTags is SHOW TAGS t.
	ShowTags struct {
		Table Name
	}
	// ShowEngine is SHOW ENGINE e STATUS | MUTEX | LOGS.
	ShowEngine struct {
		Engine, What string // What in upper case
	}
	// ShowOpenTables is SHOW OPEN TABLES [FROM db] [LIKE … | WHERE …].
	ShowOpenTables struct {
		DB     string
		Filter Filter
	}
	// ShowErrors is SHOW ERRORS [LIMIT …].
	ShowErrors struct{}
	// ShowCount is SHOW COUNT(*) WARNINGS | ERRORS; the column of the result is
	// @@session.warning_count or @@session.error_count.
	ShowCount struct {
		Errors bool
	}
	// ShowCreateUser is SHOW CREATE USER u; Current for CURRENT_USER.
	ShowCreateUser struct {
		User, Host string
		Current    bool
	}
	// ShowProfiles is SHOW PROFILES, or SHOW PROFILE … with One set.
	ShowProfiles struct {
		One bool
	}
	// ShowLogEvents is SHOW BINLOG EVENTS | RELAYLOG EVENTS [IN log] [FROM pos] ….
	ShowLogEvents struct {
		Relay bool
		Log   string
		From  uint64
	}
	// ShowReplicas is SHOW REPLICAS | SLAVE HOSTS.
	ShowReplicas struct{}
	// AdminTables is ANALYZE | CHECK | CHECKSUM | OPTIMIZE | REPAIR TABLE t, ….
	AdminTables struct {
		Verb    string // upper case
		Tables  []Name
		Options []string // QUICK, EXTENDED, … in upper case
	}
	// Do is DO expr, …. Its expressions are the children that the planner
	// binds.
	Do struct{}
	// CommentOnly is a text of comments, conditional ones that do not apply
	// included: MySQL answers OK. (A text without even those is an error.)
	CommentOnly struct{}
	// Help is HELP 'topic'.
	Help struct {
		Topic string
	}
	// XA is XA RECOVER and the other statements of two-phase commit.
	XA struct {
		Verb string // upper case: RECOVER, START, END, PREPARE, COMMIT, ROLLBACK
	}
	// SetRole is SET ROLE …: Mode is DEFAULT, NONE, ALL, EXCEPT (all but Roles) or
	// LIST.
	SetRole struct {
		Mode  string
		Roles []Account
	}
	// Explain is EXPLAIN in a form that go-mysql-server does not know: FORMAT =
	// JSON or TRADITIONAL, or ANALYZE with a format. Statement has been through
	// all passes; Text is its source.
	Explain struct {
		Format    string // upper case: JSON, TRADITIONAL, TREE
		Analyze   bool
		Statement sqlparser.Statement
		Text      string
	}
)

// Account is a user or role.
type Account struct {
	Name, Host string // Host is % when not given
}

func (ShowPartitions) dialectStatement() {}
func (ShowTags) dialectStatement()       {}
func (ShowEngine) dialectStatement()     {}
func (ShowOpenTables) dialectStatement() {}
func (ShowErrors) dialectStatement()     {}
func (ShowCount) dialectStatement()      {}
func (ShowCreateUser) dialectStatement() {}
func (ShowProfiles) dialectStatement()   {}
func (ShowLogEvents) dialectStatement()  {}
func (ShowReplicas) dialectStatement()   {}
func (AdminTables) dialectStatement()    {}
func (Do) dialectStatement()             {}
func (CommentOnly) dialectStatement()    {}
func (Help) dialectStatement()           {}
func (XA) dialectStatement()             {}
func (SetRole) dialectStatement()        {}
func (Explain) dialectStatement()        {}

// injection carries a Statement through the binder.
type injection struct {
	stmt Statement
	text string
	plan func(Statement, []sql.Expression) (sql.Node, error)
}

// String is the statement's text.
func (in injection) String() string { return in.text }

// WithResolvedChildren implements sqlparser.Injectable.
func (in injection) WithResolvedChildren(children []any) (any, error) {
	if in.plan == nil {
		return nil, unsupported(in.text, "")
	}
	exprs := make([]sql.Expression, 0, len(children))
	for _, c := range children {
		e, ok := c.(sql.Expression)
		if !ok {
			return nil, errMarker
		}
		exprs = append(exprs, e)
	}
	node, err := in.plan(in.stmt, exprs)
	if err != nil {
		return nil, err
	}
	if node == nil {
		return nil, unsupported(in.text, "")
	}
	return node, nil
}

// inject wraps a statement for the binder.
func (p *Parser) inject(s *script, stmt Statement, children ...sqlparser.Expr) sqlparser.Statement {
	return sqlparser.InjectedStatement{
		Statement: injection{stmt: stmt, text: s.src, plan: p.options.Plan},
		Children:  children,
		Auth:      sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE},
	}
}

// AsStatement returns the Statement inside a parsed statement; ok is false for
// statements of vitess.
func AsStatement(stmt sqlparser.Statement) (s Statement, ok bool) {
	in, ok := stmt.(sqlparser.InjectedStatement)
	if !ok {
		return nil, false
	}
	i, ok := in.Statement.(injection)
	return i.stmt, ok
}
