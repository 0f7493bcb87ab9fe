// Command tributary serves Apache Paimon tables to MySQL clients.
//
//	tributary serve    the server
//	tributary sql      a small SQL client
//	tributary test     runs SQL scripts against a server
//	tributary version  what this binary is
//
// Its role: flags, configuration, signals, terminals and exit codes. It may
// import sqlengine and sqltests. It must never contain SQL or table logic, and
// nothing may import it.
package main
