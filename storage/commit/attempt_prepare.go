package commit

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// attempt is the work on one snapshot that follows on latest.
type attempt struct {
	c      *Committer
	r      *Request
	ch     *change
	latest *snapshot.Snapshot
	// delta, indexAdd and indexDelete are the change completed for this base.
	delta                 []manifest.Entry
	indexAdd, indexDelete []manifest.IndexEntry
	// base lists the manifests of latest, index is its index state.
	base  []manifest.FileInfo
	index []manifest.IndexEntry
	parts *manifest.Partitions
	// written are the metadata files of this attempt.
	written []string
	options manifest.WriteOptions
}

// attempt prepares a snapshot that follows latest and tries to publish it. s is
// nil where there is nothing to do. What was written for an attempt that surely failed is
// removed; s is set where the error is errs.Uncertain. written are the metadata files of a snapshot that was created.
func (c *Committer) attempt(ctx context.Context, r *Request, ch *change, latest *snapshot.Snapshot) (s *snapshot.Snapshot, written []string, created bool, err error) {
	names, err := manifest.NewNames(c.t.Random)
	if err != nil {
		return nil, nil, false, err
	}
	opts := c.t.Schema.Options
	a := &attempt{
		c: c, r: r, ch: ch, latest: latest, parts: manifest.NewPartitions(c.t.Schema.PartitionTypes()),
		options: manifest.WriteOptions{
			Names: names, PartitionTypes: c.t.Schema.PartitionTypes(), SchemaID: c.t.Schema.ID,
			Compression: schema.OptManifestCodec.Value(opts), ZstdLevel: schema.OptZstdLevel.Value(opts),
			TargetSize: schema.OptManifestTarget.Value(opts), DropDeleteStats: schema.OptManifestDropStats.Value(opts),
		},
	}
	defer func() {
		if !created && !errs.Is(err, errs.Uncertain) {
			c.t.Store.Delete(ctx, a.written...)
		}
	}()
	if err := a.readBase(ctx); err != nil {
		return nil, nil, false, err
	}
	if err := a.resolve(ctx); err != nil {
		return nil, nil, false, err
	}
	if len(a.delta)+len(ch.changelog)+len(a.indexAdd)+len(a.indexDelete) == 0 && !r.Force && !ch.manifests && ch.statistics == "" {
		return nil, nil, false, nil
	}
	if err := a.checkConflicts(ctx); err != nil {
		return nil, nil, false, err
	}
	if s, err = a.prepare(ctx); err != nil || s == nil {
		return nil, nil, false, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, false, err
	}
	if latest != nil {
		// What this one follows on must not be replaced any more.
		if ok, err := c.t.Snapshots.Settled(ctx, latest); err != nil || !ok {
			return s, nil, false, err
		}
	}
	created, err = c.t.Snapshots.Publish(ctx, s)
	return s, a.written, created, err
}

// readBase reads the lists of the snapshot before.
func (a *attempt) readBase(ctx context.Context) (err error) {
	if a.latest == nil {
		return nil
	}
	if a.base, err = a.c.manifestsOf(ctx, a.latest); err != nil {
		return err
	}
	a.index, err = a.c.t.Store.ReadIndexManifest(ctx, a.latest.IndexManifest)
	return err
}

