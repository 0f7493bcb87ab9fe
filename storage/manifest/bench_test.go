package manifest

import (
	"context"
	"strconv"
	"testing"

	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/schema"
)

// BenchmarkLive reads and merges 300 small manifests, nothing kept.
func BenchmarkLive(b *testing.B) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	data := sample(b, "manifest-2.0.0")
	types := typ(b, "ROW<p STRING>").Fields
	var infos []FileInfo
	for i := range 300 {
		name := "m" + strconv.Itoa(i)
		if err := fio.Overwrite(ctx, "/t/manifest/"+name, data); err != nil {
			b.Fatal(err)
		}
		infos = append(infos, FileInfo{Name: name, Size: int64(len(data))})
	}
	s := NewStore(fio, "/t", nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Live(ctx, infos, schema.Types(types), nil); err != nil {
			b.Fatal(err)
		}
	}
}
