package planner

import (
	"maps"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// removedVariables are variables that go-mysql-server has and MySQL 8.0 has not. Drivers tell the versions apart by
// asking for them and want error 1193.
var removedVariables = map[string]bool{
	"tx_isolation": true, "tx_read_only": true, "query_cache_size": true, "query_cache_type": true,
	"metadata_locks_cache_size": true, "metadata_locks_hash_instances": true, "internal_tmp_disk_storage_engine": true,
	"log_syslog": true, "log_syslog_facility": true, "log_syslog_include_pid": true, "log_syslog_tag": true,
}

// internalVariables steer go-mysql-server and are not shown.
var internalVariables = map[string]bool{
	"inmemory_joins": true, "disable_merge_join": true, "join_complexity_limit": true, "strict_mysql_compatibility": true,
	"show_external_procedures": true, "uptime": true, "validate_user_plugins": true, "named_pipe": true,
	"named_pipe_full_access_group": true, "shared_memory": true, "shared_memory_base_name": true, "mecab_rc_file": true,
	"ndbinfo_version": true, "ngram_token_size": true, "authentication_windows_log_level": true,
	"authentication_windows_use_principal_name": true, "validate_password.length": true,
	"validate_password.mixed_case_count": true, "validate_password.number_count": true,
	"validate_password.special_char_count": true, "thread_pool_algorithm": true,
	"thread_pool_high_priority_connection": true, "thread_pool_max_active_query_threads": true,
	"thread_pool_max_unused_threads": true, "thread_pool_prio_kickup_timer": true, "thread_pool_size": true,
	"thread_pool_stall_limit": true,
}

// variableRegistry is go-mysql-server's registry of system variables without the removed ones.
type variableRegistry struct{ sql.SystemVariableRegistry }

var registryOnce sync.Once

// hideRemovedVariables puts the registry in place, once in the process.
func hideRemovedVariables() {
	registryOnce.Do(func() { sql.SystemVariables = variableRegistry{sql.SystemVariables} })
}

func withoutRemoved[V any](m map[string]V) map[string]V {
	maps.DeleteFunc(m, func(name string, _ V) bool { return removedVariables[name] })
	return m
}

// NewSessionMap implements sql.SystemVariableRegistry.
func (r variableRegistry) NewSessionMap() map[string]sql.SystemVarValue {
	return withoutRemoved(r.SystemVariableRegistry.NewSessionMap())
}

// GetGlobal implements sql.SystemVariableRegistry.
func (r variableRegistry) GetGlobal(name string) (sql.SystemVariable, any, bool) {
	if removedVariables[strings.ToLower(name)] {
		return nil, nil, false
	}
	return r.SystemVariableRegistry.GetGlobal(name)
}

// SetGlobal implements sql.SystemVariableRegistry.
func (r variableRegistry) SetGlobal(ctx *sql.Context, name string, value any) error {
	if removedVariables[strings.ToLower(name)] {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	return r.SystemVariableRegistry.SetGlobal(ctx, name, value)
}

// GetAllGlobalVariables implements sql.SystemVariableRegistry.
func (r variableRegistry) GetAllGlobalVariables() map[string]any {
	return withoutRemoved(r.SystemVariableRegistry.GetAllGlobalVariables())
}

// Variables whose values are the session's state.
const (
	warningCountVariable = "warning_count"
	errorCountVariable   = "error_count"
	identityVariable     = "identity"
	threadIDVariable     = "pseudo_thread_id"
)

// stateVariables are those that go-mysql-server lacks or does not fill.
func stateVariables() []sql.SystemVariable {
	number := func(name string, dynamic bool) sql.SystemVariable {
		return define(name, sql.SystemVariableScope_Session, dynamic, gms.NewSystemUintType(name, 0, 1<<32), uint64(0))
	}
	return []sql.SystemVariable{
		number(warningCountVariable, false), number(errorCountVariable, false), number(threadIDVariable, true),
		define(identityVariable, sql.SystemVariableScope_Session, true, gms.NewSystemUintType(identityVariable, 0, ^uint64(0)), uint64(0)),
		define("insert_id", sql.SystemVariableScope_Session, true, gms.NewSystemUintType("insert_id", 0, ^uint64(0)), uint64(0)),
		define("profiling", sql.SystemVariableScope_Both, true, gms.NewSystemBoolType("profiling"), int8(0)),
		define("innodb_version", sql.SystemVariableScope_Global, false, gms.NewSystemStringType("innodb_version"), strings.Split(Version, "-")[0]),
	}
}

// stateVariable gives a variable whose value is the session's state; ok is false for others.
func (s *Session) stateVariable(name string) (v any, ok bool) {
	switch strings.ToLower(name) {
	case warningCountVariable:
		return uint64(s.diagnosed), true
	case errorCountVariable:
		return uint64(s.diagnosedErrors), true
	case threadIDVariable:
		return uint64(s.ID()), true
	case identityVariable:
		v, err := s.BaseSession.GetSessionVariable(nil, "last_insert_id")
		return v, err == nil
	}
	return nil, false
}

// countDiagnostics keeps the numbers of the last statement's warnings and errors, which the next one forgets.
func (s *Session) countDiagnostics() {
	s.diagnosed, s.diagnosedErrors = 0, 0
	for _, w := range s.Warnings() {
		s.diagnosed++
		if w.Level == "Error" {
			s.diagnosedErrors++
		}
	}
}
