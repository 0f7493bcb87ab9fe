package planner

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// Version is what @@version says: the MySQL version whose behaviour clients may expect.
const Version = "8.0.36-Tributary"

// VersionComment is what @@version_comment says.
const VersionComment = "Tributary - Apache Paimon over the MySQL protocol"

const defaultPacket = 64 << 20

// maxConnections is MySQL's greatest value of max_connections.
const maxConnections = 100_000

// define makes a system variable.
func define(name string, scope sql.MysqlSVScopeType, dynamic bool, typ sql.Type, value any) *sql.MysqlSystemVariable {
	return &sql.MysqlSystemVariable{
		Name: name, Scope: sql.GetMysqlScope(scope), Dynamic: dynamic, SetVarHintApplies: dynamic, Type: typ, Default: value,
	}
}

// defineVariables corrects go-mysql-server's system variables: values that clients
// judge a server by, checks that are missing, and what SET PERSIST has kept.
func defineVariables(o Options, persisted map[string]any) error {
	const (
		both    = sql.SystemVariableScope_Both
		global  = sql.SystemVariableScope_Global
		session = sql.SystemVariableScope_Session
	)
	text := func(name string) sql.Type { return gms.NewSystemStringType(name) }
	flag := func(name string) sql.Type { return gms.NewSystemBoolType(name) }
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	zone := define("time_zone", both, true, text("time_zone"), systemZoneName)
	zone.NotifyChanged = checkZone
	results := define("character_set_results", both, true, text("character_set_results"), "utf8mb4")
	results.NotifyChanged = checkCharset
	ro := int8(0)
	if o.ReadOnly {
		ro = 1
	}
	vars := []sql.SystemVariable{
		zone,
		defineBranch(),
		defineCompaction(),
		results,
		define("version", global, false, text("version"), Version),
		define("version_comment", global, false, text("version_comment"), VersionComment),
		define("version_compile_os", global, false, text("version_compile_os"), osName()),
		define("version_compile_machine", global, false, text("version_compile_machine"), machineName()),
		define("hostname", global, false, text("hostname"), host),
		define("system_time_zone", global, false, text("system_time_zone"), systemZone().String()),
		define("protocol_version", global, false, gms.NewSystemIntType("protocol_version", 0, 1<<31, false), int64(10)),
		define("lower_case_table_names", global, false, gms.NewSystemIntType("lower_case_table_names", 0, 2, false), int64(0)),
		define("max_allowed_packet", both, true, gms.NewSystemUintType("max_allowed_packet", 1024, 1<<30), uint64(defaultPacket)),
		define("sql_select_limit", both, true, gms.NewSystemUintType("sql_select_limit", 0, ^uint64(0)), ^uint64(0)),
		define("innodb_lock_wait_timeout", both, true, gms.NewSystemIntType("innodb_lock_wait_timeout", 1, 1<<30, false), int64(50)),
		define("character_set_system", global, false, text("character_set_system"), "utf8mb3"),
		define("default_authentication_plugin", global, false, text("default_authentication_plugin"), "caching_sha2_password"),
		define("read_only", global, false, flag("read_only"), ro),
		define("super_read_only", global, false, flag("super_read_only"), ro),
		define("secure_file_priv", global, false, text("secure_file_priv"), nil),
		define("session_track_system_variables", both, true, text("session_track_system_variables"),
			"time_zone,autocommit,character_set_client,character_set_results,character_set_connection"),
		define("lc_time_names", both, true, text("lc_time_names"), "en_US"),
		define("optimizer_switch", both, true, text("optimizer_switch"), optimizerSwitch),
		define("timestamp", session, true, gms.NewSystemDoubleType("timestamp", 0, 2147483647), float64(0)),
		define("sql_mode", both, true, sqlModeType, sqlModeDefault),
		define("collation_server", both, true, text("collation_server"), "utf8mb4_0900_ai_ci"),
		define("tls_version", global, false, text("tls_version"), "TLSv1.2,TLSv1.3"),
		define("thread_cache_size", global, true, gms.NewSystemIntType("thread_cache_size", 0, 16384, false), int64(9)),
		define("have_ssl", global, false, text("have_ssl"), "YES"),
		define("have_openssl", global, false, text("have_openssl"), "YES"),
	}
	if o.MaxConnections > 0 {
		// The listeners' limit is fixed when they open: not to be set.
		vars = append(vars, define("max_connections", global, false, gms.NewSystemIntType("max_connections", 1, maxConnections, false), int64(o.MaxConnections)))
	}
	hideRemovedVariables()
	sql.SystemVariables.AddSystemVariables(append(vars, stateVariables()...))
	for _, name := range slices.Sorted(maps.Keys(persisted)) {
		if err := sql.SystemVariables.AssignValues(map[string]any{name: persisted[name]}); err != nil {
			return fmt.Errorf("persisted variable %s: %w", name, err)
		}
	}
	return nil
}

// osName is the operating system as MySQL spells it.
func osName() string {
	if runtime.GOOS == "linux" {
		return "Linux"
	}
	return runtime.GOOS
}

func machineName() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return runtime.GOARCH
}

// sqlModeDefault is MySQL 8.0's.
const sqlModeDefault = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// sqlModeType has MySQL's modes in the order of their bits, the combinations last.
var sqlModeType = gms.NewSystemSetType("sql_mode", sql.Collation_utf8mb4_0900_ai_ci,
	"REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "ONLY_FULL_GROUP_BY", "NO_UNSIGNED_SUBTRACTION",
	"NO_DIR_IN_CREATE", "ANSI", "NO_AUTO_VALUE_ON_ZERO", "NO_BACKSLASH_ESCAPES", "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES",
	"NO_ZERO_IN_DATE", "NO_ZERO_DATE", "ALLOW_INVALID_DATES", "ERROR_FOR_DIVISION_BY_ZERO", "TRADITIONAL", "NO_AUTO_CREATE_USER",
	"HIGH_NOT_PRECEDENCE", "NO_ENGINE_SUBSTITUTION", "PAD_CHAR_TO_FULL_LENGTH", "TIME_TRUNCATE_FRACTIONAL")

// optimizerSwitch lists flags that clients set and restore; none changes anything here.
const optimizerSwitch = "index_merge=on,index_merge_union=on,index_merge_sort_union=on,index_merge_intersection=on,engine_condition_pushdown=on," +
	"index_condition_pushdown=on,mrr=on,mrr_cost_based=on,block_nested_loop=on,batched_key_access=off,materialization=on,semijoin=on," +
	"loosescan=on,firstmatch=on,duplicateweedout=on,subquery_materialization_cost_based=on,use_index_extensions=on," +
	"condition_fanout_filter=on,derived_merge=on,use_invisible_indexes=off,skip_scan=on,hash_join=on,subquery_to_derived=off," +
	"prefer_ordering_index=on,hypergraph_optimizer=off,derived_condition_pushdown=on"

// checkZone refuses zones that do not exist, as MySQL does.
func checkZone(_ *sql.Context, _ sql.SystemVariableScope, v sql.SystemVarValue) error {
	name, _ := v.Val.(string)
	if _, err := LoadZone(name); err != nil {
		return errmap.Wrap(err, 1298, "HY000", "Unknown or incorrect time zone: '%s'", name)
	}
	return nil
}

// checkCharset accepts NULL (no conversion) and the character sets that exist.
func checkCharset(_ *sql.Context, _ sql.SystemVariableScope, v sql.SystemVarValue) error {
	if v.Val == nil {
		return nil
	}
	name, _ := v.Val.(string)
	_, err := sql.ParseCharacterSet(name)
	return err
}
