// Package inventory compares the files of a warehouse with what its states name.
//
// Its role: for tests, to find lost files and strays independently of the code that writes and
// cleans; and to clean as if all files were old. It may import storage. Reading an
// inventory must never change anything.
package inventory
