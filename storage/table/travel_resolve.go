package table

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// StateKind says what a read shows of a branch's history.
type StateKind uint8

// The kinds.
const (
	// FullState is all rows of one snapshot.
	FullState StateKind = iota
	// DeltaState is the rows that APPEND snapshots of a range added.
	DeltaState
	// ChangelogState is the changelog rows of a range of snapshots.
	ChangelogState
	// DiffState is the difference between the full states of two snapshots.
	DiffState
)

// State is the resolved object of a read.
type State struct {
	Kind StateKind
	// Snapshot is the snapshot of FullState, the later one of DiffState; nil = no row.
	Snapshot *snapshot.Snapshot
	// From is the earlier snapshot of DiffState; nil = no row.
	From *snapshot.Snapshot
	// Range holds the snapshots of DeltaState and ChangelogState, ascending.
	Range []*snapshot.Snapshot
	// CreatedAfter leaves out files made before it (wall clock milliseconds); nil = none.
	CreatedAfter *int64
	// Explicit is set where an option asked for a state other than the latest.
	Explicit bool
}

// timeKeys are the options of which at most one may be set (section 6.1 of the SQL surface).
var timeKeys = []string{"scan.snapshot-id", "scan.tag-name", "scan.watermark", "scan.timestamp", "scan.timestamp-millis"}

// modeKeys lists, for each scan.mode, the options it works with.
var modeKeys = map[string][]string{
	"from-timestamp":          {"scan.timestamp-millis", "scan.timestamp"},
	"from-snapshot":           {"scan.snapshot-id", "scan.tag-name", "scan.watermark", "scan.version"},
	"from-snapshot-full":      {"scan.snapshot-id"},
	"incremental":             {"incremental-between", "incremental-between-timestamp", "incremental-to-auto-tag"},
	"from-file-creation-time": {"scan.file-creation-time-millis"},
	"from-creation-timestamp": {"scan.creation-time-millis"},
}

// exclusiveKeys are the options that choose a state; a mode excludes those of the others.
var exclusiveKeys = []string{
	"scan.timestamp-millis", "scan.timestamp", "scan.file-creation-time-millis", "scan.creation-time-millis",
	"scan.snapshot-id", "scan.tag-name", "scan.version", "incremental-between-timestamp", "incremental-between", "incremental-to-auto-tag",
}

// scanMode resolves option scan.mode and refuses contradicting options, as
// Paimon's CoreOptions.startupMode and SchemaValidation do.
func scanMode(opts map[string]string) (string, error) {
	mode, err := schema.OptScanMode.Get(opts)
	if err != nil {
		return "", err
	}
	isSet := func(k string) bool { _, ok := opts[k]; return ok }
	if set := slices.DeleteFunc(slices.Clone(timeKeys), func(k string) bool { return !isSet(k) }); len(set) > 1 {
		return "", errs.Invalidf("options %s contradict each other: [%s] must be null when you set [%s]. Only one of the following parameters may be set: [%s]",
			strings.Join(set, " and "), strings.Join(set[1:], ","), set[0], strings.Join(timeKeys, ", "))
	}
	if mode == "full" {
		mode = "latest-full"
	}
	if mode == "default" {
		switch {
		case isSet("scan.timestamp-millis"), isSet("scan.timestamp"):
			mode = "from-timestamp"
		case isSet("scan.snapshot-id"), isSet("scan.tag-name"), isSet("scan.watermark"), isSet("scan.version"):
			mode = "from-snapshot"
		case isSet("incremental-between"), isSet("incremental-between-timestamp"), isSet("incremental-to-auto-tag"):
			mode = "incremental"
		case isSet("scan.file-creation-time-millis"):
			mode = "from-file-creation-time"
		case isSet("scan.creation-time-millis"):
			mode = "from-creation-timestamp"
		default:
			return "latest-full", nil
		}
	}
	own := modeKeys[mode]
	set := slices.DeleteFunc(slices.Clone(own), func(k string) bool { return !isSet(k) })
	if len(own) > 0 && len(set) != 1 {
		return "", errs.Invalidf("must set only one key in [%s] when you use %s for scan.mode", strings.Join(own, ","), mode)
	}
	for _, k := range exclusiveKeys {
		if !isSet(k) || slices.Contains(own, k) {
			continue
		}
		if len(own) == 0 {
			return "", errs.Invalidf("%s must be null when you use %s for scan.mode", k, mode)
		}
		return "", errs.Invalidf("[%s] must be null when you set [%s]", k, strings.Join(set, ","))
	}
	return mode, nil
}

