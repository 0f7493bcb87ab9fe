package inventory

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Inventory is what is on disk below a folder, and what of it is referred to.
type Inventory struct {
	// Files are all paths, ascending in each folder.
	Files []string
	fio   fileio.FileIO
	// used and names are by the directory of a table: names that states refer to, and names of files that are there.
	used, names map[string]map[string]bool
	manifests   *manifest.Cache
}

// Read lists the files below a folder. manifests, which may be nil, is a cache of manifests.
func Read(ctx context.Context, fio fileio.FileIO, folder string, manifests *manifest.Cache) (*Inventory, error) {
	v := &Inventory{fio: fio, used: map[string]map[string]bool{}, names: map[string]map[string]bool{}, manifests: manifests}
	var err error
	v.Files, err = AllFiles(ctx, fio, folder)
	return v, err
}

// AllFiles lists the paths of the files below a directory; none where it does not exist.
func AllFiles(ctx context.Context, fio fileio.FileIO, dir string) (out []string, err error) {
	infos, err := fio.List(ctx, dir)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, i := range infos {
		p := dir + "/" + i.Name
		if !i.IsDir {
			out = append(out, p)
			continue
		}
		sub, err := AllFiles(ctx, fio, p)
		if err != nil {
			return nil, err
		}
		out = append(out, sub...)
	}
	return out, nil
}

// Table notes what all states of all branches of a table name, and fails where a file that one needs is missing.
func (v *Inventory) Table(ctx context.Context, dir string) error {
	v.used[dir], v.names[dir] = map[string]bool{}, map[string]bool{}
	for _, f := range v.Files {
		if strings.HasPrefix(f, dir+"/") {
			v.names[dir][path.Base(f)] = true
		}
	}
	branches, err := snapshot.Branches(ctx, v.fio, dir)
	if err != nil {
		return err
	}
	for _, b := range append(branches, snapshot.Branch{Name: snapshot.MainBranch}) {
		if err := v.branch(ctx, dir, snapshot.NewManager(v.fio, dir, b.Name)); err != nil {
			return fmt.Errorf("table %s, branch %s: %w", dir, b.Name, err)
		}
	}
	return nil
}

// Dense demands that no id is missing among the snapshots of a table, and returns the first and the last one.
func Dense(ctx context.Context, fio fileio.FileIO, dir string) (first, last int64, err error) {
	ids, err := snapshot.NewManager(fio, dir, "").IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, 0, err
	}
	first, last = ids[0], ids[len(ids)-1]
	if last-first != int64(len(ids)-1) {
		return 0, 0, fmt.Errorf("table %s: snapshot ids are missing among %v", dir, ids)
	}
	return first, last, nil
}

func (v *Inventory) branch(ctx context.Context, dir string, m *snapshot.Manager) error {
	ids, err := m.IDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		s, err := m.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := v.refer(ctx, dir, s, "snapshot"); err != nil {
			return fmt.Errorf("snapshot %d: %w", id, err)
		}
	}
	tags, err := m.Tags(ctx)
	if err != nil {
		return err
	}
	for _, t := range tags {
		if err := v.refer(ctx, dir, t.Snapshot, "tag"); err != nil {
			return fmt.Errorf("tag %s: %w", t.Name, err)
		}
	}
	logs, err := m.ChangelogIDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range logs {
		s, err := m.Changelog(ctx, id)
		if err != nil {
			return err
		}
		if err := v.refer(ctx, dir, s, "changelog"); err != nil {
			return fmt.Errorf("changelog %d: %w", id, err)
		}
	}
	return nil
}

