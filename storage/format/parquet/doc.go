// Package parquet reads Parquet data files into column vectors and writes them.
//
// Role: the format "parquet" of package format. It parses footers, page
// indexes, bloom filters and pages itself: every length is checked against the bytes that are there
// before anything is allocated, dictionary pages stay dictionary-coded vectors,
// and PLAIN values are views of the decompressed page. Nested columns are
// assembled from repetition and definition levels.
//
// Files are written through arrow-go's column writers (write_*.go): this package
// makes the schema, with field ids and annotations as Paimon has them, and the
// levels and values of each column chunk.
//
// It may import storage/column, schema, predicate, fileio, format and errs. It must never know
// tables or schema evolution: columns are matched by name with the file's own
// schema, and a stored type that cannot hold the asked type is a corrupt file.
//
// Sources: the Parquet format specification (parquet-format 2.11), Paimon
// format section 7.3 for the mapping of Paimon types.
package parquet
