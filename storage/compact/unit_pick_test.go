package compact

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
)

// parseRuns reads runs, the newest first: `0:10 0:20 5:100+100` are two files of level 0 and two of level 5, with their sizes.
func parseRuns(t *testing.T, text string) []run {
	t.Helper()
	var out []run
	for _, item := range strings.Fields(text) {
		var r run
		level, sizes, _ := strings.Cut(item, ":")
		if _, err := fmt.Sscan(level, &r.level); err != nil {
			t.Fatal(err)
		}
		for _, s := range strings.Split(sizes, "+") {
			m := &manifest.DataFile{Name: "f" + s, Level: r.level}
			if _, err := fmt.Sscan(s, &m.Size); err != nil {
				t.Fatal(err)
			}
			r.files = append(r.files, &scan.File{Meta: m})
		}
		out = append(out, r)
	}
	return out
}

func (u *unit) String() string {
	if u == nil {
		return "none"
	}
	var texts []string
	for _, r := range u.runs {
		texts = append(texts, fmt.Sprintf("%d:%d", r.level, r.size()))
	}
	out := strings.Join(texts, " ") + " -> " + fmt.Sprint(u.level)
	if u.each {
		out += " each"
	}
	return out
}

// TestPick checks choices that follow from section 8.4 of the format.
func TestPick(t *testing.T) {
	base := picker{trigger: 3, sizeAmp: 200, sizeRatio: 1}
	force := base
	force.forceLevel0 = true
	below, increment, interval := int64(1000), int64(50), time.Hour
	small, often, increments := base, base, base
	small.fullBelow, often.fullInterval, increments.fullIncrement = &below, &interval, &increment
	often.now = time.UnixMilli(0).Add(30 * time.Minute)
	for _, c := range []struct {
		p         picker
		runs      string
		want, why string
	}{
		{base, "", "none", "an empty bucket"},
		{base, "0:10 0:10", "none", "fewer runs than the trigger"},
		{base, "0:10 0:10 0:10", "0:10 0:10 0:10 -> 5", "runs of about the same size"},
		{base, "0:30 0:30 0:20", "0:30 0:30 0:20 -> 5", "more than 200 percent of the oldest"},
		{base, "0:10 0:10 5:1000", "0:10 0:10 -> 4", "the last run is too great"},
		{base, "0:10 0:10 3:1000 5:100000", "0:10 0:10 -> 2", "below the next run's level"},
		{base, "0:10 0:10 1:1000 5:100000", "0:10 0:10 1:1000 -> 4", "level 1 joins a compaction that has begun, however great it is"},
		{base, "0:1 0:10 0:100 0:1000", "0:1 0:10 0:100 0:1000 -> 5", "more runs than the trigger, and the result cannot stay on level 0"},
		{base, "0:1 0:10 4:100 5:1000", "0:1 0:10 -> 3", "by number of runs"},
		{base, "5:100", "none", ""},
		{force, "0:10 5:1000", "0:10 -> 4", "level 0 is never left"},
		{force, "5:1000", "none", "no level 0"},
		{force, "0:10", "0:10 -> 5", "a file that changes its level"},
		{force, "0:10 1:1000 5:100000", "0:10 1:1000 -> 4", ""},
		{small, "0:10 5:500", "0:10 5:500 -> 5", "a small bucket"},
		{small, "0:10 5:5000", "none", ""},
		{increments, "0:60 5:5000", "0:60 5:5000 -> 5", "much below the top level"},
		{increments, "0:40 5:5000", "none", ""},
		{often, "0:10 5:5000", "0:10 5:5000 -> 5", "no full compaction yet: files without a time"},
	} {
		runs := parseRuns(t, c.runs)
		if got := c.p.pick(runs, 5).String(); got != c.want {
			t.Errorf("%s: %s, want %s (%s)", c.runs, got, c.want, c.why)
		}
	}
	recent := parseRuns(t, "0:10 5:5000")
	at := int64(time.Minute / time.Millisecond)
	recent[1].files[0].Meta.CreationMillis = &at
	if u := often.pick(recent, 5); u != nil {
		t.Errorf("a full compaction half an hour after the last one, every hour: %s", u)
	}
}

func TestPickFull(t *testing.T) {
	again := func(f *scan.File) bool { return f.Meta.Size == 7 }
	for _, c := range []struct{ runs, want string }{
		{"", "none"}, {"0:1", "0:1 -> 5"}, {"0:1 5:9", "0:1 5:9 -> 5"}, {"4:9", "4:9 -> 5"}, {"5:9+9", "none"}, {"5:9+7+9", "5:7 -> 5 each"},
	} {
		if got := pickFull(parseRuns(t, c.runs), 5, again).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.runs, got, c.want)
		}
	}
}

func TestOffPeak(t *testing.T) {
	m := map[string]string{"compaction.offpeak.start.hour": "22", "compaction.offpeak.end.hour": "6", "compaction.offpeak-ratio": "30"}
	for hour, want := range map[int]int64{21: 0, 22: 30, 23: 30, 0: 30, 5: 30, 6: 0, 12: 0} {
		if got, err := offPeakRatio(m, hour); err != nil || got != want {
			t.Errorf("hour %d: %d, %v; want %d", hour, got, err, want)
		}
	}
}
