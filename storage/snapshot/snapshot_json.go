package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tributarydb/tributary/storage/errs"
)

// CurrentVersion is the newest version of snapshot files that is read, and
// the one that is written.
const CurrentVersion = 3

// FirstID is the id of a table's first snapshot.
const FirstID = 1

// Commit kinds.
const (
	Append    = "APPEND"
	Compact   = "COMPACT"
	Overwrite = "OVERWRITE"
	Analyze   = "ANALYZE"
)

// NoWatermark is the watermark that Flink batch writes instead of none.
const NoWatermark = math.MinInt64

// Snapshot is one committed state (section 3.1 of the format). Pointers are
// nil, texts empty, where the file has no value.
type Snapshot struct {
	Version int
	UUID    string
	ID      int64
	// SchemaID is the latest schema at commit time.
	SchemaID              int64
	BaseManifestList      string
	BaseManifestListSize  *int64
	DeltaManifestList     string
	DeltaManifestListSize *int64
	ChangelogManifestList string
	ChangelogListSize     *int64
	IndexManifest         string
	CommitUser            string
	WriterVersion         string
	CommitIdentifier      int64
	CommitKind            string
	// TimeMillis is the commit time, epoch milliseconds.
	TimeMillis int64
	// TotalRecordCount and DeltaRecordCount count physical rows.
	TotalRecordCount     *int64
	DeltaRecordCount     *int64
	ChangelogRecordCount *int64
	Watermark            *int64
	Statistics           string
	Properties           map[string]string
	NextRowID            *int64
	Operation            string
}

// HasWatermark returns the watermark unless there is none or Flink's stand-in for none.
func (s *Snapshot) HasWatermark() (int64, bool) {
	if s.Watermark == nil || *s.Watermark == NoWatermark {
		return 0, false
	}
	return *s.Watermark, true
}

// members is a JSON object, exact keys.
type members map[string]json.RawMessage

func parseObject(data []byte) (members, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("it is empty")
	}
	var m members
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("it is not a JSON object")
	}
	return m, nil
}

var jsonNull = []byte("null")

func (m members) has(key string) bool {
	v, ok := m[key]
	return ok && !bytes.Equal(v, jsonNull)
}

func (m members) text(key string, dst *string) error {
	if !m.has(key) {
		return nil
	}
	if err := json.Unmarshal(m[key], dst); err != nil {
		return fmt.Errorf("'%s' is not a text", key)
	}
	return nil
}

func (m members) int(key string) (*int64, error) {
	if !m.has(key) {
		return nil, nil
	}
	n, err := strconv.ParseInt(string(m[key]), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("'%s' is not an integer", key)
	}
	return &n, nil
}

func (m members) need(key string, dst *int64) error {
	n, err := m.int(key)
	if err != nil {
		return err
	}
	if n == nil {
		return fmt.Errorf("'%s' is missing", key)
	}
	*dst = *n
	return nil
}

// Parse parses the content of a snapshot, changelog or tag file; name is the
// file's path, for messages. Damage is errs.Corrupt, an unknown version errs.Unsupported.
func Parse(name string, data []byte) (*Snapshot, error) {
	m, err := parseObject(data)
	var s *Snapshot
	if err == nil {
		s, err = fromMembers(m)
	}
	if err != nil {
		return nil, damaged(name, err)
	}
	return s, nil
}

func damaged(name string, err error) error {
	if errs.Is(err, errs.Unsupported) {
		return errs.Unsupportedf("%s: %w", name, err)
	}
	return errs.Corruptf("%s is damaged: %w", name, err)
}

func fromMembers(m members) (*Snapshot, error) {
	s := &Snapshot{Version: 1}
	v, err := m.int("version")
	if err != nil {
		return nil, err
	}
	if v != nil {
		if *v < 1 || *v > CurrentVersion {
			return nil, errs.Unsupportedf("its version is %d, known are 1 to %d", *v, CurrentVersion)
		}
		s.Version = int(*v)
	}
	for _, f := range []struct {
		key string
		dst *int64
	}{{"id", &s.ID}, {"schemaId", &s.SchemaID}, {"commitIdentifier", &s.CommitIdentifier}, {"timeMillis", &s.TimeMillis}} {
		if err := m.need(f.key, f.dst); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		key string
		dst *string
	}{
		{"uuid", &s.UUID}, {"baseManifestList", &s.BaseManifestList}, {"deltaManifestList", &s.DeltaManifestList},
		{"changelogManifestList", &s.ChangelogManifestList}, {"indexManifest", &s.IndexManifest}, {"commitUser", &s.CommitUser},
		{"writerVersion", &s.WriterVersion}, {"commitKind", &s.CommitKind}, {"statistics", &s.Statistics}, {"operation", &s.Operation},
	} {
		if err := m.text(f.key, f.dst); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		key string
		dst **int64
	}{
		{"baseManifestListSize", &s.BaseManifestListSize}, {"deltaManifestListSize", &s.DeltaManifestListSize},
		{"changelogManifestListSize", &s.ChangelogListSize}, {"totalRecordCount", &s.TotalRecordCount},
		{"deltaRecordCount", &s.DeltaRecordCount}, {"changelogRecordCount", &s.ChangelogRecordCount},
		{"watermark", &s.Watermark}, {"nextRowId", &s.NextRowID},
	} {
		if *f.dst, err = m.int(f.key); err != nil {
			return nil, err
		}
	}
	if m.has("properties") {
		if err := json.Unmarshal(m["properties"], &s.Properties); err != nil {
			return nil, fmt.Errorf("'properties' is not an object of texts")
		}
	}
	if s.ID < FirstID {
		return nil, fmt.Errorf("its id is %d", s.ID)
	}
	if s.BaseManifestList == "" || s.DeltaManifestList == "" {
		return nil, fmt.Errorf("a manifest list is not named")
	}
	switch s.CommitKind {
	case Append, Compact, Overwrite, Analyze:
	default:
		return nil, errs.Unsupportedf("its commit kind '%s' is unknown", s.CommitKind)
	}
	return s, nil
}

