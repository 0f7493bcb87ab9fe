package lsm

import "github.com/tributarydb/tributary/storage/errs"

func firstRowRetract() error {
	return errs.Invalidf("By default, First row merge engine can not accept DELETE/UPDATE_BEFORE records.\nYou can config 'ignore-delete' to ignore the DELETE/UPDATE_BEFORE records.")
}

func partialUpdateRetract() error {
	return errs.Invalidf("By default, Partial update can not accept delete records, you can choose one of the following solutions:\n" +
		"1. Configure 'ignore-delete' to ignore delete records.\n" +
		"2. Configure 'partial-update.remove-record-on-delete' to remove the whole row when receiving delete records.\n" +
		"3. Configure 'sequence-group's to retract partial columns. Also configure 'partial-update.remove-record-on-sequence-group' to remove the whole row when receiving deleted records of `specified sequence group`.")
}

// CheckRetract reports whether the engine takes records of a retracting kind
// (-U, -D), as an error that says what would help. A record that no merge can
// take must not be written: a single one passes unchanged, and the next one of its key makes the key unreadable.
func (e *Engine) CheckRetract(kind int32) error {
	if e.ignoreDelete || !IsRetract(kind) {
		return nil
	}
	switch e.kind {
	case FirstRow:
		return firstRowRetract()
	case PartialUpdate:
		if len(e.groups) == 0 {
			if !e.removeOnDelete {
				return partialUpdateRetract()
			}
			return nil
		}
		for g := range e.groups {
			if e.groups[g].removes && kind == Delete {
				return nil
			}
		}
		for j := range e.table.Fields {
			if name := e.partialAggregate(j); name != "" && e.groupOf[j] >= 0 {
				if err := e.checkRetract(j, name); err != nil {
					return err
				}
			}
		}
	case Aggregation:
		if e.removeOnDelete && kind == Delete {
			return nil
		}
		for j := range e.table.Fields {
			if err := e.checkRetract(j, e.aggregateOf(j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRetract asks a column's function to retract a null: only functions that know no retract fail.
func (e *Engine) checkRetract(field int, name string) error {
	a, err := e.newAggregator(field, name)
	if err == nil {
		_, err = a.retract(value{}, value{})
	}
	if err != nil {
		return columnError(e, field, err)
	}
	return nil
}
