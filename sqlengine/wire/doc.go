// Package wire is Tributary's MySQL server: listeners, TLS, the handshake and
// its authentication plugins, every command of the client/server protocol, and
// the encoding of results, straight from column vectors where the plan allows.
//
// Role: bytes of a client in, calls of the go-mysql-server engine (through its
// public parts: parser, planbuilder, analyzer, process list, sessions), bytes
// out. It may import go-mysql-server, the vitess parser, sqlengine/errmap,
// sqlengine/result, sqlengine/types, storage/column and storage/schema. It must
// never read a table itself, know a file format, or change a plan.
//
// One goroutine a connection runs its commands; a second one reads packets
// ahead, so that a client which goes away stops its statement at once. Bytes
// from a client are hostile: every length is checked against the packet, and a
// panic below a command is answered with error 1105 and logged, the connection
// lives on.
package wire
