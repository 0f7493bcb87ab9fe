package compact

import (
	"slices"
	"time"

	"github.com/tributarydb/tributary/storage/scan"
)

// unit is what one compaction of a bucket rewrites (CompactUnit).
type unit struct {
	// level is where the result goes.
	level int
	runs  []run
	// each says that files are rewritten one by one, each into one of the same level.
	each bool
}

// files lists the unit's files.
func (u *unit) files() []*scan.File {
	var out []*scan.File
	for _, r := range u.runs {
		out = append(out, r.files...)
	}
	return out
}

// pickFull takes all runs (CompactStrategy.pickFullCompaction). Of a bucket with nothing but its
// top level, it takes the files that again accepts. nil = nothing to do.
func pickFull(runs []run, top int, again func(*scan.File) bool) *unit {
	if len(runs) == 0 {
		return nil
	}
	if len(runs) > 1 || runs[0].level != top {
		return &unit{level: top, runs: runs}
	}
	var files []*scan.File
	for _, f := range runs[0].files {
		if again(f) {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil
	}
	return &unit{level: top, runs: []run{{top, files}}, each: true}
}

// picker chooses what a minor compaction rewrites (UniversalCompaction and ForceUpLevel0Compaction).
type picker struct {
	// trigger is the number of runs from which the sizes are looked at.
	trigger int
	// sizeAmp is the size in percent that all but the last run may have of the last one.
	sizeAmp int64
	// sizeRatio in percent, with that of the off-peak hours added.
	sizeRatio int64
	// forceLevel0 takes the files of level 0 where nothing else is to be done.
	forceLevel0 bool
	// fullInterval, fullBelow and fullIncrement start full compactions: after a time without one, of small
	// buckets, and of those with much below the top level; nil = never.
	fullInterval             *time.Duration
	fullBelow, fullIncrement *int64
	now                      time.Time
}

// pick returns nil where there is nothing to do.
func (p *picker) pick(runs []run, top int) *unit {
	u := p.choose(runs, top)
	if u == nil && p.forceLevel0 {
		n := 0
		for n < len(runs) && runs[n].level == 0 {
			n++
		}
		if n > 0 {
			u = p.bySizeRatio(runs, top, n, true)
		}
	}
	if u == nil {
		return nil
	}
	if files := u.files(); len(files) == 0 || len(files) == 1 && files[0].Meta.Level == u.level {
		return nil
	}
	return u
}

func (p *picker) choose(runs []run, top int) *unit {
	if p.early(runs, top) {
		return &unit{level: top, runs: runs}
	}
	if len(runs) >= p.trigger {
		if n := len(runs) - 1; n >= 0 && total(runs[:n])*100 > p.sizeAmp*runs[n].size() {
			return &unit{level: top, runs: runs}
		}
		if u := p.bySizeRatio(runs, top, 1, false); u != nil {
			return u
		}
	}
	if len(runs) > p.trigger {
		return p.bySizeRatio(runs, top, len(runs)-p.trigger+1, true)
	}
	return nil
}

// early reports whether a full compaction is due whatever the number of runs (EarlyFullCompaction).
func (p *picker) early(runs []run, top int) bool {
	if len(runs) < 2 {
		return false
	}
	if p.fullInterval != nil && p.now.Sub(lastFull(runs, top)) > *p.fullInterval {
		return true
	}
	if p.fullBelow != nil && total(runs) < *p.fullBelow {
		return true
	}
	if p.fullIncrement == nil {
		return false
	}
	var below int64
	for _, r := range runs {
		if r.level != top {
			below += r.size()
		}
	}
	return below > *p.fullIncrement
}

// lastFull is the wall clock's time of the newest file of the top level, which a
// full compaction makes; zero without one.
func lastFull(runs []run, top int) time.Time {
	var last time.Time
	for _, r := range runs {
		if r.level != top {
			continue
		}
		for _, f := range r.files {
			if c := f.Meta.CreationMillis; c != nil && time.UnixMilli(*c).After(last) {
				last = time.UnixMilli(*c)
			}
		}
	}
	return last
}

// bySizeRatio takes the first n runs and those that follow as long as they are not much greater than what is
// taken; nil where that is only one, unless forced.
func (p *picker) bySizeRatio(runs []run, top, n int, forced bool) *unit {
	size := total(runs[:n])
	taken := forced
	for ; n < len(runs); n++ {
		next := runs[n]
		if float64(size)*float64(100+p.sizeRatio)/100 < float64(next.size()) && (!taken || next.level > 1) {
			break
		}
		size += next.size()
		taken = true
	}
	if !forced && n < 2 {
		return nil
	}
	return upTo(runs, top, n)
}

// upTo makes a unit of the first n runs, and of more where the result would stay on level 0.
func upTo(runs []run, top, n int) *unit {
	level := top
	if n < len(runs) {
		level = max(0, runs[n].level-1)
	}
	if level == 0 {
		for ; n < len(runs); n++ {
			if l := runs[n].level; l != 0 {
				level = l
				n++
				break
			}
		}
	}
	if n == len(runs) {
		level = top
	}
	return &unit{level: level, runs: slices.Clone(runs[:n])}
}

func total(runs []run) int64 {
	var n int64
	for _, r := range runs {
		n += r.size()
	}
	return n
}
