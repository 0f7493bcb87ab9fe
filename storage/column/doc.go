// Package column holds the one data currency of Tributary, from the page of a
// data file to the packet of a client: typed vectors and batches of them.
//
// Role: physical representation only. A Vector knows its Kind (how values are
// stored), not its SQL or Paimon type; package schema maps types to kinds. The
// package may import storage/errs only. It must never know files, tables or
// SQL, and never hold a value as `any`.
//
// Shapes. A batch has at most MaxRows rows. Every vector of a batch has the
// batch's length; a selection (Batch.Sel) lists the rows that count, in
// ascending order unless its producer says otherwise. Vectors handed to a consumer are read-only, and
// are valid until the producer's next call unless a producer promises more.
package column
