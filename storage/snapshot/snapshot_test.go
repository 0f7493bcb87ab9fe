package snapshot

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// snap is the content of a small snapshot file.
func snap(id, millis int64, extra string) string {
	return fmt.Sprintf(`{"version":3,"id":%d,"schemaId":0,"baseManifestList":"b%d","deltaManifestList":"d%d","changelogManifestList":null,"commitUser":"u","commitIdentifier":9223372036854775807,"commitKind":"APPEND","timeMillis":%d,"logOffsets":{},"totalRecordCount":1,"deltaRecordCount":1%s}`, id, id, id, millis, extra)
}

func put(t testing.TB, fio fileio.FileIO, path, content string) {
	t.Helper()
	if err := fio.Overwrite(context.Background(), path, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func TestParseSnapshot(t *testing.T) {
	text := `{
  "version": 3,
  "uuid": "u-1",
  "id": 2,
  "schemaId": 1,
  "baseManifestList": "base",
  "baseManifestListSize": 1006,
  "deltaManifestList": "delta",
  "indexManifest": "index-manifest-x",
  "commitUser": "me",
  "commitIdentifier": 9223372036854775807,
  "commitKind": "COMPACT",
  "timeMillis": 1724300000000,
  "totalRecordCount": 5,
  "deltaRecordCount": -2,
  "watermark": -9223372036854775808,
  "statistics": "stat-1",
  "properties": {
    "a": "<b>",
    "ü": "\"q\""
  },
  "nextRowId": 0,
  "operation": "DELETE"
}`
	s, err := Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.HasWatermark(); ok || *s.Watermark != NoWatermark {
		t.Error("watermark")
	}
	if *s.BaseManifestListSize != 1006 || s.DeltaManifestListSize != nil || *s.DeltaRecordCount != -2 || *s.NextRowID != 0 || s.Properties["a"] != "<b>" {
		t.Errorf("%+v", s)
	}
	if got := string(s.JSON()); got != text {
		t.Errorf("prints as\n%s", got)
	}
}

func TestDamagedSnapshots(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "blank": " \n", "cut": snap(1, 1, "")[:60], "null": "null", "list": "[]", "no id": `{"schemaId":0}`,
		"text id": strings.Replace(snap(1, 1, ""), `"id":1`, `"id":"1"`, 1), "no list": strings.Replace(snap(1, 1, ""), `"b1"`, `null`, 1),
		"zero": snap(0, 1, ""), "fraction": strings.Replace(snap(1, 1, ""), `"timeMillis":1`, `"timeMillis":1.5`, 1),
	} {
		if _, err := Parse("file-x", []byte(text)); !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), "file-x") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"version": strings.Replace(snap(1, 1, ""), `"version":3`, `"version":99`, 1), "kind": strings.Replace(snap(1, 1, ""), "APPEND", "UPDATE", 1),
	} {
		if _, err := Parse("file-x", []byte(text)); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "file-x") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHints checks that hints are hints (section 1.2 of the format).
func TestHints(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name             string
		ids              []int64
		latest, earliest string
		wantL, wantE     int64
	}{
		{"good", []int64{1, 2, 3}, "3", "1", 3, 1},
		{"none", []int64{1, 2, 3}, "", "", 3, 1},
		{"low", []int64{1, 2, 3}, "1", "1", 3, 1},
		{"high", []int64{1, 2, 3}, "9", "7", 3, 1},
		{"junk", []int64{1, 2, 3}, "abc", "{}", 3, 1},
		{"empty files", []int64{1, 2, 3}, " ", " ", 3, 1},
		{"negative", []int64{1, 2, 3}, "-5", "-5", 3, 1},
		{"expired earliest", []int64{2, 3}, "3", "1", 3, 2},
		{"late earliest", []int64{1, 2, 3}, "3", "2", 3, 2},
		{"gap", []int64{1, 2, 4, 5}, "5", "1", 5, 1},
		{"no snapshots", nil, "5", "1", 0, 0},
		{"two digits", []int64{8, 9, 10, 11}, "", "", 11, 8},
	} {
		fio := fileio.NewMemory()
		for _, id := range c.ids {
			put(t, fio, fmt.Sprintf("/t/snapshot/snapshot-%d", id), snap(id, id*10, ""))
		}
		put(t, fio, "/t/snapshot/snapshot-x", "junk")
		put(t, fio, "/t/snapshot/.snapshot-77.tmp", "junk")
		put(t, fio, "/t/snapshot/snapshot-78.tmp", "junk")
		if c.latest != "" {
			put(t, fio, "/t/snapshot/LATEST", c.latest)
		}
		if c.earliest != "" {
			put(t, fio, "/t/snapshot/EARLIEST", c.earliest)
		}
		m := NewManager(fio, "/t", "")
		l, err := m.LatestID(ctx)
		if err != nil || l != c.wantL {
			t.Errorf("%s: latest %d %v, want %d", c.name, l, err, c.wantL)
		}
		e, err := m.EarliestID(ctx)
		if err != nil || e != c.wantE {
			t.Errorf("%s: earliest %d %v, want %d", c.name, e, err, c.wantE)
		}
		s, err := m.Latest(ctx)
		if err != nil || c.wantL == 0 && s != nil || c.wantL != 0 && s.ID != c.wantL {
			t.Errorf("%s: %v %v", c.name, s, err)
		}
		list, err := m.List(ctx)
		if err != nil || len(list) != len(c.ids) {
			t.Errorf("%s: %d listed, %v", c.name, len(list), err)
		}
	}
	if s, err := NewManager(fileio.NewMemory(), "/nothing", "").Latest(ctx); s != nil || err != nil {
		t.Error("a table without snapshot directory is not empty", err)
	}
}

