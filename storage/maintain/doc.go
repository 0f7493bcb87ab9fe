// Package maintain changes what a table keeps: tags and branches, rollback,
// fast-forward and merging of branches, expiry of snapshots, changelogs, tags,
// consumers and partitions, and the removal of files that nothing refers to
// (sections 3.2 to 3.4, 12.5 to 12.9 and 13.2 of the format).
//
// Role: the storage side of the procedures, and the work after a commit. Every
// function that deletes asks first what else refers to the file: the states that
// stay of this branch, all other branches, tags and long-lived changelogs. It may
// import storage/commit, storage/manifest, storage/index, storage/snapshot and what
// is below them. It must never read data files, know SQL, or delete a file
// that a state which stays still names; what it leaves behind in a crash is
// garbage at most, for the cleaning of orphan files.
package maintain
