package planner

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
)

// planStatement gives a statement of package dialect its node; nil where it is not served.
func (e *Engine) planStatement(stmt dialect.Statement, children []sql.Expression) (sql.Node, error) {
	switch s := stmt.(type) {
	case dialect.ShowPartitions:
		return e.showPartitions(s), nil
	case dialect.ShowTags:
		return e.showTags(s), nil
	case dialect.Explain:
		return e.explainStatement(s), nil
	case dialect.AdminTables:
		return e.adminTables(s), nil
	case dialect.Do, dialect.CommentOnly:
		return doNode(children), nil
	case dialect.ShowCount:
		return showCount(s), nil
	case dialect.ShowErrors:
		return &rowsNode{name: "ShowErrors", sch: warningColumns(), rows: showErrors}, nil
	case dialect.ShowCreateUser:
		return showCreateUser(s), nil
	case dialect.ShowEngine:
		return noRows("ShowEngine", textColumns("Type", "Name", "Status")), nil
	case dialect.ShowOpenTables:
		return noRows("ShowOpenTables", append(textColumns("Database", "Table"), numberColumn("In_use"), numberColumn("Name_locked"))), nil
	case dialect.ShowProfiles:
		if s.One {
			return noRows("ShowProfile", textColumns("Status", "Duration")), nil
		}
		return noRows("ShowProfiles", append(sql.Schema{numberColumn("Query_ID")}, textColumns("Duration", "Query")...)), nil
	case dialect.ShowReplicas:
		return noRows("ShowReplicas", append(sql.Schema{numberColumn("Server_Id")}, textColumns("Host", "Port", "Source_Id", "Replica_UUID")...)), nil
	case dialect.ShowLogEvents:
		return noRows("ShowLogEvents", textColumns("Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info")), nil
	case dialect.Help:
		return noRows("Help", textColumns("source_category_name", "name", "is_it_category")), nil
	case dialect.XA:
		if s.Verb == "RECOVER" {
			return noRows("XARecover", append(sql.Schema{numberColumn("formatID"), numberColumn("gtrid_length"), numberColumn("bqual_length")}, textColumns("data")...)), nil
		}
	case dialect.SetRole:
		if s.Mode == "DEFAULT" || s.Mode == "NONE" || s.Mode == "ALL" {
			return noRows("SetRole", nil), nil
		}
	}
	return e.definitionStatement(stmt, children)
}

// openNamed opens a table named in a statement of ours.
func (e *Engine) openNamed(ctx *sql.Context, n dialect.Name) (db string, rel relation.Relation, err error) {
	db = n.DB
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	if db == "" {
		return "", nil, sql.ErrNoDatabaseSelected.New()
	}
	name, ok, err := e.Provider.find(ctx, db)
	if err != nil {
		return "", nil, err
	}
	if !ok {
		return "", nil, sql.ErrDatabaseNotFound.New(db)
	}
	at, err := onBranch(ctx, e.catalog, name, n.Name, nil)
	if err != nil {
		return "", nil, err
	}
	if at.lacks != "" {
		table, _, _ := strings.Cut(n.Name, "$")
		noteLacking(ctx, name, table, at.lacks)
	}
	rel, err = pinned(ctx, e.catalog, name, at.name, OpenOptions{TimeZone: SessionZone(ctx)})
	if isMissing(err) {
		return "", nil, sql.ErrTableNotFound.New(n.Name)
	}
	return name, rel, err
}

func (e *Engine) showPartitions(s dialect.ShowPartitions) sql.Node {
	return &rowsNode{name: "ShowPartitions", sch: textColumns("partitions"), rows: func(ctx *sql.Context) ([]sql.Row, error) {
		db, rel, err := e.openNamed(ctx, s.Table)
		if err != nil {
			return nil, err
		}
		d, ok := rel.(Described)
		ps, isPartitioned := rel.(Partitioned)
		if !ok || !isPartitioned || len(d.PartitionKeys()) == 0 {
			return nil, errs.Invalidf("table %s.%s is not partitioned", db, s.Table.Name)
		}
		want, err := partitionSpec(d.PartitionKeys(), s.Spec)
		if err != nil {
			return nil, err
		}
		parts, err := ps.Partitions(ctx)
		if err != nil {
			return nil, err
		}
		var rows []sql.Row
		for _, p := range parts {
			if matchesSpec(&p, want) {
				rows = append(rows, sql.Row{p.Name})
			}
		}
		return rows, nil
	}}
}

// partitionSpec maps the positions of partition keys to the wanted values.
func partitionSpec(keys []string, spec []dialect.PartitionValue) (map[int]dialect.PartitionValue, error) {
	want := map[int]dialect.PartitionValue{}
	for _, v := range spec {
		found := false
		for i, k := range keys {
			if strings.EqualFold(k, v.Column) {
				want[i] = v
				found = true
			}
		}
		if !found {
			return nil, errs.Invalidf("column '%s' is no partition column; these are: %s", v.Column, strings.Join(keys, ", "))
		}
	}
	return want, nil
}

func matchesSpec(p *Partition, want map[int]dialect.PartitionValue) bool {
	for i, v := range want {
		if i >= len(p.Values) {
			return false
		}
		if v.Null != (p.Values[i] == nil) || !v.Null && *p.Values[i] != v.Value {
			return false
		}
	}
	return true
}

