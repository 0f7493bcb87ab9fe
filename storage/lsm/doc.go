// Package lsm knows how the sorted runs of a bucket become rows: which files
// form sections and runs, how runs are merged, and what a merge engine makes
// of the records of one key.
//
// Role: the read side of section 8 and section 9 of the format (Paimon's
// packages mergetree and mergetree.compact). It may import storage/binrow, column,
// errs, lsm/sketch, relation and schema. It must never open files, know snapshots, or see
// SQL: runs come as readers of column batches, and leave as such.
//
// # Contract
//
// A run is a reader of batches in ascending key order. A batch has the key
// columns, _SEQUENCE_NUMBER, _VALUE_KIND and value columns, at the places that
// Layout names. Batches may carry a selection (deletion vectors already
// applied) and dictionary-coded vectors. All runs have the same layout and the
// same kinds: schema evolution happens before the merge.
//
// For every key, records are ordered from oldest to newest by the columns of
// sequence.field (nulls lowest, also under descending order), then by
// _SEQUENCE_NUMBER, then retracts (-U, -D) before adds, then by the order of
// the runs as given: oldest first. A key with a single record passes through
// unchanged, whatever its kind and the engine, as in Paimon
// (ReducerMergeFunctionWrapper), unless MergeOptions.FoldLone is set: compactions that look rows up
// (LookupChangelogMergeFunctionWrapper) give it to the engine. Equal keys within one run are never merged
// with each other.
//
// Results whose kind is a retract are left out unless MergeOptions.KeepDeletes
// is set.
//
// # Two shapes of output
//
// Ordered output is in key order: compaction, changelogs and diffs need it.
// Unordered output hands the input batches on in place, with a selection of
// the rows that survive, and merged rows in batches of their own: the values
// of rows that no other run touches are never copied. Plain scans use it.
//
// Survivors goes further: it reads the key columns only and answers with the
// positions of the rows that survive, so that the value columns can be read in
// place, in parallel, as after a deletion vector. It needs an engine that
// picks one of a key's records (Engine.PicksRows).
//
// # Inside
//
// The merge works in rounds over the runs' present batches: a round takes all
// rows whose keys are at most the least of the batches' last keys, so that at
// least one batch is used up. A round in which one run has rows alone costs
// nothing a row. Where one run has most rows, the others' keys are merged and
// searched in it, galloping. Else all keys are merged pair by pair, without
// branches, as 64-bit norms: order-preserving prefixes made in typed loops,
// with the common prefix of the round's string keys left out; ties of norms
// that do not say all are compared in full. Unordered merges look at keys that repeat only.
//
// The records of one key go to the merge engine, which refers to values in
// place (value) and copies what it keeps once, into the output.
//
// # Where we differ from Paimon 2.0.0
//
// Equal sequence numbers: retracts come first (as in later releases), then the
// older run; Paimon 2.0.0 leaves it to the shape of its loser tree. BINARY
// elements and keys of collect and merge_map are compared by value (as in later
// releases). Groups of partial-update.remove-record-on-sequence-group take
// effect whatever columns are read.
package lsm
