package types

// CompareDoubles orders doubles: NaN is above all others and equal to itself,
// as stored data is ordered; -0 and 0 are equal, as in SQL.
func CompareDoubles(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a:
		return -1
	case b == b:
		return 1
	}
	return 0
}
