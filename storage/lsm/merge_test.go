package lsm

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
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
					t.Parallel()
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
	t.Parallel()
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

// TestDominated has one run with most rows, whose keys are searched and not merged.
func TestDominated(t *testing.T) {
	for name, keys := range keyTypes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewSource(11))
			for _, nruns := range []int{2, 4} {
				for _, opts := range []map[string]string{nil, {"merge-engine": "first-row", "ignore-delete": "true"}} {
					c := setup(rnd, keys, []*schema.Type{tString, tInt}, nruns, 450, 600, allKinds, false, opts)
					for r := 1; r < nruns; r++ {
						c.runs[r] = c.runs[r][:min(len(c.runs[r]), 12)]
					}
					groups := groupRecords(c.runs, nil, false)
					if opts == nil {
						c.check(t, rnd, modelDeduplicate(groups, false))
					} else {
						c.check(t, rnd, modelFirstRow(groups))
					}
				}
			}
		})
	}
}

// TestRepeatsInRun has keys twice in one run: the first of each run meet, then the second.
func TestRepeatsInRun(t *testing.T) {
	for _, filler := range []int{0, 200} { // without and with a dominating run
		c := setup(rand.New(rand.NewSource(1)), []*schema.Type{tInt}, []*schema.Type{tInt}, 2, 0, 1, addKinds, false, nil)
		rec := func(run int, key, seq int64) record {
			return record{key: []column.Scalar{column.IntScalar(column.KindInt32, key)}, seq: seq, run: run,
				vals: []column.Scalar{column.IntScalar(column.KindInt32, seq*10)}}
		}
		c.runs[0] = []record{rec(0, 1, 1), rec(0, 5, 2), rec(0, 5, 9), rec(0, 7, 3)}
		for i := range filler {
			c.runs[0] = append(c.runs[0], rec(0, int64(10+i), 4))
		}
		c.runs[1] = []record{rec(1, 5, 5), rec(1, 7, 1), rec(1, 7, 8), rec(1, 7, 2)}
		want := []modelRow{}
		for _, seq := range []int64{1, 5, 9, 3, 8, 2} { // keys 1, 5, 5, 7, 7, 7
			want = append(want, modelRow{rec(0, 0, seq).vals, seq, Insert})
		}
		for range filler {
			want = append(want, modelRow{rec(0, 0, 4).vals, 4, Insert})
		}
		c.check(t, rand.New(rand.NewSource(2)), want)
	}
}

func TestSections(t *testing.T) {
	type file struct {
		name   string
		lo, hi int64
	}
	bounds := func(f file) (lo, hi []column.Scalar) {
		return []column.Scalar{column.IntScalar(column.KindInt64, f.lo)}, []column.Scalar{column.IntScalar(column.KindInt64, f.hi)}
	}
	show := func(s [][]SortedRun[file]) string {
		out := ""
		for _, sec := range s {
			out += "["
			for _, run := range sec {
				out += "("
				for _, f := range run {
					out += f.name
				}
				out += ")"
			}
			out += "]"
		}
		return out
	}
	for _, tc := range []struct {
		files []file
		want  string
	}{
		{nil, ""},
		{[]file{{"a", 1, 5}}, "[(a)]"},
		{[]file{{"b", 6, 9}, {"a", 1, 5}}, "[(a)][(b)]"},
		{[]file{{"a", 1, 5}, {"b", 5, 9}}, "[(a)(b)]"},
		// c starts after a ends: it joins a's run; d overlaps c and follows b.
		{[]file{{"a", 1, 5}, {"b", 3, 7}, {"c", 6, 9}, {"d", 8, 12}, {"e", 20, 21}}, "[(ac)(bd)][(e)]"},
		// runs are in the order in which the caller listed their first files
		{[]file{{"new", 1, 100}, {"x", 1, 3}, {"y", 4, 8}, {"z", 9, 200}}, "[(new)(xyz)]"},
		{[]file{{"x", 1, 3}, {"y", 4, 8}, {"z", 9, 200}, {"new", 1, 100}}, "[(xyz)(new)]"},
		{[]file{{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}}, "[(a)(b)(c)]"},
	} {
		if got := show(Sections(tc.files, bounds)); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.files, got, tc.want)
		}
	}
	// Random: sections do not overlap, runs are disjoint and ascending, no file is lost.
	rnd := rand.New(rand.NewSource(1))
	for range 200 {
		var files []file
		for i := range 1 + rnd.Intn(30) {
			lo := rnd.Int63n(100)
			files = append(files, file{fmt.Sprint(i), lo, lo + rnd.Int63n(20)})
		}
		n, last := 0, int64(-1)
		for _, sec := range Sections(files, bounds) {
			top := last
			for _, run := range sec {
				for i, f := range run {
					n++
					if f.lo <= last || i > 0 && f.lo <= run[i-1].hi {
						t.Fatalf("%v overlaps", f)
					}
					top = max(top, f.hi)
				}
			}
			last = top
		}
		if n != len(files) {
			t.Fatalf("%d files of %d", n, len(files))
		}
	}
}
