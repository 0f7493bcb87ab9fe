// Package cast converts values from one Paimon type to another with the
// rules of Paimon's CastExecutors, and prints values as Java and Paimon do.
//
// Role: schema evolution on read, partition names, bounds shown as text. It
// may import storage/column, storage/schema and storage/errs. It must never know SQL:
// MySQL's casts are something else.
package cast