// manifestsOf lists the manifests of a snapshot's state.
func (c *Committer) manifestsOf(ctx context.Context, s *snapshot.Snapshot) ([]manifest.FileInfo, error) {
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

// prepare writes the metadata files and makes the snapshot that names them; nil
// where manifests were to be rewritten and none had to.
func (a *attempt) prepare(ctx context.Context) (*snapshot.Snapshot, error) {
	c, r, ch := a.c, a.r, a.ch
	s := &snapshot.Snapshot{
		Version: snapshot.CurrentVersion, ID: snapshot.FirstID, CommitUser: r.User, CommitIdentifier: r.Identifier,
		CommitKind: ch.kind, Properties: r.Properties, Operation: r.Operation,
	}
	id, err := uuid.NewRandomFromReader(c.t.Random)
	if err != nil {
		return nil, err
	}
	s.UUID = id.String()
	newest, err := c.t.Schemas.Latest(ctx)
	if err != nil {
		return nil, err
	}
	if newest.ID < c.t.Schema.ID || newest.ID == c.t.Schema.ID && newest.TimeMillis != c.t.Schema.TimeMillis {
		return nil, errs.Conflictf("table %s was dropped and created again meanwhile; repeat the statement", c.t.Label)
	}
	s.SchemaID = newest.ID

	var nextRow, total int64
	if l := a.latest; l != nil {
		s.ID = l.ID + 1
		if l.NextRowID != nil {
			nextRow = *l.NextRowID
		}
		if total, err = a.totalRows(ctx); err != nil {
			return nil, err
		}
		s.IndexManifest, s.Watermark = l.IndexManifest, l.Watermark
		s.Statistics = c.keptStatistics(ctx, l, newest.ID)
	}
	if r.Watermark != nil && (s.Watermark == nil || *r.Watermark > *s.Watermark) {
		s.Watermark = r.Watermark
	}
	if ch.statistics != "" {
		s.Statistics = ch.statistics
	}
	delta := a.delta
	if schema.OptRowTracking.Value(c.t.Schema.Options) && ch.kind != snapshot.Compact {
		delta, nextRow = assignRowIDs(delta, nextRow, s.ID)
	}
	s.NextRowID = &nextRow
	if s.Properties, err = a.sequenceProperty(r.Properties, delta); err != nil {
		return nil, err
	}

	// Base: the manifests of the snapshot before, merged where that pays.
	merged, fresh, err := c.t.Store.MergeManifests(ctx, a.base, manifest.MergeOptions{
		WriteOptions: a.options, FullMergeSize: schema.OptManifestFullMerge.Value(c.t.Schema.Options),
		MinCount: schema.OptManifestMinCount.Value(c.t.Schema.Options), Always: ch.manifests,
	})
	if err != nil {
		return nil, err
	}
	a.written = append(a.written, manifest.NamesOf(fresh)...)
	if ch.manifests && len(fresh) == 0 && len(merged) == len(a.base) {
		return nil, nil
	}
	if s.BaseManifestList, s.BaseManifestListSize, err = a.writeList(ctx, merged); err != nil {
		return nil, err
	}
	if s.DeltaManifestList, s.DeltaManifestListSize, err = a.writeEntries(ctx, delta); err != nil {
		return nil, err
	}
	if len(ch.changelog) > 0 {
		if s.ChangelogManifestList, s.ChangelogListSize, err = a.writeEntries(ctx, ch.changelog); err != nil {
			return nil, err
		}
		n := countRows(ch.changelog)
		s.ChangelogRecordCount = &n
	}
	if len(a.indexAdd)+len(a.indexDelete) > 0 {
		state, err := a.nextIndex()
		if err != nil {
			return nil, err
		}
		s.IndexManifest, err = c.t.Store.WriteIndexManifest(ctx, state, a.options)
		a.written = append(a.written, s.IndexManifest)
		if err != nil {
			return nil, err
		}
	}
	rows := countRows(delta)
	total += rows
	s.DeltaRecordCount, s.TotalRecordCount = &rows, &total
	s.TimeMillis = c.t.Clock().UnixMilli()
	return s, nil
}

func (a *attempt) writeList(ctx context.Context, infos []manifest.FileInfo) (string, *int64, error) {
	name, size, err := a.c.t.Store.WriteList(ctx, infos, a.options)
	a.written = append(a.written, name)
	return name, &size, err
}

func (a *attempt) writeEntries(ctx context.Context, entries []manifest.Entry) (string, *int64, error) {
	infos, err := a.c.t.Store.WriteManifests(ctx, entries, a.options)
	if err != nil {
		return "", nil, err
	}
	a.written = append(a.written, manifest.NamesOf(infos)...)
	return a.writeList(ctx, infos)
}

// totalRows are the physical rows of the snapshot before; very old snapshots do not record them.
func (a *attempt) totalRows(ctx context.Context) (int64, error) {
	if n := a.latest.TotalRecordCount; n != nil {
		return *n, nil
	}
	live, err := a.c.t.Store.Live(ctx, a.base, a.options.PartitionTypes, nil)
	var n int64
	for _, e := range live {
		n += e.File.RowCount
	}
	return n, err
}

// keptStatistics returns the name of the statistics that the next snapshot
// takes over: those of the newest schema only. Statistics are advisory: if they cannot be read they go.
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
// snapshot's id as sequence number (section 16 of the format). Files that bring ids along keep
// them; no new file gets any of those.
func assignRowIDs(delta []manifest.Entry, next, snapshotID int64) ([]manifest.Entry, int64) {
	out := append([]manifest.Entry(nil), delta...)
	for i := range out {
		if f := out[i].File; out[i].Kind == manifest.Add && f.FirstRowID != nil {
			next = max(next, *f.FirstRowID+f.RowCount)
		}
	}
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

// propMaxSequence is the property that every snapshot of a table with
// write.sequence-number-init-mode = snapshot has (section 8.3 of the format).
const propMaxSequence = "sequence.generation.max-sequence-number"

// sequenceProperty adds the greatest sequence number of the table's files to the
// properties of a snapshot, where the table wants that: writers begin after it.
func (a *attempt) sequenceProperty(props map[string]string, delta []manifest.Entry) (map[string]string, error) {
	if !strings.EqualFold(a.c.t.Schema.Options["write.sequence-number-init-mode"], "snapshot") {
		return props, nil
	}
	greatest := int64(-1)
	if a.latest != nil {
		n, err := strconv.ParseInt(a.latest.Properties[propMaxSequence], 10, 64)
		if err != nil {
			return nil, errs.Unsupportedf("table %s has option 'write.sequence-number-init-mode' = 'snapshot', but snapshot %d has no property '%s'; write it with Paimon, or RESET the option", a.c.t.Label, a.latest.ID, propMaxSequence)
		}
		greatest = n
	}
	for i := range delta {
		if delta[i].Kind == manifest.Add {
			greatest = max(greatest, delta[i].File.MaxSequence)
		}
	}
	out := maps.Clone(props)
	if out == nil {
		out = map[string]string{}
	}
	out[propMaxSequence] = strconv.FormatInt(greatest, 10)
	return out, nil
}
