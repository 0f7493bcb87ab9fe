package write

import (
	"encoding/hex"
	"io"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// NewUUID returns a random UUID (version 4) in its text form.
func NewUUID(rand io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"), nil
}

// codecSuffixes are the extensions of compressions that Hadoop knows.
var codecSuffixes = map[string]string{"gzip": "gz", "bzip2": "bz2", "zstd": "zst"}

// suffix is a file's extension (section 1.4), e.g. parquet or zst.parquet.
func (l fileLook) suffix(withCodec bool) string {
	codec := strings.ToLower(l.codec)
	if !withCodec || codec == "" || codec == "none" {
		return l.format
	}
	if s, ok := codecSuffixes[codec]; ok {
		codec = s
	}
	return codec + "." + l.format
}

// bucketDir names a bucket's directory.
func bucketDir(bucket int) string {
	if bucket == schema.PostponeBucket {
		return "bucket-postpone"
	}
	return "bucket-" + strconv.Itoa(bucket)
}

// layout computes where files go.
type layout struct {
	dir    string // the table's directory, with that of the data below it
	fields []schema.Field
	def    string
	legacy bool
}

func newLayout(t *Target, o *tableOptions) *layout {
	l := &layout{dir: t.Dir, fields: t.Schema.PartitionFields(),
		def: schema.OptPartitionDefault.Value(t.Schema.Options), legacy: schema.OptPartitionLegacy.Value(t.Schema.Options)}
	if o.dataDir != "" {
		l.dir += "/" + o.dataDir
	}
	return l
}

// partitionDir is a partition's directory, with a slash at its end.
func (l *layout) partitionDir(vals []column.Scalar) (string, error) {
	p, err := binrow.PartitionPath(l.fields, vals, l.def, l.legacy)
	return l.dir + "/" + p, err
}

// nameSource names the files of one bucket's writer: one UUID, one counter.
type nameSource struct {
	uuid string
	next int
	// middle stands before the UUID: `-u-<user>-s-<writer>-w-` for postponed rows.
	middle string
}

func (n *nameSource) name(look fileLook, withCodec bool) string {
	s := look.prefix + n.middle + n.uuid + "-" + strconv.Itoa(n.next) + "." + look.suffix(withCodec)
	n.next++
	return s
}
