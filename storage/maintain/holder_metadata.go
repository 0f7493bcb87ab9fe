package maintain

import (
	"context"
	"path"

	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// metadata are the metadata files that one state names, each with its path.
type metadata struct {
	// data are manifests (with what goes with them) and lists of the base and the delta; log those of the changelog.
	data, log []fileRef
	// other are the index manifest, its index files, and the statistics.
	other []fileRef
}

// all lists the files in the order in which they are deleted: what is named before what names it.
func (m *metadata) all() []fileRef {
	return append(append(append([]fileRef(nil), m.other...), m.data...), m.log...)
}

// metadataOf lists the metadata files that a state names. What is missing already is passed over if lenient.
func (t *Table) metadataOf(ctx context.Context, l *layout, s *snapshot.Snapshot, lenient bool) (*metadata, error) {
	m := &metadata{}
	for _, x := range []struct {
		to   *[]fileRef
		list string
	}{{&m.data, s.BaseManifestList}, {&m.data, s.DeltaManifestList}, {&m.log, s.ChangelogManifestList}} {
		if !plainName(x.list) {
			continue
		}
		infos, err := t.store.ReadList(ctx, x.list)
		switch {
		case lenient:
			err = unreadableIsEmpty(err)
		case x.list == s.ChangelogManifestList:
			err = missingIsEmpty(err)
		}
		if err != nil {
			return nil, err
		}
		for i := range infos {
			*x.to = append(*x.to, t.manifestFiles(&infos[i])...)
		}
		*x.to = append(*x.to, fileRef{x.list, t.store.Path(x.list)})
	}
	if plainName(s.IndexManifest) {
		entries, err := t.store.ReadIndexManifest(ctx, s.IndexManifest)
		if lenient {
			err = unreadableIsEmpty(err)
		}
		if err != nil {
			return nil, err
		}
		for i := range entries {
			e := &entries[i]
			p, err := l.index(e)
			if err != nil {
				return nil, err
			}
			if plainName(e.Name) && path.Base(p) == e.Name {
				m.other = append(m.other, fileRef{e.Name, p})
			}
		}
		m.other = append(m.other, fileRef{s.IndexManifest, t.store.Path(s.IndexManifest)})
	}
	if plainName(s.Statistics) {
		m.other = append(m.other, fileRef{s.Statistics, path.Join(t.t.Dir, "statistics", s.Statistics)})
	}
	return m, nil
}

// manifestFiles lists a manifest and the files beside it that its list records.
func (t *Table) manifestFiles(i *manifest.FileInfo) []fileRef {
	var out []fileRef
	for _, n := range append(append([]string(nil), i.ExtraFiles...), i.Name) {
		if plainName(n) {
			out = append(out, fileRef{n, t.store.Path(n)})
		}
	}
	return out
}

// heldMetadata returns the names of the metadata files that the holders need.
func (t *Table) heldMetadata(ctx context.Context, holders []holder) (map[string]bool, error) {
	held := map[string]bool{}
	layouts := map[*branch]*layout{}
	for i := range holders {
		h := &holders[i]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := layouts[h.b]
		if l == nil {
			sch, err := h.b.schemas.Latest(ctx)
			if err != nil {
				return nil, h.settle(ctx, err)
			}
			l = newLayout(t.t.Dir, sch)
			layouts[h.b] = l
		}
		m, err := t.metadataOf(ctx, l, h.snap, h.kind == heldByChangelog)
		if err != nil {
			if err = h.settle(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		files := append(append([]fileRef(nil), m.data...), m.other...)
		switch {
		case h.kind == heldByChangelog && h.snap.ChangelogManifestList != "":
			files = m.log
		case h.kind == heldByChangelog:
			files = m.data
		case h.kind == heldBySnapshot:
			files = append(files, m.log...)
		}
		for _, f := range files {
			held[f.name] = true
		}
	}
	return held, nil
}
