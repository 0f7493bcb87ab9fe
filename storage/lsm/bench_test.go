package lsm

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"sort"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// The scenarios of merge-on-read: a full base and small deltas, deltas in the
// last keys only, equal interleaved runs, disjoint runs. The metric is ns for
// each input row.

const benchRows = 1 << 20

type benchRun struct{ batches []*column.Batch }

// loopReader replays a run's batches.
type loopReader struct {
	b []*column.Batch
	i int
}

func (l *loopReader) Next(context.Context) (*column.Batch, error) {
	if l.i == len(l.b) {
		return nil, io.EOF
	}
	l.i++
	return l.b[l.i-1], nil
}
func (l *loopReader) Close() error { return nil }

// benchBatches makes a run of the keys with seq, kind and 4 payload columns.
func benchBatches(keys []int64, seq int64, text bool) benchRun {
	var r benchRun
	for len(keys) > 0 {
		n := min(len(keys), column.MaxRows)
		kb := column.NewBuilder(column.KindInt64)
		if text {
			kb = column.NewBuilder(column.KindBytes)
		}
		cols := []*column.Builder{kb, column.NewBuilder(column.KindInt64), column.NewBuilder(column.KindInt32),
			column.NewBuilder(column.KindInt64), column.NewBuilder(column.KindInt64), column.NewBuilder(column.KindFloat64), column.NewBuilder(column.KindInt32)}
		for i, k := range keys[:n] {
			if text {
				kb.AppendString(fmt.Sprintf("customer-name-%010d", k))
			} else {
				kb.AppendInt(k)
			}
			cols[1].AppendInt(seq + int64(i))
			cols[2].AppendInt(0)
			cols[3].AppendInt(k * 3)
			cols[4].AppendInt(k ^ 5)
			cols[5].AppendFloat(float64(k))
			cols[6].AppendInt(k & 0xff)
		}
		b := &column.Batch{N: n}
		for _, c := range cols {
			b.Cols = append(b.Cols, c.Finish())
		}
		r.batches = append(r.batches, b)
		keys = keys[n:]
	}
	return r
}

