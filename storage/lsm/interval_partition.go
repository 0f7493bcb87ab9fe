package lsm

import (
	"container/heap"
	"sort"

	"github.com/tributarydb/tributary/storage/column"
)

// SortedRun is a number of files in key order whose key ranges are disjoint.
type SortedRun[T any] []T

// CompareKeys orders two keys of the same columns field by field, nulls first
// (section 5.5 of the format).
func CompareKeys(a, b []column.Scalar) int {
	for i := range a {
		if i >= len(b) {
			return 1
		}
		if c := a[i].Compare(b[i]); c != 0 {
			return c
		}
	}
	if len(a) < len(b) {
		return -1
	}
	return 0
}

type interval[T any] struct {
	file     T
	min, max []column.Scalar
}

// runHeap orders runs by the greatest key of their last file.
type runHeap[T any] [][]interval[T]

func lastMax[T any](r []interval[T]) []column.Scalar { return r[len(r)-1].max }

func (h runHeap[T]) Len() int           { return len(h) }
func (h runHeap[T]) Less(i, j int) bool { return CompareKeys(lastMax(h[i]), lastMax(h[j])) < 0 }
func (h runHeap[T]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap[T]) Push(x any)        { *h = append(*h, x.([]interval[T])) }
func (h *runHeap[T]) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Sections splits the files of a bucket into sections whose key ranges do not
// overlap, and packs the files of each section into as few sorted runs as
// possible (org.apache.paimon.mergetree.compact.IntervalPartition). bounds
// returns a file's least and greatest key. Sections are in key order; the runs
// of a section are in the order of their first files' place in files, so that a
// caller who lists files from oldest to newest gets runs in that order as far as there is one.
func Sections[T any](files []T, bounds func(T) (min, max []column.Scalar)) [][]SortedRun[T] {
	type placed struct {
		interval[T]
		place int
	}
	all := make([]placed, len(files))
	for i, f := range files {
		lo, hi := bounds(f)
		all[i] = placed{interval[T]{f, lo, hi}, i}
	}
	sort.SliceStable(all, func(i, j int) bool {
		if c := CompareKeys(all[i].min, all[j].min); c != 0 {
			return c < 0
		}
		return CompareKeys(all[i].max, all[j].max) < 0
	})
	var out [][]SortedRun[T]
	for start := 0; start < len(all); {
		bound := all[start].max
		end := start + 1
		for end < len(all) && CompareKeys(all[end].min, bound) <= 0 {
			if CompareKeys(all[end].max, bound) > 0 {
				bound = all[end].max
			}
			end++
		}
		section := make([]interval[T], 0, end-start)
		places := make([]int, 0, end-start)
		for _, p := range all[start:end] {
			section = append(section, p.interval)
			places = append(places, p.place)
		}
		out = append(out, packRuns(section, places))
		start = end
	}
	return out
}

// packRuns distributes the files of a section, sorted by (min, max), over runs.
func packRuns[T any](section []interval[T], places []int) []SortedRun[T] {
	type made struct {
		run   SortedRun[T]
		place int
	}
	var runs []*made
	// The heap holds each run's last file only, tagged with the run.
	owner := map[*interval[T]]*made{}
	h := &runHeap[T]{}
	for i := range section {
		f := &section[i]
		if h.Len() > 0 {
			top := (*h)[0]
			if CompareKeys(f.min, lastMax(top)) > 0 {
				m := owner[&top[0]]
				m.run = append(m.run, f.file)
				delete(owner, &top[0])
				owner[f] = m
				(*h)[0] = section[i : i+1]
				heap.Fix(h, 0)
				continue
			}
		}
		m := &made{run: SortedRun[T]{f.file}, place: places[i]}
		runs = append(runs, m)
		owner[f] = m
		heap.Push(h, section[i:i+1])
	}
	sort.SliceStable(runs, func(i, j int) bool { return runs[i].place < runs[j].place })
	out := make([]SortedRun[T], len(runs))
	for i, m := range runs {
		out[i] = m.run
	}
	return out
}
