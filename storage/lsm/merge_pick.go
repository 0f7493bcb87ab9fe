package lsm

import "github.com/tributarydb/tributary/storage/errs"

// pickRow chooses the record that stands for a key under deduplicate and
// first-row; ok is false where none does (all were ignored).
func (m *merger) pickRow(e *Engine, rs []rec) (best rec, ok bool, err error) {
	for _, r := range rs {
		if r.retract() {
			if e.ignoreDelete {
				continue
			}
			if e.kind == FirstRow {
				return rec{}, false, errs.Invalidf("By default, First row merge engine can not accept DELETE/UPDATE_BEFORE records.\nYou can config 'ignore-delete' to ignore the DELETE/UPDATE_BEFORE records.")
			}
		}
		if !ok || m.older(best, r) == (e.kind == Deduplicate) {
			best, ok = r, true
		}
	}
	return best, ok, nil
}
