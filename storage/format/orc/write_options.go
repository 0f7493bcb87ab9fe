package orc

import (
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// Options of tables that the writer looks at (org.apache.orc.OrcConf of release 1.9,
// with which Apache Paimon 2.0.0 writes).
const (
	optStripeSize      = "orc.stripe.size"
	optStripeRows      = "orc.stripe.row.count"
	optCreateIndex     = "orc.create.index"
	optStride          = "orc.row.index.stride"
	optBlockSize       = "orc.compress.size"
	optEnforceBlock    = "orc.buffer.size.enforce"
	optCompress        = "orc.compress"
	optZstdLevel       = "orc.compression.zstd.level"
	optWriteFormat     = "orc.write.format"
	optEncoding        = "orc.encoding.strategy"
	optCompression     = "orc.compression.strategy"
	optBloomColumns    = "orc.bloom.filter.columns"
	optBloomFPP        = "orc.bloom.filter.fpp"
	optBloomVersion    = "orc.bloom.filter.write.version"
	optDictThreshold   = "orc.dictionary.key.threshold"
	optDictMaxBytes    = "orc.dictionary.max.size.bytes"
	optDictEarlyCheck  = "orc.dictionary.early.check"
	optDirectColumns   = "orc.column.encoding.direct"
	optProleptic       = "orc.proleptic.gregorian"
	optLegacyTimestamp = "orc.timestamp-ltz.legacy.type"
)

const (
	// defaultStripeSize is about how many bytes a stripe has at most.
	defaultStripeSize = 64 << 20
	defaultStride     = 10_000
	// minStride is the least distance of row index entries that there may be.
	minStride = 1000
	// defaultDictThreshold is the greatest part of distinct values of a column with a dictionary.
	defaultDictThreshold = 0.8
	defaultBloomFPP      = 0.01
	// minBlock and maxAutoBlock bound the compression block that follows from the stripe's size.
	minBlock     = 4 << 10
	maxAutoBlock = 256 << 10
	// blocksPerColumn is how many blocks a column is to have in a stripe: two streams of ten.
	blocksPerColumn = 20
)

// writeOptions are the options of a file.
type writeOptions struct {
	codec        codec
	zstdLevel    int
	compressHard bool
	blockSize    int
	stripeSize   int64
	stripeRows   int64
	// stride is the distance of row index entries in rows; 0 = no index.
	stride        int
	aligned       bool
	threshold     float64
	maxDictionary int64
	earlyCheck    bool
	bloomFPP      float64
	bloomColumns  []string
	directColumns []string
	// proleptic is what the footer says of the calendar.
	proleptic bool
}

// writeCodecs are the names of options file.compression and orc.compress (org.apache.orc.CompressionKind).
var writeCodecs = map[string]codec{"": codecZstd, "ZSTD": codecZstd, "ZLIB": codecZlib, "SNAPPY": codecSnappy, "LZ4": codecLZ4, "NONE": codecNone}

// optionReader parses options and keeps the first error.
type optionReader struct {
	m   map[string]string
	err error
}

func (r *optionReader) bad(key, want string) {
	if r.err == nil {
		r.err = errs.Invalidf("option '%s' has the value '%s': it must be %s", key, r.m[key], want)
	}
}

func (r *optionReader) int(key string, def, least, most int64) int64 {
	text, ok := r.m[key]
	if !ok {
		return def
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < least || n > most {
		r.bad(key, "an integer from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
		return def
	}
	return n
}

func (r *optionReader) bool(key string, def bool) bool {
	text, ok := r.m[key]
	if !ok {
		return def
	}
	b, err := schema.ParseBool(text)
	if err != nil {
		r.bad(key, "true or false")
	}
	return b
}

func (r *optionReader) float(key string, def float64) float64 {
	text, ok := r.m[key]
	if !ok {
		return def
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || f != f {
		r.bad(key, "a number")
	}
	return f
}

// choice returns the value in capitals, which must be one of the list; the first is the default.
func (r *optionReader) choice(key string, list ...string) string {
	text, ok := r.m[key]
	if !ok {
		return list[0]
	}
	for _, v := range list {
		if strings.EqualFold(strings.TrimSpace(text), v) {
			return v
		}
	}
	if r.err == nil {
		r.err = errs.Unsupportedf("ORC files cannot be written with '%s' = '%s' here (known: %s)", key, text, strings.Join(list, ", "))
	}
	return list[0]
}

func (r *optionReader) names(key string) (out []string) {
	for name := range strings.SplitSeq(r.m[key], ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

const maxInt64 = 1<<63 - 1

// readOptions reads the options of a file with a number of columns, nested ones and the root included.
func readOptions(o format.WriteOptions, columns int) (*writeOptions, error) {
	r := &optionReader{m: o.Options}
	out := &writeOptions{
		stripeSize: r.int(optStripeSize, defaultStripeSize, 1, maxInt64),
		stripeRows: r.int(optStripeRows, maxInt64, 1, maxInt64),
		stride:     int(r.int(optStride, defaultStride, 0, 1<<31-1)),
		blockSize:  int(r.int(optBlockSize, defaultCompressionBlock, 1, maxCompressionBlock)),
		zstdLevel:  int(r.int(optZstdLevel, int64(max(o.ZstdLevel, 1)), 1, 22)),
		threshold:  r.float(optDictThreshold, defaultDictThreshold),
		earlyCheck: r.bool(optDictEarlyCheck, true), maxDictionary: r.int(optDictMaxBytes, 0, 0, maxInt64),
		bloomFPP: r.float(optBloomFPP, defaultBloomFPP), bloomColumns: r.names(optBloomColumns), directColumns: r.names(optDirectColumns),
		proleptic: r.bool(optProleptic, false),
	}
	out.aligned = r.choice(optEncoding, "SPEED", "COMPRESSION") == "SPEED"
	out.compressHard = r.choice(optCompression, "SPEED", "COMPRESSION") == "COMPRESSION"
	r.choice(optWriteFormat, "0.12")
	r.choice(optBloomVersion, "utf8")
	r.bool(optLegacyTimestamp, true) // times are written in UTC, where both ways agree
	if !r.bool(optCreateIndex, true) {
		out.stride = 0
	}
	if out.stride > 0 && out.stride < minStride {
		r.bad(optStride, "0 or at least "+strconv.Itoa(minStride))
	}
	if out.bloomFPP <= 0 || out.bloomFPP >= 1 {
		r.bad(optBloomFPP, "a number between 0 and 1")
	}
	for _, key := range []string{"orc.encrypt", "orc.mask"} {
		if r.m[key] != "" && r.err == nil {
			r.err = errs.Unsupportedf("option '%s': encrypted ORC files cannot be written", key)
		}
	}
	name, key := o.Compression, "file.compression"
	if v, ok := r.m[optCompress]; ok {
		name, key = v, optCompress
	}
	var ok bool
	if out.codec, ok = writeCodecs[strings.ToUpper(name)]; !ok && r.err == nil {
		r.err = errs.Unsupportedf("ORC files cannot be written with '%s' = '%s' here (known: zstd, zlib, snappy, lz4, none)", key, name)
	}
	if r.err != nil {
		return nil, r.err
	}
	if o.BlockSize > 0 {
		out.stripeSize = o.BlockSize
	}
	if !r.bool(optEnforceBlock, false) {
		out.blockSize = min(out.blockSize, autoBlock(out.stripeSize, columns))
	}
	return out, r.err
}

// autoBlock is the greatest compression block of a file (org.apache.orc.impl.WriterImpl.getEstimatedBufferSize).
func autoBlock(stripe int64, columns int) int {
	want := stripe / int64(blocksPerColumn*columns)
	n := int64(minBlock)
	for n < want && n < maxAutoBlock {
		n *= 2
	}
	return int(n)
}