func TestDamagedAmongGood(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	put(t, fio, "/t/snapshot/snapshot-1", snap(1, 10, ""))
	put(t, fio, "/t/snapshot/snapshot-2", "{")
	put(t, fio, "/t/snapshot/snapshot-3", snap(3, 30, ""))
	put(t, fio, "/t/snapshot/snapshot-4", snap(5, 30, ""))
	put(t, fio, "/t/tag/tag-good", snap(1, 10, ""))
	put(t, fio, "/t/tag/tag-torn", snap(1, 10, "")[:40])
	put(t, fio, "/t/tag/tag-kept", snap(1, 10, `,"tagCreateTime":[2026,8,22,17,32],"tagTimeRetained":86400.000000000`))
	put(t, fio, "/t/tag/.tag-x.tmp", "")
	m := NewManager(fio, "/t", "main")
	list, err := m.List(ctx)
	if len(list) != 2 || err == nil || !strings.Contains(err.Error(), "snapshot-2") || !strings.Contains(err.Error(), "snapshot-4") {
		t.Errorf("%d %v", len(list), err)
	}
	tags, err := m.Tags(ctx)
	if len(tags) != 2 || tags[0].Name != "good" || tags[1].Name != "kept" || err == nil || !strings.Contains(err.Error(), "'torn'") {
		t.Errorf("%v %v", tags, err)
	}
	if tags[0].CreateMicros != nil || tags[0].Retained != nil || *tags[1].CreateMicros != 1787419920000000 || tags[1].Retained.ISO() != "PT24H" {
		t.Errorf("%+v", tags[1])
	}
	if _, err := m.Tag(ctx, "torn"); !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), "torn") {
		t.Error(err)
	}
	if _, err := m.Tag(ctx, "x"); !errs.Is(err, errs.NotFound) || err.Error() != "Tag 'x' doesn't exist." {
		t.Error(err)
	}
	for _, evil := range []string{"../snapshot/snapshot-1", "a/b", "\x00"} {
		if _, err := m.Tag(ctx, evil); !errs.Is(err, errs.NotFound) {
			t.Error(evil, err)
		}
		if ok, err := m.HasTag(ctx, evil); ok || err != nil {
			t.Error(evil, err)
		}
	}
	if _, err := m.Get(ctx, 9); !errs.Is(err, errs.NotFound) || !strings.Contains(err.Error(), "snapshot-9") {
		t.Error(err)
	}
}

