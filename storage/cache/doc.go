// Package cache holds a least-recently-used cache that is bounded by bytes
// and loads every key once however many ask for it.
//
// Role: keep parsed metadata. It may import the standard library only, and
// must never know what it keeps; values must be immutable.
package cache
