package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/index/bitmapio"
)

// numbers is the generator behind the vectors of testdata.
type numbers uint64

func (n *numbers) next() int64 {
	*n = *n*6364136223846793005 + 1442695040888963407
	return int64(*n >> 33)
}

func span(from, to, step int64) (out []int64) {
	for ; from < to; from += step {
		out = append(out, from)
	}
	return out
}

func scatter(n int, limit int64) []int64 {
	r := numbers(n)
	var out []int64
	for range n {
		out = append(out, r.next()%limit)
	}
	return out
}

func vectorSamples() map[string][]int64 {
	return map[string][]int64{
		"empty": nil, "one": {7}, "two": {7, 8}, "three": {7, 8, 9}, "four": {7, 8, 10, 11}, "five": {7, 8, 9, 11, 12},
		"dense": span(0, 10000, 1), "third": span(0, 20000, 3), "limit4096": span(0, 8192, 2), "limit4097": span(0, 8194, 2),
		"scatter": scatter(300, 400000), "many": scatter(9000, 20000),
		"pairs": append(span(0, 6000, 3), span(1, 6000, 3)...),
		"mixed": slices.Concat(span(0, 100, 1), scatter(50, 300000), span(131072, 140000, 1)),
		"far":   {1, 1<<32 + 5, 3<<32 + 9},
	}
}

// What is written are the bytes that Paimon writes.
func TestVectorBytes(t *testing.T) {
	ctx := context.Background()
	text, err := os.ReadFile("testdata/vectors-2.0.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	samples := vectorSamples()
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		name, wide, want := f[0], f[1] == "wide", f[2]
		seen[name] = true
		v, err := VectorOf(wide, samples[name]...)
		if err != nil {
			t.Fatal(err)
		}
		fio := fileio.NewMemory()
		w, err := CreateVectors(ctx, fio, "/x")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add("d", v); err != nil {
			t.Fatal(err)
		}
		ranges, size, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		b, err := fio.ReadFile(ctx, "/x")
		if err != nil || int64(len(b)) != size {
			t.Fatal(len(b), size, err)
		}
		got := hex.EncodeToString(b[1:])
		if strings.HasPrefix(want, "sha256:") {
			sum := sha256.Sum256(b[1:])
			got = "sha256:" + hex.EncodeToString(sum[:])
		}
		if got != want {
			t.Errorf("%s, %s is\n%s, Paimon's is\n%s", name, f[1], got, want)
		}
		back, err := ReadVector(ctx, fio, nil, "/x", size, ranges[0])
		if err != nil {
			t.Fatal(err)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(samples[name])))
		var read []int64
		back.Each(func(p int64) bool { read = append(read, p); return true })
		if !slices.Equal(read, distinct) || back.Wide() != wide || back.Cardinality() != int64(len(distinct)) {
			t.Errorf("%s, %s: %d positions are read, want %d", name, f[1], len(read), len(distinct))
		}
	}
	if len(seen) != len(samples) {
		t.Errorf("%d samples were compared, not %d", len(seen), len(samples))
	}
}

