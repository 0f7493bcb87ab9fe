package relation

import "context"

// waitKey is where a context has what is to be told of a read that waits.
type waitKey struct{}

// OnWait returns a context under which f is called whenever a read without end has given all rows there are and waits
// for others: from the goroutine that reads, so f must not wait itself.
func OnWait(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, waitKey{}, f)
}

// Waits tells that a read has given all rows there are.
func Waits(ctx context.Context) {
	if f, ok := ctx.Value(waitKey{}).(func()); ok {
		f()
	}
}
