package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printWrites prints the table of write rates.
func printWrites(w io.Writer, engines []engine, all []writeResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "statement\ttable\tM rows/s\tM rows/s/core\t")
	for _, e := range engines[1:] {
		fmt.Fprintf(t, "ours / %s\t(CPU)\t", e.name())
	}
	fmt.Fprint(t, "|\tours s\t")
	for _, e := range engines[1:] {
		fmt.Fprintf(t, "%s s\t", e.name())
	}
	fmt.Fprintln(t)
	for i := range all {
		r := &all[i]
		m := &measurement{cells: r.cells}
		fmt.Fprintf(t, "%s\t%s\t", r.job.statement, r.job.table)
		ours := r.cells[0]
		if len(ours.times) == 0 {
			fmt.Fprint(t, "-\t-\t")
		} else {
			fmt.Fprintf(t, "%.2f\t%s\t", float64(r.rows)/median(ours.times).Seconds()/1e6, r.perCore())
		}
		for k := range engines[1:] {
			if rs := m.ratios(k + 1); len(rs) > 0 {
				fmt.Fprintf(t, "%.2f\t%s\t", median(rs), m.processorRatio(k+1))
			} else {
				fmt.Fprint(t, "-\t\t")
			}
		}
		fmt.Fprint(t, "|\t")
		for _, c := range r.cells {
			if len(c.times) > 0 {
				fmt.Fprintf(t, "%.2f\t", median(c.times).Seconds())
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

// perCore is how many million rows a second of the server's processor time writes.
func (r *writeResult) perCore() string {
	c := r.cells[0]
	if c.processor == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(r.rows)*float64(len(c.times))/c.processor.Seconds()/1e6)
}

// printSmall prints how single-row INSERTs went.
func printSmall(w io.Writer, all []smallResult) error {
	fmt.Fprintln(w, "\nSingle-row INSERTs, prepared, each committed by itself, on a local folder with every commit synced:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "table\tconnections\tstatements/s\tstatements\tsnapshots\tp50 ms\tp99 ms\tserver CPU µs/statement\t")
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%d\t%d\t%.2f\t%.2f\t%.0f\t\n", r.table, r.connections, float64(r.statements)/r.took.Seconds(), r.statements, r.snapshots,
			milliseconds(r.middle), milliseconds(r.high), float64(r.processor.Microseconds())/float64(r.statements))
	}
	return t.Flush()
}
