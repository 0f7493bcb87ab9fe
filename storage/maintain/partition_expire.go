package maintain

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// Strategies of partition expiry.
const (
	// ValuesTime takes a partition's time from its values, UpdateTime from its newest file.
	ValuesTime = "values-time"
	UpdateTime = "update-time"
)

// PartitionExpireOptions say which partitions expire. Empty fields come from the table's options.
type PartitionExpireOptions struct {
	// After is the age from which on a partition expires.
	After *time.Duration
	// Formatter and Pattern are those of partition.timestamp-formatter and -pattern.
	Formatter, Pattern string
	Strategy           string
	// Max bounds how many expire in one run.
	Max *int
	// Options are table options for this run, over those of the table.
	Options map[string]string
}

// ExpiredPartition is a partition that expires.
type ExpiredPartition struct {
	Values []column.Scalar
	// Text names it, e.g. dt=2024-06-01, hm=01:00.
	Text string
}

// ExpiredPartitions lists the partitions that expire now, in the order of their
// texts (PartitionExpire of Paimon). Partitions of NULL, and values that do not parse as a
// time, never do. A DATE is taken as yyyy-MM-dd under legacy names too.
func (t *Table) ExpiredPartitions(ctx context.Context, o PartitionExpireOptions) ([]ExpiredPartition, error) {
	s, err := t.schema(ctx)
	if err != nil {
		return nil, err
	}
	opts := s.WithOptions(o.Options).Options
	if !s.Partitioned() {
		return nil, errs.Invalidf("table %s is not partitioned: no partition of it can expire", t.t.Label)
	}
	after, set, err := schema.OptPartitionExpireTime.Lookup(opts)
	if err != nil {
		return nil, err
	}
	if o.After != nil {
		after, set = *o.After, true
	}
	if !set {
		return nil, errs.Invalidf("table %s: no expiration time is given and the option '%s' is not set", t.t.Label, schema.OptPartitionExpireTime.Key())
	}
	strategy := orElse(o.Strategy, schema.OptPartitionExpireKind.Value(opts))
	limit := schema.OptPartitionExpireMax.Value(opts)
	if o.Max != nil {
		limit = *o.Max
	}
	snap, err := t.own.snaps.Latest(ctx)
	if err != nil || snap == nil {
		return nil, err
	}
	parts, err := t.partitions(ctx, s)
	if err != nil {
		return nil, err
	}
	var expired func(*partitionAge) bool
	switch strings.ToLower(strategy) {
	case ValuesTime:
		x, err := newPartitionTime(s.PartitionKeys, orElse(o.Pattern, schema.OptTimestampPattern.Value(opts)), orElse(o.Formatter, schema.OptTimestampFormatter.Value(opts)))
		if err != nil {
			return nil, err
		}
		before := time.UnixMicro(t.localMicros(t.t.Clock().Add(-after))).UTC()
		expired = func(p *partitionAge) bool {
			at, ok := x.of(p.texts)
			return ok && before.After(at)
		}
	case UpdateTime:
		before := t.localMicros(t.t.Clock().Add(-after)) / 1000
		expired = func(p *partitionAge) bool { return p.updated != nil && before > *p.updated }
	default:
		return nil, errs.Unsupportedf("table %s: the partition expiration strategy '%s' is not supported; use '%s' or '%s'", t.t.Label, strategy, ValuesTime, UpdateTime)
	}
	var out []ExpiredPartition
	slices.SortFunc(parts, func(a, b *partitionAge) int { return slices.CompareFunc(a.texts, b.texts, compareTexts) })
	for _, p := range parts {
		if len(out) < limit && expired(p) {
			var text []string
			for i, k := range s.PartitionKeys {
				v := schema.OptPartitionDefault.Value(opts)
				if p.texts[i] != nil {
					v = *p.texts[i]
				}
				text = append(text, k+"="+v)
			}
			out = append(out, ExpiredPartition{p.values, strings.Join(text, ", ")})
		}
	}
	return out, nil
}

func orElse(a, b string) string {
	if strings.TrimSpace(a) == "" {
		return b
	}
	return a
}

func compareTexts(a, b *string) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return strings.Compare(*a, *b)
}