// showTags reads the system table of tags.
func (e *Engine) showTags(s dialect.ShowTags) sql.Node {
	return &rowsNode{name: "ShowTags", sch: textColumns("tag"), rows: func(ctx *sql.Context) ([]sql.Row, error) {
		if _, _, err := e.openNamed(ctx, s.Table); err != nil {
			return nil, err
		}
		_, rel, err := e.openNamed(ctx, dialect.Name{DB: s.Table.DB, Name: s.Table.Name + "$tags"})
		if err != nil {
			return nil, err
		}
		t := newTable("", s.Table.Name, rel)
		col, ok := t.fieldNamed("tag_name")
		if !ok {
			return nil, errs.Unsupportedf("table %s lists no tags", s.Table.Name)
		}
		rows, err := readColumn(ctx, t, col)
		if err != nil {
			return nil, err
		}
		sort.Slice(rows, func(i, j int) bool { return fmt.Sprint(rows[i][0]) < fmt.Sprint(rows[j][0]) })
		return rows, nil
	}}
}

func readColumn(ctx *sql.Context, t *Table, col int) (rows []sql.Row, err error) {
	s, err := t.scan(ctx, []int{col})
	if err != nil {
		return nil, err
	}
	it := newRowIter(ctx, s, t.typesOf([]int{col}))
	defer func() { err = errors.Join(err, it.Close(ctx)) }()
	for {
		r, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
}

// explainStatement is EXPLAIN in the forms that go-mysql-server does not know.
func (e *Engine) explainStatement(s dialect.Explain) sql.Node {
	sch := textColumns("EXPLAIN")
	if s.Format == "TRADITIONAL" && !s.Analyze {
		sch = nullableColumns(plan.DescribeSchema)
	}
	return &rowsNode{name: "Explain", sch: sch, rows: func(ctx *sql.Context) ([]sql.Row, error) {
		stmt, err := rewriteChange(s.Statement)
		if err != nil {
			return nil, err
		}
		b := planbuilder.New(ctx, e.Analyzer.Catalog, e.EventScheduler, e.Parser)
		bound, flags, err := b.BindOnly(stmt, s.Text, nil)
		if err != nil {
			return nil, err
		}
		n, err := e.Analyzer.Analyze(ctx, bound, nil, flags)
		if err != nil {
			return nil, err
		}
		if s.Analyze {
			return e.explainAnalyze(ctx, n, s.Format)
		}
		switch s.Format {
		case "JSON":
			return []sql.Row{{explainJSON(ctx, n)}}, nil
		case "TRADITIONAL":
			return explainTable(ctx, n), nil
		}
		return explainTree(ctx, n, sql.DescribeOptions{Plan: true}), nil
	}}
}

// explainAnalyze runs the statement and says how many rows it gave in which time.
func (e *Engine) explainAnalyze(ctx *sql.Context, n sql.Node, format string) ([]sql.Row, error) {
	rows, took, err := e.runPlan(ctx, n)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("rows: %d, time: %s", rows, took.Round(time.Microsecond))
	if format == "JSON" {
		return []sql.Row{{explainJSON(ctx, n)}}, nil
	}
	return append([]sql.Row{{head}}, explainTree(ctx, n, sql.DescribeOptions{Plan: true})...), nil
}

// runPlan runs a plan to its end.
func (e *Engine) runPlan(ctx *sql.Context, n sql.Node) (rows int64, took time.Duration, err error) {
	if !n.IsReadOnly() {
		return 0, 0, errs.Unsupportedf("EXPLAIN ANALYZE runs the statement, which may write")
	}
	start := time.Now()
	it, err := e.Analyzer.ExecBuilder.Build(ctx, n, nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, it.Close(ctx)) }()
	for {
		if _, err := it.Next(ctx); errors.Is(err, io.EOF) {
			return rows, time.Since(start), nil
		} else if err != nil {
			return rows, 0, err
		}
		rows++
	}
}

// doNode is DO: its expressions are evaluated and forgotten.
func doNode(exprs []sql.Expression) sql.Node {
	return &rowsNode{name: "Do", rows: func(ctx *sql.Context) ([]sql.Row, error) {
		for _, x := range exprs {
			if _, err := x.Eval(ctx, nil); err != nil {
				return nil, err
			}
		}
		return []sql.Row{{gms.NewOkResult(0)}}, nil
	}, sch: gms.OkResultSchema}
}

func warningColumns() sql.Schema {
	return sql.Schema{
		{Name: "Level", Type: gms.LongText}, {Name: "Code", Type: gms.Int64}, {Name: "Message", Type: gms.LongText},
	}
}

// showCount is SHOW COUNT(*) WARNINGS or ERRORS.
func showCount(s dialect.ShowCount) sql.Node {
	name := warningCountVariable
	if s.Errors {
		name = errorCountVariable
	}
	return &rowsNode{name: "ShowCount", sch: sql.Schema{numberColumn("@@session." + name)}, rows: func(ctx *sql.Context) ([]sql.Row, error) {
		v, err := ctx.GetSessionVariable(ctx, name)
		if err != nil {
			return nil, err
		}
		n, _, err := gms.Int64.Convert(ctx, v)
		return []sql.Row{{n}}, err
	}}
}

func showErrors(ctx *sql.Context) ([]sql.Row, error) {
	var rows []sql.Row
	for _, w := range ctx.Warnings() {
		if w.Level == "Error" {
			rows = append([]sql.Row{{w.Level, int64(w.Code), w.Message}}, rows...)
		}
	}
	return rows, nil
}

func showCreateUser(s dialect.ShowCreateUser) sql.Node {
	sch := textColumns("CREATE USER for " + s.User + "@" + s.Host)
	return &rowsNode{name: "ShowCreateUser", sch: sch, rows: func(ctx *sql.Context) ([]sql.Row, error) {
		user := s.User
		if s.Current {
			user = ctx.Client().User
		}
		return []sql.Row{{"CREATE USER " + quoteName(user) + "@`%` IDENTIFIED WITH 'caching_sha2_password'"}}, nil
	}}
}
