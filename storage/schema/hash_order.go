package schema

import (
	"slices"
	"unicode/utf16"
)

// HashOrder returns keys in the order in which a java.util.HashMap iterates
// that got them in the order given: Paimon shows options so.
func HashOrder(keys []string) []string {
	size := 16
	for len(keys)*4 > size*3 {
		size *= 2
	}
	slot := func(k string) int32 {
		var h int32
		for _, c := range utf16.Encode([]rune(k)) {
			h = 31*h + int32(c)
		}
		return (h ^ int32(uint32(h)>>16)) & int32(size-1)
	}
	out := slices.Clone(keys)
	slices.SortStableFunc(out, func(a, b string) int { return int(slot(a) - slot(b)) })
	return out
}
