// Package generate writes the benchmark's warehouse: Paimon tables with the
// shape and the distributions of TPC-H's lineitem.
//
// Its role: a tool of sqltests/bench, not part of the product. It writes what
// Apache Paimon writes (Parquet data files, Avro manifests, deletion vectors,
// JSON metadata) and the answers that queries must give, counted while the rows
// are made. It may import storage for types and row bytes. It must never read a
// table: readers are what is measured.
package generate
