package planner

import (
	"fmt"
	"maps"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/schema"
)

// Names of virtual databases.
const (
	mysqlDatabase       = "mysql"
	performanceDatabase = "performance_schema"
)

func nameValueFields() []schema.Field {
	return numberFields(textField("VARIABLE_NAME", 64, true), textField("VARIABLE_VALUE", 1024))
}

// nameValueTable is a table of names and values.
func nameValueTable(name string, values func(ctx *sql.Context) map[string]string) *virtualTable {
	return &virtualTable{
		name:   name,
		fields: nameValueFields(),
		rows: func(q *virtualQuery) error {
			m := values(q.ctx)
			for _, k := range sortedKeys(m) {
				q.emit(k, m[k])
			}
			return nil
		},
	}
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// variableText prints a variable's value as SHOW VARIABLES does.
func variableText(typ sql.Type, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return onOff(v)
	case int8:
		if _, ok := typ.(sql.SystemVariableType); ok && strings.Contains(fmt.Sprintf("%T", typ), "Bool") {
			return onOff(v != 0)
		}
	}
	return fmt.Sprint(v)
}

func onOff(b bool) string {
	if b {
		return "ON"
	}
	return "OFF"
}

func globalVariables(ctx *sql.Context) map[string]string {
	values := map[string]any{}
	for name := range sql.SystemVariables.GetAllGlobalVariables() {
		if v, val, ok := sql.SystemVariables.GetGlobal(name); ok {
			if m, isMySQL := v.(*sql.MysqlSystemVariable); isMySQL && m.Scope.IsSessionOnly() {
				continue
			}
			values[name] = val
		}
	}
	return shownVariables(values)
}

func sessionVariables(ctx *sql.Context) map[string]string {
	out := globalVariables(ctx)
	maps.Copy(out, shownVariables(ctx.GetAllSessionVariables()))
	for _, name := range []string{warningCountVariable, errorCountVariable, identityVariable, threadIDVariable} {
		if v, err := ctx.GetSessionVariable(ctx, name); err == nil {
			out[name] = fmt.Sprint(v)
		}
	}
	return out
}

func globalStatus(*sql.Context) map[string]string {
	values := map[string]any{}
	for name, v := range sql.StatusVariables.NewGlobalMap() {
		values[name] = v.Value()
	}
	return statusText(values)
}

func sessionStatus(ctx *sql.Context) map[string]string {
	values := map[string]any{}
	for name, v := range sql.StatusVariables.NewGlobalMap() {
		values[name] = v.Value()
	}
	for name, v := range ctx.GetAllStatusVariables(ctx) {
		values[name] = v.Value()
	}
	return statusText(values)
}

// emptyTable has columns and never rows.
func emptyTable(name string, fields ...schema.Field) *virtualTable {
	return &virtualTable{name: name, fields: numberFields(fields...), rows: func(*virtualQuery) error { return nil }}
}

// performanceTables are the tables of performance_schema that clients ask.
func performanceTables() []*virtualTable {
	return []*virtualTable{
		nameValueTable("global_variables", globalVariables),
		nameValueTable("session_variables", sessionVariables),
		nameValueTable("global_status", globalStatus),
		nameValueTable("session_status", sessionStatus),
		{
			name: "persisted_variables", fields: nameValueFields(),
			rows: func(q *virtualQuery) error {
				p := q.engine.persisted
				p.mu.Lock()
				defer p.mu.Unlock()
				for _, k := range sortedKeys(p.values) {
					q.emit(k, fmt.Sprint(p.values[k]))
				}
				return nil
			},
		},
		{
			name:   "user_variables_by_thread",
			fields: numberFields(intField("THREAD_ID", true), textField("VARIABLE_NAME", 64, true), textField("VARIABLE_VALUE", 16383)),
			rows:   func(*virtualQuery) error { return nil },
		},
		threadsTable(),
		processListTable("processlist"),
		emptyTable("events_statements_summary_by_digest", textField("SCHEMA_NAME", 64), textField("DIGEST", 64), textField("DIGEST_TEXT", 16383),
			intField("COUNT_STAR", true), intField("SUM_TIMER_WAIT", true), intField("MIN_TIMER_WAIT", true), intField("AVG_TIMER_WAIT", true),
			intField("MAX_TIMER_WAIT", true), intField("SUM_ERRORS", true), intField("SUM_WARNINGS", true), intField("SUM_ROWS_SENT", true),
			intField("SUM_ROWS_EXAMINED", true), timeField("FIRST_SEEN"), timeField("LAST_SEEN")),
		emptyTable("events_statements_current", intField("THREAD_ID", true), intField("EVENT_ID", true), textField("EVENT_NAME", 128, true),
			intField("TIMER_WAIT"), textField("SQL_TEXT", 16383), textField("CURRENT_SCHEMA", 64), intField("ROWS_SENT", true), intField("ERRORS", true)),
		emptyTable("events_statements_history", intField("THREAD_ID", true), intField("EVENT_ID", true), textField("EVENT_NAME", 128, true),
			intField("TIMER_WAIT"), textField("SQL_TEXT", 16383), textField("CURRENT_SCHEMA", 64), intField("ROWS_SENT", true), intField("ERRORS", true)),
		emptyTable("session_connect_attrs", intField("PROCESSLIST_ID", true), textField("ATTR_NAME", 32, true), textField("ATTR_VALUE", 1024), intField("ORDINAL_POSITION")),
		emptyTable("session_account_connect_attrs", intField("PROCESSLIST_ID", true), textField("ATTR_NAME", 32, true), textField("ATTR_VALUE", 1024), intField("ORDINAL_POSITION")),
		emptyTable("metadata_locks", textField("OBJECT_TYPE", 64, true), textField("OBJECT_SCHEMA", 64), textField("OBJECT_NAME", 64), textField("LOCK_TYPE", 32, true),
			textField("LOCK_STATUS", 32, true), intField("OWNER_THREAD_ID")),
		emptyTable("replication_group_members", textField("CHANNEL_NAME", 64, true), textField("MEMBER_ID", 64, true), textField("MEMBER_HOST", 255, true),
			intField("MEMBER_PORT"), textField("MEMBER_STATE", 64, true), textField("MEMBER_ROLE", 64, true), textField("MEMBER_VERSION", 64, true)),
	}
}

