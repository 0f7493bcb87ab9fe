// Package interop lets real MySQL clients take the tour of the README.
//
// Its role: run.sh starts a server over the sample warehouse, runs each client
// program of clients/ against it with the statements of tour.slt, and compares
// what they print with the answers (compare/); exchange.sh lets other implementations of Paimon write and read the same
// tables (exchange/). The Go package itself only holds
// the test that the tour agrees with the golden answers.
//
// It may import sqltests/runner and sqltests/golden. It must never import a
// package of the server, nor ship with the product.
package interop
