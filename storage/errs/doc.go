// Package errs holds the error classes that every layer of Tributary shares.
//
// Role: a failure carries exactly one Class, which the SQL edge maps to a
// MySQL error number and SQLSTATE in one place. Message texts name the table,
// option or file and, where there is one, the remedy. The package may import
// the standard library only, and must never know SQL or a file format.
package errs
