//go:build race

package table_test

// underRace tells whether the race detector is on.
const underRace = true
