package index

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/tributarydb/tributary/storage/fileio"
)

// WriteHashes writes a HASH index file (section 6.4): the hashes of the keys of
// one bucket, in their order. It returns the file's length. On an error no file is left.
func WriteHashes(ctx context.Context, fio fileio.FileIO, file string, hashes []int32) (size int64, err error) {
	b := make([]byte, 0, 4*len(hashes))
	for _, h := range hashes {
		b = binary.BigEndian.AppendUint32(b, uint32(h))
	}
	w, err := fio.Create(ctx, file)
	if err == nil {
		if _, err = w.Write(b); err == nil {
			err = w.Close()
		}
		if err != nil {
			_ = w.Abort()
		}
	}
	if err != nil {
		return 0, fmt.Errorf("writing hash index file %s: %w", file, err)
	}
	return int64(len(b)), nil
}
