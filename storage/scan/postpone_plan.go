package scan

import (
	"cmp"
	"slices"

	"github.com/tributarydb/tributary/storage/lsm"
)

// postponePlan plans a read that merges the postpone bucket as well (option
// postpone.merge-on-read): one split a partition, since nobody knows yet which bucket a
// postponed row goes to.
func (c *collector) postponePlan(files []*File) (*Plan, error) {
	p := &Plan{}
	at := map[string]*Split{}
	for _, f := range files {
		if err := c.decodeKeys(f); err != nil {
			return nil, err
		}
		sp := at[f.PartitionID]
		if sp == nil {
			sp = &Split{Source: c.src, Partition: f.Partition, Mode: Merge}
			at[f.PartitionID] = sp
			p.Splits = append(p.Splits, sp)
		}
		if f.Bucket < 0 {
			sp.Postponed = append(sp.Postponed, f)
		} else {
			sp.Files = append(sp.Files, f)
		}
		c.counts.Files++
	}
	for _, sp := range p.Splits {
		slices.SortStableFunc(sp.Files, func(a, b *File) int {
			return cmp.Or(cmp.Compare(b.Meta.Level, a.Meta.Level), cmp.Compare(a.Meta.MaxSequence, b.Meta.MaxSequence))
		})
		for _, f := range sp.Files {
			sp.Runs = append(sp.Runs, lsm.SortedRun[*File]{f})
		}
		SortArrivals(sp.Postponed)
	}
	p.Counts = c.counts
	return p, nil
}

// SortArrivals puts files of a postpone bucket in the order in which their rows arrived: by their creation times; those
// of one time keep the order that a snapshot lists them in.
func SortArrivals(files []*File) {
	slices.SortStableFunc(files, func(a, b *File) int { return cmp.Compare(millis(a), millis(b)) })
}

func millis(f *File) int64 {
	if f.Meta.CreationMillis == nil {
		return 0
	}
	return *f.Meta.CreationMillis
}
