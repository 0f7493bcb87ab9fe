package result

import (
	"context"

	"github.com/tributarydb/tributary/storage/relation"
)

// OnWait returns a context under which f is called whenever a source without end has given all rows there are. The
// goroutine that reads calls it, so f must not wait itself.
func OnWait(ctx context.Context, f func()) context.Context { return relation.OnWait(ctx, f) }
