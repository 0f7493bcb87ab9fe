package compact

import (
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// tableOptions are a table's options as far as compaction goes.
type tableOptions struct {
	engine string
	// sequence says that option sequence.field is set.
	sequence bool
	// top is the top level by the options.
	top      int
	pick     picker
	producer string
	vectors  bool
	// wide says that new vectors have 64-bit positions.
	wide bool
	// deduplicate leaves updates out of changelogs that change nothing but deduplicateIgnore.
	deduplicate       bool
	deduplicateIgnore []string
	// lookup says that compactions look the older row of a key up (CoreOptions.needLookup).
	lookup bool
	// lookupKeys is Target.LookupKeys.
	lookupKeys int64
	// keepDeletes keeps retracts on every level: a chain table's partitions continue others.
	keepDeletes bool
	// rewriteAll rewrites every file of a full compaction.
	rewriteAll bool
	// expiry tells which rows are not kept; nil = all are.
	expiry *read.Expiry
	// small is the size below which files are rewritten rather than moved up.
	small int64
}

// defaultFileSize is the target size of files of primary-key tables.
const defaultFileSize = 128 << 20

func readOptions(s *schema.TableSchema, now time.Time) (*tableOptions, error) {
	m := s.Options
	o := &tableOptions{
		engine: schema.OptMergeEngine.Value(m), sequence: m[schema.OptSequenceField.Key()] != "", top: scan.TopLevel(s),
		producer: schema.OptChangelogProducer.Value(m), vectors: schema.OptDeletionVectors.Value(m),
		keepDeletes: schema.OptChainTable.Value(m),
	}
	o.lookup = schema.NeedsLookup(m)
	var err error
	if o.wide, err = schema.OptDVBitmap64.Get(m); err != nil {
		return nil, err
	}
	if o.deduplicate, err = schema.OptRowDeduplicate.Get(m); err != nil {
		return nil, err
	}
	for _, n := range strings.Split(schema.OptRowDeduplicateIgnore.Value(m), ",") {
		if n = strings.TrimSpace(n); n != "" {
			o.deduplicateIgnore = append(o.deduplicateIgnore, n)
		}
	}
	if o.rewriteAll, err = schema.OptCompactionRewriteAll.Get(m); err != nil {
		return nil, err
	}
	target, set, err := schema.OptTargetFileSize.Lookup(m)
	if err != nil {
		return nil, err
	}
	if !set {
		target = defaultFileSize
	}
	ratio, err := schema.OptSmallFileRatio.Get(m)
	if err != nil {
		return nil, err
	}
	o.small = int64(float64(target) * ratio)
	after, column, err := s.RecordExpiry()
	if err != nil {
		return nil, err
	}
	if column >= 0 {
		o.expiry = &read.Expiry{Column: column, Root: s.Fields[column].Type.Root, Before: now.Unix() - int64(after/time.Second)}
	}
	if o.pick, err = readPicker(m, now); err != nil || !o.lookup {
		return o, err
	}
	// GENTLE takes the files of level 0 with one of several compactions of a job (lookup-compact.max-interval, at least
	// num-sorted-run.compaction-trigger of them). A statement, as a batch job, makes one.
	kind, err := schema.OptLookupCompact.Get(m)
	o.pick.forceLevel0 = kind != "GENTLE"
	return o, err
}

func readPicker(m map[string]string, now time.Time) (p picker, err error) {
	p.now = now
	if p.trigger, err = schema.OptCompactionTrigger.Get(m); err != nil {
		return p, err
	}
	amp, err := schema.OptCompactionSizeAmp.Get(m)
	if err != nil {
		return p, err
	}
	ratio, err := schema.OptCompactionSizeRatio.Get(m)
	if err != nil {
		return p, err
	}
	p.sizeAmp, p.sizeRatio = int64(amp), int64(ratio)
	off, err := offPeakRatio(m, now.Hour())
	if err != nil {
		return p, err
	}
	p.sizeRatio += off
	if p.forceLevel0, err = schema.OptCompactionForceUp0.Get(m); err != nil {
		return p, err
	}
	every, set, err := schema.OptCompactionOptimize.Lookup(m)
	if err != nil {
		return p, err
	}
	if set {
		p.fullInterval = &every
	}
	for _, x := range []struct {
		o  *schema.Option[int64]
		to **int64
	}{{schema.OptCompactionFullBelow, &p.fullBelow}, {schema.OptCompactionFullIncrement, &p.fullIncrement}} {
		n, set, err := x.o.Lookup(m)
		if err != nil {
			return p, err
		}
		if set {
			*x.to = &n
		}
	}
	return p, nil
}

// offPeakRatio is what the size ratio has more in the off-peak hours (OffPeakHours): from
// the start hour to before the end hour, which may be on the next day.
func offPeakRatio(m map[string]string, hour int) (int64, error) {
	start, err := schema.OptOffPeakStart.Get(m)
	if err != nil {
		return 0, err
	}
	end, err := schema.OptOffPeakEnd.Get(m)
	if err != nil {
		return 0, err
	}
	ratio, err := schema.OptOffPeakRatio.Get(m)
	if err != nil {
		return 0, err
	}
	if start == -1 || end == -1 || start == end || ratio == 0 {
		return 0, nil
	}
	in := start <= hour && hour < end
	if start > end {
		in = hour >= start || hour < end
	}
	if !in {
		return 0, nil
	}
	return int64(ratio), nil
}
