package enginetest

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// skipFile is the list of tests that cannot pass.
const skipFile = "skips.txt"

// Parts of the lines of skipFile.
const (
	reasonPrefix = "reason: "
	withPrefix   = "fails with: "
	sometimes    = "sometimes passes"
	suiteMark    = " | "
	stepMark     = " > "
)

// longestEntry is how much of a query is written in an entry, in bytes.
const longestEntry = 160

// skipReason is why tests cannot pass.
type skipReason struct {
	text string
	// failures are parts of failures, one of which has to appear.
	failures []string
	// sometimes says that the tests may pass: what they see depends on other tests.
	sometimes bool
}

// allows reports whether a test may fail so.
func (r *skipReason) allows(failure string) bool {
	for _, f := range r.failures {
		if strings.Contains(failure, f) {
			return true
		}
	}
	return false
}

// skipList is the content of skipFile.
type skipList struct {
	mu      sync.Mutex
	reasons map[string]*skipReason // by entry
	failed  map[string]bool        // entries that failed as they should
}

// readSkips reads skipFile.
func readSkips(path string) (*skipList, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &skipList{reasons: map[string]*skipReason{}, failed: map[string]bool{}}
	var reason *skipReason
	entries := 0
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, reasonPrefix):
			if reason != nil && entries == 0 {
				return nil, fmt.Errorf("%s:%d: the reason before has no entries: %s", path, n, reason.text)
			}
			reason, entries = &skipReason{text: strings.TrimPrefix(line, reasonPrefix)}, 0
		case reason == nil:
			return nil, fmt.Errorf("%s:%d: no reason above", path, n)
		case strings.HasPrefix(line, withPrefix):
			reason.failures = append(reason.failures, strings.TrimPrefix(line, withPrefix))
		case line == sometimes:
			reason.sometimes = true
		case !strings.Contains(line, suiteMark):
			return nil, fmt.Errorf("%s:%d: an entry is SUITE%sNAME", path, n, suiteMark)
		case len(reason.failures) == 0:
			return nil, fmt.Errorf("%s:%d: the reason does not say how the test fails", path, n)
		case l.reasons[line] != nil:
			return nil, fmt.Errorf("%s:%d: listed twice: %s", path, n, line)
		default:
			l.reasons[line] = reason
			entries++
		}
	}
	return l, in.Err()
}

// find returns the reason of an entry, or nil; a whole script stands for its statements.
func (l *skipList) find(whole, entry string) (*skipReason, string) {
	if r := l.reasons[entry]; r != nil {
		return r, entry
	}
	return l.reasons[whole], whole
}

// fails notes that a listed entry failed as it should.
func (l *skipList) fails(entry string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed[entry] = true
}

// check reports entries of a suite that passed, or that no test has. ran are the entries of the suite that ran; all
// says that these are all.
func (l *skipList) check(t *testing.T, suite string, ran map[string]bool, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for entry, reason := range l.reasons {
		switch {
		case !strings.HasPrefix(entry, suite+suiteMark) || l.failed[entry]:
		case ran[entry] && reason.sometimes:
		case ran[entry]:
			t.Errorf("passes, take it out of %s: %s", skipFile, entry)
		case all:
			t.Errorf("%s lists a test that does not exist: %s", skipFile, entry)
		}
	}
}

// entryOf writes the name of a test, or of a statement of it, as an entry of skipFile.
func entryOf(suite, name, query string) string {
	entry := suite + suiteMark + oneLine(name)
	if query != "" {
		entry += stepMark + oneLine(query)
	}
	return entry
}

// oneLine writes a text in one line of limited length.
func oneLine(text string) string {
	short := strings.TrimSuffix(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "), ";")
	short = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, short)
	if len(short) <= longestEntry {
		return short
	}
	h := fnv.New32a()
	h.Write([]byte(short))
	return strings.TrimRight(strings.ToValidUTF8(short[:longestEntry-20], ""), " ") + fmt.Sprintf("…%08x", h.Sum32())
}
