// Package errmap turns every error of Tributary into a MySQL error number,
// SQLSTATE and message: error classes of storage/errs, errors of the dialect,
// go-mysql-server's kinds, the vitess parser's texts, cancelled contexts.
//
// Role: the one place that chooses a MySQL error. It may import storage/errs,
// sqlengine/dialect and go-mysql-server's error kinds. It must never run
// anything or look at a session.
//
// The choice for the classes of storage/errs:
//
//	NotFound     1146 42S02 (table, branch), 1049 42000 (database), 1017 HY000 (file), 1032 HY000 (snapshot, tag, …)
//	Conflict     1213 40001, which drivers take as "repeat the transaction"
//	Corrupt      1033 HY000
//	Unsupported  1235 42000
//	Invalid      1210 HY000
//	ReadOnly     1290 HY000, which drivers take as "wrong server"
//	Limit        1041 HY000
//	Exists       1050 42S01 (table), 1007 HY000 (database), 1060 42S21 (column)
//	Uncertain    1180 HY000, "error during COMMIT": nobody knows whether the rows are there
//	Unknown      1105 HY000
package errmap
