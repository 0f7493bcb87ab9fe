package table

// QueueLength is the number of small statements that wait for their commit.
func QueueLength(t *Table) int {
	g := t.env.Writing.gate(t.dir, t.branch)
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}

// Led reports whether a small statement leads.
func Led(t *Table) bool {
	g := t.env.Writing.gate(t.dir, t.branch)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.led
}