// refer notes what a state names, and demands that what it needs is there, and that deletion vectors are of live files.
func (v *Inventory) refer(ctx context.Context, dir string, s *snapshot.Snapshot, kind string) error {
	used, names := v.used[dir], v.names[dir]
	store := manifest.NewStore(v.fio, dir, v.manifests)
	need := func(what, n string) error {
		used[n] = true
		if !names[n] {
			return fmt.Errorf("%s %s is missing", what, n)
		}
		return nil
	}
	entries := func(list string) (all []manifest.Entry, err error) {
		if err := need("manifest list", list); err != nil {
			return nil, err
		}
		infos, err := store.ReadList(ctx, list)
		if err != nil {
			return nil, err
		}
		for _, i := range infos {
			if err := need("manifest", i.Name); err != nil {
				return nil, err
			}
			m, err := store.ReadManifest(ctx, i.Name, i.Size)
			if err != nil {
				return nil, err
			}
			all = append(all, m...)
		}
		return all, nil
	}
	note := func(e *manifest.Entry) {
		used[e.File.Name] = true
		for _, x := range e.File.ExtraFiles {
			used[x] = true
		}
	}
	if s.ChangelogManifestList != "" && kind != "tag" { // expiry takes the changelog of what a tag keeps
		log, err := entries(s.ChangelogManifestList)
		if err != nil {
			return err
		}
		for i := range log {
			note(&log[i])
			if err := need("changelog file", log[i].File.Name); err != nil {
				return err
			}
		}
	}
	if kind == "changelog" {
		// What else it names may be there, until it expires.
		for _, list := range []string{s.BaseManifestList, s.DeltaManifestList} {
			used[list] = true
			infos, err := store.ReadList(ctx, list)
			if errs.Is(err, errs.NotFound) {
				continue
			}
			if err != nil {
				return err
			}
			for _, i := range infos {
				used[i.Name] = true
				m, err := store.ReadManifest(ctx, i.Name, i.Size)
				if err != nil && !errs.Is(err, errs.NotFound) {
					return err
				}
				for k := range m {
					if m[k].Kind == manifest.Add {
						note(&m[k])
					}
				}
			}
		}
		return nil
	}
	base, err := entries(s.BaseManifestList)
	if err != nil {
		return err
	}
	delta, err := entries(s.DeltaManifestList)
	if err != nil {
		return err
	}
	all := slices.Concat(base, delta)
	gone, live := map[string]bool{}, map[string]bool{}
	id := func(e *manifest.Entry) string { return fmt.Sprint(e.File.Name, "@", e.File.Level) }
	for i := range all {
		if all[i].Kind == manifest.Delete {
			gone[id(&all[i])] = true
		}
	}
	for i := range all {
		e := &all[i]
		if e.Kind != manifest.Add {
			continue
		}
		note(e)
		if gone[id(e)] {
			continue
		}
		live[e.File.Name] = true
		for _, n := range append([]string{e.File.Name}, e.File.ExtraFiles...) {
			if err := need("data file", n); err != nil {
				return err
			}
		}
	}
	if s.IndexManifest != "" {
		if err := need("index manifest", s.IndexManifest); err != nil {
			return err
		}
		index, err := store.ReadIndexManifest(ctx, s.IndexManifest)
		if err != nil {
			return err
		}
		for i := range index {
			if err := need("index file", index[i].Name); err != nil {
				return err
			}
			for _, r := range index[i].Ranges {
				if !live[r.DataFile] {
					return fmt.Errorf("index file %s has a deletion vector of %s, which is not live", index[i].Name, r.DataFile)
				}
			}
		}
	}
	if s.Statistics != "" {
		return need("statistics", s.Statistics)
	}
	return nil
}

// metadataName matches what a branch keeps beside the files that its states name.
var metadataName = regexp.MustCompile(`^(branch/branch-[^/]+/)?(schema/schema-\d+|snapshot/(snapshot-\d+|LATEST|EARLIEST)|changelog/(changelog-\d+|LATEST|EARLIEST)|tag/tag-.+|consumer/consumer-[^/]+)$`)

// Strays lists the files that no table, of those that Table was called for, knows.
func (v *Inventory) Strays() (out []string) {
	for _, f := range v.Files {
		known := path.Base(f) == "_SUCCESS"
		for dir, used := range v.used {
			if rest, ok := strings.CutPrefix(f, dir+"/"); ok {
				known = known || metadataName.MatchString(rest) || used[path.Base(f)]
			}
		}
		if !known {
			out = append(out, f)
		}
	}
	return out
}
