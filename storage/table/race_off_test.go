//go:build !race

package table_test

// underRace tells whether the race detector is on: the longest tests try fewer combinations then. All of them run without it.
const underRace = false
