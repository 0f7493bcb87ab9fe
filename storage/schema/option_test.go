package schema

import (
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

func TestOptions(t *testing.T) {
	o := map[string]string{
		"bucket": "4", "merge-engine": "PARTIAL_UPDATE", "source.split.target-size": "64 kb", "snapshot.time-retained": "90 min",
		"first-row.ignore-delete": "TRUE", "scan.snapshot-id": "7",
	}
	if n, err := OptBucket.Get(o); n != 4 || err != nil {
		t.Error(n, err)
	}
	if v, err := OptMergeEngine.Get(o); v != "partial-update" || err != nil {
		t.Error(v, err)
	}
	if v, err := OptSplitTargetSize.Get(o); v != 64<<10 || err != nil {
		t.Error(v, err)
	}
	if v, err := OptSnapshotRetainTime.Get(o); v != 90*time.Minute || err != nil {
		t.Error(v, err)
	}
	if v, err := OptIgnoreDelete.Get(o); !v || err != nil {
		t.Error("a fallback key is not read", err)
	}
	if v, set, err := OptScanSnapshotID.Lookup(o); v != 7 || !set || err != nil {
		t.Error(v, set, err)
	}
	if _, set, _ := OptScanTagName.Lookup(o); set {
		t.Error("an option is set that is not there")
	}
	if v, err := OptManifestTarget.Get(nil); v != 8<<20 || err != nil {
		t.Error(v, err)
	}
}

func TestWrongOptions(t *testing.T) {
	for _, c := range []struct{ key, value, hint string }{
		{"bucket", "four", "integer"}, {"bucket", "99999999999", "integer"}, {"merge-engine", "first", "deduplicate, partial-update, aggregation, first-row"},
		{"deletion-vectors.enabled", "yes", "true or false"}, {"source.split.target-size", "12 parsecs", "kb"}, {"snapshot.time-retained", "soon", "min"},
		{"source.split.target-size", "99999999999 tb", "size"}, {"compaction.small-file-ratio", "x", "number"},
	} {
		err := CheckOption(c.key, c.value)
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), c.key) || !strings.Contains(err.Error(), c.value) || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%s = %s: %v", c.key, c.value, err)
		}
	}
	if err := CheckOption("not.known", "x"); err != nil {
		t.Error(err)
	}
	if v := OptBucket.Value(map[string]string{"bucket": "x"}); v != -1 {
		t.Error(v)
	}
	for _, i := range KnownOptions() {
		if i.Description == "" || i.Type == "" {
			t.Errorf("option %s is not described", i.Key)
		}
		if i.Default != "" {
			if err := CheckOption(i.Key, i.Default); err != nil {
				t.Errorf("the default of %s: %v", i.Key, err)
			}
		}
	}
}

func TestUnits(t *testing.T) {
	for s, want := range map[string]int64{"128 mb": 128 << 20, "500b": 500, "1024": 1024, "2 GB": 2 << 30, "1 kibibytes": 1024, " 3 t ": 3 << 40} {
		if n, err := ParseMemorySize(s); n != want || err != nil {
			t.Errorf("%s: %d %v", s, n, err)
		}
	}
	for s, want := range map[string]time.Duration{"1 d": 24 * time.Hour, "10": 10 * time.Millisecond, "5min": 5 * time.Minute, "7 days": 7 * 24 * time.Hour, "2 µs": 2 * time.Microsecond, "999999999999 d": 1<<63 - 1} {
		if n, err := ParseDuration(s); n != want || err != nil {
			t.Errorf("%s: %v %v", s, n, err)
		}
	}
	for _, s := range []string{"", "mb", "-1 mb", "1.5 gb", "1 lightyear"} {
		if _, err := ParseMemorySize(s); err == nil {
			t.Errorf("%q is a size", s)
		}
		if _, err := ParseDuration(s); err == nil {
			t.Errorf("%q is a duration", s)
		}
	}
}
