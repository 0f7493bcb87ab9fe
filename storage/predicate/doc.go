// Package predicate holds filters that storage can use to skip data: typed
// comparisons of columns with literals, joined by AND and OR.
//
// Role: the one place where a predicate is evaluated on statistics, on
// partition values, and on batches. It may import storage/column and
// storage/errs. It must never know SQL: whoever builds a Predicate has converted
// literals to the column's kind, scale and time zone exactly, or left the condition out.
package predicate
