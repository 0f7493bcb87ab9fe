//go:build race

package faults

// underRace tells whether the race detector is on.
const underRace = true
