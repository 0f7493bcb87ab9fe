package write

import (
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// statsKind says what is kept of a column.
type statsKind uint8

const (
	statsNone statsKind = iota
	statsCounts
	statsTruncate
	statsFull
)

// statsMode is a value of option metadata.stats-mode (section 7.6).
type statsMode struct {
	kind statsKind
	// length is that of truncate(length): code points of strings, bytes of binaries.
	length int
}

// keyStatsMode is the mode of key columns and system columns.
var keyStatsMode = statsMode{statsTruncate, 128}

func parseStatsMode(s string) (statsMode, error) {
	t := strings.ToLower(strings.TrimSpace(s))
	switch t {
	case "none":
		return statsMode{kind: statsNone}, nil
	case "counts":
		return statsMode{kind: statsCounts}, nil
	case "full":
		return statsMode{kind: statsFull}, nil
	}
	if in, ok := strings.CutPrefix(t, "truncate("); ok {
		if in, ok = strings.CutSuffix(in, ")"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(in)); err == nil && n > 0 {
				return statsMode{statsTruncate, n}, nil
			}
		}
	}
	return statsMode{}, errs.Invalidf("it must be none, counts, truncate(n) or full")
}

// statsOptions are the options that decide the statistics of a table's files.
type statsOptions struct {
	mode      statsMode
	perLevel  map[int]string
	changelog string
	fields    map[string]statsMode
	dense     bool
	keepFirst int
}

func readStatsOptions(s *schema.TableSchema) (o statsOptions, err error) {
	m := s.Options
	if o.mode, err = lookup(m, schema.OptStatsMode.Key(), statsMode{statsTruncate, 16}, parseStatsMode); err != nil {
		return o, err
	}
	if o.perLevel, err = lookup(m, optStatsPerLevel, nil, parsePerLevel); err != nil {
		return o, err
	}
	for _, v := range o.perLevel {
		if _, err = parseStatsMode(v); err != nil {
			return o, errs.Invalidf("option '%s' has the value '%s': %w", optStatsPerLevel, m[optStatsPerLevel], err)
		}
	}
	o.changelog = m[optChangelogStats]
	if _, err = lookup(m, optChangelogStats, statsMode{}, parseStatsMode); err != nil {
		return o, err
	}
	o.fields = map[string]statsMode{}
	for _, f := range s.Fields {
		key := "fields." + f.Name + ".stats-mode"
		if _, ok := m[key]; ok {
			if o.fields[f.Name], err = lookup(m, key, statsMode{}, parseStatsMode); err != nil {
				return o, err
			}
		}
	}
	if o.dense, err = lookup(m, optStatsDense, true, schema.ParseBool); err != nil {
		return o, err
	}
	n, err := lookup(m, optStatsKeepFirst, -1, parseInt)
	o.keepFirst = int(n)
	return o, err
}

// modes are the modes of a table's columns for files of a level, or for changelog files.
func (o *statsOptions) modes(fields []schema.Field, level int, changelog bool) []statsMode {
	base := o.mode
	if v, ok := o.perLevel[level]; ok {
		base, _ = parseStatsMode(v) // checked when the options were read
	}
	if changelog && o.changelog != "" {
		base, _ = parseStatsMode(o.changelog)
	}
	out := make([]statsMode, len(fields))
	for i, f := range fields {
		out[i] = base
		if m, ok := o.fields[f.Name]; ok {
			out[i] = m
		}
		if o.keepFirst >= 0 && i >= o.keepFirst {
			out[i] = statsMode{kind: statsNone}
		}
	}
	return out
}
