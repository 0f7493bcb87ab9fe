// Package avrofile reads Avro object container files that are held in memory:
// header, codecs, blocks. Records are decoded by the Avro library, with the
// file's own schema.
//
// Role: manifests and other metadata in Avro. It may import storage/errs. It
// must never know what the records mean.
package avrofile
