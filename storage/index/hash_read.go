package index

import (
	"context"
	"encoding/binary"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// ReadHashes reads a HASH index file: the hashes of the keys of one bucket of
// a dynamic-bucket table.
func ReadHashes(ctx context.Context, fio fileio.FileIO, file string) ([]int32, error) {
	b, err := fio.ReadFile(ctx, file)
	if err != nil {
		return nil, err
	}
	if len(b)%4 != 0 {
		return nil, errs.Corruptf("hash index file %s is damaged: it has %d bytes", file, len(b))
	}
	out := make([]int32, len(b)/4)
	for i := range out {
		out[i] = int32(binary.BigEndian.Uint32(b[4*i:]))
	}
	return out, nil
}
