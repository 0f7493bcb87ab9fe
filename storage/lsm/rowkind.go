package lsm

// The row kinds as _VALUE_KIND stores them (org.apache.paimon.types.RowKind).
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

// IsRetract reports whether records of the kind take a row back: -U and -D.
func IsRetract(kind int32) bool { return kind == UpdateBefore || kind == Delete }
