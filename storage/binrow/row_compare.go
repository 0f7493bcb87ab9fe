package binrow

import "github.com/tributarydb/tributary/storage/column"

// Compare orders rows of scalars field by field, nulls first (section 5.5).
func Compare(a, b []column.Scalar) int {
	for i := range a {
		if c := a[i].Compare(b[i]); c != 0 {
			return c
		}
	}
	return 0
}
