// Package catalog finds databases and tables. The filesystem catalog is the
// one there is: directories of a warehouse (section 1.1 of the format).
//
// Role: names to directories and schemas. It may import storage/errs, fileio,
// schema and snapshot. It must never read data or know SQL, and one damaged table must not
// hide the others.
package catalog
