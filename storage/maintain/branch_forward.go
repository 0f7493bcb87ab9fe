package maintain

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// FastForward lets the own branch (usually main) take over the history of another
// one: its snapshots from the other's first one on, its schemas from that
// snapshot's on and its tags at or above go, and those of the other branch come (section 13.2
// of the format). The other branch remains. Files that only the
// discarded snapshots needed stay until the cleaning of orphan files, as in Paimon.
//
// Readers see the old state, or the new one; only where the two branches have different schemas
// under one id they may see their common history in between.
func (t *Table) FastForward(ctx context.Context, from string) error {
	switch {
	case from == snapshot.MainBranch:
		return errs.Invalidf("Branch name '%s' do not use in fast-forward.", from)
	case strings.TrimSpace(from) == "":
		return errs.Invalidf("Branch name '%s' is blank.", from)
	case from == t.own.name:
		return errs.Invalidf("Fast-forward from the current branch '%s' is not allowed.", from)
	}
	unlock, err := t.lockBoth(ctx, t.own.name)
	if err != nil {
		return err
	}
	defer unlock()
	if err := t.mustExist(ctx, from); err != nil {
		return err
	}
	src := t.branch(from)
	their, err := t.history(ctx, src)
	if err != nil {
		return err
	}
	if len(their.snaps) == 0 {
		return errs.Invalidf("Cannot fast forward branch %s, because it does not have snapshot.", from)
	}
	if len(their.schemas) == 0 {
		return errs.Corruptf("Cannot fast forward branch %s, because it does not have a schema.", from)
	}
	ours, err := t.history(ctx, t.own)
	if err != nil {
		return err
	}
	ops, err := t.forwardOps(ours, their)
	if err != nil {
		return err
	}
	if err := runScript(ctx, t.t.FIO, ops, fmt.Sprintf("table %s: the fast-forward to branch '%s' stopped half-way; repeat it", t.t.Label, from)); err != nil {
		return err
	}
	ids := keysOf(their.snaps)
	if first := keysOf(ours.snaps); len(first) > 0 && first[0] < ids[0] {
		t.own.snaps.WriteEarliestHint(ctx, first[0])
	} else {
		t.own.snaps.WriteEarliestHint(ctx, ids[0])
	}
	t.own.snaps.WriteLatestHint(ctx, ids[len(ids)-1])
	if t.t.Schemas != nil {
		t.t.Schemas.Drop(t.own.snaps.Dir())
	}
	return nil
}

// history is the metadata of a branch, as bytes: snapshots, schemas and changelogs by id, tags by name.
type history struct {
	snaps, schemas, logs map[int64][]byte
	tags                 map[string][]byte
	tagIDs               map[string]int64
	latestHint           []byte
}

