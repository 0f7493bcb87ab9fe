package schema

import (
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

// RecordExpiry returns after what time rows of a primary-key table expire, and the index of the column that tells
// their age; column -1 = never (options record-level.expire-time and record-level.time-field). A column that
// is missing or has no time is errs.Invalid.
func (s *TableSchema) RecordExpiry() (after time.Duration, column int, err error) {
	after, set, err := OptRecordExpireTime.Lookup(s.Options)
	if err != nil || !set || !s.HasPrimaryKey() {
		return 0, -1, err
	}
	name, set := s.Options[OptRecordTimeField.Key()]
	if !set {
		return 0, -1, errs.Invalidf("You should set time field for record-level expire. (option '%s')", OptRecordTimeField.Key())
	}
	if column = s.Index(name); column < 0 {
		return 0, -1, errs.Invalidf("Can not find time field %s for record level expire.", name)
	}
	if t := s.Fields[column].Type; t.Root != Int && t.Root != BigInt && !isTimestamp(t.Root) {
		return 0, -1, errs.Invalidf("The record level time field type should be one of INT, BIGINT, or TIMESTAMP, but field type is %s.", t)
	}
	return after, column, nil
}
