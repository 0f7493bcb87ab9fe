package lsm

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/tributarydb/tributary/storage/schema"
)

var (
	addKinds = []int32{Insert, UpdateAfter}
	allKinds = []int32{Insert, Insert, UpdateBefore, UpdateAfter, Delete}
)

func TestDeduplicateRandom(t *testing.T) {
	for name, keys := range keyTypes {
		for _, nullKeys := range []bool{false, true} {
			for _, nruns := range []int{1, 2, 3, 7} {
				t.Run(fmt.Sprintf("%s/%v/%d", name, nullKeys, nruns), func(t *testing.T) {
					rnd := rand.New(rand.NewSource(int64(nruns)))
					for range 2 {
						ignore := rnd.Intn(2) == 0
						opts := map[string]string{"deduplicate.ignore-delete": fmt.Sprint(ignore)}
						span := []int{8, 300, 5000}[rnd.Intn(3)]
						c := setup(rnd, keys, []*schema.Type{tString, tInt, tTS, tDecimal(30, 0)}, nruns, 120, span, allKinds, nullKeys, opts)
						var seqVals []int
						desc := false
						if rnd.Intn(2) == 0 {
							opts["sequence.field"] = "v1, v2"
							seqVals = []int{1, 2}
							if desc = rnd.Intn(2) == 0; desc {
								opts["sequence.field.sort-order"] = "descending"
							}
						}
						c.check(t, rnd, modelDeduplicate(groupRecords(c.runs, seqVals, desc), ignore))
					}
				})
			}
		}
	}
}

func TestDeduplicateLong(t *testing.T) {
	rnd := rand.New(rand.NewSource(5))
	for _, spans := range [][2]int{{5000, 1 << 20}, {5000, 5000}} {
		c := setup(rnd, []*schema.Type{tBig}, []*schema.Type{tString, tDouble}, 3, spans[0], spans[1], addKinds, false, nil)
		c.runs[1] = c.runs[1][:50]
		c.check(t, rnd, modelDeduplicate(groupRecords(c.runs, nil, false), false))
	}
}

func TestFirstRowRandom(t *testing.T) {
	for name, keys := range keyTypes {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewSource(3))
			for _, nruns := range []int{1, 2, 5} {
				c := setup(rnd, keys, []*schema.Type{tString, tInt}, nruns, 100, 60, allKinds, false,
					map[string]string{"merge-engine": "first-row", "ignore-delete": "true"})
				c.check(t, rnd, modelFirstRow(groupRecords(c.runs, nil, false)))
			}
		})
	}
}
