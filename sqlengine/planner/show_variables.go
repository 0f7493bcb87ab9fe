package planner

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// processStart is where Uptime counts from.
var processStart = time.Now()

// shownVariables are the variables of SHOW VARIABLES and performance_schema as texts.
func shownVariables(values map[string]any) map[string]string {
	out := make(map[string]string, len(values))
	for name, val := range values {
		if internalVariables[name] {
			continue
		}
		if v, _, ok := sql.SystemVariables.GetGlobal(name); ok {
			out[name] = variableText(v.GetType(), val)
		}
	}
	return out
}

// showVariables is SHOW VARIABLES. go-mysql-server prints truth values as numbers.
func showVariables(n *plan.ShowVariables) *rowsNode {
	return &rowsNode{name: "ShowVariables", sch: nullableColumns(n.Schema()), rows: func(ctx *sql.Context) ([]sql.Row, error) {
		values := globalVariables(ctx)
		if !n.Global {
			values = sessionVariables(ctx)
		}
		var rows []sql.Row
		for _, name := range sortedKeys(values) {
			row := sql.Row{name, values[name]}
			if n.Filter != nil {
				v, err := n.Filter.Eval(ctx, row)
				if err != nil {
					return nil, err
				}
				if v, _, err = gms.Boolean.Convert(ctx, v); err != nil || v == nil || v == int8(0) {
					continue
				}
			}
			rows = append(rows, row)
		}
		return rows, nil
	}}
}

// foreignStatus are beginnings of status variables of plugins and engines that are not here.
var foreignStatus = []string{
	"Ndb_", "Mysqlx_", "Rpl_semi_sync_", "Audit_log_", "Firewall_", "Rewriter_", "Connection_control_", "Authentication_ldap_",
	"group_replication_", "mecab_", "validate_password", "dragnet.", "Telemetry_",
}

// statusText completes status variables with what the server knows and leaves out those of absent plugins.
func statusText(values map[string]any) map[string]string {
	out := make(map[string]string, len(values))
	for name, v := range values {
		out[name] = fmt.Sprint(v)
	}
	maps.DeleteFunc(out, func(name, _ string) bool {
		for _, p := range foreignStatus {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return false
	})
	uptime := fmt.Sprint(int64(time.Since(processStart).Seconds()))
	out["Uptime"], out["Uptime_since_flush_status"] = uptime, uptime
	if _, n, ok := sql.StatusVariables.GetGlobal("Questions"); ok {
		out["Queries"] = fmt.Sprint(n)
	}
	return out
}

// showStatus is SHOW STATUS.
func showStatus(n *plan.ShowStatus) *rowsNode {
	return &rowsNode{name: "ShowStatus", sch: n.Schema(), rows: func(ctx *sql.Context) ([]sql.Row, error) {
		it, err := n.RowIter(ctx, nil)
		if err != nil {
			return nil, err
		}
		all, err := sql.RowIterToRows(ctx, it)
		if err != nil {
			return nil, err
		}
		values := make(map[string]any, len(all))
		for _, r := range all {
			name, _ := r[0].(string)
			values[name] = r[1]
		}
		text := statusText(values)
		var rows []sql.Row
		for _, name := range sortedKeys(text) {
			rows = append(rows, sql.Row{name, text[name]})
		}
		return rows, nil
	}}
}
