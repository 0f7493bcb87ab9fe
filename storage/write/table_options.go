package write

import (
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Options of Paimon that only writers look at.
const (
	optFormatPerLevel      = "file.format.per.level"
	optCompressionPerLevel = "file.compression.per.level"
	optZstdLevel           = "file.compression.zstd-level"
	optBlockSize           = "file.block-size"
	optSuffixCompression   = "file.suffix.include.compression"
	optChangelogFormat     = "changelog-file.format"
	optChangelogCodec      = "changelog-file.compression"
	optChangelogStats      = "changelog-file.stats-mode"
	optTargetRows          = "target-file-row-num"
	optWriteBuffer         = "write-buffer-size"
	optMaxBuckets          = "dynamic-bucket.max-buckets"
	optStatsPerLevel       = "metadata.stats-mode.per.level"
	optStatsDense          = "metadata.stats-dense-store"
	optStatsKeepFirst      = "metadata.stats-keep-first-n-columns"
	optPostponeFixed       = "postpone.batch-write-fixed-bucket"
	optPostponeBuckets     = "postpone.default-bucket-num"
	optPostponeRows        = "postpone.target-row-num-per-bucket"
	optOverwriteUpgrade    = "overwrite-upgrade"
)

const (
	defaultKeyedFileSize  = 128 << 20
	defaultAppendFileSize = 256 << 20
	defaultWriteBuffer    = 256 << 20
	// maxWriteBuffer bounds write-buffer-size: the bytes of one column must have 32-bit offsets.
	maxWriteBuffer = 1 << 30
	// minWriteBuffer keeps spilled runs from becoming tiny.
	minWriteBuffer = 64 << 10
	// maxDynamicBucket is the greatest number of a dynamic bucket (a short in Paimon).
	maxDynamicBucket = 32767
)

// MaxRescaleBuckets bounds the number of buckets that a compaction of a postpone table, or a rescale, gives a partition.
const MaxRescaleBuckets = 1 << 16

// tableOptions are a table's options as far as writing goes.
type tableOptions struct {
	mode     schema.BucketMode
	buckets  int
	function string
	// formats and codecs are by level; -1 is the default.
	formats, codecs map[int]string
	zstdLevel       int
	blockSize       int64
	suffixCodec     bool
	prefix          string
	dataDir         string
	changelog       fileLook
	changelogInput  bool
	targetSize      int64
	targetRows      int64
	// smallSize is the size below which compactions of append tables may rewrite a file.
	smallSize      int64
	bufferBytes    int64
	thin           bool
	dynamicRows    int64
	maxBuckets     int
	indexInDataDir bool
	// postponed says that rows go to the postpone bucket, not to real ones.
	postponed bool
	// postponeBuckets is the number of buckets of a postpone table's partition that has none yet; with
	// postponeRows, not 0, a compaction counts on so many rows a bucket instead.
	postponeBuckets int
	postponeRows    int64
	upgrade         bool
	// indexThreshold is the size up to which file indexes are kept in the manifest.
	indexThreshold int64
	topLevel       int
	stats          statsOptions
}

// fileLook is how files of one kind and level look.
type fileLook struct{ prefix, format, codec string }

func lookup[T any](opts map[string]string, key string, def T, parse func(string) (T, error)) (T, error) {
	text, ok := opts[key]
	if !ok {
		return def, nil
	}
	v, err := parse(text)
	if err != nil {
		return def, errs.Invalidf("option '%s' has the value '%s': %w", key, text, err)
	}
	return v, nil
}

func parseInt(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0, errs.Invalidf("it must be an integer")
	}
	return n, nil
}

// parsePerLevel parses `0:avro,5:parquet`.
func parsePerLevel(s string) (map[int]string, error) {
	out := map[int]string{}
	for item := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		l, v, ok := strings.Cut(item, ":")
		level, err := strconv.Atoi(strings.TrimSpace(l))
		if !ok || err != nil || level < 0 {
			return nil, errs.Invalidf("it must be a list like 0:avro,1:parquet")
		}
		out[level] = strings.TrimSpace(v)
	}
	return out, nil
}

