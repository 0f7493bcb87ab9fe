// Command exchange lets Tributary and other implementations of Paimon write and read the same tables in turn.
//
//	exchange -server ADDRESS -user U -password-file F [-engine NAME=COMMAND]… [-rounds 8] [-second-server ADDRESS [-together 20s]] SCRIPT…
//
// Its role: run scripts whose records say who executes them, and compare each
// engine's rows with those of the script; with rounds, let it and Apache Paimon write and compact the same keyed tables in turn, and
// compare what both read, changelogs and snapshots included; with a second server, let both and Apache Paimon write the same tables at once, and look
// for an order of their statements that explains all answers. It may import sqltests/runner and sqltests/history only, and
// must never look into a table's files itself.
//
// A comment right above a record names the engines: "by: paimon" or "by:
// tributary pypaimon". Without one a statement is Tributary's and a query is
// put to every engine that is there. "not: pypaimon (reason)" leaves an engine
// out. Records of engines that are not there are skipped, and what follows in
// the script of theirs is too: a script begins with a header line "needs: paimon" if
// it makes no sense without one.
// The engines duckdb and pyarrow read the data files of append tables and take part only where they are named.
// The header line "each: FORMAT parquet orc avro" runs the script once for
// each value, with {FORMAT} replaced in the statements; "not/orc: pypaimon (reason)"
// then leaves an engine out for that value only.
//
// An engine other than tributary is a program that prints READY, then takes one
// statement a line (\n and \\ escaped) and answers with lines "| cells" and OK or ERROR message.
package main
