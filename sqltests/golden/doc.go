// Package golden finds and unpacks the golden warehouses: Paimon tables written
// by Apache Paimon, stored as one archive each, with the answers that Apache
// Paimon gave for them.
//
// Its role: list the cases below testdata/golden, unpack a warehouse archive
// (zstd-compressed tar) into a directory, pack a directory into an archive, and
// copy a warehouse directory. It is used by tests and by "tributary test".
//
// It may import the standard library and the zstd library. It must never import
// a package of the server, and it must never write into testdata.
package golden