// readOptions reads a table's options; a wrong value is errs.Invalid.
func readOptions(s *schema.TableSchema, topLevel int) (*tableOptions, error) {
	m := s.Options
	o := &tableOptions{
		mode: s.BucketMode(), buckets: s.Bucket(), topLevel: topLevel,
		prefix: schema.OptDataFilePrefix.Value(m), dataDir: strings.Trim(schema.OptDataFileDirectory.Value(m), "/"),
	}
	var err error
	get := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	get(func() (e error) { o.function, e = schema.OptBucketFunction.Get(m); return e })
	get(func() (e error) { o.thin, e = schema.OptThinMode.Get(m); return e })
	get(func() (e error) { o.dynamicRows, e = schema.OptDynamicBucketRows.Get(m); return e })
	get(func() (e error) { o.indexInDataDir, e = schema.OptIndexInDataDir.Get(m); return e })
	get(func() (e error) { o.indexThreshold, e = schema.OptFileIndexThreshold.Get(m); return e })
	get(func() (e error) {
		o.formats, e = lookup(m, optFormatPerLevel, map[int]string{}, parsePerLevel)
		return e
	})
	get(func() (e error) {
		o.codecs, e = lookup(m, optCompressionPerLevel, map[int]string{}, parsePerLevel)
		return e
	})
	get(func() (e error) {
		o.suffixCodec, e = lookup(m, optSuffixCompression, false, schema.ParseBool)
		return e
	})
	get(func() (e error) { o.upgrade, e = lookup(m, optOverwriteUpgrade, true, schema.ParseBool); return e })
	get(func() (e error) { o.blockSize, e = lookup(m, optBlockSize, 0, schema.ParseMemorySize); return e })
	get(func() (e error) { o.targetRows, e = lookup(m, optTargetRows, 0, parseInt); return e })
	get(func() (e error) {
		o.bufferBytes, e = lookup(m, optWriteBuffer, defaultWriteBuffer, schema.ParseMemorySize)
		return e
	})
	get(func() (e error) {
		n, e := lookup(m, optZstdLevel, 1, parseInt)
		o.zstdLevel = int(n)
		return e
	})
	get(func() (e error) {
		n, e := lookup(m, optMaxBuckets, -1, parseInt)
		o.maxBuckets = int(n)
		return e
	})
	get(func() (e error) {
		var set bool
		if o.targetSize, set, e = schema.OptTargetFileSize.Lookup(m); !set {
			o.targetSize = defaultAppendFileSize
			if s.HasPrimaryKey() {
				o.targetSize = defaultKeyedFileSize
			}
		}
		return e
	})
	get(func() error {
		o.smallSize = o.targetSize
		if o.mode != schema.BucketUnaware {
			return nil
		}
		ratio, e := schema.OptSmallFileRatio.Get(m)
		o.smallSize = int64(float64(o.targetSize) * ratio)
		return e
	})
	get(func() error { return o.readPostpone(m) })
	get(func() error {
		p, e := schema.OptChangelogProducer.Get(m)
		o.changelogInput = p == "input" && s.HasPrimaryKey()
		return e
	})
	get(func() (e error) { o.stats, e = readStatsOptions(s); return e })
	if err != nil {
		return nil, err
	}
	o.formats[-1], o.codecs[-1] = strings.ToLower(schema.OptFileFormat.Value(m)), schema.OptFileCompression.Value(m)
	o.changelog = fileLook{prefix: schema.OptChangelogPrefix.Value(m), format: o.formats[-1], codec: o.codecs[-1]}
	if v := m[optChangelogFormat]; v != "" {
		o.changelog.format = strings.ToLower(v)
	}
	if v := m[optChangelogCodec]; v != "" {
		o.changelog.codec = v
	}
	o.bufferBytes = max(min(o.bufferBytes, maxWriteBuffer), minWriteBuffer)
	if o.maxBuckets <= 0 {
		o.maxBuckets = maxDynamicBucket
	}
	if o.mode == schema.HashFixed && o.buckets < 1 {
		return nil, errs.Invalidf("option 'bucket' is %d", o.buckets)
	}
	return o, nil
}

// readPostpone decides where rows of a postpone-bucket table go: batch writers
// write real buckets unless postpone.batch-write-fixed-bucket is false (section 6.6).
func (o *tableOptions) readPostpone(m map[string]string) error {
	if o.mode != schema.Postpone {
		return nil
	}
	fixed, err := lookup(m, optPostponeFixed, true, schema.ParseBool)
	if err != nil {
		return err
	}
	n, err := lookup(m, optPostponeBuckets, 1, parseInt)
	if err != nil || n < 1 || n > MaxRescaleBuckets {
		return errs.Invalidf("option '%s' has the value '%s': it must be an integer from 1 to %d", optPostponeBuckets, m[optPostponeBuckets], MaxRescaleBuckets)
	}
	o.postponeBuckets = int(n)
	if _, set := m[optPostponeRows]; set {
		if o.postponeRows, err = lookup(m, optPostponeRows, 0, parseInt); err != nil || o.postponeRows < 1 {
			return errs.Invalidf("Option '%s' must be greater than 0.", optPostponeRows)
		}
	}
	if o.postponed = !fixed; fixed {
		o.buckets = o.postponeBuckets
	}
	return nil
}

// replay has the options for rows that come from the postpone bucket: they go to real buckets.
func (o *tableOptions) replay() { o.postponed, o.buckets = false, o.postponeBuckets }

// look is how data files of a level look.
func (o *tableOptions) look(level int) fileLook {
	pick := func(m map[int]string) string {
		if v, ok := m[level]; ok {
			return v
		}
		return m[-1]
	}
	return fileLook{prefix: o.prefix, format: strings.ToLower(pick(o.formats)), codec: pick(o.codecs)}
}
