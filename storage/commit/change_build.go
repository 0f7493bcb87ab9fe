package commit

import (
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// OperationTruncate is the operation of TRUNCATE and of dropping partitions, the only one that Paimon's
// own SQL records (section 3.1 of the format).
const OperationTruncate = "TRUNCATE"

// change is one snapshot to be.
type change struct {
	kind string
	// delta and changelog are the entries of the manifest lists.
	delta, changelog []manifest.Entry
	// indexAdd and indexDelete change the index manifest.
	indexAdd, indexDelete []manifest.IndexEntry
	overwrite             *Overwrite
	// manifests rewrites the manifests, statistics is a file to publish: a change by itself.
	manifests  bool
	statistics string
}

func (c *change) empty() bool {
	return len(c.delta)+len(c.changelog)+len(c.indexAdd)+len(c.indexDelete) == 0 && !c.manifests && c.statistics == ""
}

// replacesWithout reports whether an overwrite may delete files although it brings none.
func (c *change) replacesWithout(s *schema.TableSchema) bool {
	o := c.overwrite
	return o != nil && (o.Match != nil || !o.Dynamic || !s.Partitioned())
}

// split makes the entries of the two snapshots that messages become.
func (c *Committer) split(r *Request) (appended, compacted *change, err error) {
	appended = &change{kind: snapshot.Append, overwrite: r.Overwrite}
	compacted = &change{kind: snapshot.Compact}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Partition == nil {
			return nil, nil, errs.Invalidf("table %s: a commit message has no partition", c.t.Label)
		}
		entries := func(dst []manifest.Entry, kind manifest.Kind, files []*manifest.DataFile) []manifest.Entry {
			for _, f := range files {
				dst = append(dst, manifest.Entry{Kind: kind, Partition: m.Partition, Bucket: m.Bucket, TotalBuckets: m.TotalBuckets, File: f})
			}
			return dst
		}
		// Deletions come first: of a file whose level changes there are both.
		appended.delta = entries(appended.delta, manifest.Delete, m.DeletedFiles)
		appended.delta = entries(appended.delta, manifest.Add, m.NewFiles)
		appended.changelog = entries(appended.changelog, manifest.Add, m.ChangelogFiles)
		appended.indexAdd = append(appended.indexAdd, m.NewIndexFiles...)
		appended.indexDelete = append(appended.indexDelete, m.DeletedIndexFiles...)
		if x := m.Compact; x != nil {
			compacted.delta = entries(compacted.delta, manifest.Delete, x.Before)
			compacted.delta = entries(compacted.delta, manifest.Add, x.After)
			compacted.changelog = entries(compacted.changelog, manifest.Add, x.Changelog)
			compacted.indexAdd = append(compacted.indexAdd, x.NewIndexFiles...)
			compacted.indexDelete = append(compacted.indexDelete, x.DeletedIndexFiles...)
		}
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
	return appended, compacted, nil
}

// checkCommittable refuses commits that would leave a table wrong for other
// engines: what they keep beside snapshots, or derive from them, would not fit any more.
func (c *Committer) checkCommittable(changes ...*change) error {
	o := c.t.Schema.Options
	if v := o["metadata.iceberg.storage"]; v != "" && !strings.EqualFold(v, "disabled") {
		return errs.Unsupportedf("table %s has option 'metadata.iceberg.storage' = '%s': a commit from here would leave the Iceberg metadata behind; write with Paimon, or RESET the option", c.t.Label, v)
	}
	if !schema.OptSeqSnapshotOrder.Value(o) {
		return nil
	}
	for _, ch := range changes {
		for i := range ch.delta {
			if ch.kind != snapshot.Compact && ch.delta[i].Kind == manifest.Add {
				return errs.Unsupportedf("table %s has option 'sequence.snapshot-ordering': new files need snapshot ids as sequence numbers, which are not assigned here; write with Paimon", c.t.Label)
			}
		}
	}
	return nil
}