// Span is a retention: seconds and nanoseconds.
type Span struct {
	Seconds int64
	Nanos   int32
}

// ISO returns the span as Java's Duration.toString does, e.g. PT24H.
func (d Span) ISO() string {
	if d.Seconds == 0 && d.Nanos == 0 {
		return "PT0S"
	}
	h, m, s := d.Seconds/3600, d.Seconds%3600/60, d.Seconds%60
	out := []byte("PT")
	if h != 0 {
		out = append(strconv.AppendInt(out, h, 10), 'H')
	}
	if m != 0 {
		out = append(strconv.AppendInt(out, m, 10), 'M')
	}
	if s != 0 || d.Nanos != 0 {
		out = strconv.AppendInt(out, s, 10)
		if d.Nanos != 0 {
			frac := fmt.Appendf(nil, ".%09d", d.Nanos)
			out = append(out, bytes.TrimRight(frac, "0")...)
		}
		out = append(out, 'S')
	}
	return string(out)
}

// Tag is a named state: a snapshot's content under a name (section 3.2).
type Tag struct {
	Name string
	*Snapshot
	// CreateMicros is the local date-time of the tag's creation read as UTC, in
	// microseconds since the epoch; nil where the tag has no retention.
	CreateMicros *int64
	// Retained is how long the tag is kept; nil = for ever.
	Retained *Span
}

// ParseTag parses a tag file.
func ParseTag(file, name string, data []byte) (*Tag, error) {
	m, err := parseObject(data)
	t := &Tag{Name: name}
	if err == nil {
		t.Snapshot, err = fromMembers(m)
	}
	if err == nil && m.has("tagCreateTime") {
		t.CreateMicros, err = parseDateTime(m["tagCreateTime"])
	}
	if err == nil && m.has("tagTimeRetained") {
		t.Retained, err = parseSpan(string(m["tagTimeRetained"]))
	}
	if err != nil {
		return nil, damaged(fmt.Sprintf("tag '%s': the file %s", name, file), err)
	}
	return t, nil
}

// marshal appends members in Java's order; nil values are left out.
type marshal struct{ buf []byte }

func (w *marshal) key(k string) {
	if len(w.buf) > 0 {
		w.buf = append(w.buf, ',')
	}
	w.buf = strconv.AppendQuote(w.buf, k)
	w.buf = append(w.buf, ':')
}

func (w *marshal) num(k string, n int64) {
	w.key(k)
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

func (w *marshal) opt(k string, n *int64) {
	if n != nil {
		w.num(k, *n)
	}
}

func (w *marshal) str(k, s string) {
	if s != "" {
		w.key(k)
		w.quote(s)
	}
}

func (w *marshal) quote(s string) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	w.buf = append(w.buf, bytes.TrimRight(b.Bytes(), "\n")...)
}

// JSON returns the content of s's file, members in the order of Java's writer.
func (s *Snapshot) JSON() []byte {
	var w marshal
	s.write(&w)
	return w.finish()
}

func (s *Snapshot) write(w *marshal) {
	w.num("version", int64(s.Version))
	w.str("uuid", s.UUID)
	w.num("id", s.ID)
	w.num("schemaId", s.SchemaID)
	w.str("baseManifestList", s.BaseManifestList)
	w.opt("baseManifestListSize", s.BaseManifestListSize)
	w.str("deltaManifestList", s.DeltaManifestList)
	w.opt("deltaManifestListSize", s.DeltaManifestListSize)
	w.str("changelogManifestList", s.ChangelogManifestList)
	w.opt("changelogManifestListSize", s.ChangelogListSize)
	w.str("indexManifest", s.IndexManifest)
	w.str("commitUser", s.CommitUser)
	w.str("writerVersion", s.WriterVersion)
	w.num("commitIdentifier", s.CommitIdentifier)
	w.str("commitKind", s.CommitKind)
	w.num("timeMillis", s.TimeMillis)
	w.opt("totalRecordCount", s.TotalRecordCount)
	w.opt("deltaRecordCount", s.DeltaRecordCount)
	w.opt("changelogRecordCount", s.ChangelogRecordCount)
	w.opt("watermark", s.Watermark)
	w.str("statistics", s.Statistics)
	if len(s.Properties) > 0 {
		w.key("properties")
		keys := make([]string, 0, len(s.Properties))
		for k := range s.Properties {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		w.buf = append(w.buf, '{')
		for i, k := range keys {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			w.quote(k)
			w.buf = append(w.buf, ':')
			w.quote(s.Properties[k])
		}
		w.buf = append(w.buf, '}')
	}
	w.opt("nextRowId", s.NextRowID)
	w.str("operation", s.Operation)
}

func (w *marshal) finish() []byte {
	doc := append(append([]byte{'{'}, w.buf...), '}')
	var out bytes.Buffer
	_ = json.Indent(&out, doc, "", "  ")
	return out.Bytes()
}
