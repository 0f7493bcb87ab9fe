package runner

import (
	"fmt"
	"reflect"
)

// ReplaceAnswers puts the answers of another script in place of those of s: each
// record of differs stands for the next record of s with the same statement. A
// comment right above it must give the reason, and the answer must be another
// one; so the list cannot grow silently nor keep what is no longer true.
func (s *Script) ReplaceAnswers(differs *Script) error {
	used := make([]bool, len(s.Records))
	for i := range differs.Records {
		d := &differs.Records[i]
		if d.Comment == "" {
			return fmt.Errorf("%s: there is no reason above the record", d.Pos())
		}
		found := -1
		for j := range s.Records {
			if !used[j] && s.Records[j].SQL == d.SQL && s.Records[j].Kind != Sleep {
				found = j
				break
			}
		}
		if found < 0 {
			return fmt.Errorf("%s: %s has no such statement", d.Pos(), s.Name)
		}
		used[found] = true
		old, repl := s.Records[found], *d
		repl.File, repl.Line, repl.Comment = old.File, old.Line, old.Comment
		if reflect.DeepEqual(old, repl) {
			return fmt.Errorf("%s: says the same as %s", d.Pos(), old.Pos())
		}
		s.Records[found] = repl
	}
	return nil
}
