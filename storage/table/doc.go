// Package table is the table a statement works on: one branch, its schema and
// options, and a state that stands still, with everything needed to scan it:
// time travel, incremental ranges, fallback and primary branches, chain
// tables, and the views that system tables give of the data.
//
// Role: the top of storage. It may import every storage package and must never
// know SQL or the wire. What it hands out (relation.Relation) is pinned to one
// snapshot a branch.
package table