func keysOf(m map[int64][]byte) []int64 {
	out := make([]int64, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// history reads all of it: what cannot be read fails before anything is changed.
func (t *Table) history(ctx context.Context, b *branch) (*history, error) {
	h := &history{snaps: map[int64][]byte{}, schemas: map[int64][]byte{}, logs: map[int64][]byte{}, tags: map[string][]byte{}, tagIDs: map[string]int64{}}
	for _, x := range []struct {
		to   map[int64][]byte
		list func(context.Context) ([]int64, error)
		path func(int64) string
	}{{h.snaps, b.snaps.IDs, b.snaps.Path}, {h.schemas, b.schemas.IDs, b.schemas.Path}, {h.logs, b.snaps.ChangelogIDs, b.snaps.ChangelogPath}} {
		ids, err := x.list(ctx)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			data, err := t.t.FIO.ReadFile(ctx, x.path(id))
			if err != nil {
				return nil, err
			}
			x.to[id] = data
		}
	}
	names, err := b.snaps.TagNames(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		data, err := t.t.FIO.ReadFile(ctx, b.snaps.TagPath(n))
		if err != nil {
			return nil, err
		}
		tag, err := snapshot.ParseTag(b.snaps.TagPath(n), n, data)
		if err != nil {
			return nil, err
		}
		h.tags[n], h.tagIDs[n] = data, tag.ID
	}
	h.latestHint, err = t.t.FIO.ReadFile(ctx, b.snaps.Dir()+"/snapshot/LATEST")
	return h, missingIsEmpty(err)
}

// forwardOps lists the changes of files that turn our history into theirs, in an
// order in which the newest snapshot changes once.
func (t *Table) forwardOps(ours, their *history) ([]fileOp, error) {
	ids := keysOf(their.snaps)
	first := ids[0]
	s, err := snapshot.Parse(t.own.snaps.Path(first), their.snaps[first])
	if err != nil {
		return nil, err
	}
	var ops []fileOp
	change := func(path string, old, new []byte) {
		if !sameBytes(old, new) {
			ops = append(ops, fileOp{path, old, new})
		}
	}
	snap := func(id int64) { change(t.own.snaps.Path(id), ours.snaps[id], their.snaps[id]) }

	// Without the hint, listings tell which snapshot is the newest.
	change(t.own.snaps.Dir()+"/snapshot/LATEST", ours.latestHint, nil)
	var snaps []int64
	seen := map[int64]bool{}
	for _, m := range []map[int64][]byte{ours.snaps, their.snaps} {
		for id := range m {
			if id >= first && !seen[id] {
				seen[id] = true
				snaps = append(snaps, id)
			}
		}
	}
	slices.Sort(snaps)
	var schemas []int64
	clash := false
	for _, id := range keysOf(ours.schemas) {
		new, there := their.schemas[id]
		if there && !bytes.Equal(new, ours.schemas[id]) {
			clash = true
		}
		if there || id >= s.SchemaID {
			schemas = append(schemas, id)
		}
	}
	schema := func(id int64) { change(t.own.schemas.Path(id), ours.schemas[id], their.schemas[id]) }
	var fresh []int64
	for _, id := range keysOf(their.schemas) {
		if _, there := ours.schemas[id]; !there {
			fresh = append(fresh, id)
		}
	}
	newest := ids[len(ids)-1]
	if clash {
		// Files would be read with the wrong schema: back to what both have in common, then
		// the schemas, then their snapshots, the newest first.
		common := 0
		for common < len(snaps) && ours.snaps[snaps[common]] != nil && bytes.Equal(ours.snaps[snaps[common]], their.snaps[snaps[common]]) {
			common++
		}
		for _, id := range snaps[common:] {
			change(t.own.snaps.Path(id), ours.snaps[id], nil)
		}
		for _, id := range fresh {
			schema(id)
		}
		for _, id := range slices.Backward(schemas) {
			schema(id)
		}
		for _, id := range slices.Backward(snaps[common:]) {
			change(t.own.snaps.Path(id), nil, their.snaps[id])
		}
	} else {
		for _, id := range fresh {
			schema(id)
		}
		// The newest of all ids decides what readers see: where it is theirs alone it comes
		// first, where ours is as great or greater it changes last.
		if !slices.ContainsFunc(keysOf(ours.snaps), func(id int64) bool { return id >= newest }) {
			snap(newest)
			snaps = slices.DeleteFunc(snaps, func(id int64) bool { return id == newest })
		}
		for _, id := range snaps {
			snap(id)
		}
		for _, id := range slices.Backward(schemas) {
			schema(id)
		}
	}
	for _, n := range sortedNames(ours.tags) {
		if _, there := their.tags[n]; !there && ours.tagIDs[n] >= first {
			change(t.own.snaps.TagPath(n), ours.tags[n], nil)
		}
	}
	for _, n := range sortedNames(their.tags) {
		change(t.own.snaps.TagPath(n), ours.tags[n], their.tags[n])
	}
	for _, id := range keysOf(ours.logs) {
		if id >= first {
			change(t.own.snaps.ChangelogPath(id), ours.logs[id], nil)
		}
	}
	return ops, nil
}

func sortedNames(m map[string][]byte) []string {
	out := make([]string, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// sameBytes reports whether two files have the same content.
func sameBytes(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
