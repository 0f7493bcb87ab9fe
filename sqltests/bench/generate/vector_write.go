package generate

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/RoaringBitmap/roaring/v2"
)

const (
	vectorFileVersion = 1
	vectorMagic       = 1581511376
)

// deleted are the deleted positions of a data file.
type deleted struct {
	file      string
	positions *roaring.Bitmap
}

// writeVectors writes the deletion vectors of a bucket (32-bit form).
func (t *table) writeVectors(bucket int, list []deleted) (vectorFile, error) {
	out := []byte{vectorFileVersion}
	f := vectorFile{bucket: bucket, name: "index-" + uuid(t.seed, 3, uint64(bucket)) + "-0"}
	for _, d := range list {
		d.positions.RunOptimize()
		body, err := d.positions.ToBytes()
		if err != nil {
			return f, err
		}
		body = append(binary.BigEndian.AppendUint32(nil, vectorMagic), body...)
		f.ranges = append(f.ranges, vectorRange{d.file, len(out), len(body), int64(d.positions.GetCardinality())})
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		out = append(out, body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	}
	f.size = int64(len(out))
	return f, os.WriteFile(filepath.Join(t.dir, "index", f.name), out, 0o666)
}
