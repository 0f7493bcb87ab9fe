package types

import (
	"math"
	"strconv"
)

// AppendFloat64 appends the text of a DOUBLE as MySQL prints it: the shortest
// digits that read back, an exponent from 1e15 up and below 1e-15.
func AppendFloat64(dst []byte, f float64) []byte { return appendFloat(dst, f, 64) }

// AppendFloat32 is AppendFloat64 for a FLOAT.
func AppendFloat32(dst []byte, f float32) []byte { return appendFloat(dst, float64(f), 32) }

func appendFloat(dst []byte, f float64, bits int) []byte {
	abs := math.Abs(f)
	switch {
	case abs < 1e15 && abs >= 1e-15 || f == 0:
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	case f != f:
		return append(dst, "NaN"...)
	case math.IsInf(f, 0):
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	}
	// strconv writes e+21 and e-07 where MySQL writes e21 and e-7.
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	for i := len(dst) - 1; i > start; i-- {
		if dst[i] != 'e' {
			continue
		}
		exp := dst[i+1:]
		w := i + 1
		if exp[0] == '-' {
			w++
		}
		digits := exp[1:]
		for len(digits) > 1 && digits[0] == '0' {
			digits = digits[1:]
		}
		return append(dst[:w], digits...)
	}
	return dst
}

// appendJSONFloat appends a float as MySQL prints a JSON double: with ".0" where nothing else tells it from an integer.
func appendJSONFloat(dst []byte, f float64, bits int) []byte {
	if f != f || math.IsInf(f, 0) {
		dst = append(dst, '"')
		dst = appendFloat(dst, f, bits)
		return append(dst, '"')
	}
	start := len(dst)
	dst = appendFloat(dst, f, bits)
	for _, c := range dst[start:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}
