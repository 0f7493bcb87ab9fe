package index

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
)

// body32 and body64 are magic and bitmap of a vector (section 10.1).
func body32(rows ...uint32) []byte {
	b, _ := roaring.BitmapOf(rows...).ToBytes()
	return append(binary.BigEndian.AppendUint32(nil, magic32), b...)
}

func body64(parts map[uint32][]uint32) []byte {
	out := binary.LittleEndian.AppendUint32(nil, magic64)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(parts)))
	var keys []uint32
	for k := range parts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		out = binary.LittleEndian.AppendUint32(out, k)
		b, _ := roaring.BitmapOf(parts[k]...).ToBytes()
		out = append(out, b...)
	}
	return out
}

// frame appends a vector to a file, returning its offset.
func frame(file, body []byte) ([]byte, int64) {
	off := int64(len(file))
	file = binary.BigEndian.AppendUint32(file, uint32(len(body)))
	file = append(file, body...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(body)), off
}

func one(n int64) *int64 { return &n }

func TestReadVectors(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	small := body32(1, 5, 4000)
	wide := body64(map[uint32][]uint32{0: {0, 2}, 3: {7}})
	file := []byte{fileVersion}
	file, at32 := frame(file, small)
	file, at64 := frame(file, wide)
	if err := fio.Overwrite(ctx, "/index/x", file); err != nil {
		t.Fatal(err)
	}
	c := NewCache(1 << 20)
	// Both kinds in one file, each with its own meaning of the length.
	v, err := ReadVector(ctx, fio, c, "/index/x", int64(len(file)), manifest.VectorRange{DataFile: "d", Offset: at32, Length: int64(len(small)), Cardinality: one(3)})
	if err != nil {
		t.Fatal(err)
	}
	if v.Cardinality() != 3 || !v.Contains(5) || v.Contains(6) || v.Contains(1<<32+5) || v.Max() != 4000 || v.Wide() {
		t.Error("small vector")
	}
	w, err := ReadVector(ctx, fio, c, "/index/x", -1, manifest.VectorRange{DataFile: "d", Offset: at64, Length: int64(len(wide)) + frameBytes})
	if err != nil {
		t.Fatal(err)
	}
	if w.Cardinality() != 3 || !w.Contains(3<<32+7) || w.Contains(7) || w.Max() != 3<<32+7 || !w.Wide() {
		t.Error("wide vector")
	}
	var all []int64
	w.Each(func(p int64) bool { all = append(all, p); return true })
	if !slices.Equal(all, []int64{0, 2, 3<<32 + 7}) {
		t.Error(all)
	}
	if again, _ := ReadVector(ctx, fio, c, "/index/x", -1, manifest.VectorRange{Offset: at64, Length: int64(len(wide)) + frameBytes}); again != w || c.Stats().Hits != 1 {
		t.Error("the cache is not used")
	}

	// Damage is named, never skipped.
	bad := func(name string, change func([]byte) []byte, size int64, r manifest.VectorRange) {
		t.Helper()
		if err := fio.Overwrite(ctx, "/index/bad", change(slices.Clone(file))); err != nil {
			t.Fatal(err)
		}
		_, err := ReadVector(ctx, fio, nil, "/index/bad", size, r)
		if !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), "/index/bad") {
			t.Errorf("%s: %v", name, err)
		}
	}
	keep := func(b []byte) []byte { return b }
	good := manifest.VectorRange{DataFile: "d", Offset: at32, Length: int64(len(small))}
	bad("bit", func(b []byte) []byte { b[at32+12] ^= 1; return b }, -1, good)
	bad("cut", func(b []byte) []byte { return b[:len(b)/2] }, int64(len(file)), good)
	bad("cut, size unknown", func(b []byte) []byte { return b[:20] }, -1, good)
	bad("empty", func(b []byte) []byte { return nil }, -1, good)
	bad("size", func(b []byte) []byte { b[at32+3]++; return b }, -1, good)
	bad("length", keep, -1, manifest.VectorRange{Offset: at32, Length: int64(len(small)) + 1})
	bad("length of the other kind", keep, -1, manifest.VectorRange{Offset: at32, Length: int64(len(small)) + frameBytes})
	bad("length of the other kind", keep, -1, manifest.VectorRange{Offset: at64, Length: int64(len(wide))})
	bad("offset", keep, -1, manifest.VectorRange{Offset: 1 << 40, Length: 10})
	bad("negative offset", keep, -1, manifest.VectorRange{Offset: -1, Length: 10})
	bad("negative length", keep, -1, manifest.VectorRange{Offset: at32, Length: -10})
	bad("cardinality", keep, -1, manifest.VectorRange{Offset: at32, Length: int64(len(small)), Cardinality: one(4)})
	if err := fio.Overwrite(ctx, "/index/v9", append([]byte{9}, file[1:]...)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadVector(ctx, fio, nil, "/index/v9", -1, good); !errs.Is(err, errs.Unsupported) {
		t.Error(err)
	}
	if _, err := ReadVector(ctx, fio, nil, "/index/none", -1, good); !errs.Is(err, errs.NotFound) || !strings.Contains(err.Error(), "/index/none") {
		t.Error(err)
	}
}

