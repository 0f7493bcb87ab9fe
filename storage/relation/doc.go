// Package relation is the face that everything scannable shows to what is
// above storage: data tables, branches, fallback unions, and system tables.
//
// Role: interfaces, and the numbers of row kinds. It may import storage/column, predicate and schema,
// and must never know how a relation comes by its rows.
package relation
