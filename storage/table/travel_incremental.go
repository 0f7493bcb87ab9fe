package table

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// splitPair splits 'a,b'.
func splitPair(key, v string) (a, b string, err error) {
	parts := strings.Split(v, ",")
	if len(parts) != 2 {
		return "", "", errs.Invalidf("option %s: '%s' must be two values separated by a comma, the start (exclusive) and the end (inclusive)", key, v)
	}
	return strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), nil
}

// incremental resolves the incremental-* options (section 6.3 of the SQL surface).
func (r *resolver) incremental(ctx context.Context) (*State, error) {
	kind, err := r.incrementalKind()
	if err != nil {
		return nil, err
	}
	if v, set := r.opts["incremental-between-timestamp"]; set {
		return r.betweenTimes(ctx, kind, v)
	}
	if v, set := r.opts["incremental-to-auto-tag"]; set {
		return r.toAutoTag(ctx, v)
	}
	a, b, err := splitPair("incremental-between", r.opts["incremental-between"])
	if err != nil {
		return nil, err
	}
	from, errA := r.tagIfAny(ctx, a)
	to, errB := r.tagIfAny(ctx, b)
	if errA != nil {
		return nil, errA
	}
	if errB != nil {
		return nil, errB
	}
	if from != nil && to != nil {
		if tagIDs, err := schema.OptIncrementalTagSnap.Get(r.opts); err != nil {
			return nil, err
		} else if tagIDs {
			return r.between(ctx, kind, from.ID, to.ID)
		}
		return r.diff(from, to)
	}
	start, errA := strconv.ParseInt(a, 10, 64)
	end, errB := strconv.ParseInt(b, 10, 64)
	if errA != nil || errB != nil {
		return nil, errs.NotFoundf("table %s: Didn't find two tags for start '%s' and end '%s', and they are not two snapshot Ids. Please set two tags or two snapshot Ids.", r.label, a, b)
	}
	return r.between(ctx, kind, start, end)
}

func (r *resolver) incrementalKind() (StateKind, error) {
	mode, err := schema.OptIncrementalMode.Get(r.opts)
	if err != nil {
		return 0, err
	}
	if mode == "auto" {
		producer, err := schema.OptChangelogProducer.Get(r.opts)
		if err != nil {
			return 0, err
		}
		mode = "changelog"
		if producer == "none" {
			mode = "delta"
		}
	}
	switch mode {
	case "delta":
		return DeltaState, nil
	case "diff":
		return DiffState, nil
	}
	return ChangelogState, nil
}

func (r *resolver) tagIfAny(ctx context.Context, name string) (*snapshot.Snapshot, error) {
	ok, err := r.mgr.HasTag(ctx, name)
	if err != nil || !ok {
		return nil, err
	}
	return r.byTag(ctx, name)
}

func (r *resolver) diff(from, to *snapshot.Snapshot) (*State, error) {
	if to.ID < from.ID {
		return nil, errs.Invalidf("table %s: Tag end snapshot id %d should be larger than tag start snapshot id %d", r.label, to.ID, from.ID)
	}
	return &State{Kind: DiffState, From: from, Snapshot: to, Explicit: true}, nil
}

// between resolves the range (start, end] of snapshot ids.
func (r *resolver) between(ctx context.Context, kind StateKind, start, end int64) (*State, error) {
	if end < start {
		return nil, errs.Invalidf("table %s: Ending snapshotId should >= starting snapshotId %d, but is %d.", r.label, start, end)
	}
	lo, hi, err := r.available(ctx)
	if err != nil {
		return nil, err
	}
	st := &State{Kind: kind, Explicit: true}
	if hi == 0 {
		return st, nil
	}
	if start < lo-1 || end > hi {
		return nil, errs.NotFoundf("table %s: The specified scan snapshotId range [%d, %d] is out of available snapshotId range [%d, %d].", r.label, start, end, lo, hi)
	}
	if start == end {
		return st, nil
	}
	if kind == DiffState {
		if start >= lo {
			if st.From, err = r.byID(ctx, start); err != nil {
				return nil, err
			}
		}
		st.Snapshot, err = r.byID(ctx, end)
		return st, err
	}
	for id := start + 1; id <= end; id++ {
		s, err := r.byID(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("changes of snapshots (%d, %d]: %w", start, end, err)
		}
		switch {
		case kind == DeltaState && s.CommitKind != snapshot.Append,
			kind == ChangelogState && (s.CommitKind == snapshot.Overwrite || s.ChangelogManifestList == ""):
			continue
		}
		st.Range = append(st.Range, s)
	}
	return st, nil
}

