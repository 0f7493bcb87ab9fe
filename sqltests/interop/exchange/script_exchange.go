package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributarydb/tributary/sqltests/runner"
)

// tributary is the name of the engine under test.
const tributary = "tributary"

// known are the names that scripts may use.
var known = []string{tributary, "paimon", "pypaimon", "pypaimon-rust", "duckdb", "pyarrow"}

// named are the engines that take part only where a record names them: they read data files, not tables.
var named = []string{"duckdb", "pyarrow"}

// turn says who executes a record.
type turn struct {
	by  []string
	not []string
}

// turnOf reads the "by:" and "not:" parts of a record's comment.
func turnOf(rec *runner.Record) (turn, error) {
	var t turn
	part := ""
	for _, w := range strings.Fields(rec.Comment) {
		w = strings.Trim(w, "#,;")
		switch {
		case w == "by:" || w == "not:":
			part = w
		case strings.HasPrefix(w, "not/"):
			part = "" // of another variant
		case strings.HasPrefix(w, "("), w == "":
			part = ""
		case part == "":
		case !slices.Contains(known, w):
			return t, fmt.Errorf("%s: no engine is called %q", rec.Pos(), w)
		case part == "by:":
			t.by = append(t.by, w)
		default:
			t.not = append(t.not, w)
		}
	}
	return t, nil
}

// exchange runs scripts on several engines.
type exchange struct {
	db      *sql.DB
	engines map[string]*process
	order   []string // of engines, tributary first
	print   func(string)
	runner.Summary
}

// needs returns the first engine that the script's header asks for and that is not there.
func (x *exchange) needs(s *runner.Script) string {
	for _, h := range append([]string{s.Title}, s.Header...) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(h, "#")), "needs:"); ok {
			for _, name := range strings.Fields(rest) {
				if name != tributary && x.engines[name] == nil {
					return name
				}
			}
		}
	}
	return ""
}

// variants returns the script once for each value of its header line "each:
// NAME value…", with {NAME} replaced in statements and "not/value:" taken as "not:"; the script itself without one.
func variants(s *runner.Script) []*runner.Script {
	for _, h := range append([]string{s.Title}, s.Header...) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(h, "#")), "each:")
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		var out []*runner.Script
		for _, value := range words[1:] {
			v := *s
			v.Name = s.Name + " " + value
			v.Records = slices.Clone(s.Records)
			for i := range v.Records {
				v.Records[i].SQL = strings.ReplaceAll(v.Records[i].SQL, "{"+words[0]+"}", value)
				v.Records[i].Comment = strings.ReplaceAll(v.Records[i].Comment, "not/"+value+":", "not:")
			}
			out = append(out, &v)
		}
		return out
	}
	return []*runner.Script{s}
}

// run executes a script; the error is one of the script, differences are counted.
func (x *exchange) run(ctx context.Context, s *runner.Script) error {
	if name := x.needs(s); name != "" {
		x.print(fmt.Sprintf("skip: %s: %s is not there", s.Name, name))
		x.Skipped++
		return nil
	}
	for i := range s.Records {
		rec := &s.Records[i]
		if rec.Kind == runner.Sleep {
			time.Sleep(rec.Sleep)
			continue
		}
		t, err := turnOf(rec)
		if err != nil {
			return err
		}
		if len(t.by) == 0 {
			if t.by = []string{tributary}; rec.Kind == runner.Query {
				t.by = x.order
			}
		}
		for _, name := range t.by {
			if slices.Contains(t.not, name) {
				continue
			}
			if name != tributary && x.engines[name] == nil {
				x.Skipped++
				continue
			}
			if bad := x.one(ctx, s, rec, name); bad != "" {
				x.Failed++
				x.print(fmt.Sprintf("FAIL: %s: %s: %s\n    %s", rec.Pos(), name, rec.SQL, strings.ReplaceAll(bad, "\n", "\n    ")))
			} else {
				x.Passed++
			}
		}
	}
	return nil
}

// one executes a record on one engine and returns what is wrong, "" if nothing is.
func (x *exchange) one(ctx context.Context, s *runner.Script, rec *runner.Record, name string) string {
	if name == tributary {
		report, err := runner.Run(ctx, x.db, &runner.Script{Name: s.Name, Records: []runner.Record{*rec}}, runner.Options{})
		if err != nil {
			return err.Error()
		}
		if report.Failed > 0 {
			return report.Results[0].Detail
		}
		return ""
	}
	rows, err := x.engines[name].run(rec.SQL)
	switch {
	case rec.Kind == runner.StatementError:
		if err == nil {
			return "it succeeded, an error was expected"
		}
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(rec.ErrorText)) {
			return "another error: " + err.Error()
		}
		return ""
	case err != nil:
		return err.Error()
	case rec.Kind == runner.Query:
		return runner.ComparePrinted(rec, rows)
	}
	return ""
}
