// Package systables holds the system tables: what a table's metadata says
// (T$snapshots, T$files, …), its data through other glasses (T$audit_log, T$ro,
// …), and the global tables of database sys.
//
// Role: from storage metadata to column batches, one file a family of tables:
// columns with exact names and types, and a function that fills them. It may
// import storage packages only. It must never know SQL, and never change
// anything.
package systables
