package dialect

import (
	"math/big"
	"strings"
)

// intervalUnits are MySQL's compound units with the sizes of their fields, from
// the left, in the last field's unit.
var intervalUnits = map[string]struct {
	unit  string
	sizes []int64
}{
	"YEAR_MONTH":         {"MONTH", []int64{12, 1}},
	"DAY_HOUR":           {"HOUR", []int64{24, 1}},
	"DAY_MINUTE":         {"MINUTE", []int64{1440, 60, 1}},
	"DAY_SECOND":         {"SECOND", []int64{86400, 3600, 60, 1}},
	"HOUR_MINUTE":        {"MINUTE", []int64{60, 1}},
	"HOUR_SECOND":        {"SECOND", []int64{3600, 60, 1}},
	"MINUTE_SECOND":      {"SECOND", []int64{60, 1}},
	"DAY_MICROSECOND":    {"MICROSECOND", []int64{86400e6, 3600e6, 60e6, 1e6, 1}},
	"HOUR_MICROSECOND":   {"MICROSECOND", []int64{3600e6, 60e6, 1e6, 1}},
	"MINUTE_MICROSECOND": {"MICROSECOND", []int64{60e6, 1e6, 1}},
	"SECOND_MICROSECOND": {"MICROSECOND", []int64{1e6, 1}},
}

// microsecondDigits is the width of a fraction of a second in an interval.
const microsecondDigits = 6

// compoundInterval writes the value of INTERVAL '1:30' MINUTE_SECOND as a
// number of one unit: vitess has no compound units. ok is false when the unit is
// none or has too many values.
func compoundInterval(value, unit string) (text, single string, ok bool) {
	u, ok := intervalUnits[unit]
	if !ok {
		return "", "", false
	}
	value = strings.TrimSpace(value)
	negative := strings.HasPrefix(value, "-")
	fields := strings.FieldsFunc(value, func(r rune) bool { return r < '0' || r > '9' })
	if len(fields) > len(u.sizes) {
		return "", "", false
	}
	sum := new(big.Int)
	for i, f := range fields {
		at := len(u.sizes) - len(fields) + i // missing fields are on the left
		if at == len(u.sizes)-1 && u.unit == "MICROSECOND" && len(f) < microsecondDigits && len(fields) > 1 {
			f += strings.Repeat("0", microsecondDigits-len(f))
		}
		n, good := new(big.Int).SetString(f, 10)
		if !good {
			return "", "", false
		}
		sum.Add(sum, n.Mul(n, big.NewInt(u.sizes[at])))
	}
	if negative {
		sum.Neg(sum)
	}
	return sum.String(), u.unit, true
}
