package relation

// The row kinds, numbered as in _VALUE_KIND of data files (org.apache.paimon.types.RowKind).
const (
	// Insert is +I.
	Insert int32 = 0
	// UpdateBefore is -U, the old image of a changed row.
	UpdateBefore int32 = 1
	// UpdateAfter is +U, the new image of a changed row.
	UpdateAfter int32 = 2
	// Delete is -D.
	Delete int32 = 3
)

// IsRetract reports whether rows of the kind take a row back: -U and -D.
func IsRetract(kind int32) bool { return kind == UpdateBefore || kind == Delete }
