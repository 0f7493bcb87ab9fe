package schema

import (
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

// OptionInfo describes an option, for listings.
type OptionInfo struct {
	Key string
	// Type is Boolean, Integer, Long, Double, String, MemorySize, Duration, Map or Enum.
	Type string
	// Immutable options cannot be changed once there is data.
	Immutable bool
	// Default is the default's text, "" for none.
	Default string
	// Values are the accepted values of an Enum.
	Values []string
	// Fallbacks are older keys that are read where Key is not set.
	Fallbacks   []string
	Description string
}

// Option is a typed option.
type Option[T any] struct {
	Info  OptionInfo
	def   T
	parse func(string) (T, error)
}

// Key returns the option's key.
func (o *Option[T]) Key() string { return o.Info.Key }

// Default returns the value where the option is not set.
func (o *Option[T]) Default() T { return o.def }

// Lookup returns the option's value and whether it is set in opts. A wrong
// value is errs.Invalid, naming key, value and what is accepted.
func (o *Option[T]) Lookup(opts map[string]string) (v T, set bool, err error) {
	key := o.Info.Key
	text, ok := opts[key]
	for i := 0; !ok && i < len(o.Info.Fallbacks); i++ {
		key = o.Info.Fallbacks[i]
		text, ok = opts[key]
	}
	if !ok {
		return o.def, false, nil
	}
	v, err = o.parse(text)
	if err != nil {
		return o.def, true, errs.Invalidf("option '%s' has the value '%s': %w", key, text, err)
	}
	return v, true, nil
}

// Get returns the option's value, its default where it is not set.
func (o *Option[T]) Get(opts map[string]string) (T, error) {
	v, _, err := o.Lookup(opts)
	return v, err
}

// Value is Get that takes the default for a wrong value: for options that
// readers may safely ignore.
func (o *Option[T]) Value(opts map[string]string) T {
	v, err := o.Get(opts)
	if err != nil {
		return o.def
	}
	return v
}

type anyOption struct {
	info  *OptionInfo
	check func(string) error
}

var registry = map[string]anyOption{}

func register[T any](o *Option[T]) *Option[T] {
	registry[o.Info.Key] = anyOption{&o.Info, func(s string) error {
		_, err := o.parse(s)
		return err
	}}
	return o
}

// KnownOptions lists the registered options, ascending by key.
func KnownOptions() []OptionInfo {
	out := make([]OptionInfo, 0, len(registry))
	for _, o := range registry {
		out = append(out, *o.info)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

// CheckOption reports whether value is acceptable for an option: nil for
// unknown options, errs.Invalid else.
func CheckOption(key, value string) error {
	o, ok := registry[key]
	if !ok {
		return nil
	}
	if err := o.check(value); err != nil {
		return errs.Invalidf("option '%s' has the value '%s': %w", key, value, err)
	}
	return nil
}

// checkGiven reports whether a definition may give an option a value: nil for
// unknown options. It is stricter than CheckOption, as other readers are.
func checkGiven(key, value string) error {
	o, ok := registry[key]
	if !ok {
		return nil
	}
	if err := CheckOption(key, value); err != nil {
		return err
	}
	return checkStrict(o.info, key, value)
}

// scanLatestDelta is a value of scan.mode that readers know and Paimon 2.0.0 does not.
const scanLatestDelta = "latest-delta"

// checkStrict refuses what only this reader forgives: blanks around numbers, other spellings of words.
func checkStrict(o *OptionInfo, key, value string) error {
	switch o.Type {
	case "Enum":
		for _, v := range o.Values {
			if strings.EqualFold(v, value) && v != scanLatestDelta {
				return nil
			}
		}
		return errs.Invalidf("option '%s' has the value '%s': it must be one of: %s", key, value, strings.Join(o.Values, ", "))
	case "Boolean", "Integer", "Long":
		if strings.TrimSpace(value) != value {
			return errs.Invalidf("option '%s' has the value '%s': it must not have blanks around it", key, value)
		}
	}
	return nil
}

func boolOption(key string, def bool, desc string, fallbacks ...string) *Option[bool] {
	return register(&Option[bool]{
		Info: OptionInfo{Key: key, Type: "Boolean", Default: strconv.FormatBool(def), Description: desc, Fallbacks: fallbacks},
		def:  def, parse: ParseBool,
	})
}

func intOption(key string, def int, desc string, fallbacks ...string) *Option[int] {
	return register(&Option[int]{
		Info: OptionInfo{Key: key, Type: "Integer", Default: strconv.Itoa(def), Description: desc, Fallbacks: fallbacks},
		def:  def, parse: parseInt32,
	})
}

// unsetInt is an Integer option without a default.
func unsetInt(key, desc string, fallbacks ...string) *Option[int] {
	o := intOption(key, 0, desc, fallbacks...)
	o.Info.Default = ""
	return o
}

func unsetLong(key, desc string, fallbacks ...string) *Option[int64] {
	return register(&Option[int64]{
		Info: OptionInfo{Key: key, Type: "Long", Description: desc, Fallbacks: fallbacks}, parse: parseInt64,
	})
}

func longOption(key string, def int64, desc string) *Option[int64] {
	return register(&Option[int64]{
		Info: OptionInfo{Key: key, Type: "Long", Default: strconv.FormatInt(def, 10), Description: desc}, def: def, parse: parseInt64,
	})
}

func doubleOption(key string, def float64, desc string, fallbacks ...string) *Option[float64] {
	return register(&Option[float64]{
		Info: OptionInfo{Key: key, Type: "Double", Default: strconv.FormatFloat(def, 'g', -1, 64), Description: desc, Fallbacks: fallbacks}, def: def,
		parse: func(s string) (float64, error) {
			f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			if err != nil {
				return 0, errs.Invalidf("it must be a number")
			}
			return f, nil
		},
	})
}

func stringOption(key, def, desc string, fallbacks ...string) *Option[string] {
	return register(&Option[string]{
		Info: OptionInfo{Key: key, Type: "String", Default: def, Description: desc, Fallbacks: fallbacks}, def: def,
		parse: func(s string) (string, error) { return s, nil },
	})
}

func enumOption(key, def string, values []string, desc string, fallbacks ...string) *Option[string] {
	return register(&Option[string]{
		Info: OptionInfo{Key: key, Type: "Enum", Default: def, Values: values, Description: desc, Fallbacks: fallbacks}, def: def,
		parse: func(s string) (string, error) {
			// Java accepts any case, and the constant's name with underscores.
			n := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-")
			for _, v := range values {
				if strings.ReplaceAll(strings.ToLower(v), "_", "-") == n {
					return v, nil
				}
			}
			return "", errs.Invalidf("it must be one of: %s", strings.Join(values, ", "))
		},
	})
}

func sizeOption(key, def, desc string, fallbacks ...string) *Option[int64] {
	o := &Option[int64]{
		Info: OptionInfo{Key: key, Type: "MemorySize", Default: def, Description: desc, Fallbacks: fallbacks}, parse: ParseMemorySize,
	}
	if def != "" {
		n, err := ParseMemorySize(def)
		if err != nil {
			panic("default of " + key + ": " + err.Error())
		}
		o.def = n
	}
	return register(o)
}

func durationOption(key, def, desc string, fallbacks ...string) *Option[time.Duration] {
	o := &Option[time.Duration]{
		Info: OptionInfo{Key: key, Type: "Duration", Default: def, Description: desc, Fallbacks: fallbacks}, parse: ParseDuration,
	}
	if def != "" {
		n, err := ParseDuration(def)
		if err != nil {
			panic("default of " + key + ": " + err.Error())
		}
		o.def = n
	}
	return register(o)
}

// Entry is an entry of a Map option.
type Entry struct{ Key, Value string }

// mapOption is an option `key:value,key:value`.
func mapOption(key, desc string) *Option[[]Entry] {
	return register(&Option[[]Entry]{Info: OptionInfo{Key: key, Type: "Map", Description: desc}, parse: parseMap})
}

func parseMap(text string) ([]Entry, error) {
	var out []Entry
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		k, v, ok := strings.Cut(item, ":")
		if v = strings.TrimSpace(v); !ok || v == "" {
			return nil, errs.Invalidf("'%s' is no key-value pair; it must be key:value,key:value", item)
		}
		out = append(out, Entry{strings.TrimSpace(k), v})
	}
	return out, nil
}

// levelOption is a Map option whose keys are levels of the merge tree.
func levelOption(key, desc string) *Option[[]Entry] {
	o := mapOption(key, desc)
	o.parse = func(text string) ([]Entry, error) {
		out, err := parseMap(text)
		for _, e := range out {
			if _, bad := parseInt32(e.Key); bad != nil && err == nil {
				err = errs.Invalidf("'%s' is no level; it must be level:value,level:value", e.Key)
			}
		}
		return out, err
	}
	return o
}

// ParseBool parses true or false in any case.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errs.Invalidf("it must be true or false")
}

func parseInt32(s string) (int, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
	if err != nil {
		return 0, errs.Invalidf("it must be an integer of 32 bits")
	}
	return int(n), nil
}

func parseInt64(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0, errs.Invalidf("it must be an integer")
	}
	return n, nil
}

