// Package runner runs SQL scripts (.slt) against a MySQL server and compares
// what it answers with what the script says.
//
// Its role: parse scripts, send every record over one real MySQL connection in
// the text or in the binary protocol, compare cell by cell with the rules of
// the format, and report each record with file, line, statement and difference.
// It is used by the test suite and by the command "tributary test".
//
// It may import the standard library and the MySQL driver. It must never import
// a package of the server: it sees the server as any client does.
//
// # Script format
//
// A script is a list of records separated by empty lines; lines that start with
// '#' are comments. The first comment line is the title, further ones may say
// what the script needs and how its answers were obtained.
//
//	statement ok            then one line of SQL that must succeed
//	statement error TEXT    then SQL that must fail with TEXT (case ignored) in "Error 1146 (42S02): message"
//	query TYPES [rowsort]   then SQL, "----" and the exact rows, up to an empty line
//	sleep N                 wait N milliseconds
//
// TYPES has one letter for each column:
//
//	I  integer, printed without fraction
//	R  decimal (exact) or double (relative 1e-12 from 15 digits on)
//	F  float, relative 1e-5
//	T  text
//	D  date, time or timestamp; trailing zeros of the fraction are cut
//	B  boolean; 1 and 0 are true and false
//	X  bytes, upper-case hex
//	J  JSON; white space and the order of object keys do not count
//
// Cells are separated by one tab. NULL is SQL null, (empty) the empty string;
// \\, \t, \n and \r are escapes. With rowsort both sides are sorted.
package runner
