package compact

import (
	"time"

	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/write"
)

// stopAbove is how many sorted runs more than start a compaction make writers wait for it, where no option says so
// (CoreOptions.numSortedRunStopTrigger).
const stopAbove = 3

// Due reports whether a bucket that got rows may be worth compacting by the table's strategy, by what its writer knows of it. It
// may say so in vain, but never misses one that is due by its files. now is the wall clock's time.
func Due(s *schema.TableSchema, f write.Fill, now time.Time) bool {
	if !s.HasPrimaryKey() {
		return dueAppend(s, f)
	}
	o, err := readOptions(s, now)
	if err != nil {
		return true // the compaction will tell
	}
	p := o.pick
	if p.forceLevel0 {
		return true
	}
	if p.fullInterval != nil || p.fullBelow != nil || p.fullIncrement != nil {
		return f.Runs > 1
	}
	return f.Runs >= p.trigger
}

func dueAppend(s *schema.TableSchema, f write.Fill) bool {
	o, err := readAppendOptions(s)
	if err != nil {
		return true
	}
	least := max(o.minFiles, 2)
	if !o.unaware {
		// Of a window that is taken, all files but one, and the last that came to it, are below the target.
		return f.Files >= least && f.Small >= least-2
	}
	return f.Small >= least || f.Small > 1 && f.SmallBytes+int64(f.Small)*o.openCost >= binTargets*o.target
}

// Stalls reports whether a primary-key table's bucket has so many sorted runs that its writers have to wait for a compaction
// (MergeTreeCompactManager.shouldWaitForLatestCompaction).
func Stalls(s *schema.TableSchema, runs int) bool {
	if !s.HasPrimaryKey() {
		return false
	}
	trigger := schema.OptCompactionTrigger.Value(s.Options)
	stop, set, err := schema.OptCompactionStop.Lookup(s.Options)
	if err != nil || !set {
		stop = trigger + stopAbove
	}
	return runs > max(stop, trigger)
}
