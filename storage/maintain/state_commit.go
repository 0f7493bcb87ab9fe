package maintain

import (
	"context"
	"fmt"
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

// RollbackAsLatest is what RollbackToAsLatest did.
type RollbackAsLatest struct {
	// Previous was the newest snapshot, Source is the one whose content is the newest now, Current the new snapshot.
	Previous, Source, Current int64
	// Tag protects the source.
	Tag string
}

// rollbackTagPrefix begins the name of the tag that protects the source of a rollback as the latest state.
const rollbackTagPrefix = "rollback-to-as-latest-"

// RollbackToAsLatest commits a new snapshot with the content of an older one, given
// by id or, where tag is not "", by a tag. Nothing of the history is removed; a tag protects the source.
func (t *Table) RollbackToAsLatest(ctx context.Context, id int64, tag string) (RollbackAsLatest, error) {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return RollbackAsLatest{}, err
	}
	defer unlock()
	var source *snapshot.Snapshot
	if tag != "" {
		x, err := t.own.snaps.Tag(ctx, tag)
		if err != nil {
			return RollbackAsLatest{}, err
		}
		source = x.Snapshot
	} else if source, err = t.snapshotOrTagged(ctx, id); err != nil {
		return RollbackAsLatest{}, err
	}
	if source == nil {
		return RollbackAsLatest{}, errs.NotFoundf("Rollback snapshot '%d' doesn't exist.", id)
	}
	sch, err := t.schema(ctx)
	if err != nil {
		return RollbackAsLatest{}, err
	}
	latest, err := t.own.snaps.Latest(ctx)
	if err != nil {
		return RollbackAsLatest{}, err
	}
	out := RollbackAsLatest{Source: source.ID}
	if latest != nil {
		out.Previous, out.Current = latest.ID, latest.ID
	}
	msgs, err := t.difference(ctx, sch, latest, source)
	if err != nil {
		return RollbackAsLatest{}, err
	}
	out.Tag = fmt.Sprintf("%s%d-%d", rollbackTagPrefix, source.ID, t.t.Clock().UnixMilli())
	if _, err := t.putTag(ctx, out.Tag, source, TagOptions{IgnoreIfExists: true}); err != nil {
		return RollbackAsLatest{}, err
	}
	res, err := t.committer(t.own, sch).Commit(ctx, commit.Request{
		Identifier: commit.BatchIdentifier, Messages: msgs, Force: true, Check: t.unchanged(latest),
	})
	if err != nil {
		if !errs.Is(err, errs.Uncertain) {
			_ = t.own.snaps.DeleteTag(context.WithoutCancel(ctx), out.Tag)
		}
		return RollbackAsLatest{}, err
	}
	for _, s := range res.Snapshots {
		out.Current = s.ID
	}
	return out, nil
}

// difference makes the messages that turn the content of one state into that of another.
func (t *Table) difference(ctx context.Context, sch *schema.TableSchema, from, to *snapshot.Snapshot) ([]commit.Message, error) {
	now, nowOrder, err := t.liveFiles(ctx, t.own, sch, from)
	if err != nil {
		return nil, err
	}
	then, thenOrder, err := t.liveFiles(ctx, t.own, sch, to)
	if err != nil {
		return nil, err
	}
	m := newMessages(sch)
	for _, id := range nowOrder {
		if e := now[id]; then[id] == nil {
			x, err := m.of(e.Partition, e.Bucket, e.TotalBuckets)
			if err != nil {
				return nil, err
			}
			x.DeletedFiles = append(x.DeletedFiles, e.File)
		}
	}
	for _, id := range thenOrder {
		if e := then[id]; now[id] == nil {
			x, err := m.of(e.Partition, e.Bucket, e.TotalBuckets)
			if err != nil {
				return nil, err
			}
			x.NewFiles = append(x.NewFiles, e.File)
		}
	}
	var old []manifest.IndexEntry
	if from != nil {
		if old, err = t.store.ReadIndexManifest(ctx, from.IndexManifest); err != nil {
			return nil, err
		}
	}
	new, err := t.store.ReadIndexManifest(ctx, to.IndexManifest)
	if err != nil {
		return nil, err
	}
	has := func(list []manifest.IndexEntry, name string) bool {
		for i := range list {
			if list[i].Name == name {
				return true
			}
		}
		return false
	}
	for i := range old {
		if !has(new, old[i].Name) {
			x, err := m.of(old[i].Partition, old[i].Bucket, totalOf(m, old[i].Bucket, now))
			if err != nil {
				return nil, err
			}
			x.DeletedIndexFiles = append(x.DeletedIndexFiles, old[i])
		}
	}
	for i := range new {
		if !has(old, new[i].Name) {
			x, err := m.of(new[i].Partition, new[i].Bucket, totalOf(m, new[i].Bucket, then))
			if err != nil {
				return nil, err
			}
			x.NewIndexFiles = append(x.NewIndexFiles, new[i])
		}
	}
	return m.list, nil
}

// totalOf is the bucket count of some message; index entries record none.
func totalOf(m *messages, bucket int, live map[string]*manifest.Entry) int {
	for _, x := range m.list {
		if x.Bucket == bucket {
			return x.TotalBuckets
		}
	}
	for _, e := range live {
		if e.Bucket == bucket {
			return e.TotalBuckets
		}
	}
	return -1
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
