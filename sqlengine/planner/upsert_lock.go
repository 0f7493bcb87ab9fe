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
	k := l.join(key)
	select {
	case k.place <- struct{}{}:
		return func() { <-k.place; l.leave(key, k) }, nil
	case <-ctx.Done():
		l.leave(key, k)
		return nil, ctx.Err()
	}
}

// tryLock takes the place where it is free.
func (l *upsertLocks) tryLock(key string) (unlock func(), ok bool) {
	k := l.join(key)
	select {
	case k.place <- struct{}{}:
		return func() { <-k.place; l.leave(key, k) }, true
	default:
		l.leave(key, k)
		return nil, false
	}
}

func (l *upsertLocks) join(key string) *upsertLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inUse == nil {
		l.inUse = map[string]*upsertLock{}
	}
	k := l.inUse[key]
	if k == nil {
		k = &upsertLock{place: make(chan struct{}, 1)}
		l.inUse[key] = k
	}
	k.users++
	return k
}

func (l *upsertLocks) leave(key string, k *upsertLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.inUse, key)
	}
}
