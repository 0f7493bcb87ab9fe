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
	// Watermark and Properties are recorded.
	Watermark  *int64
	Properties map[string]string
	// Operation is what the statement was, "" = nothing is recorded.
	Operation string
	// Force makes a snapshot even if nothing changes.
	Force bool
	// Check, where not nil, is asked before each attempt whether the commit may
	// follow on latest (nil = no snapshot): an isolation test of a statement that
	// has read. Its error ends the commit.
	Check func(ctx context.Context, latest *snapshot.Snapshot) error
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

// branchKey names a branch in this process.
type branchKey struct {
	fio    fileio.FileIO
	dir    string
	branch string
}

// locks has one mutex (a channel of one place, so that waiting ends with the context) for each branch written in this process.
var locks sync.Map

func (c *Committer) lock(ctx context.Context) (unlock func(), err error) {
	v, _ := locks.LoadOrStore(branchKey{c.t.FIO, c.t.Dir, c.t.Snapshots.Branch()}, make(chan struct{}, 1))
	ch := v.(chan struct{})
	select {
	case ch <- struct{}{}:
		return func() { <-ch }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
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
// results of compactions as another. Errors: errs.Conflict, nothing was
// published and the statement may be repeated; errs.Uncertain, it may have been
// published; others, nothing was. The second snapshot may fail although the first stands: then Result has the first.
func (c *Committer) Commit(ctx context.Context, r Request) (Result, error) {
	var out Result
	var err error
	if r.User == "" {
		if r.User, err = c.NewUser(); err != nil {
			return out, err
		}
	}
	appended, compacted, err := c.split(&r)
	if err != nil {
		return out, err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	if !appended.empty() || r.Force || r.Overwrite != nil && !(r.Overwrite.Dynamic && r.Overwrite.Match == nil && c.t.Schema.Partitioned()) {
		s, err := c.publish(ctx, &r, appended)
		if err != nil {
			return out, err
		}
		if s != nil {
			out.Snapshots = append(out.Snapshots, s)
		}
	}
	if !compacted.empty() {
		s, err := c.publish(ctx, &r, compacted)
		if err != nil {
			return out, err
		}
		out.Snapshots = append(out.Snapshots, s)
	}
	return out, nil
}

// Truncate removes all rows.
func (c *Committer) Truncate(ctx context.Context) (Result, error) {
	return c.Commit(ctx, Request{Identifier: BatchIdentifier, Operation: "TRUNCATE", Overwrite: &Overwrite{}, Force: true})
}

// DropPartitions removes the partitions that match.
func (c *Committer) DropPartitions(ctx context.Context, match func(partition []column.Scalar) bool) (Result, error) {
	return c.Commit(ctx, Request{Identifier: BatchIdentifier, Operation: "TRUNCATE", Overwrite: &Overwrite{Match: match}})
}

// CompactManifests rewrites the manifests so that no deletion is left in them. Nothing happens where there is nothing to rewrite.
func (c *Committer) CompactManifests(ctx context.Context) (Result, error) {
	user, err := c.NewUser()
	if err != nil {
		return Result{}, err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	s, err := c.publish(ctx, &Request{User: user, Identifier: BatchIdentifier}, &change{kind: snapshot.Compact, manifests: true})
	if err != nil || s == nil {
		return Result{}, err
	}
	return Result{Snapshots: []*snapshot.Snapshot{s}}, nil
}

// Analyze publishes a statistics file (its name in statistics/).
func (c *Committer) Analyze(ctx context.Context, statistics string) (Result, error) {
	user, err := c.NewUser()
	if err != nil {
		return Result{}, err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	s, err := c.publish(ctx, &Request{User: user, Identifier: BatchIdentifier, Force: true}, &change{kind: snapshot.Analyze, statistics: statistics})
	if err != nil {
		return Result{}, err
	}
	return Result{Snapshots: []*snapshot.Snapshot{s}}, nil
}

// change is one snapshot to be.
type change struct {
	kind string
	// delta and changelog are the entries of the manifest lists.
	delta, changelog []manifest.Entry
	// indexAdd and indexDelete change the index manifest.
	indexAdd, indexDelete []manifest.IndexEntry
	overwrite             *Overwrite
	manifests             bool
	statistics            string
}

func (c *change) empty() bool {
	return len(c.delta)+len(c.changelog)+len(c.indexAdd)+len(c.indexDelete) == 0
}

// split makes the entries of the two snapshots that messages become.
func (c *Committer) split(r *Request) (appended, compacted *change, err error) {
	appended = &change{kind: snapshot.Append, overwrite: r.Overwrite}
	compacted = &change{kind: snapshot.Compact}
	for i := range r.Messages {
		m := &r.Messages[i]
		entry := func(kind manifest.Kind, f *manifest.DataFile) manifest.Entry {
			return manifest.Entry{Kind: kind, Partition: m.Partition, Bucket: m.Bucket, TotalBuckets: m.TotalBuckets, File: f}
		}
		for _, f := range m.DeletedFiles {
			appended.delta = append(appended.delta, entry(manifest.Delete, f))
		}
		for _, f := range m.NewFiles {
			appended.delta = append(appended.delta, entry(manifest.Add, f))
		}
		for _, f := range m.ChangelogFiles {
			appended.changelog = append(appended.changelog, entry(manifest.Add, f))
		}
		appended.indexAdd = append(appended.indexAdd, m.NewIndexFiles...)
		appended.indexDelete = append(appended.indexDelete, m.DeletedIndexFiles...)
		x := m.Compact
		if x == nil {
			continue
		}
		for _, f := range x.Before {
			compacted.delta = append(compacted.delta, entry(manifest.Delete, f))
		}
		for _, f := range x.After {
			compacted.delta = append(compacted.delta, entry(manifest.Add, f))
		}
		for _, f := range x.Changelog {
			compacted.changelog = append(compacted.changelog, entry(manifest.Add, f))
		}
		compacted.indexAdd = append(compacted.indexAdd, x.NewIndexFiles...)
		compacted.indexDelete = append(compacted.indexDelete, x.DeletedIndexFiles...)
	}
	if r.Overwrite != nil {
		// Stream readers skip an OVERWRITE; Paimon drops its changelog as well.
		appended.kind, appended.changelog = snapshot.Overwrite, nil
		return appended, compacted, nil
	}
	for i := range appended.delta {
		if appended.delta[i].Kind == manifest.Delete {
			appended.kind = snapshot.Overwrite
		}
	}
	for _, list := range [][]manifest.IndexEntry{appended.indexAdd, appended.indexDelete} {
		for i := range list {
			if list[i].Type == manifest.IndexDeletionVectors {
				appended.kind = snapshot.Overwrite
			}
		}
	}
	for i := range r.Messages {
		if r.Messages[i].Partition == nil {
			return nil, nil, errs.Invalidf("table %s: a commit message has no partition", c.t.Label)
		}
	}
	return appended, compacted, nil
}
