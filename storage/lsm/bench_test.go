package lsm

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"sort"
	"syscall"
	"testing"
	"time"

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

// scenario makes k runs, oldest first.
func scenario(shape string, k int, text bool) []benchRun {
	rnd := rand.New(rand.NewSource(1))
	dense := make([]int64, benchRows)
	for i := range dense {
		dense[i] = int64(i)
	}
	var out []benchRun
	for i := range k {
		seq := int64(i) * benchRows
		switch {
		case shape == "interleaved":
			out = append(out, benchBatches(sortedKeys(rnd, benchRows/k, 0, benchRows*2), seq, text))
		case shape == "disjoint":
			out = append(out, benchBatches(dense[i*benchRows/k:(i+1)*benchRows/k], seq, text))
		case i == 0:
			out = append(out, benchBatches(dense, seq, text))
		case shape == "tail":
			out = append(out, benchBatches(sortedKeys(rnd, benchRows/100, benchRows*95/100, benchRows), seq, text))
		default: // base
			out = append(out, benchBatches(sortedKeys(rnd, benchRows/100, 0, benchRows), seq, text))
		}
	}
	return out
}

// cpuTime is the processor time used so far: on a shared machine it says more than the wall clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
	e, err := NewEngine(benchTable(text, opts))
	if err != nil {
		b.Fatal(err)
	}
	for _, shape := range []string{"base", "tail", "interleaved", "disjoint"} {
		for _, k := range []int{2, 4, 10} {
			b.Run(fmt.Sprintf("%s/K=%d", shape, k), func(b *testing.B) {
				runs := scenario(shape, k, text)
				total := 0
				for _, r := range runs {
					for _, bt := range r.batches {
						total += bt.N
					}
				}
				for _, form := range []string{"inplace", "ordered", "survivors"} {
					if form == "survivors" && !e.PicksRows() {
						continue
					}
					b.Run(form, func(b *testing.B) {
						start := cpuTime()
						for range b.N {
							if form == "survivors" {
								if _, err := Survivors(context.Background(), e, benchLayout(), positioned(runs), MergeOptions{}); err != nil {
									b.Fatal(err)
								}
								continue
							}
							r, err := NewMerge(context.Background(), e, benchLayout(), positioned(runs), MergeOptions{Unordered: form == "inplace"})
							if err != nil {
								b.Fatal(err)
							}
							consume(b, r)
						}
						b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N)/float64(total), "cpu-ns/row")
						b.ReportMetric(0, "ns/op")
					})
				}
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
	var payload []*column.Batch
	for _, bt := range base.batches {
		payload = append(payload, &column.Batch{N: bt.N, Cols: bt.Cols[3:]})
	}
	start := cpuTime()
	b.ResetTimer()
	for range b.N {
		consume(b, &loopReader{b: payload})
	}
	b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N)/benchRows, "cpu-ns/row")
	b.ReportMetric(0, "ns/op")
}
