// Package avro reads Avro data files into column vectors and writes them.
//
// Role: the format "avro" of package format: object container files with the
// types that Paimon stores in them (Paimon format section 7.5). The writer's schema tells
// how bytes are laid out, the requested Paimon type what they mean; columns
// that are not asked for are passed over.
//
// It may import storage/avrofile, column, schema, predicate, fileio, format and errs. It
// must never know tables or schema evolution. Manifests, which are Avro as
// well, are not its business.
package avro