func (r *resolver) betweenTimes(ctx context.Context, kind StateKind, v string) (*State, error) {
	a, b, err := splitPair("incremental-between-timestamp", v)
	if err != nil {
		return nil, err
	}
	t1, err := ParseTimestamp(a, r.zone)
	if err != nil {
		return nil, errs.Invalidf("option incremental-between-timestamp: %w", err)
	}
	t2, err := ParseTimestamp(b, r.zone)
	if err != nil {
		return nil, errs.Invalidf("option incremental-between-timestamp: %w", err)
	}
	if t2 < t1 {
		return nil, errs.Invalidf("option incremental-between-timestamp: Ending timestamp %d should be >= starting timestamp %d.", t2, t1)
	}
	first, err := r.mgr.Earliest(ctx)
	if err != nil {
		return nil, err
	}
	if first == nil || r.pinned == nil || t1 > r.pinned.TimeMillis || t2 < first.TimeMillis {
		return &State{Kind: kind, Explicit: true}, nil
	}
	start := first.ID - 1
	if s, err := r.mgr.AtOrBefore(ctx, t1); err != nil {
		return nil, err
	} else if s != nil {
		start = s.ID
	}
	end := r.pinned.ID
	if s, err := r.mgr.AtOrBefore(ctx, t2); err != nil {
		return nil, err
	} else if s != nil {
		end = s.ID
	}
	return r.between(ctx, kind, start, end)
}

// autoTagNames are the names of automatic tags by period and formatter of the options tag.creation-period and tag.period-formatter.
// A day may be followed by an hour, as in Paimon.
var autoTagNames = map[string]*regexp.Regexp{
	"daily/with_dashes":               regexp.MustCompile(`^\d{4}-\d{2}-\d{2}( \d{2})?$`),
	"daily/without_dashes":            regexp.MustCompile(`^\d{8}$`),
	"daily/without_dashes_and_spaces": regexp.MustCompile(`^\d{8}$`),
	"hours/with_dashes":               regexp.MustCompile(`^\d{4}-\d{2}-\d{2} \d{2}$`),
	"hours/without_dashes":            regexp.MustCompile(`^\d{8} \d{2}$`),
	"hours/without_dashes_and_spaces": regexp.MustCompile(`^\d{10}$`),
}

// autoTagDuration is a name with tag.creation-period-duration.
var autoTagDuration = regexp.MustCompile(`^\d{12}$`)

// autoTagName is the form of the table's automatic tags.
func (r *resolver) autoTagName() *regexp.Regexp {
	if _, set, err := schema.OptTagPeriodDuration.Lookup(r.opts); set && err == nil {
		return autoTagDuration
	}
	period := schema.OptTagPeriod.Value(r.opts)
	if period != "daily" {
		period = "hours"
	}
	return autoTagNames[period+"/"+schema.OptTagFormatter.Value(r.opts)]
}

// toAutoTag is the difference between an automatic tag and the one before it, in the order of time, which is that of names. It is
// empty where one of the two does not exist.
func (r *resolver) toAutoTag(ctx context.Context, name string) (*State, error) {
	form := r.autoTagName()
	if form == nil || !form.MatchString(name) {
		return nil, errs.Invalidf("table %s: Specified tag '%s' is not an auto-created tag.", r.label, name)
	}
	names, err := r.mgr.TagNames(ctx)
	if err != nil {
		return nil, err
	}
	before, found := "", false
	for _, n := range names {
		if found = found || n == name; n < name && n > before && form.MatchString(n) {
			before = n
		}
	}
	if !found || before == "" {
		return &State{Kind: DiffState, Explicit: true}, nil
	}
	to, err := r.byTag(ctx, name)
	if err != nil {
		return nil, err
	}
	from, err := r.byTag(ctx, before)
	if err != nil {
		return nil, err
	}
	return r.diff(from, to)
}
