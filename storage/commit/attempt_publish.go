package commit

import (
	"context"

	"time"

	"github.com/google/uuid"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// publish makes one snapshot of a change, again on a newer base where somebody
// else was faster (FileStoreCommitImpl.tryCommit). It returns nil where nothing had to be done.
func (c *Committer) publish(ctx context.Context, r *Request, ch *change) (_ *snapshot.Snapshot, err error) {
	var uncertain error // of an earlier attempt whose outcome is not known
	defer func() {
		if err != nil && uncertain != nil && !errs.Is(err, errs.Uncertain) {
			err = errs.Uncertainf("%w; then: %w", uncertain, err)
		}
	}()
	opts := c.t.Schema.Options
	retries := schema.OptCommitRetries.Value(opts)
	wait, most := schema.OptCommitMinWait.Value(opts), schema.OptCommitMaxWait.Value(opts)
	timeout, limited, err := schema.OptCommitTimeout.Lookup(opts)
	if err != nil {
		return nil, err
	}
	start := c.t.Clock()
	var seen int64 // the newest id that an earlier attempt was based on
	for try := 0; ; try++ {
		latest, err := c.t.Snapshots.Latest(ctx)
		if err != nil {
			return nil, err
		}
		if try > 0 {
			done, err := c.committed(ctx, r, ch, seen, latest)
			if err != nil || done != nil {
				return done, err
			}
		}
		if r.Check != nil {
			if err := r.Check(ctx, latest); err != nil {
				return nil, err
			}
		}
		s, created, err := c.attempt(ctx, r, ch, latest)
		if err != nil && !errs.Is(err, errs.Uncertain) {
			return nil, err
		}
		if err != nil {
			uncertain = err
		}
		if created {
			c.t.Snapshots.WriteLatestHint(ctx, s.ID)
			return s, nil
		}
		if err == nil && s == nil {
			return nil, nil
		}
		if latest != nil {
			seen = latest.ID
		}
		if try >= retries || limited && c.t.Clock().Sub(start) >= timeout {
			if err != nil {
				return nil, err
			}
			return nil, errs.Conflictf("table %s: a commit lost the race against other writers %d times; repeat the statement, or raise the option 'commit.max-retries'", c.t.Label, try+1)
		}
		if serr := c.t.Sleep(ctx, c.jitter(wait)); serr != nil {
			if err != nil {
				return nil, err
			}
			return nil, serr
		}
		wait = min(2*wait, most)
	}
}

// jitter varies a wait by up to a half.
func (c *Committer) jitter(d time.Duration) time.Duration {
	var b [1]byte
	_, _ = c.t.Random.Read(b[:])
	return d/2 + d*time.Duration(b[0])/256
}

// committed looks among the snapshots that came since an attempt for the one that it made.
func (c *Committer) committed(ctx context.Context, r *Request, ch *change, seen int64, latest *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	if latest == nil {
		return nil, nil
	}
	kinds := map[string]bool{ch.kind: true}
	for id := latest.ID; id > seen && id >= snapshot.FirstID; id-- {
		s, err := c.t.Snapshots.Get(ctx, id)
		if errs.Is(err, errs.NotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if s.CommitUser == r.User && s.CommitIdentifier == r.Identifier && kinds[s.CommitKind] {
			return s, nil
		}
	}
	return nil, nil
}

// attempt prepares a snapshot that follows latest and tries to publish it. s is
// nil where there is nothing to do. What was written for an attempt that surely failed is removed.
func (c *Committer) attempt(ctx context.Context, r *Request, ch *change, latest *snapshot.Snapshot) (s *snapshot.Snapshot, created bool, err error) {
	names, err := manifest.NewNames(c.t.Random)
	if err != nil {
		return nil, false, err
	}
	opts := c.t.Schema.Options
	wo := manifest.WriteOptions{
		Names: names, PartitionTypes: c.t.Schema.PartitionTypes(), SchemaID: c.t.Schema.ID,
		Compression: schema.OptManifestCodec.Value(opts), ZstdLevel: schema.OptZstdLevel.Value(opts),
		TargetSize: schema.OptManifestTarget.Value(opts), DropDeleteStats: schema.OptManifestDropStats.Value(opts),
	}
	var written []string
	defer func() {
		if !created && !errs.Is(err, errs.Uncertain) {
			c.t.Store.Delete(ctx, written...)
		}
	}()

	delta, indexDelete, err := c.resolve(ctx, ch, latest)
	if err != nil {
		return nil, false, err
	}
	if len(delta)+len(ch.changelog)+len(ch.indexAdd)+len(indexDelete) == 0 && !r.Force && !ch.manifests {
		return nil, false, nil
	}
	if err := c.checkConflicts(ctx, ch, delta, latest); err != nil {
		return nil, false, err
	}

	s = &snapshot.Snapshot{
		Version: snapshot.CurrentVersion, ID: snapshot.FirstID, CommitUser: r.User, CommitIdentifier: r.Identifier,
		CommitKind: ch.kind, Properties: r.Properties, Operation: r.Operation, WriterVersion: "",
	}
	id, err := uuid.NewRandomFromReader(c.t.Random)
	if err != nil {
		return nil, false, err
	}
	s.UUID = id.String()
	newest, err := c.t.Schemas.Latest(ctx)
	if err != nil {
		return nil, false, err
	}
	s.SchemaID = newest.ID

	var nextRow, total int64
	var base []manifest.FileInfo
	if latest != nil {
		s.ID = latest.ID + 1
		if base, err = c.baseOf(ctx, latest); err != nil {
			return nil, false, err
		}
		if latest.NextRowID != nil {
			nextRow = *latest.NextRowID
		}
		if latest.TotalRecordCount != nil {
			total = *latest.TotalRecordCount
		}
		s.IndexManifest, s.Watermark = latest.IndexManifest, latest.Watermark
		s.Statistics = c.keptStatistics(ctx, latest, newest.ID)
	}
	if r.Watermark != nil && (s.Watermark == nil || *r.Watermark > *s.Watermark) {
		s.Watermark = r.Watermark
	}
	if ch.statistics != "" {
		s.Statistics = ch.statistics
	}
	if schema.OptRowTracking.Value(opts) && ch.kind != snapshot.Compact {
		delta, nextRow = assignRowIDs(delta, nextRow, s.ID)
	}
	s.NextRowID = &nextRow

	// Base: the manifests of the snapshot before, merged where that pays.
	merged, fresh, err := c.t.Store.MergeManifests(ctx, base, manifest.MergeOptions{
		WriteOptions: wo, FullMergeSize: schema.OptManifestFullMerge.Value(opts), MinCount: schema.OptManifestMinCount.Value(opts), Always: ch.manifests,
	})
	if err != nil {
		return nil, false, err
	}
	written = append(written, manifest.NamesOf(fresh)...)
	if ch.manifests && len(fresh) == 0 && len(merged) == len(base) {
		return nil, false, nil
	}
	list := func(infos []manifest.FileInfo) (string, *int64, error) {
		name, size, err := c.t.Store.WriteList(ctx, infos, wo)
		written = append(written, name)
		return name, &size, err
	}
	if s.BaseManifestList, s.BaseManifestListSize, err = list(merged); err != nil {
		return nil, false, err
	}
	entries := func(es []manifest.Entry) (string, *int64, error) {
		infos, err := c.t.Store.WriteManifests(ctx, es, wo)
		if err != nil {
			return "", nil, err
		}
		written = append(written, manifest.NamesOf(infos)...)
		return list(infos)
	}
	if s.DeltaManifestList, s.DeltaManifestListSize, err = entries(delta); err != nil {
		return nil, false, err
	}
	if len(ch.changelog) > 0 {
		if s.ChangelogManifestList, s.ChangelogListSize, err = entries(ch.changelog); err != nil {
			return nil, false, err
		}
		n := countRows(ch.changelog)
		s.ChangelogRecordCount = &n
	}
	if len(ch.indexAdd)+len(indexDelete) > 0 {
		old, err := c.t.Store.ReadIndexManifest(ctx, s.IndexManifest)
		if err != nil {
			return nil, false, err
		}
		state, err := c.nextIndex(old, ch.indexAdd, indexDelete)
		if err != nil {
			return nil, false, err
		}
		s.IndexManifest, err = c.t.Store.WriteIndexManifest(ctx, state, wo)
		written = append(written, s.IndexManifest)
		if err != nil {
			return nil, false, err
		}
	}
	rows := countRows(delta)
	total += rows
	s.DeltaRecordCount, s.TotalRecordCount = &rows, &total
	s.TimeMillis = c.t.Clock().UnixMilli()
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	created, err = c.t.Snapshots.Publish(ctx, s)
	return s, created, err
}

// baseOf lists the manifests of a snapshot's state.
func (c *Committer) baseOf(ctx context.Context, s *snapshot.Snapshot) ([]manifest.FileInfo, error) {
	base, err := c.t.Store.ReadList(ctx, s.BaseManifestList)
	if err != nil {
		return nil, err
	}
	delta, err := c.t.Store.ReadList(ctx, s.DeltaManifestList)
	if err != nil {
		return nil, err
	}
	return append(append([]manifest.FileInfo(nil), base...), delta...), nil
}

// keptStatistics returns the name of the statistics that the next snapshot
// takes over: those of the newest schema only.
func (c *Committer) keptStatistics(ctx context.Context, latest *snapshot.Snapshot, schemaID int64) string {
	if latest.Statistics == "" {
		return ""
	}
	st, err := snapshot.ReadStatistics(ctx, c.t.FIO, c.t.Dir, latest.Statistics)
	if err != nil || st.SchemaID != schemaID {
		return ""
	}
	return latest.Statistics
}

// countRows adds up the physical rows that entries add, less those they delete.
func countRows(entries []manifest.Entry) int64 {
	var n int64
	for i := range entries {
		if entries[i].Kind == manifest.Add {
			n += entries[i].File.RowCount
		} else {
			n -= entries[i].File.RowCount
		}
	}
	return n
}

// assignRowIDs gives new files of a row-tracking table their row ids and the
// snapshot's id as sequence number (section 16 of the format).
func assignRowIDs(delta []manifest.Entry, next, snapshotID int64) ([]manifest.Entry, int64) {
	out := append([]manifest.Entry(nil), delta...)
	for i := range out {
		e := &out[i]
		if e.Kind != manifest.Add || e.File.Source == nil || *e.File.Source != manifest.SourceAppend {
			continue
		}
		f := *e.File
		if f.MinSequence == 0 {
			f.MinSequence, f.MaxSequence = snapshotID, snapshotID
		} else if f.MaxSequence == 0 {
			f.MaxSequence = snapshotID
		}
		if f.FirstRowID == nil {
			first := next
			f.FirstRowID = &first
			next += f.RowCount
		}
		e.File = &f
	}
	return out, next
}