// processes lists the connections.
func processes(ctx *sql.Context) []sql.Process {
	ps := ctx.ProcessList.Processes()
	sort.Slice(ps, func(i, j int) bool { return ps[i].Connection < ps[j].Connection })
	return ps
}

// processListTable is SHOW PROCESSLIST as a table.
func processListTable(name string) *virtualTable {
	return &virtualTable{
		name: name,
		fields: numberFields(intField("ID", true), textField("USER", 32), textField("HOST", 261), textField("DB", 64), textField("COMMAND", 16),
			intField("TIME"), textField("STATE", 64), textField("INFO", 16383)),
		rows: func(q *virtualQuery) error {
			for _, p := range q.engine.processRows(q.ctx) {
				q.emit(p.id, p.user, p.host, p.db, p.command, p.seconds, p.state, p.info)
			}
			return nil
		},
	}
}

// infoProcessList is information_schema.PROCESSLIST.
func infoProcessList() *virtualTable {
	t := processListTable("PROCESSLIST")
	t.view = true
	return t
}

func threadsTable() *virtualTable {
	return &virtualTable{
		name: "threads",
		fields: numberFields(intField("THREAD_ID", true), textField("NAME", 128, true), textField("TYPE", 10, true), intField("PROCESSLIST_ID"),
			textField("PROCESSLIST_USER", 32), textField("PROCESSLIST_HOST", 255), textField("PROCESSLIST_DB", 64), textField("PROCESSLIST_COMMAND", 16),
			intField("PROCESSLIST_TIME"), textField("PROCESSLIST_STATE", 64), textField("PROCESSLIST_INFO", 16383), intField("PARENT_THREAD_ID"),
			textField("ROLE", 64), textField("INSTRUMENTED", 3, true), textField("HISTORY", 3, true), textField("CONNECTION_TYPE", 16), intField("THREAD_OS_ID"),
			textField("RESOURCE_GROUP", 64)),
		rows: func(q *virtualQuery) error {
			for _, p := range q.engine.processRows(q.ctx) {
				name, typ, connection := "thread/sql/one_connection", "FOREGROUND", textOrNull("TCP/IP")
				if p.background {
					name, typ, connection = "thread/tributary/compaction", "BACKGROUND", nil
				}
				q.emit(p.id, name, typ, p.id, p.user, p.host, p.db, p.command, p.seconds, textOrNull(p.state), p.info, nil, nil, "NO", "NO", connection, nil, nil)
			}
			return nil
		},
	}
}

// mysqlTables are the tables of the database mysql that clients ask: accounts live in the server's options, not in tables.
func mysqlTables() []*virtualTable {
	return []*virtualTable{
		{
			name: "user",
			fields: numberFields(textField("Host", 255, true), textField("User", 32, true), textField("Select_priv", 1, true), textField("plugin", 64, true),
				textField("authentication_string", 1024), textField("password_expired", 1, true), textField("account_locked", 1, true)),
			rows: func(q *virtualQuery) error {
				c := q.ctx.Client()
				q.emit("%", c.User, "Y", "caching_sha2_password", nil, "N", "N")
				return nil
			},
		},
		emptyTable("db", textField("Host", 255, true), textField("Db", 64, true), textField("User", 32, true), textField("Select_priv", 1, true)),
		emptyTable("tables_priv", textField("Host", 255, true), textField("Db", 64, true), textField("User", 32, true), textField("Table_name", 64, true),
			textField("Grantor", 288, true), timeField("Timestamp"), textField("Table_priv", 128, true), textField("Column_priv", 64, true)),
		emptyTable("columns_priv", textField("Host", 255, true), textField("Db", 64, true), textField("User", 32, true), textField("Table_name", 64, true),
			textField("Column_name", 64, true), timeField("Timestamp"), textField("Column_priv", 64, true)),
		emptyTable("procs_priv", textField("Host", 255, true), textField("Db", 64, true), textField("User", 32, true), textField("Routine_name", 64, true),
			textField("Routine_type", 16, true), textField("Grantor", 288, true), textField("Proc_priv", 64, true), timeField("Timestamp")),
		emptyTable("func", textField("name", 64, true), intField("ret", true), textField("dl", 128, true), textField("type", 16, true)),
		emptyTable("plugin", textField("name", 64, true), textField("dl", 128, true)),
		emptyTable("servers", textField("Server_name", 64, true), textField("Host", 255, true), textField("Db", 64, true), textField("Username", 64, true)),
		emptyTable("role_edges", textField("FROM_HOST", 255, true), textField("FROM_USER", 32, true), textField("TO_HOST", 255, true), textField("TO_USER", 32, true),
			textField("WITH_ADMIN_OPTION", 1, true)),
		emptyTable("default_roles", textField("HOST", 255, true), textField("USER", 32, true), textField("DEFAULT_ROLE_HOST", 255, true), textField("DEFAULT_ROLE_USER", 32, true)),
		emptyTable("time_zone_name", textField("Name", 64, true), intField("Time_zone_id", true)),
		emptyTable("help_topic", intField("help_topic_id", true), textField("name", 64, true), intField("help_category_id", true), textField("description", 16383, true),
			textField("example", 16383, true), textField("url", 2048, true)),
	}
}
