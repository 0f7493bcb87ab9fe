package commit

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Target is the branch that is committed to.
type Target struct {
	FIO fileio.FileIO
	// Dir is the table's directory, Label its name in messages.
	Dir, Label string
	// Schema is the branch's newest schema with the options in force.
	Schema    *schema.TableSchema
	Schemas   *schema.Manager
	Snapshots *snapshot.Manager
	Store     *manifest.Store
	// Clock gives the commit time, Random the names; nil = those of the machine.
	Clock  func() time.Time
	Random io.Reader
	// Sleep waits between attempts; nil = by the machine's clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Request is what one statement wants to publish.
type Request struct {
	// User and Identifier mark the commit; "" = a new user, with option commit.user-prefix. Batch commits use BatchIdentifier.
	User       string
	Identifier int64
	Messages   []Message
	// Overwrite replaces what is there; nil = append.
	Overwrite *Overwrite
	// Watermark and Properties are recorded. A nil watermark leaves that of the
	// snapshot before, a smaller one too.
	Watermark  *int64
	Properties map[string]string
	// Operation is what the statement was, "" = nothing is recorded.
	Operation string
	// Force makes a snapshot even if nothing changes.
	Force bool
	// Read, where not nil, is what the statement has read: the commit fails with
	// errs.Conflict where a later snapshot changed it.
	Read *Read
	// Check, where not nil, is asked before each attempt whether the commit may
	// follow on latest (nil = no snapshot): an isolation test of a statement that
	// has read. Its error ends the commit. Neither it nor Read is asked for the results of
	// compactions that follow on the statement's own snapshot.
	Check func(ctx context.Context, latest *snapshot.Snapshot) error
	// DropVectors removes the deletion vectors of deleted data files. Without it
	// such a deletion is a conflict: whoever deletes a data file must know its vector.
	DropVectors bool
}

// Overwrite says which live files new files replace (section 12.4 of the format).
type Overwrite struct {
	// Dynamic replaces the partitions that receive files, of a partitioned table.
	Dynamic bool
	// Static selects partitions by the values of some partition columns; empty = all.
	Static map[string]column.Scalar
	// Match selects partitions, where it is not nil, instead of the above.
	Match func(partition []column.Scalar) bool
}

// Result is what a commit made.
type Result struct {
	// Snapshots are the new snapshots, none if there was nothing to commit.
	Snapshots []*snapshot.Snapshot
	// Compaction is why the results of compactions were not published although
	// the rest of the messages was; nil where they were, or there were none. The statement is
	// complete all the same. Their files have been removed, unless this is errs.Uncertain.
	Compaction error
}

// Committer publishes changes of one branch. It is safe for concurrent use;
// commits of one process to one branch are made one after the other.
type Committer struct {
	t Target
}

// New returns a committer.
func New(t Target) *Committer {
	if t.Clock == nil {
		t.Clock = time.Now
	}
	if t.Random == nil {
		t.Random = randomReader{}
	} else {
		t.Random = &oneByOne{r: t.Random}
	}
	if t.Sleep == nil {
		t.Sleep = sleep
	}
	return &Committer{t: t}
}

// randomReader gives random bytes for names.
type randomReader struct{}

func (randomReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	return len(p), nil
}

// oneByOne makes a reader safe for concurrent use.
type oneByOne struct {
	mu sync.Mutex
	r  io.Reader
}

func (o *oneByOne) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.r.Read(p)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// NewUser returns the name of a new commit user, with the prefix of option commit.user-prefix.
func (c *Committer) NewUser() (string, error) {
	id, err := uuid.NewRandomFromReader(c.t.Random)
	if err != nil {
		return "", fmt.Errorf("making a commit user: %w", err)
	}
	if p := schema.OptCommitUserPrefix.Value(c.t.Schema.Options); p != "" {
		return p + "_" + id.String(), nil
	}
	return id.String(), nil
}

// Commit publishes the messages: new and deleted files as one snapshot, then the
// results of compactions as another with the same user and identifier. Errors: errs.Conflict,
// nothing was published and the statement may be repeated; errs.Uncertain, it may have been
// published, and no file of it may be deleted; others, nothing was. Once the first snapshot
// stands there is no error: see Result.Compaction.
func (c *Committer) Commit(ctx context.Context, r Request) (Result, error) {
	appended, compacted, err := c.split(&r)
	if err != nil {
		return Result{}, err
	}
	return c.run(ctx, &r, appended, compacted)
}

// run publishes a change and the compaction that goes with it.
func (c *Committer) run(ctx context.Context, r *Request, first, compacted *change) (out Result, err error) {
	if err := c.checkCommittable(first, compacted); err != nil {
		return out, err
	}
	if r.User == "" {
		if r.User, err = c.NewUser(); err != nil {
			return out, err
		}
	}
	unlock, err := snapshot.LockBranch(ctx, c.t.FIO, c.t.Dir, c.t.Snapshots.Branch())
	if err != nil {
		return out, err
	}
	defer unlock()
	if !first.empty() || r.Force || first.replacesWithout(c.t.Schema) {
		s, err := c.publish(ctx, r, first)
		if err != nil {
			return out, err
		}
		if s != nil {
			out.Snapshots = append(out.Snapshots, s)
		}
	}
	if compacted.empty() {
		return out, nil
	}
	second := *r
	second.Force = false
	if len(out.Snapshots) > 0 {
		second.Read, second.Check = nil, nil
	}
	s, err := c.publish(ctx, &second, compacted)
	switch {
	case err == nil:
		out.Snapshots = append(out.Snapshots, s)
	case len(out.Snapshots) == 0:
		return out, err
	default:
		// What is published is published: a compaction can be made again.
		out.Compaction = err
		if !errs.Is(err, errs.Uncertain) {
			c.removeCompacted(context.WithoutCancel(ctx), r.Messages)
		}
	}
	return out, nil
}

// Truncate removes all rows. It makes a snapshot even where there are none.
func (c *Committer) Truncate(ctx context.Context) (Result, error) {
	return c.Commit(ctx, Request{Identifier: BatchIdentifier, Operation: OperationTruncate, Overwrite: &Overwrite{}, Force: true})
}

// DropPartitions removes the partitions that match. Nothing happens where none does.
func (c *Committer) DropPartitions(ctx context.Context, match func(partition []column.Scalar) bool) (Result, error) {
	return c.Commit(ctx, Request{Identifier: BatchIdentifier, Operation: OperationTruncate, Overwrite: &Overwrite{Match: match}})
}

// CompactManifests rewrites the manifests so that no deletion is left in them. Nothing happens where there is nothing to rewrite.
func (c *Committer) CompactManifests(ctx context.Context) (Result, error) {
	return c.run(ctx, &Request{Identifier: BatchIdentifier}, &change{kind: snapshot.Compact, manifests: true}, &change{})
}

// Analyze publishes a statistics file (its name in statistics/).
func (c *Committer) Analyze(ctx context.Context, statistics string) (Result, error) {
	return c.run(ctx, &Request{Identifier: BatchIdentifier}, &change{kind: snapshot.Analyze, statistics: statistics}, &change{})
}
