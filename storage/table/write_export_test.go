package table

import "context"

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

// HoldCompaction keeps compactions of a branch from beginning until release is called.
func HoldCompaction(t *Table) (release func(), err error) {
	return t.env.Writing.gate(t.dir, t.branch).lockCompaction(context.Background())
}
