package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/sqltests/runner"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: compare SCRIPT OUTPUT")
		os.Exit(2)
	}
	script, err := runner.ParseFile(os.Args[1])
	if err == nil {
		var text []byte
		if text, err = os.ReadFile(os.Args[2]); err == nil {
			var lines []string
			lines, err = compare(script, string(text))
			for _, l := range lines {
				fmt.Println(l)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// answer is what a program printed for one query.
type answer struct {
	rows   []string
	failed string
}

// compare returns a line for each difference and the summary; the error is not
// nil when something differs.
func compare(script *runner.Script, output string) ([]string, error) {
	answers, err := split(output)
	if err != nil {
		return nil, err
	}
	var lines []string
	var sum runner.Summary
	n := 0
	for i := range script.Records {
		rec := &script.Records[i]
		if rec.Kind != runner.Query {
			continue
		}
		n++
		detail := "the program printed nothing for this query"
		if a, ok := answers[n]; ok {
			if detail = a.failed; detail == "" {
				detail = runner.ComparePrinted(rec, a.rows)
			}
			delete(answers, n)
		}
		if detail == "" {
			sum.Passed++
			continue
		}
		sum.Failed++
		lines = append(lines, fmt.Sprintf("%s: FAIL %s\n    %s", rec.Pos(), rec.SQL, strings.ReplaceAll(detail, "\n", "\n    ")))
	}
	if n == 0 {
		return nil, fmt.Errorf("%s has no queries", script.Name)
	}
	lines = append(lines, sum.String())
	switch {
	case len(answers) > 0:
		return lines, fmt.Errorf("the program answered %d queries that the script does not have", len(answers))
	case sum.Failed > 0:
		return lines, fmt.Errorf("%d of %d queries differ", sum.Failed, n)
	}
	return lines, nil
}

func split(output string) (map[int]answer, error) {
	answers := map[int]answer{}
	current := 0
	for i, line := range strings.Split(strings.TrimSuffix(output, "\n"), "\n") {
		if number, ok := strings.CutPrefix(line, "== "); ok {
			n, err := strconv.Atoi(number)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is not the number of a query", i+1, number)
			}
			if _, twice := answers[n]; twice {
				return nil, fmt.Errorf("line %d: query %d is answered twice", i+1, n)
			}
			current = n
			answers[n] = answer{}
			continue
		}
		if current == 0 {
			return nil, fmt.Errorf("line %d: expected \"== NUMBER\", found %q", i+1, line)
		}
		a := answers[current]
		if text, ok := strings.CutPrefix(line, "!! "); ok {
			a.failed = "the query failed: " + text
		} else {
			a.rows = append(a.rows, line)
		}
		answers[current] = a
	}
	return answers, nil
}
