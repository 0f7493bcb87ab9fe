// Package procedures holds the procedures of database sys (CALL sys.…).
//
// Role: bind arguments, positional and named, to the parameters of a
// procedure, make one or more calls of storage, and give a small result; one file a
// family of procedures. It may import storage packages only. It must never know SQL, and never touch a
// file itself.
package procedures
