package table

import (
	"context"
	"maps"
	"runtime"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/compact"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/write"
)

// CompactOptions say what Compact does.
type CompactOptions struct {
	// Full rewrites all files of a bucket; else the table's options decide.
	Full bool
	// Partitions selects partitions by their values; nil = all.
	Partitions func(values []column.Scalar) bool
	// Buckets selects buckets; nil = all.
	Buckets func(partition []column.Scalar, bucket int) bool
	// Sort sorts the rows of an append table's partitions; nil = they keep their order.
	Sort *compact.Sort
	// Options are options of this compaction, over those of the table.
	Options map[string]string
	// Progress takes a text that says how far it is; nil = nobody listens.
	Progress func(text string)
}

// Compact rewrites files of the branch, and publishes the result as a snapshot where there was
// something to do. Rows stay as they are.
func (t *Table) Compact(ctx context.Context, o CompactOptions) (compact.Result, error) {
	over := maps.Clone(o.Options)
	for k, v := range over {
		if err := schema.CheckOption(k, v); err != nil {
			return compact.Result{}, err
		}
	}
	return t.compact(ctx, o, over, "")
}

func (t *Table) compact(ctx context.Context, o CompactOptions, over map[string]string, user string) (compact.Result, error) {
	env := &t.env.Writing
	s := t.stored.WithOptions(over)
	src := t.Source()
	src.Schema = s
	committer := commit.New(commit.Target{
		FIO: t.env.FIO, Dir: t.dir, Label: t.Label(), Schema: s, Schemas: t.schemas, Snapshots: t.snaps, Store: t.store, Clock: env.now, Random: env,
	})
	if user == "" {
		var err error
		if user, err = committer.NewUser(); err != nil {
			return compact.Result{}, err
		}
	}
	gate := t.env.Writing.gate(t.dir, t.branch)
	unlock, err := gate.lockCompaction(ctx)
	if err != nil {
		return compact.Result{}, err
	}
	defer unlock()
	return compact.Run(ctx, compact.Target{
		Source: src, Snapshots: t.snaps, Committer: committer, Readers: t.env.Readers, Progress: o.Progress, Exclude: gate.lock, LookupKeys: env.LookupKeys,
		Writing: write.Target{
			FIO: t.env.FIO, Dir: t.dir, Label: t.Label(), Schema: s, Clock: env.now, Rand: env, User: user,
			TempDir: env.TempDir, Parallelism: runtime.GOMAXPROCS(0),
		},
	}, compact.Request{Full: o.Full, Partitions: o.Partitions, Buckets: o.Buckets, Sort: o.Sort, User: user, Identifier: commit.BatchIdentifier})
}
