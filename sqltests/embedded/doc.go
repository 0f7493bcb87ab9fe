// Package embedded starts a Tributary server inside the calling process, for
// tests and for the commands that work without a running server.
//
// Its role: a free port of the loopback interface, a password that nobody else
// knows, the end of the server. It may import sqlengine and sqltests/runner. It
// must never know what the server does.
package embedded