// resolver finds the state that options ask for in one branch.
type resolver struct {
	mgr   *snapshot.Manager
	opts  map[string]string
	zone  *time.Location
	label string
	// pinned is the branch's latest snapshot at the time of the statement.
	pinned *snapshot.Snapshot
}

// resolve returns the state that the options ask for.
func (r *resolver) resolve(ctx context.Context) (*State, error) {
	if v, set := r.opts[alignedTimeKey]; set {
		millis, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, err
		}
		s, err := r.mgr.AtOrBefore(ctx, millis)
		if err == nil && s == nil && r.pinned != nil {
			s, err = r.byID(ctx, snapshot.FirstID) // as Paimon does, too new though it is
		}
		return &State{Snapshot: s, Explicit: true}, err
	}
	mode, err := scanMode(r.opts)
	if err != nil {
		return nil, err
	}
	switch mode {
	case "latest-full", "latest":
		return &State{Snapshot: r.pinned}, nil
	case "latest-delta":
		return r.latestDelta()
	case "compacted-full":
		s, err := r.compacted(ctx)
		return &State{Snapshot: s, Explicit: true}, err
	case "from-timestamp":
		t, err := r.timestampOption()
		if err != nil {
			return nil, err
		}
		s, err := r.atTime(ctx, t)
		return &State{Snapshot: s, Explicit: true}, err
	case "from-file-creation-time":
		t, err := schema.OptScanFileCreation.Get(r.opts)
		return &State{Snapshot: r.pinned, CreatedAfter: &t, Explicit: true}, err
	case "from-creation-timestamp":
		return r.fromCreation(ctx)
	case "from-snapshot", "from-snapshot-full":
		s, err := r.fromSnapshot(ctx)
		return &State{Snapshot: s, Explicit: true}, err
	}
	return r.incremental(ctx)
}

func (r *resolver) latestDelta() (*State, error) {
	st := &State{Kind: DeltaState, Explicit: true}
	if r.pinned != nil && r.pinned.CommitKind == snapshot.Append {
		st.Range = []*snapshot.Snapshot{r.pinned}
	}
	return st, nil
}

// compacted is the newest snapshot of kind COMPACT, else the newest (CompactedStartingScanner).
func (r *resolver) compacted(ctx context.Context) (*snapshot.Snapshot, error) {
	ids, err := r.mgr.IDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Backward(ids) {
		s, err := r.mgr.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s.CommitKind == snapshot.Compact {
			return s, nil
		}
	}
	return r.pinned, nil
}

func (r *resolver) fromCreation(ctx context.Context) (*State, error) {
	t, err := schema.OptScanCreation.Get(r.opts)
	if err != nil {
		return nil, err
	}
	s, err := r.mgr.AtOrBefore(ctx, t)
	if err != nil {
		return nil, err
	}
	if s != nil {
		return &State{Snapshot: s, Explicit: true}, nil
	}
	return &State{Snapshot: r.pinned, CreatedAfter: &t, Explicit: true}, nil
}

func (r *resolver) fromSnapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	if id, set, err := schema.OptScanSnapshotID.Lookup(r.opts); set || err != nil {
		if err != nil {
			return nil, err
		}
		return r.byID(ctx, id)
	}
	if name, set, err := schema.OptScanTagName.Lookup(r.opts); set || err != nil {
		if err != nil {
			return nil, err
		}
		return r.byTag(ctx, name)
	}
	if w, set, err := schema.OptScanWatermark.Lookup(r.opts); set || err != nil {
		if err != nil {
			return nil, err
		}
		return r.byWatermark(ctx, w)
	}
	return r.byVersion(ctx, schema.OptScanVersion.Value(r.opts))
}

