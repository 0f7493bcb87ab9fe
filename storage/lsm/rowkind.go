package lsm

import "github.com/tributarydb/tributary/storage/relation"

// The row kinds as _VALUE_KIND stores them (org.apache.paimon.types.RowKind): those of package relation.
const (
	Insert       = relation.Insert
	UpdateBefore = relation.UpdateBefore
	UpdateAfter  = relation.UpdateAfter
	Delete       = relation.Delete
)

// IsRetract reports whether records of the kind take a row back: -U and -D.
func IsRetract(kind int32) bool { return relation.IsRetract(kind) }
