package snapshot

import (
	"context"
	"sync"

	"github.com/tributarydb/tributary/storage/fileio"
)

// lockKey names what is locked in this process: a branch's line of snapshots, or
// the references of a table.
type lockKey struct {
	fio    fileio.FileIO
	dir    string
	branch string
}

// locks has a channel of one place for each key, so that waiting ends with the context.
var locks sync.Map

func lock(ctx context.Context, k lockKey) (unlock func(), err error) {
	v, _ := locks.LoadOrStore(k, make(chan struct{}, 1))
	ch := v.(chan struct{})
	select {
	case ch <- struct{}{}:
		return sync.OnceFunc(func() { <-ch }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// LockBranch waits until nobody else of this process appends to or cuts off the
// branch's line of snapshots: a commit, a rollback, a fast-forward.
func LockBranch(ctx context.Context, fio fileio.FileIO, tableDir, branch string) (unlock func(), err error) {
	if branch == "" {
		branch = MainBranch
	}
	return lock(ctx, lockKey{fio, tableDir, branch})
}

// LockRefs waits until nobody else of this process makes or removes tags and
// branches of the table, or removes files. It is taken before LockBranch, never after.
func LockRefs(ctx context.Context, fio fileio.FileIO, tableDir string) (unlock func(), err error) {
	return lock(ctx, lockKey{fio, tableDir, ""})
}

// TryLockRefs is LockRefs that does not wait; ok is false where the lock is taken.
func TryLockRefs(fio fileio.FileIO, tableDir string) (unlock func(), ok bool) {
	v, _ := locks.LoadOrStore(lockKey{fio, tableDir, ""}, make(chan struct{}, 1))
	ch := v.(chan struct{})
	select {
	case ch <- struct{}{}:
		return sync.OnceFunc(func() { <-ch }), true
	default:
		return nil, false
	}
}
