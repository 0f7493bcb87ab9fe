package table

import (
	"context"
	"sync/atomic"
)

// heldKey is the key of a context's writeHold.
type heldKey struct{}

// writeHold has the place inside of a gate, until the first who asks for it under the context gets it.
type writeHold struct {
	gate *writeGate
	over atomic.Bool
}

func holdOf(ctx context.Context, g *writeGate) *writeHold {
	h, _ := ctx.Value(heldKey{}).(*writeHold)
	if h == nil || h.gate != g {
		return nil
	}
	return h
}

// take ends the hold; false where it has ended before.
func (h *writeHold) take() bool { return h.over.CompareAndSwap(false, true) }

// HoldWrites waits for the writers of the branch in this process, and lets no other one commit until the first commit under the
// returned context, or release. A statement that reads rows to write them again is not outrun then, by this process. release is never nil.
func (t *Table) HoldWrites(ctx context.Context) (held context.Context, release func(), err error) {
	g := t.env.Writing.gate(t.dir, t.branch)
	if h := holdOf(ctx, g); h != nil && !h.over.Load() {
		return ctx, func() {}, nil
	}
	leave, err := enter(ctx, g.place)
	if err != nil {
		return ctx, func() {}, err
	}
	h := &writeHold{gate: g}
	return context.WithValue(ctx, heldKey{}, h), func() {
		if h.take() {
			leave()
		}
	}, nil
}