// splitUnit splits `128 mb` into its number and its unit in lower case.
func splitUnit(s string) (n int64, unit string, ok bool) {
	s = strings.TrimSpace(s)
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	return n, strings.ToLower(strings.TrimSpace(s[i:])), err == nil
}

var sizeUnits = map[string]int64{
	"": 1, "b": 1, "byte": 1, "bytes": 1,
	"k": 1 << 10, "kb": 1 << 10, "kibibyte": 1 << 10, "kibibytes": 1 << 10,
	"m": 1 << 20, "mb": 1 << 20, "mebibyte": 1 << 20, "mebibytes": 1 << 20,
	"g": 1 << 30, "gb": 1 << 30, "gibibyte": 1 << 30, "gibibytes": 1 << 30,
	"t": 1 << 40, "tb": 1 << 40, "tebibyte": 1 << 40, "tebibytes": 1 << 40,
}

// ParseMemorySize parses a size such as `128 mb` into bytes.
func ParseMemorySize(s string) (int64, error) {
	n, unit, ok := splitUnit(s)
	mul, known := sizeUnits[unit]
	if !ok || !known || n > math.MaxInt64/mul {
		return 0, errs.Invalidf("it must be a size: a number and one of b, kb, mb, gb, tb")
	}
	return n * mul, nil
}

var durationUnits = map[string]time.Duration{
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second, "secs": time.Second,
	"": time.Millisecond, "ms": time.Millisecond, "milli": time.Millisecond, "millis": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"µs": time.Microsecond, "micro": time.Microsecond, "micros": time.Microsecond, "microsecond": time.Microsecond, "microseconds": time.Microsecond,
	"ns": time.Nanosecond, "nano": time.Nanosecond, "nanos": time.Nanosecond, "nanosecond": time.Nanosecond, "nanoseconds": time.Nanosecond,
}

// ParseDuration parses a duration such as `10 min`. A length beyond what
// time.Duration can hold becomes the greatest one.
func ParseDuration(s string) (time.Duration, error) {
	n, unit, ok := splitUnit(s)
	mul, known := durationUnits[unit]
	if !ok || !known {
		return 0, errs.Invalidf("it must be a duration: a number and one of d, h, min, s, ms")
	}
	if n > math.MaxInt64/int64(mul) {
		return math.MaxInt64, nil
	}
	return time.Duration(n) * mul, nil
}
