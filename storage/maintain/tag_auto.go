package maintain

import (
	"context"
	"slices"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// batchTagPrefix begins the names of automatic tags of mode batch.
const batchTagPrefix = "batch-write-"

// maxCompletedTags bounds how many missed periods one snapshot is tagged for.
const maxCompletedTags = 10_000

// CreateAutomaticTags makes the tags that the table's options ask for
// (tag.automatic-creation, section 12.8 of the format), removes those beyond
// tag.num-retained-max, and returns the names of the new ones. In mode batch the newest
// snapshot is tagged: the function is called after a batch commit.
func (t *Table) CreateAutomaticTags(ctx context.Context) ([]string, error) {
	s, err := t.schema(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return t.createAutomaticTags(ctx, s)
}

func (t *Table) createAutomaticTags(ctx context.Context, s *schema.TableSchema) ([]string, error) {
	mode, err := schema.OptTagAutoCreation.Get(s.Options)
	if err != nil || mode == "none" {
		return nil, err
	}
	if mode == "batch" {
		return t.tagBatch(ctx, s)
	}
	a, err := t.newAutoTags(s, mode)
	if err != nil {
		return nil, err
	}
	return a.run(ctx)
}

// tagBatch tags the newest snapshot with the day, replacing an older tag of the day (TagBatchCreation).
func (t *Table) tagBatch(ctx context.Context, s *schema.TableSchema) ([]string, error) {
	latest, err := t.own.snaps.Latest(ctx)
	if err != nil || latest == nil {
		return nil, err
	}
	own := schema.OptTagBatchName.Value(s.Options)
	name := own
	if name == "" {
		name = batchTagPrefix + time.UnixMilli(latest.TimeMillis).In(t.t.Zone).Format(time.DateOnly)
	}
	old, err := t.own.snaps.Tag(ctx, name)
	if err != nil && !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Corrupt) {
		return nil, err
	}
	if old != nil && old.ID == latest.ID && old.UUID == latest.UUID {
		return nil, nil
	}
	tag, err := t.newTag(s, name, latest, nil)
	if err != nil {
		return nil, err
	}
	// In one step: there is never a moment without the tag.
	if err := t.own.snaps.ReplaceTag(ctx, tag); err != nil {
		return nil, err
	}
	if old != nil {
		if err := t.releaseTagged(context.WithoutCancel(ctx), old.Snapshot); err != nil {
			return nil, err
		}
	}
	return []string{name}, t.keepNewest(ctx, s, func(n string) bool {
		_, err := time.Parse(batchTagPrefix+time.DateOnly, n)
		return n == name || err == nil
	})
}

// keepNewest deletes tags that count beyond tag.num-retained-max, those of the oldest snapshots first.
func (t *Table) keepNewest(ctx context.Context, s *schema.TableSchema, counts func(name string) bool) error {
	most, set, err := schema.OptTagRetainMax.Lookup(s.Options)
	if err != nil || !set {
		return err
	}
	tags, err := t.own.snaps.Tags(ctx)
	if err != nil {
		return err
	}
	ids := map[int64][]string{}
	var order []int64
	for _, x := range tags {
		if counts(x.Name) {
			if ids[x.ID] == nil {
				order = append(order, x.ID)
			}
			ids[x.ID] = append(ids[x.ID], x.Name)
		}
	}
	slices.Sort(order)
	for i := 0; i < len(order)-most; i++ {
		for _, n := range ids[order[i]] {
			if _, err := t.deleteTag(ctx, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// autoTags makes the tags of periods (TagAutoCreation).
type autoTags struct {
	t         *Table
	s         *schema.TableSchema
	period    time.Duration
	format    *timePattern
	delay     time.Duration
	zone      *time.Location
	watermark bool
	complete  bool
}

func (t *Table) newAutoTags(s *schema.TableSchema, mode string) (*autoTags, error) {
	o := s.Options
	a := &autoTags{t: t, s: s, watermark: mode == "watermark", zone: t.t.Zone, complete: schema.OptTagCompletion.Value(o)}
	zone := schema.OptSinkTimeZone
	if a.watermark {
		zone = schema.OptWatermarkZone
	}
	if name := zone.Value(o); name != "" {
		z, err := time.LoadLocation(name)
		if err != nil {
			return nil, errs.Invalidf("table %s: option '%s': the time zone '%s' is not known", t.t.Label, zone.Key(), name)
		}
		a.zone = z
	}
	style := schema.OptTagFormatter.Value(o)
	text := map[string]string{"with_dashes": "yyyy-MM-dd", "without_dashes": "yyyyMMdd", "without_dashes_and_spaces": "yyyyMMdd"}[style]
	switch schema.OptTagPeriod.Value(o) {
	case "daily":
		a.period = 24 * time.Hour
	case "hourly":
		a.period = time.Hour
	case "two-hours":
		a.period = 2 * time.Hour
	}
	if a.period < 24*time.Hour {
		if style != "without_dashes_and_spaces" {
			text += " "
		}
		text += "HH"
	}
	if d, set, err := schema.OptTagPeriodDuration.Lookup(o); err != nil {
		return nil, err
	} else if set {
		a.period, text = d, "yyyyMMddHHmm"
	}
	var err error
	if a.delay, err = schema.OptTagDelay.Get(o); err != nil {
		return nil, err
	}
	if a.period < time.Minute {
		return nil, errs.Invalidf("table %s: the period of automatic tags is %s, it must be a minute at least", t.t.Label, a.period)
	}
	if a.delay > a.period {
		return nil, errs.Invalidf("table %s: option 'tag.creation-delay' is %s, it must not be longer than the period of the tags, %s", t.t.Label, a.delay, a.period)
	}
	a.format, err = compilePattern(text)
	return a, err
}

// isAuto reports whether a tag's name is one that is made here, and of which period.
func (a *autoTags) isAuto(name string) (time.Time, bool) {
	at, ok := a.format.parse(name)
	return at, ok && a.format.format(at) == name
}

// at is the local time of a snapshot that its tag is named by; false where it has none.
func (a *autoTags) at(s *snapshot.Snapshot) (time.Time, bool) {
	ms := s.TimeMillis
	if a.watermark {
		w, ok := s.HasWatermark()
		if !ok || w < 0 {
			return time.Time{}, false
		}
		ms = w
	}
	at := time.UnixMilli(ms)
	_, offset := at.In(a.zone).Zone()
	return at.Add(time.Duration(offset) * time.Second).UTC(), true
}

// previous is the begin of the period before that of t: its data are complete.
func (a *autoTags) previous(t time.Time) time.Time {
	ms, p := t.UnixMilli(), a.period.Milliseconds()
	return time.UnixMilli(ms - floorMod(ms, p) - p).UTC()
}

func floorMod(a, b int64) int64 { return (a%b + b) % b }

// run looks at the snapshots since the newest automatic tag.
func (a *autoTags) run(ctx context.Context) ([]string, error) {
	tags, err := a.t.own.snaps.Tags(ctx)
	if err != nil {
		return nil, err
	}
	var last int64      // the snapshot of the newest automatic tag
	var next *time.Time // the period whose tag comes next
	for _, x := range tags {
		if at, ok := a.isAuto(x.Name); ok && (x.ID > last || x.ID == last && next != nil && at.Add(a.period).After(*next)) {
			n := at.Add(a.period)
			last, next = x.ID, &n
		}
	}
	ids, err := a.t.own.snaps.IDs(ctx)
	if err != nil {
		return nil, err
	}
	var made []string
	for _, id := range ids {
		if id <= last {
			continue
		}
		s, err := a.t.own.snaps.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return made, err
		}
		at, ok := a.at(s)
		if !ok || next != nil && at.Add(-a.delay).Before(next.Add(a.period)) {
			continue
		}
		this := a.previous(at)
		first := this
		if a.complete && next != nil && next.Before(this) {
			first = *next
			if missed := int64(this.Sub(first) / a.period); missed > maxCompletedTags {
				first = this.Add(-maxCompletedTags * a.period)
			}
		}
		for p := first; !p.After(this); p = p.Add(a.period) {
			name := a.format.format(p)
			has, err := a.t.own.snaps.HasTag(ctx, name)
			if err != nil {
				return made, err
			}
			if has {
				continue
			}
			if _, err := a.t.putTag(ctx, name, s, TagOptions{IgnoreIfExists: true}); err != nil {
				return made, err
			}
			made = append(made, name)
		}
		n := this.Add(a.period)
		next = &n
	}
	return made, a.t.keepNewest(ctx, a.s, func(name string) bool {
		_, ok := a.isAuto(name)
		return ok
	})
}