func TestFilter(t *testing.T) {
	v := NewVector(100, 102, 5000)
	if got := v.Filter(0, 100, nil, nil); got != nil {
		t.Error("nothing is deleted, but rows are selected", got)
	}
	sel := []uint16{1, 2, 3}
	if got := v.Filter(200, 50, sel, nil); &got[0] != &sel[0] {
		t.Error("a selection was copied for nothing")
	}
	if got := v.Filter(99, 5, nil, nil); !slices.Equal(got, []uint16{0, 2, 4}) {
		t.Error(got)
	}
	if got := v.Filter(99, 5, []uint16{1, 2, 3}, make([]uint16, 8)); !slices.Equal(got, []uint16{2}) {
		t.Error(got)
	}
	if got := v.Filter(100, 1, nil, nil); got == nil || len(got) != 0 {
		t.Error("all rows are deleted, but the selection says all", got)
	}
	if got := v.Filter(5000, 1, []uint16{0}, nil); got == nil || len(got) != 0 {
		t.Error(got)
	}
}

func TestLookUpVectors(t *testing.T) {
	entries := []manifest.IndexEntry{
		{Partition: binrow.Empty, Bucket: 0, Type: manifest.IndexHash, Name: "h"},
		{Partition: binrow.Empty, Bucket: 0, Type: manifest.IndexDeletionVectors, Name: "a", Ranges: []manifest.VectorRange{{DataFile: "f1", Offset: 1}, {DataFile: "f2", Offset: 9}}},
		{Partition: binrow.Empty, Bucket: 1, Type: manifest.IndexDeletionVectors, Name: "b", Ranges: []manifest.VectorRange{{DataFile: "f1", Offset: 3}}},
		{Partition: binrow.Empty, Bucket: 0, Type: "btree", Name: "g", Global: &manifest.GlobalIndex{}},
	}
	if err := CheckKinds("im", entries); err != nil {
		t.Error(err)
	}
	v, err := NewVectors("im", entries, nil)
	if err != nil || v.Len() != 3 {
		t.Fatal(v, err)
	}
	r, ok, err := v.Of(binrow.Empty, 1, "f1")
	if err != nil || !ok || r.Entry.Name != "b" || r.Range.Offset != 3 {
		t.Error(r, ok, err)
	}
	if _, ok, _ := v.Of(binrow.Empty, 0, "f3"); ok {
		t.Error("a vector of a file that has none")
	}
	if _, err := NewVectors("im", append(entries, entries[1]), nil); !errs.Is(err, errs.Corrupt) {
		t.Error("two vectors of one file:", err)
	}
	strange := append(entries, manifest.IndexEntry{Type: "TIME_CRYSTALS_V9", Name: "z"})
	if err := CheckKinds("im", strange); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "TIME_CRYSTALS_V9") || !strings.Contains(err.Error(), "im") {
		t.Error(err)
	}
}

func TestPaths(t *testing.T) {
	ext := "/elsewhere/x"
	for want, got := range map[string]string{
		"/t/index/i":    Path("/t", "/t/bucket-0", &manifest.IndexEntry{Name: "i"}, false),
		"/t/bucket-0/i": Path("/t", "/t/bucket-0", &manifest.IndexEntry{Name: "i"}, true),
		"/elsewhere/x":  Path("/t", "/t/bucket-0", &manifest.IndexEntry{Name: "i", ExternalPath: &ext}, true),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestReadHashes(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	if err := fio.Overwrite(ctx, "/h", []byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff}); err != nil {
		t.Fatal(err)
	}
	if h, err := ReadHashes(ctx, fio, "/h"); err != nil || !slices.Equal(h, []int32{1, -1}) {
		t.Error(h, err)
	}
	if err := fio.Overwrite(ctx, "/h", []byte{0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadHashes(ctx, fio, "/h"); !errs.Is(err, errs.Corrupt) {
		t.Error(err)
	}
}

// FuzzDecodeVector fuzzes what is behind the checksum.
func FuzzDecodeVector(f *testing.F) {
	f.Add(body32(1, 5, 4000))
	f.Add(body64(map[uint32][]uint32{0: {0, 2}, 3: {7}}))
	dense := roaring.New()
	dense.AddRange(10, 90000)
	dense.RunOptimize()
	b, _ := dense.ToBytes()
	f.Add(append(binary.BigEndian.AppendUint32(nil, magic32), b...))
	f.Fuzz(func(t *testing.T, body []byte) {
		file, at := frame(nil, body)
		v, err := decodeVector(file[at+4:], len(body))
		if err != nil {
			return
		}
		n := int64(0)
		last := int64(-1)
		v.Each(func(p int64) bool {
			if p <= last || !v.Contains(p) {
				t.Fatalf("position %d after %d", p, last)
			}
			last = p
			n++
			return n < 10000
		})
		if n < 10000 && n != v.Cardinality() {
			t.Fatalf("%d positions, cardinality %d", n, v.Cardinality())
		}
		v.Filter(0, 4096, nil, nil)
		if v.Max() > maxPosition64 {
			return
		}
		again, err := decodeBody(v.appendBody(nil))
		if err != nil || again.Cardinality() != v.Cardinality() || again.Max() != v.Max() || again.Wide() != v.Wide() {
			t.Fatalf("written and read again: %v", err)
		}
	})
}
