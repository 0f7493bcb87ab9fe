// Package types is the one place that turns Paimon types into MySQL types and
// Paimon cells into MySQL's forms: the text of the wire protocol, the values of
// go-mysql-server's row executor, and JSON text for nested types.
//
// Role: the SQL face of a column. It may import storage/column, storage/schema,
// storage/variant and go-mysql-server's sql and types packages. It must never
// know tables, plans, or connections.
//
// Decisions that users see:
//
//   - BOOLEAN is TINYINT(1).
//   - NaN and infinities of FLOAT and DOUBLE, which MySQL cannot store, are
//     kept: the text is NaN, Infinity or -Infinity, the binary protocol
//     carries the IEEE value, and in JSON they are strings of that text. A NULL in
//     their place would contradict IS NULL and the column's statistics.
//   - FLOAT prints the shortest text that reads back as the same value
//     (MySQL cuts to six digits).
//   - TIMESTAMP(7..9) is cut (towards the past) to microseconds; TIME has at most
//     milliseconds, as Paimon stores it.
//   - TIMESTAMP_LTZ is an instant and shown as the wall clock of the session's
//     zone, type TIMESTAMP. Above this package it is a zone-less time.
//   - ARRAY, VECTOR, MAP, MULTISET, ROW and VARIANT are JSON: ROW an object in
//     field order, MAP and MULTISET objects whose keys are printed as text,
//     bytes base64, dates and times as text without trailing zeros of the
//     fraction, BOOLEAN true or false.
package types
