// Command compare checks what a client program printed for a script.
//
//	compare SCRIPT OUTPUT
//
// Its role: read the rows that a program of clients/ printed, compare them with
// the script by the rules of sqltests/runner, print the differences and the
// summary. It may import sqltests/runner only.
//
// A program prints, for the n-th query of the script (from 1), the line "== n"
// and then one line a row: cells separated by tabs, \\ \t \n \r as escapes, \N
// or NULL for null, bytes in upper-case hex. In place of rows "!! TEXT" says
// that the query failed.
package main
