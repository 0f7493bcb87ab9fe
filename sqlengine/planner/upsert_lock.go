package planner

import (
	"context"
	"sync"
)

// upsertLocks order the statements of this server that read rows of a table to write them again: among each other they never
// have to be repeated.
type upsertLocks struct {
	mu    sync.Mutex
	inUse map[string]*upsertLock
}

type upsertLock struct {
	place chan struct{}
	users int
}

// lock waits for the place of a table's branch.
func (l *upsertLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	if l.inUse == nil {
		l.inUse = map[string]*upsertLock{}
	}
	k := l.inUse[key]
	if k == nil {
		k = &upsertLock{place: make(chan struct{}, 1)}
		l.inUse[key] = k
	}
	k.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(l.inUse, key)
		}
	}
	select {
	case k.place <- struct{}{}:
		return func() { <-k.place; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
