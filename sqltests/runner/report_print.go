package runner

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// maxReportedSQL bounds the statement shown with a failure.
const maxReportedSQL = 2000

// Report collects the results of one run of a script.
type Report struct {
	Script   *Script
	Protocol Protocol
	Results  []Result
	Summary
}

// Summary counts outcomes.
type Summary struct{ Passed, Failed, Skipped int }

// Add sums two summaries.
func (s *Summary) Add(o Summary) {
	s.Passed += o.Passed
	s.Failed += o.Failed
	s.Skipped += o.Skipped
}

// String is the line that ends every report.
func (s Summary) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", s.Passed, s.Failed, s.Skipped)
}

func (r *Report) add(res Result) {
	r.Results = append(r.Results, res)
	switch res.Outcome {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	default:
		r.Skipped++
	}
}

// Failures describes every failed record, one text each.
func (r *Report) Failures() []string {
	var out []string
	for i := range r.Results {
		if r.Results[i].Outcome == Failed {
			out = append(out, r.Results[i].String())
		}
	}
	return out
}

// String describes the result: position, outcome, statement, detail.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Record.Pos(), r.Outcome)
	if r.Record.SQL != "" {
		fmt.Fprintf(&b, " %s", clip(r.Record.SQL, maxReportedSQL))
	}
	if r.Detail != "" {
		b.WriteString("\n    ")
		b.WriteString(strings.ReplaceAll(r.Detail, "\n", "\n    "))
	}
	return b.String()
}

// Print writes the report: the failures, or with verbose every record with the
// time it took, and the summary line.
func (r *Report) Print(w io.Writer, verbose bool) error {
	for i := range r.Results {
		res := &r.Results[i]
		if !verbose && res.Outcome != Failed {
			continue
		}
		line := res.String()
		if verbose {
			line += fmt.Sprintf("\n    (%s)", res.Duration.Round(time.Millisecond))
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s (%s): %s\n", r.Script.Name, r.Protocol, r.Summary)
	return err
}
