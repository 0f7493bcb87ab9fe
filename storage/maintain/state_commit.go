package maintain

import (
	"context"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// committer publishes to a branch of the table.
func (t *Table) committer(b *branch, s *schema.TableSchema) *commit.Committer {
	return commit.New(commit.Target{
		FIO: t.t.FIO, Dir: t.t.Dir, Label: t.t.Label, Schema: s, Schemas: b.schemas, Snapshots: b.snaps, Store: t.store,
		Clock: t.t.Clock, Random: t.t.Random,
	})
}

// unchanged is a commit.Request.Check: nothing was committed since s.
func (t *Table) unchanged(s *snapshot.Snapshot) func(context.Context, *snapshot.Snapshot) error {
	return func(_ context.Context, latest *snapshot.Snapshot) error {
		if (latest == nil) != (s == nil) || s != nil && (latest.ID != s.ID || latest.UUID != s.UUID) {
			return errs.Conflictf("table %s: another writer committed meanwhile; repeat the statement", t.t.Label)
		}
		return nil
	}
}

// messages gathers entries into one commit message a bucket, in order of their first entry.
type messages struct {
	parts *manifest.Partitions
	at    map[string]int
	list  []commit.Message
}

func newMessages(s *schema.TableSchema) *messages {
	return &messages{parts: manifest.NewPartitions(s.PartitionTypes()), at: map[string]int{}}
}

func (m *messages) of(partition []byte, bucket, total int) (*commit.Message, error) {
	p, err := m.parts.Canonical(partition)
	if err != nil {
		return nil, err
	}
	k := strconv.Itoa(bucket) + "/" + strconv.Itoa(total) + "/" + p
	i, ok := m.at[k]
	if !ok {
		i = len(m.list)
		m.at[k] = i
		m.list = append(m.list, commit.Message{Partition: partition, Bucket: bucket, TotalBuckets: total})
	}
	return &m.list[i], nil
}

// liveFiles are the live entries of a state by identity, and their order; nothing for nil.
func (t *Table) liveFiles(ctx context.Context, b *branch, sch *schema.TableSchema, s *snapshot.Snapshot) (map[string]*manifest.Entry, []string, error) {
	out := map[string]*manifest.Entry{}
	if s == nil {
		return out, nil, nil
	}
	parts := manifest.NewPartitions(sch.PartitionTypes())
	var order []string
	var bad error
	err := t.eachLive(ctx, b, s, nil, func(e *manifest.Entry) {
		p, err := parts.Canonical(e.Partition)
		if err != nil {
			bad = err
			return
		}
		id := e.Identity(p)
		if out[id] == nil {
			order = append(order, id)
		}
		out[id] = e
	})
	if err == nil {
		err = bad
	}
	return out, order, err
}

// UnexistingFiles lists the live data files of the newest snapshot whose file is missing.
func (t *Table) UnexistingFiles(ctx context.Context) ([]string, error) {
	_, _, names, err := t.lost(ctx)
	return names, err
}

// RemoveUnexistingFiles commits a snapshot without the data files whose file is missing,
// so that the rest can be read again, and returns their names. Their rows are lost.
func (t *Table) RemoveUnexistingFiles(ctx context.Context) ([]string, error) {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	latest, gone, names, err := t.lost(ctx)
	if err != nil || len(gone) == 0 {
		return names, err
	}
	sch, err := t.schema(ctx)
	if err != nil {
		return nil, err
	}
	m := newMessages(sch)
	for _, e := range gone {
		x, err := m.of(e.Partition, e.Bucket, e.TotalBuckets)
		if err != nil {
			return nil, err
		}
		x.DeletedFiles = append(x.DeletedFiles, e.File)
	}
	_, err = t.committer(t.own, sch).Commit(ctx, commit.Request{Identifier: commit.BatchIdentifier, Messages: m.list, Check: t.unchanged(latest)})
	return names, err
}

// lost finds the live entries of the newest snapshot whose file is missing.
func (t *Table) lost(ctx context.Context) (latest *snapshot.Snapshot, gone []*manifest.Entry, names []string, err error) {
	if latest, err = t.own.snaps.Latest(ctx); err != nil || latest == nil {
		return nil, nil, nil, err
	}
	sch, err := t.own.schemas.Latest(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	live, order, err := t.liveFiles(ctx, t.own, sch, latest)
	if err != nil {
		return nil, nil, nil, err
	}
	l := newLayout(t.t.Dir, sch)
	missing := make([]bool, len(order))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReaders)
	for i, id := range order {
		files, err := l.files(live[id])
		if err != nil {
			_ = g.Wait()
			return nil, nil, nil, err
		}
		if len(files) == 0 || files[0].name != live[id].File.Name {
			continue // not at a place that is known
		}
		g.Go(func() error {
			there, err := fileThere(gctx, t.t.FIO, files[0].path)
			missing[i] = !there
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, nil, err
	}
	for i, id := range order {
		if missing[i] {
			gone = append(gone, live[id])
			names = append(names, live[id].File.Name)
		}
	}
	return latest, gone, names, nil
}

func fileThere(ctx context.Context, fio fileio.FileIO, p string) (bool, error) {
	_, err := fio.Stat(ctx, p)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil, err
}