func TestTagTimes(t *testing.T) {
	for in, want := range map[string]int64{
		"[2026,8,22]": 1787356800000000, "[2026,8,22,17,32,37]": 1787419957000000, "[2026,8,22,17,32,37,123456789]": 1787419957123456, `"2026-08-22T17:32:37.5"`: 1787419957500000,
	} {
		got, err := parseDateTime([]byte(in))
		if err != nil || *got != want {
			t.Errorf("%s: %v %v", in, got, err)
		}
	}
	for _, in := range []string{"[]", "[2026]", "[2026,13,1]", "[2026,1,1,25,0]", "{}", `"soon"`, "[1,2,3,4,5,6,7,8]", "1"} {
		if _, err := parseDateTime([]byte(in)); err == nil {
			t.Errorf("%s is a time", in)
		}
	}
	for in, want := range map[string]string{"0.0": "PT0S", "86400.000000000": "PT24H", "863913600.000000000": "PT239976H", "61.5": "PT1M1.5S", "1E+3": "PT16M40S", `"PT1H30M"`: "PT1H30M"} {
		got, err := parseSpan(in)
		if err != nil || got.ISO() != want {
			t.Errorf("%s: %v %v", in, got, err)
		}
	}
	for _, in := range []string{"-1", "x", "1.0000000000", `"PTx"`, ""} {
		if _, err := parseSpan(in); err == nil {
			t.Errorf("%s is a duration", in)
		}
	}
}

func TestTimeTravel(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	marks := map[int64]string{1: "", 2: `,"watermark":null`, 3: `,"watermark":100`, 5: `,"watermark":100`, 6: `,"watermark":-9223372036854775808`, 7: `,"watermark":200`}
	for id, w := range marks {
		put(t, fio, fmt.Sprintf("/t/snapshot/snapshot-%d", id), snap(id, id*10, w))
	}
	m := NewManager(fio, "/t", "")
	id := func(s *Snapshot, err error) int64 {
		if err != nil {
			t.Fatal(err)
		}
		if s == nil {
			return 0
		}
		return s.ID
	}
	for at, want := range map[int64][2]int64{5: {0, 1}, 10: {1, 1}, 11: {1, 2}, 39: {3, 5}, 40: {3, 5}, 50: {5, 5}, 69: {6, 7}, 70: {7, 7}, 71: {7, 0}} {
		if got := id(m.AtOrBefore(ctx, at)); got != want[0] {
			t.Errorf("at or before %d: %d, want %d", at, got, want[0])
		}
		if got := id(m.AtOrAfter(ctx, at)); got != want[1] {
			t.Errorf("at or after %d: %d, want %d", at, got, want[1])
		}
	}
	for w, want := range map[int64]int64{1: 3, 100: 3, 101: 7, 200: 7, 201: 0} {
		if got := id(m.AtOrAfterWatermark(ctx, w)); got != want {
			t.Errorf("watermark %d: %d, want %d", w, got, want)
		}
	}
}

func TestBranchesAndConsumers(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	put(t, fio, "/t/branch/branch-b/snapshot/snapshot-4", snap(4, 1, ""))
	put(t, fio, "/t/branch/branch-a/schema/schema-0", "{}")
	put(t, fio, "/t/branch/junk/x", "")
	put(t, fio, "/t/branch/branch-file", "")
	put(t, fio, "/t/branch/branch-b/consumer/consumer-c1", `{ "nextSnapshot" : 12 }`)
	put(t, fio, "/t/branch/branch-b/consumer/consumer-bad", `{`)
	put(t, fio, "/t/changelog/changelog-3", snap(3, 1, ""))
	list, err := Branches(ctx, fio, "/t")
	if err != nil || len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" {
		t.Error(list, err)
	}
	for name, want := range map[string]bool{"": true, "main": true, "a": true, "b": true, "c": false, "file": false, "../branch/branch-a": false} {
		if ok, err := BranchExists(ctx, fio, "/t", name); ok != want || err != nil {
			t.Errorf("branch %q exists: %v %v", name, ok, err)
		}
	}
	m := NewManager(fio, "/t", "b")
	if s, err := m.Latest(ctx); err != nil || s.ID != 4 {
		t.Error(s, err)
	}
	cs, err := m.Consumers(ctx)
	if len(cs) != 1 || cs[0].ID != "c1" || cs[0].NextSnapshot != 12 || err == nil {
		t.Error(cs, err)
	}
	main := NewManager(fio, "/t", "")
	if ids, err := main.ChangelogIDs(ctx); err != nil || len(ids) != 1 {
		t.Error(ids, err)
	}
	if c, err := main.Changelog(ctx, 3); err != nil || c.ID != 3 {
		t.Error(c, err)
	}
	if _, err := main.Changelog(ctx, 4); !errs.Is(err, errs.NotFound) {
		t.Error(err)
	}
}

