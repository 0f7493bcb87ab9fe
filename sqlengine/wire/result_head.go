package wire

// resultHead sends the column definitions of a result set once: with the first rows, so that what fails before them is
// the statement's error, or as soon as a streaming SELECT waits for rows that are still to be committed, since drivers
// give a statement back when they have the definitions. A wait also sends the rows that are there at once. Its fields are
// guarded by the writer's lock.
type resultHead struct {
	conn *conn
	defs []columnDef
	// known says that defs are set, early that the statement waited before they were, over that the statement has ended.
	known, early, sent, over bool
}

// waits is called by the reading goroutine when there are no rows for now.
func (h *resultHead) waits() {
	h.conn.locked(func() {
		if h.over {
			return
		}
		h.early = true
		h.write()
		h.conn.w.flushSoon()
	})
}

// ready gives the definitions.
func (h *resultHead) ready(defs []columnDef) {
	h.conn.locked(func() {
		h.defs, h.known = defs, true
		if h.early {
			h.write()
			h.conn.w.flushSoon()
		}
	})
}

// send writes the definitions, unless they were.
func (h *resultHead) send() { h.conn.locked(h.write) }

// end keeps a goroutine that still reads from writing between the packets that follow.
func (h *resultHead) end() { h.conn.locked(func() { h.over = true }) }

func (h *resultHead) write() {
	if !h.known || h.sent || h.over {
		return
	}
	h.sent = true
	h.conn.writeDefs(h.defs, 0)
}
