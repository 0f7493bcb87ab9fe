// Package exec is the vector executor: it takes parts of an analysed plan of
// go-mysql-server over and runs them on column batches, in parallel.
//
// Role: from plan nodes to batches. A part is a chain of scan, filter, project,
// aggregate, limit; what cannot be answered exactly as MySQL does stays with go-mysql-server,
// above or below. It may import go-mysql-server, storage/{column,errs,predicate,relation,schema} and
// sqlengine/{dialect,errmap,planner,result,types}. It must never read files or box values outside RowIter.
//
// Shape. A plan is compiled to pipes: a source (a table's scan or the groups of
// an aggregate), conditions, and output expressions over the source's columns; projections are
// substituted. Expressions are immutable and shared by the workers of a query; each worker has an evaluator
// that holds their buffers. Expressions evaluate to dense vectors of the rows that are left, so that kernels
// are plain loops; equal expressions are computed once a batch. Conditions that are predicates run in
// storage/predicate's kernels, once per entry on dictionaries.
//
// Numbers. Integers are 64 bits, checked (error 1690). Decimals are unscaled integers in 64 bits; a batch that
// does not fit is computed anew in 128 bits. What does not fit 128 bits either is given back to go-mysql-server's
// rows: only aggregates can come to that, before their first row.
package exec