// ExpirePartitions drops the partitions that expire now, and lists them.
func (t *Table) ExpirePartitions(ctx context.Context, o PartitionExpireOptions) ([]ExpiredPartition, error) {
	list, err := t.ExpiredPartitions(ctx, o)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	s, err := t.schema(ctx)
	if err != nil {
		return nil, err
	}
	size, set, err := schema.OptPartitionExpireBatch.Lookup(s.WithOptions(o.Options).Options)
	if err != nil {
		return nil, err
	}
	if !set || size <= 0 {
		size = len(list)
	}
	types := s.PartitionTypes()
	c := t.committer(t.own, s)
	for done := 0; done < len(list); done += size {
		t.progress("expiring partitions", done, len(list))
		chosen := map[string]bool{}
		for _, p := range list[done:min(done+size, len(list))] {
			chosen[string(binrow.EncodeRow(types, p.Values))] = true
		}
		if _, err := c.DropPartitions(ctx, func(v []column.Scalar) bool { return chosen[string(binrow.EncodeRow(types, v))] }); err != nil {
			return list[:done], err
		}
	}
	return list, nil
}

// partitionAge is a partition with what its age is told by.
type partitionAge struct {
	values []column.Scalar
	// texts are the values cast to STRING; nil = NULL.
	texts []*string
	// updated is the greatest creation time of its files (wall clock milliseconds); nil unknown.
	updated *int64
}

// partitions lists the partitions with live files of the newest snapshot.
func (t *Table) partitions(ctx context.Context, s *schema.TableSchema) ([]*partitionAge, error) {
	snap, err := t.own.snaps.Latest(ctx)
	if err != nil || snap == nil {
		return nil, err
	}
	fields, types := s.PartitionFields(), s.PartitionTypes()
	canon := manifest.NewPartitions(types)
	at := map[string]*partitionAge{}
	var out []*partitionAge
	var bad error
	err = t.eachLive(ctx, t.own, snap, nil, func(e *manifest.Entry) {
		id, err := canon.Canonical(e.Partition)
		if err != nil {
			bad = err
			return
		}
		if at[id] != nil {
			return
		}
		p := &partitionAge{}
		if p.values, err = binrow.DecodeRow(types, e.Partition); err != nil {
			bad = err
			return
		}
		for i, v := range p.values {
			var text *string
			if !v.Null {
				x := string(cast.AppendScalar(nil, fields[i].Type, v))
				text = &x
			}
			p.texts = append(p.texts, text)
		}
		at[id] = p
		out = append(out, p)
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, err
	}
	// Files removed since count as well, as long as the manifests have them.
	err = t.eachEntry(ctx, func(e *manifest.Entry) {
		id, err := canon.Canonical(e.Partition)
		if err != nil {
			bad = err
			return
		}
		c := e.File.CreationMillis
		if p := at[id]; p != nil && c != nil && (p.updated == nil || *c > *p.updated) {
			p.updated = c
		}
	}, snap.BaseManifestList, snap.DeltaManifestList)
	if err == nil {
		err = bad
	}
	return out, err
}

// partitionTime computes a partition's time from its values (PartitionTimeExtractor).
type partitionTime struct {
	keys    []string
	pattern string
	format  *timePattern
}

func newPartitionTime(keys []string, pattern, formatter string) (*partitionTime, error) {
	x := &partitionTime{keys: keys, pattern: pattern}
	if formatter != "" {
		f, err := compilePattern(formatter)
		if err != nil {
			return nil, errs.New(errs.ClassOf(err), "option 'partition.timestamp-formatter': %w", err)
		}
		x.format = f
	}
	return x, nil
}

// of is the time; false where the values give none.
func (x *partitionTime) of(values []*string) (time.Time, bool) {
	text := x.pattern
	if text == "" {
		if values[0] == nil {
			return time.Time{}, false
		}
		text = *values[0]
	} else {
		for i, k := range x.keys {
			if !strings.Contains(text, "$"+k) {
				continue
			}
			if values[i] == nil {
				return time.Time{}, false
			}
			text = strings.ReplaceAll(text, "$"+k, *values[i])
		}
	}
	if x.format != nil {
		return x.format.parse(text)
	}
	return lenientTime(text)
}
