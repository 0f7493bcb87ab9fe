package lsm

import (
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// The options that merging obeys (org.apache.paimon.CoreOptions).
const (
	optMergeEngine         = "merge-engine"
	optSequenceField       = "sequence.field"
	optSequenceSortOrder   = "sequence.field.sort-order"
	optIgnoreDelete        = "ignore-delete"
	optDefaultAggregate    = "fields.default-aggregate-function"
	optAggRemoveOnDelete   = "aggregation.remove-record-on-delete"
	optPartialRemoveDelete = "partial-update.remove-record-on-delete"
	optPartialRemoveGroup  = "partial-update.remove-record-on-sequence-group"

	fieldsPrefix        = "fields"
	fieldAggregate      = "aggregate-function"
	fieldIgnoreRetract  = "ignore-retract"
	fieldDistinct       = "distinct"
	fieldDelimiter      = "list-agg-delimiter"
	fieldNestedKey      = "nested-key"
	fieldNestedSequence = "nested-sequence-field"
	fieldNestedNulls    = "nested-key-null-strategy"
	fieldCountLimit     = "count-limit"
	fieldTimestamp      = "ts-field"
	fieldSequenceGroup  = "sequence-group"
)

// ignoreDeleteKeys are the key of ignore-delete and its older names, first found wins.
var ignoreDeleteKeys = []string{
	optIgnoreDelete, "first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete",
}

type options map[string]string

func (o options) bool(keys ...string) (bool, error) {
	for _, key := range keys {
		v, ok := o[key]
		if !ok {
			continue
		}
		switch {
		case strings.EqualFold(v, "true"):
			return true, nil
		case strings.EqualFold(v, "false"):
			return false, nil
		}
		return false, errs.Invalidf("option '%s' is '%s'; expected true or false", key, v)
	}
	return false, nil
}

// list splits a comma list, trimming its items; nil where the option is absent.
func (o options) list(key string) []string {
	v, ok := o[key]
	if !ok {
		return nil
	}
	if v != "" {
		v = strings.TrimRight(v, ",") // as Java splits
	}
	items := strings.Split(v, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

func fieldKey(field, option string) string { return fieldsPrefix + "." + field + "." + option }

func (o options) fieldBool(field, option string) (bool, error) {
	return o.bool(fieldKey(field, option))
}

func (o options) fieldInt(field, option string, def int) (int, error) {
	v, ok := o[fieldKey(field, option)]
	if !ok {
		return def, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 32)
	if err != nil {
		return 0, errs.Invalidf("option '%s' is '%s'; expected an integer", fieldKey(field, option), v)
	}
	return int(n), nil
}
