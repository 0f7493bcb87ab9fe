package fileindex

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Spec is an index that a table's options ask for (FileIndexOptions).
type Spec struct {
	// Column is a column of the table.
	Column string
	// Nested says that the index is over the values under Key of a MAP column.
	Nested bool
	Key    string
	// Type is the kind of index.
	Type string
	// Options are those of the index, e.g. items, by their last part.
	Options map[string]string
}

// name is the index's column name in a container.
func (s *Spec) name() string {
	if s.Nested {
		return s.Column + "[" + s.Key + "]"
	}
	return s.Column
}

const (
	optionPrefix  = "file-index."
	columnsSuffix = ".columns"
)

// Specs returns the indexes that a table's options declare
// (file-index.<type>.columns, file-index.<type>.<column>.<option>), ascending by type and column.
func Specs(options map[string]string) ([]Spec, error) {
	var out []Spec
	for _, k := range slices.Sorted(maps.Keys(options)) {
		rest, ok := strings.CutPrefix(k, optionPrefix)
		if !ok {
			continue
		}
		typ, ok := strings.CutSuffix(rest, columnsSuffix)
		if !ok || typ == "" {
			continue
		}
		seen := map[string]bool{}
		for c := range strings.SplitSeq(options[k], ",") {
			c = strings.TrimSpace(c)
			if c == "" {
				return nil, errs.Invalidf("Wrong option in %s, should not have empty column: '%s'", k, options[k])
			}
			if seen[c] {
				continue
			}
			seen[c] = true
			s := Spec{Column: c, Type: typ, Options: map[string]string{}}
			if at := strings.IndexByte(c, '['); at >= 0 && strings.HasSuffix(c, "]") {
				s.Nested, s.Column, s.Key = true, c[:at], c[at+1:len(c)-1]
				addOptions(s.Options, options, typ, s.Column)
			}
			addOptions(s.Options, options, typ, c)
			out = append(out, s)
		}
	}
	return out, nil
}

// addOptions adds the options of an index of a column. Names with dots are not options of indexes.
func addOptions(dst, options map[string]string, typ, col string) {
	prefix := optionPrefix + typ + "." + col + "."
	for k, v := range options {
		if name, ok := strings.CutPrefix(k, prefix); ok && !strings.Contains(name, ".") {
			dst[name] = v
		}
	}
}

func (s *Spec) wrong(option, must string) error {
	return errs.Invalidf("option '%s%s.%s.%s' has the value '%s': it must be %s", optionPrefix, s.Type, s.name(), option, s.Options[option], must)
}

// integer returns an option between least and most.
func (s *Spec) integer(option string, def, least, most int) (int, error) {
	text, ok := s.Options[option]
	if !ok {
		return def, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < least || n > most {
		return 0, s.wrong(option, "a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
	return n, nil
}

// ratio returns an option between 0 and 1, neither included.
func (s *Spec) ratio(option string, def float64) (float64, error) {
	text, ok := s.Options[option]
	if !ok {
		return def, nil
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(x > 0 && x < 1) {
		return 0, s.wrong(option, "a number above 0 and below 1")
	}
	return x, nil
}

// size returns an option that is a memory size.
func (s *Spec) size(option string, def int) (int, error) {
	text, ok := s.Options[option]
	if !ok {
		return def, nil
	}
	n, err := schema.ParseMemorySize(text)
	if err != nil || n > math.MaxInt32 {
		return 0, s.wrong(option, "a size of less than 2 gb, e.g. 16kb")
	}
	return int(n), nil
}
