// Package faults interferes with statements that write: it fails, kills or stops them
// at every file operation.
//
// Its role: for each kind of statement, run it over a warehouse in memory, let the n-th
// operation fail (before or after it took effect), cancel the statement there, or end
// the process there, for every n; then demand that the warehouse is as before or as after, that
// a repetition succeeds, and that the cleaning of orphan files leaves nothing else. Kinds that compact, or write
// changelogs or deletion vectors, also meet another process there, and are finished by a compaction: then the rows are the same as ever, and
// the changelog tells them. Of dear kinds one operation in so many is tried; with the environment variable TRIBUTARY_TEST_DENSE
// set each one is. There are tests only. They may import sqlengine and what is below it, and must never depend
// on a real disk.
package faults