func TestReadErrorsAreNotEmptiness(t *testing.T) {
	ctx := context.Background()
	mem := fileio.NewMemory()
	put(t, mem, "/t/snapshot/snapshot-1", snap(1, 1, ""))
	fio := fileio.NewFaulty(mem)
	fio.Inject(fileio.Fault{Op: fileio.OpList, Nth: 1, Count: -1})
	if s, err := NewManager(fio, "/t", "").Latest(ctx); err == nil {
		t.Errorf("a directory that cannot be listed is an empty table: %v", s)
	}
}

func TestStatistics(t *testing.T) {
	s, err := ParseStatistics("x", []byte(`{ "snapshotId" : 2, "schemaId" : 0, "mergedRecordCount" : 40, "colStats" : { "v" : { "colId" : 1, "distinctCount" : 31, "maxLen" : 5 }, "k" : { "colId" : 0, "min" : "0", "max" : "39", "nullCount" : 0 } } }`))
	if err != nil {
		t.Fatal(err)
	}
	if *s.MergedRecordCount != 40 || s.MergedRecordSize != nil || len(s.Columns) != 2 || s.Columns[0].Column != "k" || *s.Columns[0].Max != "39" || s.Columns[1].Min != nil || *s.Columns[1].DistinctCount != 31 {
		t.Errorf("%+v", s)
	}
	if s.ColumnsJSON != `{"v":{"colId":1,"distinctCount":31,"maxLen":5},"k":{"colId":0,"min":"0","max":"39","nullCount":0}}` {
		t.Error(s.ColumnsJSON)
	}
	for _, text := range []string{"", "{}", `{"snapshotId":1,"schemaId":0,"colStats":[]}`, `{"snapshotId":1,"schemaId":0,"colStats":{"a":{}}}`} {
		if _, err := ParseStatistics("stat-x", []byte(text)); !errs.Is(err, errs.Corrupt) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(snap(1, 1, `,"properties":{"a":"b"},"tagCreateTime":[2026,8,22,17,32],"tagTimeRetained":86400.0`)))
	f.Add([]byte(`{"snapshotId":1,"schemaId":0,"colStats":{"a":{"colId":0,"min":"x"}},"nextSnapshot":3}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := Parse("x", b); err == nil {
			if _, err := Parse("again", s.JSON()); err != nil {
				t.Fatalf("does not survive printing: %v\n%s", err, s.JSON())
			}
		} else if c := errs.ClassOf(err); c != errs.Corrupt && c != errs.Unsupported {
			t.Fatalf("class %v: %v", c, err)
		}
		if tag, err := ParseTag("x", "t", b); err == nil && tag.Retained != nil {
			tag.Retained.ISO()
		}
		_, _ = ParseStatistics("x", b)
	})
}

// TestStatisticsJSON writes statistics as Paimon's StatsFile does, and reads them again.
func TestStatisticsJSON(t *testing.T) {
	n := func(x int64) *int64 { return &x }
	text := func(s string) *string { return &s }
	s := &Statistics{SnapshotID: 3, SchemaID: 1, MergedRecordCount: n(4), MergedRecordSize: n(0), Columns: []ColumnStatistics{
		{Column: "a \"q\"", ColumnID: 0, DistinctCount: n(3), NullCount: n(1), Min: text(""), Max: text("<ü>")},
		{Column: "b", ColumnID: 7, NullCount: n(4), AvgLength: n(1), MaxLength: n(3)},
	}}
	got := string(s.JSON())
	want := "{\n  \"snapshotId\": 3,\n  \"schemaId\": 1,\n  \"mergedRecordCount\": 4,\n  \"mergedRecordSize\": 0,\n  \"colStats\": {\n    \"a \\\"q\\\"\": {\n      \"colId\": 0,\n      \"distinctCount\": 3,\n      \"min\": \"\",\n      \"max\": \"<ü>\",\n      \"nullCount\": 1\n    },\n    \"b\": {\n      \"colId\": 7,\n      \"nullCount\": 4,\n      \"avgLen\": 1,\n      \"maxLen\": 3\n    }\n  }\n}"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	back, err := ParseStatistics("x", []byte(got))
	if err != nil {
		t.Fatal(err)
	}
	back.ColumnsJSON = ""
	if !reflect.DeepEqual(back, s) {
		t.Errorf("%+v, want %+v", back, s)
	}
	empty := &Statistics{SnapshotID: 1}
	if back, err := ParseStatistics("x", empty.JSON()); err != nil || len(back.Columns) != 0 || back.ColumnsJSON != "{}" {
		t.Errorf("%+v, %v", back, err)
	}
}
