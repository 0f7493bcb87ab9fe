package compact

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/write"
)

// TestDueMissesNothing compares what a writer's numbers say with what the strategies pick of the files.
func TestDueMissesNothing(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewSource(7))
	field := schema.Field{Name: "k", Type: &schema.Type{Root: schema.Int}}
	due, picked := 0, 0
	for _, o := range []map[string]string{
		{}, {"num-sorted-run.compaction-trigger": "3"}, {"compaction.force-up-level-0": "true"}, {"compaction.total-size-threshold": "1 kb"},
		{"compaction.incremental-size-threshold": "500 b"}, {"compaction.optimization-interval": "1 h"}, {"changelog-producer": "lookup"},
	} {
		s := &schema.TableSchema{Fields: []schema.Field{field}, PrimaryKeys: []string{"k"}, Options: map[string]string{"bucket": "1"}}
		for k, v := range o {
			s.Options[k] = v
		}
		opts, err := readOptions(s, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			text := ""
			for range rnd.Intn(7) {
				text += fmt.Sprintf("0:%d ", 1+rnd.Intn(1000))
			}
			for l := 1; l <= 5; l++ {
				if rnd.Intn(3) == 0 {
					text += fmt.Sprintf("%d:%d+%d ", l, 1+rnd.Intn(1000), 1+rnd.Intn(3000))
				}
			}
			runs := parseRuns(t, text)
			got := Due(s, write.Fill{Runs: len(runs)}, time.Now())
			if got {
				due++
			}
			if u := opts.pick.pick(runs, opts.top); u != nil {
				picked++
				if !got {
					t.Errorf("%v: %s: %s is not due", o, text, u)
				}
			}
		}
	}
	if picked < 100 || due == 7*300 {
		t.Errorf("%d of %d were picked: nothing is tested", picked, due)
	}
	due, picked = 0, 0
	for _, o := range []map[string]string{{"bucket": "-1"}, {"bucket": "1", "bucket-key": "k"}, {"bucket": "-1", "compaction.min.file-num": "2"}, {"bucket": "1", "bucket-key": "k", "compaction.min.file-num": "3"}} {
		s := &schema.TableSchema{Fields: []schema.Field{field}, Options: map[string]string{"target-file-size": "100 b", "source.split.open-file-cost": "4 b"}}
		for k, v := range o {
			s.Options[k] = v
		}
		opts, err := readAppendOptions(s)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			var files []*scan.File
			f := write.Fill{}
			for i := range rnd.Intn(9) {
				d := &manifest.DataFile{Name: fmt.Sprint(i), MinSequence: int64(i), Size: int64(1 + rnd.Intn(160))}
				files = append(files, &scan.File{Meta: d})
				f.Files++
				small := opts.target
				if opts.unaware {
					small = opts.small
				}
				if d.Size < small {
					f.Small++
					f.SmallBytes += d.Size
				}
			}
			got := Due(s, f, time.Now())
			if got {
				due++
			}
			if len(opts.pick(files, false)) > 0 {
				picked++
				if !got {
					t.Errorf("%v: %+v is not due", o, f)
				}
			}
		}
	}
	if picked < 100 || due == 4*300 {
		t.Errorf("%d of %d were picked: nothing is tested", picked, due)
	}
}

// TestStalls shows from which number of sorted runs on writers wait.
func TestStalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trigger, stop string
		most          int
	}{{"", "", 8}, {"3", "", 6}, {"", "6", 6}, {"5", "2", 5}} {
		s := &schema.TableSchema{PrimaryKeys: []string{"k"}, Options: map[string]string{}}
		if c.trigger != "" {
			s.Options["num-sorted-run.compaction-trigger"] = c.trigger
		}
		if c.stop != "" {
			s.Options["num-sorted-run.stop-trigger"] = c.stop
		}
		if Stalls(s, c.most) || !Stalls(s, c.most+1) {
			t.Errorf("%+v", c)
		}
	}
}
