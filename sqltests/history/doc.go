// Package history records what concurrent clients did to tables, and checks that there is an
// order of the statements that explains every answer.
//
// Its role: the judge of tests with several writers. A statement is an operation with the times of its
// call and its return; porcupine looks for an order in which each takes effect at one moment in
// between (linearizability). A statement whose outcome is not known may have taken effect at any
// time after its call, or never. The package's own tests let goroutines and processes write at once. It
// imports nothing of the project, and knows nothing of SQL or files.
package history
