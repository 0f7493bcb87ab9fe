// Package sqlengine is the server: it wires a warehouse's catalog, the planner,
// the vector executor and the wire protocol together.
//
// Role: Open, Serve, and nothing else; each part lives in a package below. It may import the
// packages of sqlengine, systables and storage. It must never
// contain SQL or table logic.
//
// The zone of sessions: @@time_zone is SYSTEM, which means Options.TimeZone, and UTC where that is
// empty: the same query gives the same times on every machine.
package sqlengine
