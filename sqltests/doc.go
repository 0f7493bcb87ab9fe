// Package sqltests holds the tests of the whole server: scripts and golden
// warehouses that run through a real MySQL connection.
//
// Its role: tests only; the parts they use are in runner (scripts), golden
// (warehouses), embedded (a server in the process) and interop (client
// programs). It may import all of these. Nothing may import it.
package sqltests
