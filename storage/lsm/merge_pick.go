package lsm

// pickRow chooses the record that stands for a key under deduplicate and
// first-row; ok is false where none does (all were ignored).
func (m *merger) pickRow(e *Engine, rs []rec) (best rec, ok bool, err error) {
	for _, r := range rs {
		if r.retract() {
			if e.ignoreDelete {
				continue
			}
			if e.kind == FirstRow {
				return rec{}, false, firstRowRetract()
			}
		}
		if !ok || m.older(best, r) == (e.kind == Deduplicate) {
			best, ok = r, true
		}
	}
	return best, ok, nil
}
