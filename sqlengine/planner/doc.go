// Package planner puts Paimon tables behind go-mysql-server: databases and
// tables over a Catalog, sessions and their pinned snapshots, the surgery of
// the analyzer's rules, pushdown into scans, functions and statements that
// go-mysql-server lacks or answers wrongly.
//
// Role: from a parsed statement to an executable plan. It may import
// go-mysql-server, storage/{column,errs,predicate,relation,schema},
// sqlengine/{dialect,errmap,result,types}. It must never read files, speak the
// wire protocol, or know how a Catalog finds its tables: system tables come from the Catalog as relations,
// like all others. Rows ([]any) exist here and nowhere below.
package planner
