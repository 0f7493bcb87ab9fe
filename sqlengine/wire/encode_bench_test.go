package wire_test

import (
	"io"
	"testing"
)

// BenchmarkSource sends 1 M rows of (bigint, int, double, text) to a client that counts bytes.
func BenchmarkSource(b *testing.B) {
	for _, c := range []struct{ name, q string }{
		{"batches", "select * from fake_source('four', 1000000)"},
		{"boxed", "select c0, c1, c2, c3 from fake_source('four', 1000000) where c0 >= 0"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := start(b, options{})
			for b.Loop() {
				b.StopTimer()
				cl := rawDial(b, s.addr, rawOptions{})
				b.StartTimer()
				cl.command(3, []byte(c.q)...)
				cl.command(1)
				n, err := io.Copy(io.Discard, cl.nc)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(n)
			}
			b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
