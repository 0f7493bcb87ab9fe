// Package hashjoin runs joins of go-mysql-server plans by hashing: its own
// optimiser is switched off (it loses rows), and without it every row of the left side would
// scan the right side anew.
//
// Role: replace inner, cross and left outer joins of an analysed plan by a
// node that reads the right side once and looks matches up by the equalities
// of the condition. The whole condition is still evaluated on every candidate
// by go-mysql-server, so that hashing can never change an answer. It may import go-mysql-server and
// storage/errs. It must never touch joins inside correlated subqueries, whose rows carry an outer prefix.
package hashjoin
