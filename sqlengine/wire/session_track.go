package wire

import (
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Types of session state changes.
const (
	trackSystemVariables = 0
	trackSchemaChange    = 1
)

// trackSchema appends the current database as a state change.
func (c *conn) trackSchema(dst []byte) []byte {
	if v := c.stringVariable("session_track_schema"); v == "0" || strings.EqualFold(v, "off") {
		return dst
	}
	inner := appendLenencString(nil, c.session.GetCurrentDatabase())
	dst = append(dst, trackSchemaChange)
	return appendLenencString(dst, inner)
}

// defaultTracked is session_track_system_variables' default.
const defaultTracked = "time_zone,autocommit,character_set_client,character_set_results,character_set_connection"

// trackStatement gives the state changes of a statement that answered OK.
func (c *conn) trackStatement(stmt sqlparser.Statement, before string) []byte {
	if c.caps&capSessionTrack == 0 {
		return nil
	}
	var dst []byte
	if set, ok := stmt.(*sqlparser.Set); ok {
		for _, name := range c.assigned(set) {
			value, known := c.variable(name)
			if !known {
				continue
			}
			inner := appendLenencString(nil, name)
			inner = appendLenencString(inner, trackedText(name, value))
			dst = append(dst, trackSystemVariables)
			dst = appendLenencString(dst, inner)
		}
	}
	if _, use := stmt.(*sqlparser.Use); use || c.session.GetCurrentDatabase() != before {
		dst = c.trackSchema(dst)
	}
	return dst
}

// trackedText is a variable's value as trackers print it: ON and OFF for booleans.
func trackedText(name string, value any) string {
	text := fmt.Sprint(value)
	switch name {
	case "autocommit", "foreign_key_checks", "unique_checks", "sql_notes", "transaction_read_only", "session_track_schema":
		switch text {
		case "1", "true":
			return "ON"
		case "0", "false":
			return "OFF"
		}
	}
	return text
}

// assigned lists the tracked variables that a SET statement assigns, in order.
func (c *conn) assigned(set *sqlparser.Set) []string {
	list := defaultTracked
	if v, ok := c.variable("session_track_system_variables"); ok {
		list = fmt.Sprint(v)
	}
	all := strings.TrimSpace(list) == "*"
	tracked := make(map[string]bool)
	for _, n := range strings.Split(strings.ToLower(list), ",") {
		tracked[strings.TrimSpace(n)] = true
	}
	var names []string
	seen := make(map[string]bool)
	add := func(name string) {
		if (all || tracked[name]) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, e := range set.Exprs {
		if e.Name == nil || e.Scope == sqlparser.SetScope_Global || e.Scope == sqlparser.SetScope_User {
			continue
		}
		name := strings.ToLower(e.Name.Name.String())
		name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "@@"), "session."), "local.")
		switch name {
		case "names", "charset":
			add("character_set_client")
			add("character_set_connection")
			add("character_set_results")
		case "transaction", "tx_isolation":
			add("transaction_isolation")
		default:
			add(name)
		}
	}
	return names
}
