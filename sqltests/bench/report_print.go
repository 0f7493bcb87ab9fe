package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// printRatios prints the table of ratios.
func printRatios(w io.Writer, engines []engine, all []measurement, rows int64) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "table\tquery\t")
	for _, e := range engines[1:] {
		fmt.Fprintf(t, "ours / %s\t(rounds)\t(CPU)\t", e.name())
	}
	fmt.Fprint(t, "|\tours ms\tns/row\t")
	for _, e := range engines[1:] {
		fmt.Fprintf(t, "%s ms\t", e.name())
	}
	fmt.Fprintln(t)
	for i := range all {
		m := &all[i]
		fmt.Fprintf(t, "%s\t%s\t", m.table.Name, m.query.name)
		for k := range engines[1:] {
			if r := m.ratios(k + 1); len(r) > 0 {
				fmt.Fprintf(t, "%.2f\t%.2f-%.2f\t%s\t", median(r), slices.Min(r), slices.Max(r), m.processorRatio(k+1))
			} else {
				fmt.Fprint(t, "-\t\t\t")
			}
		}
		ours := median(m.cells[0].times)
		fmt.Fprintf(t, "|\t%.0f\t%.1f\t", milliseconds(ours), float64(ours)/float64(rows))
		for k := range engines[1:] {
			if c := m.cells[k+1]; len(c.times) > 0 {
				fmt.Fprintf(t, "%.0f\t", milliseconds(median(c.times)))
			} else {
				fmt.Fprint(t, "-\t")
			}
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range all {
		for _, c := range all[i].cells {
			if c.failed != nil {
				fmt.Fprintf(w, "left out: %v\n", c.failed)
			}
		}
	}
	return nil
}

// processorRatio is our processor time by another engine's.
func (m *measurement) processorRatio(other int) string {
	ours, theirs := m.cells[0].processor, m.cells[other].processor
	if ours == 0 || theirs == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(ours)/float64(theirs))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// reading is how a client read a whole table.
type reading struct {
	table        string
	rows, bytes  int64
	took         time.Duration
	before, peak int64
	// processor is the server's processor time.
	processor time.Duration
}

// printReadings prints what reading everything took.
func printReadings(w io.Writer, all []reading) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "SELECT * of\trows\tM rows/s\tMB/s\tserver CPU ns/row\tpeak memory MiB\tof it before\t")
	for _, r := range all {
		s := r.took.Seconds()
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.0f\t%.0f\t%d\t%d\t\n", r.table, r.rows, float64(r.rows)/s/1e6, float64(r.bytes)/s/1e6,
			float64(r.processor)/float64(r.rows), r.peak>>20, r.before>>20)
	}
	return t.Flush()
}