func sortedKeys(rnd *rand.Rand, n int, lo, hi int64) []int64 {
	set := make(map[int64]bool, n)
	out := make([]int64, 0, n)
	for len(out) < n {
		k := lo + rnd.Int63n(hi-lo)
		if !set[k] {
			set[k] = true
			out = append(out, k)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

// benchScenarios returns runs, oldest first, by name.
func benchScenarios(text bool) map[string][]benchRun {
	rnd := rand.New(rand.NewSource(1))
	out := map[string][]benchRun{}
	dense := make([]int64, benchRows)
	for i := range dense {
		dense[i] = int64(i)
	}
	base := benchBatches(dense, 0, text)
	for _, k := range []int{2, 4, 10} {
		random, tail := []benchRun{base}, []benchRun{base}
		for i := 1; i < k; i++ {
			random = append(random, benchBatches(sortedKeys(rnd, benchRows/100, 0, benchRows), int64(i)*benchRows, text))
			tail = append(tail, benchBatches(sortedKeys(rnd, benchRows/100, benchRows*95/100, benchRows), int64(i)*benchRows, text))
		}
		out[fmt.Sprintf("base+1%%/K=%d", k)] = random
		out[fmt.Sprintf("tail/K=%d", k)] = tail
		var equal, disjoint []benchRun
		for i := range k {
			equal = append(equal, benchBatches(sortedKeys(rnd, benchRows/k, 0, benchRows*2), int64(i)*benchRows, text))
			disjoint = append(disjoint, benchBatches(dense[i*benchRows/k:(i+1)*benchRows/k], int64(i)*benchRows, text))
		}
		out[fmt.Sprintf("interleaved/K=%d", k)] = equal
		out[fmt.Sprintf("disjoint/K=%d", k)] = disjoint
	}
	return out
}

func benchLayout() Layout {
	return Layout{Keys: []int{0}, Seq: 1, Kind: 2, Values: []int{3, 4, 5, 6}, Fields: []int{1, 2, 3, 4}}
}

func benchTable(text bool, opts map[string]string) TableInfo {
	key := tBig
	if text {
		key = tString
	}
	return TableInfo{PrimaryKeys: []string{"k"}, Options: opts, Fields: []schema.Field{
		field("k", key), field("a", tBig), field("b", tBig), field("c", tDouble), field("d", tInt)}}
}

// consume sums all values, so that they are touched.
func consume(b *testing.B, r interface {
	Next(context.Context) (*column.Batch, error)
	Close() error
}) (rows int, sum int64) {
	for {
		bt, err := r.Next(context.Background())
		if err == io.EOF {
			r.Close()
			return rows, sum
		}
		if err != nil {
			b.Fatal(err)
		}
		rows += bt.Rows()
		for _, v := range bt.Cols {
			if bt.Sel != nil {
				for _, i := range bt.Sel {
					switch v.Kind {
					case column.KindInt64:
						sum += v.I64[i]
					case column.KindInt32:
						sum += int64(v.I32[i])
					case column.KindFloat64:
						sum += int64(v.F64[i])
					}
				}
				continue
			}
			for _, x := range v.I64 {
				sum += x
			}
			for _, x := range v.I32 {
				sum += int64(x)
			}
			for _, x := range v.F64 {
				sum += int64(x)
			}
		}
	}
}

func runBench(b *testing.B, text bool, opts map[string]string) {
	sc := benchScenarios(text)
	var names []string
	for n := range sc {
		names = append(names, n)
	}
	sort.Strings(names)
	e, err := NewEngine(benchTable(text, opts))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range names {
		runs := sc[n]
		total := 0
		for _, r := range runs {
			for _, bt := range r.batches {
				total += bt.N
			}
		}
		readers := func() []RunReader {
			var out []RunReader
			for _, r := range runs {
				out = append(out, &loopReader{b: r.batches})
			}
			return out
		}
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/row")
			b.ReportMetric(0, "ns/op")
		}
		for _, unordered := range []bool{true, false} {
			shape := "inplace"
			if !unordered {
				shape = "ordered"
			}
			b.Run(n+"/"+shape, func(b *testing.B) {
				for range b.N {
					r, err := NewMerge(context.Background(), e, benchLayout(), readers(), MergeOptions{Unordered: unordered})
					if err != nil {
						b.Fatal(err)
					}
					consume(b, r)
				}
				report(b)
			})
		}
		if e.PicksRows() {
			b.Run(n+"/survivors", func(b *testing.B) {
				for range b.N {
					if _, err := Survivors(context.Background(), e, benchLayout(), positioned(runs), MergeOptions{}); err != nil {
						b.Fatal(err)
					}
				}
				report(b)
			})
		}
	}
}

// positioned numbers the rows of the runs.
func positioned(runs []benchRun) []RunReader {
	var out []RunReader
	for _, r := range runs {
		pos := int64(0)
		for _, bt := range r.batches {
			bt.Base = pos
			pos += int64(bt.N)
		}
		out = append(out, &loopReader{b: r.batches})
	}
	return out
}

func BenchmarkMergeInt64(b *testing.B)  { runBench(b, false, nil) }
func BenchmarkMergeString(b *testing.B) { runBench(b, true, nil) }
func BenchmarkMergePartial(b *testing.B) {
	runBench(b, false, map[string]string{"merge-engine": "partial-update"})
}
func BenchmarkMergeSum(b *testing.B) {
	runBench(b, false, map[string]string{"merge-engine": "aggregation", "fields.default-aggregate-function": "sum"})
}

// BenchmarkPlainScan is the base alone, not merged: what all others are to be compared with.
func BenchmarkPlainScan(b *testing.B) {
	dense := make([]int64, benchRows)
	for i := range dense {
		dense[i] = int64(i)
	}
	base := benchBatches(dense, 0, false)
	for range b.N {
		for _, bt := range base.batches {
			consume(b, &loopReader{b: []*column.Batch{{N: bt.N, Cols: bt.Cols[3:]}}})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	b.ReportMetric(0, "ns/op")
}