func TestVectorWriter(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	narrow, err := VectorOf(false, 3, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := VectorOf(true, 1<<32+1, 9)
	if err != nil {
		t.Fatal(err)
	}
	w, err := CreateVectors(ctx, fio, "/i/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("a", narrow); err != nil {
		t.Fatal(err)
	}
	if err := w.Add("b", wide); err != nil {
		t.Fatal(err)
	}
	if err := w.Add("a", wide); !errs.Is(err, errs.Invalid) {
		t.Error("two vectors of one data file:", err)
	}
	ranges, size, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	w.Abort() // does nothing any more
	if len(ranges) != 2 || ranges[0].Offset != 1 || ranges[1].DataFile != "b" || *ranges[0].Cardinality != 2 || ranges[1].Offset != 1+ranges[0].Length+frameBytes || ranges[1].Offset+ranges[1].Length != size {
		t.Errorf("%+v, size %d", ranges, size)
	}
	for i, v := range []*Vector{narrow, wide} {
		got, err := ReadVector(ctx, fio, nil, "/i/x", size, ranges[i])
		if err != nil || got.Cardinality() != v.Cardinality() || got.Max() != v.Max() || got.Wide() != v.Wide() {
			t.Error(got, err)
		}
	}
	// No vector at all: the version only.
	w, err = CreateVectors(ctx, fio, "/i/y")
	if err != nil {
		t.Fatal(err)
	}
	if ranges, size, err = w.Close(); err != nil || ranges == nil || len(ranges) != 0 || size != 1 {
		t.Error(ranges, size, err)
	}
	// What was given up is not there.
	w, err = CreateVectors(ctx, fio, "/i/z")
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if _, err := fio.ReadFile(ctx, "/i/z"); !errs.Is(err, errs.NotFound) {
		t.Error(err)
	}
}

func TestVectorChanges(t *testing.T) {
	v, err := VectorOf(false, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	more, err := v.With(true, 1<<33, 2, 5)
	if err != nil || more.Cardinality() != 4 || !more.Wide() || v.Cardinality() != 2 || v.Wide() {
		t.Error(more, err)
	}
	u, err := v.Union(more, true)
	if err != nil || u.Cardinality() != 4 || !u.Contains(1<<33) || !u.Contains(1) {
		t.Error(u, err)
	}
	if u, err = u.Union(nil, true); err != nil || u.Cardinality() != 4 {
		t.Error(u, err)
	}
	if u, err = (*Vector)(nil).Union(v, false); err != nil || u.Cardinality() != 2 {
		t.Error(u, err)
	}
	for _, f := range []func() (*Vector, error){
		func() (*Vector, error) { return more.With(false) },
		func() (*Vector, error) { return v.Union(more, false) },
		func() (*Vector, error) { return VectorOf(false, 1<<31) },
	} {
		if _, err := f(); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "deletion-vectors.bitmap64") {
			t.Error("32 bits do not hold that:", err)
		}
	}
	for _, wide := range []bool{false, true} {
		if _, err := VectorOf(wide, -1); err == nil {
			t.Error("a negative position")
		}
	}
	if _, err := VectorOf(true, 1<<50); !errs.Is(err, errs.Invalid) {
		t.Error("a vector of very many parts:", err)
	}
}

// The Go library reads any set as it was written.
func TestBitmapBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		set := roaring.New()
		for range r.IntN(8) {
			base := r.Uint32N(1 << uint(10+r.IntN(22)))
			switch r.IntN(3) {
			case 0:
				set.AddRange(uint64(base), uint64(base)+uint64(r.IntN(100000)))
			case 1:
				for range r.IntN(6000) {
					set.Add(base + r.Uint32N(60000))
				}
			default:
				for i := range r.Uint32N(9000) {
					set.Add(base + i*uint32(1+r.IntN(3)))
				}
			}
		}
		b := bitmapio.AppendSorted([]byte("before"), set.ToArray())
		back, rest, err := readBitmap(b[len("before"):])
		if err != nil || len(rest) != 0 || !back.Equals(set) {
			t.Fatalf("%d positions: %v, %d bytes left", set.GetCardinality(), err, len(rest))
		}
	}
}

func TestWriteHashes(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	for _, in := range [][]int32{{}, {1, -1, 1 << 30}} {
		size, err := WriteHashes(ctx, fio, "/h", in)
		if err != nil || size != int64(4*len(in)) {
			t.Fatal(size, err)
		}
		if out, err := ReadHashes(ctx, fio, "/h"); err != nil || !slices.Equal(in, out) {
			t.Error(out, err)
		}
	}
}

// A failing write leaves no file behind.
func TestIndexWriteFaults(t *testing.T) {
	ctx := context.Background()
	for nth := 1; ; nth++ {
		mem := fileio.NewMemory()
		faulty := fileio.NewFaulty(mem)
		faulty.Inject(fileio.Fault{Nth: nth})
		_, err := WriteHashes(ctx, faulty, "/i/h", []int32{1, 2})
		if err == nil {
			var w *VectorWriter
			if w, err = CreateVectors(ctx, faulty, "/i/v"); err == nil {
				if err = w.Add("d", NewVector(1)); err == nil {
					_, _, err = w.Close()
				} else {
					w.Abort()
				}
			}
			if left, _ := mem.List(ctx, "/i"); err != nil && len(left) != 1 {
				t.Fatalf("fault %d (%v): %v", nth, err, left)
			}
		} else if left, _ := mem.List(ctx, "/i"); len(left) > 0 {
			t.Fatalf("fault %d (%v): %v", nth, err, left)
		}
		if err == nil {
			if nth < 6 {
				t.Fatal("too few faults", nth)
			}
			return
		}
	}
}
