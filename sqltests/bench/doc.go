// Command bench measures Tributary against DuckDB and pypaimon-rust on the same
// generated files, and its memory while a client reads everything; how fast it writes against Apache Paimon, what streaming
// SELECTs cost, and what upserts leave to read.
//
// Its role: "make bench", bench-writes, bench-stream and bench-upserts. Package generate writes the data; the peers are Python
// programs below peers/, installed into the cache folder when they are missing.
// It may import sqltests/embedded (for profiles), sqltests/golden (to copy folders) and a MySQL client; it measures
// the built server through the MySQL protocol and never calls into it.
package main
