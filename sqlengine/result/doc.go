// Package result is the seam between execution and the wire: plan nodes whose
// rows can be had as column batches, without boxing.
//
// Role: interfaces, and the notice of a source that waits, between sqlengine/exec, sqlengine/planner (producers) and sqlengine/wire
// (consumer). It may import go-mysql-server's sql package, storage/column, storage/relation and storage/schema.
package result
