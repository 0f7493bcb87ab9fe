package lsm

import "github.com/tributarydb/tributary/storage/errs"

// pickRow chooses the record that stands for a key under deduplicate and
// first-row; nil where none does (all were ignored). Group order is free.
func (m *merger) pickRow(e *Engine, cs []*cursor) (*cursor, error) {
	var best *cursor
	for _, c := range cs {
		if c.kind != nil && IsRetract(c.kindAt(c.pos)) {
			if e.ignoreDelete {
				continue
			}
			if e.kind == FirstRow {
				return nil, errs.Invalidf("By default, First row merge engine can not accept DELETE/UPDATE_BEFORE records.\nYou can config 'ignore-delete' to ignore the DELETE/UPDATE_BEFORE records.")
			}
		}
		if best == nil || m.older(best, c) == (e.kind == Deduplicate) {
			best = c
		}
	}
	return best, nil
}