// byVersion: an existing tag, watermark-N, or a snapshot id (section 2.7 of the format).
func (r *resolver) byVersion(ctx context.Context, v string) (*snapshot.Snapshot, error) {
	ok, err := r.mgr.HasTag(ctx, v)
	if err != nil {
		return nil, err
	}
	if ok {
		return r.byTag(ctx, v)
	}
	if w, found := strings.CutPrefix(v, "watermark-"); found {
		if n, err := strconv.ParseInt(w, 10, 64); err == nil {
			return r.byWatermark(ctx, n)
		}
	}
	if id, err := strconv.ParseInt(v, 10, 64); err == nil {
		return r.byID(ctx, id)
	}
	return r.byTag(ctx, v) // the error that names the tag
}

func (r *resolver) byTag(ctx context.Context, name string) (*snapshot.Snapshot, error) {
	t, err := r.mgr.Tag(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", r.label, err)
	}
	return t.Snapshot, nil
}

func (r *resolver) byWatermark(ctx context.Context, w int64) (*snapshot.Snapshot, error) {
	s, err := r.mgr.AtOrAfterWatermark(ctx, w)
	if err == nil && s == nil {
		err = errs.NotFoundf("table %s: There is currently no snapshot later than or equal to watermark[%d]", r.label, w)
	}
	return s, err
}

func (r *resolver) byID(ctx context.Context, id int64) (*snapshot.Snapshot, error) {
	s, err := r.mgr.Get(ctx, id)
	if !errs.Is(err, errs.NotFound) {
		return s, err
	}
	lo, hi, rangeErr := r.available(ctx)
	if rangeErr != nil {
		return nil, rangeErr
	}
	if hi == 0 {
		return nil, errs.NotFoundf("table %s: snapshot %d does not exist: the table has no snapshot yet", r.label, id)
	}
	if id < lo || id > hi {
		return nil, errs.NotFoundf("table %s: The specified scan snapshotId %d is out of available snapshotId range [%d, %d].", r.label, id, lo, hi)
	}
	return nil, fmt.Errorf("table %s: %w", r.label, err)
}

// available returns the first and last snapshot ids, 0 where there is none.
func (r *resolver) available(ctx context.Context) (lo, hi int64, err error) {
	if lo, err = r.mgr.EarliestID(ctx); err != nil {
		return 0, 0, err
	}
	hi, err = r.mgr.LatestID(ctx)
	return lo, hi, err
}

func (r *resolver) timestampOption() (int64, error) {
	if ms, set, err := schema.OptScanTimestampMs.Lookup(r.opts); set || err != nil {
		return ms, err
	}
	text := schema.OptScanTimestamp.Value(r.opts)
	t, err := ParseTimestamp(text, r.zone)
	if err != nil {
		return 0, errs.Invalidf("option scan.timestamp: %w", err)
	}
	return t, nil
}

func (r *resolver) atTime(ctx context.Context, t int64) (*snapshot.Snapshot, error) {
	s, err := r.mgr.AtOrBefore(ctx, t)
	if err != nil {
		return nil, err
	}
	if s == nil {
		if r.pinned == nil {
			return nil, nil
		}
		return nil, errs.NotFoundf("table %s: There is currently no snapshot earlier than or equal to timestamp [%d].", r.label, t)
	}
	return s, nil
}

// timestampLayouts are the accepted forms of a point in time.
var timestampLayouts = []string{"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"}

// ParseTimestamp reads a local date-time in the zone, with an offset (…Z, +02:00), or epoch
// milliseconds (13 digits or more) or seconds, as epoch milliseconds.
func ParseTimestamp(text string, zone *time.Location) (int64, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if len(strings.TrimPrefix(text, "-")) >= len("1000000000000") {
			return n, nil
		}
		return n * 1000, nil
	}
	if zone == nil {
		zone = time.UTC
	}
	for _, l := range timestampLayouts {
		if t, err := time.ParseInLocation(l, text, zone); err == nil {
			return t.UnixMilli(), nil
		}
		for _, off := range []string{"Z07:00", " Z07:00"} {
			if t, err := time.Parse(l+off, text); err == nil {
				return t.UnixMilli(), nil
			}
		}
	}
	return 0, errs.Invalidf("'%s' is no point in time; write e.g. '2026-01-31 12:00:00' or epoch milliseconds", text)
}
