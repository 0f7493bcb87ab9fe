package maintain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/snapshot"
)

const smallManifests = `"manifest.target-file-size":"2 kb","manifest.full-compaction-threshold-size":"6 kb","manifest.merge-min-count":"4"`

func ptr[T any](v T) *T { return &v }

// pick returns a random one of the states that match.
func (w *world) pick(match func(readable) bool) (readable, bool) {
	list := slices.DeleteFunc(w.states(), func(s readable) bool { return !match(s) })
	if len(list) == 0 {
		return readable{}, false
	}
	return list[w.rnd.Intn(len(list))], true
}

// step makes one random change; orphans tells whether steps that leave files behind may come.
func (w *world) step(n int, orphans bool) string {
	w.t.Helper()
	ctx := context.Background()
	var branches []string
	for _, s := range w.states() {
		if !slices.Contains(branches, s.branch) {
			branches = append(branches, s.branch)
		}
	}
	if len(branches) == 0 {
		branches = []string{snapshot.MainBranch}
	}
	b := branches[w.rnd.Intn(len(branches))]
	t := w.table(b)
	must := func(err error, allowed ...errs.Class) {
		w.t.Helper()
		if err != nil && !slices.Contains(allowed, errs.ClassOf(err)) {
			w.t.Fatalf("step %d: %v", n, err)
		}
	}
	kinds := 14
	if orphans {
		kinds = 18
	}
	switch k := w.rnd.Intn(kinds); k {
	default:
		w.commit(b)
		return "commit " + b
	case 5:
		s, ok := w.pick(func(s readable) bool { return s.branch == b })
		if ok {
			_, err := t.CreateTag(ctx, fmt.Sprint("t", n), TagOptions{Snapshot: &s.snap.ID})
			must(err)
		}
		return "tag " + b
	case 6:
		s, ok := w.pick(func(s readable) bool { return s.branch == b && s.tag })
		if ok {
			_, err := t.DeleteTag(ctx, strings.TrimPrefix(s.name, "tag-"))
			must(err)
		}
		return "delete " + b + " " + s.name
	case 7, 8, 9:
		w.now = w.now.Add(time.Duration(w.rnd.Intn(60)) * time.Minute)
		keep := 1 + w.rnd.Intn(4)
		_, err := t.ExpireSnapshots(ctx, ExpireOptions{RetainMin: &keep, RetainMax: ptr(keep + w.rnd.Intn(3)), MaxDeletes: ptr(1 + w.rnd.Intn(8))})
		must(err)
		return "expire " + b
	case 10:
		s, ok := w.pick(func(s readable) bool { return s.branch == b })
		if !ok || w.rnd.Intn(2) == 0 {
			return "nothing"
		}
		// A tag of a line that a rollback left may have the id of another snapshot now.
		if s.tag {
			_, err := t.RollbackToTag(ctx, strings.TrimPrefix(s.name, "tag-"))
			must(err, errs.Conflict)
		} else {
			_, err := t.RollbackToSnapshot(ctx, s.snap.ID)
			must(err)
		}
		return "rollback " + b + " " + s.name
	case 11:
		s, ok := w.pick(func(s readable) bool { return s.branch == b })
		if ok {
			r, err := t.RollbackToAsLatest(ctx, s.snap.ID, "")
			must(err)
			got, err := t.own.snaps.Get(ctx, r.Current)
			must(err)
			w.remember(b, got)
			source, err := t.own.snaps.Tag(ctx, r.Tag)
			must(err)
			if !slices.Equal(w.want[stateKey(got)], w.want[stateKey(source.Snapshot)]) {
				w.t.Fatalf("step %d: rolled back to %v, the source has %v", n, w.want[stateKey(got)], w.want[stateKey(source.Snapshot)])
			}
		}
		return "as latest " + b
	case 12:
		s, ok := w.pick(func(s readable) bool { return s.branch == b && s.tag })
		if ok {
			_, err := t.ReplaceTag(ctx, strings.TrimPrefix(s.name, "tag-"), TagOptions{})
			must(err, errs.NotFound)
		}
		return "replace tag " + b
	case 13:
		s, ok := w.pick(func(s readable) bool { return s.branch == b && s.tag })
		if ok && len(branches) < 4 {
			must(t.CreateBranch(ctx, fmt.Sprint("b", n), BranchOptions{Tag: strings.TrimPrefix(s.name, "tag-")}))
		}
		return "branch of " + b
	case 14:
		if b != snapshot.MainBranch {
			must(w.table("").DeleteBranch(ctx, b))
		}
		return "delete branch " + b
	case 15:
		if b != snapshot.MainBranch {
			must(w.table("").FastForward(ctx, b))
		}
		return "fast forward " + b
	case 16:
		if b != snapshot.MainBranch {
			must(w.table("").RenameBranch(ctx, b, fmt.Sprint("r", n)))
		}
		return "rename " + b
	case 17:
		w.write(fmt.Sprintf("%s/manifest/manifest-stray-%d", tableDir, n), "x")
		w.write(fmt.Sprintf("%s/p=1/bucket-0/data-stray-%d", tableDir, n), "x")
		w.write(fmt.Sprintf("%s/snapshot/.snapshot-9.%d.tmp", tableDir, n), "x")
		w.write(fmt.Sprintf("%s/branch/.branch-x.%d.tmp/schema/schema-0", tableDir, n), "x")
		w.now = w.now.Add(time.Minute)
		w.cleanOrphans()
		return "orphans"
	}
}

// cleanOrphans cleans and compares: nothing that no manifest names stays.
func (w *world) cleanOrphans() {
	w.t.Helper()
	ctx := context.Background()
	o := OrphanOptions{OlderThan: ptr(w.now.Add(-time.Millisecond)), DryRun: true}
	if !time.Now().Before(*o.OlderThan) {
		w.now = time.Now().Add(time.Minute)
		o.OlderThan = ptr(w.now.Add(-time.Millisecond))
	}
	dry, err := w.table("").RemoveOrphanFiles(ctx, o)
	if err != nil {
		w.t.Fatal(err)
	}
	o.DryRun = false
	done, err := w.table("").RemoveOrphanFiles(ctx, o)
	if err != nil {
		w.t.Fatal(err)
	}
	if !slices.Equal(dry.Paths, done.Paths) || dry.Bytes != done.Bytes {
		w.t.Fatalf("a dry run finds %v, a real one deletes %v", dry.Paths, done.Paths)
	}
	used := map[string]bool{}
	for _, s := range w.states() {
		t := w.table(s.branch)
		sch, err := t.own.schemas.Latest(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		h := holder{b: t.own, snap: s.snap}
		if err := t.use(ctx, newLayout(tableDir, sch), &h, used, map[string]bool{}); err != nil {
			w.t.Fatal(err)
		}
	}
	for p := range w.physical() {
		if !used[p[strings.LastIndexByte(p, '/')+1:]] {
			w.t.Fatalf("%s is not used and was not cleaned away", p)
		}
	}
	infos, err := w.fio.List(ctx, tableDir+"/branch")
	if err != nil && !errs.Is(err, errs.NotFound) {
		w.t.Fatal(err)
	}
	for _, i := range infos {
		if isTemporary(i.Name) {
			w.t.Fatalf("branch/%s was not cleaned away", i.Name)
		}
	}
}

// After any step every state that is left has all of its files and the content that it was
// committed with; nothing that no state needs stays behind.
func TestHistoryLeavesNothing(t *testing.T) {
	for seed := range int64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed, smallManifests)
			for n := range 60 {
				what := fmt.Sprintf("seed %d, step %d: %s", seed, n, w.step(n, false))
				need := w.check(what, nil)
				if extra := missingFrom(w.physical(), need); len(extra) > 0 {
					t.Fatalf("%s: nothing needs %v", what, extra)
				}
			}
		})
	}
}

// The same with steps that leave garbage for the cleaning of orphan files.
func TestHistoryWithBranches(t *testing.T) {
	for seed := range int64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1000+seed, smallManifests)
			for n := range 60 {
				what := fmt.Sprintf("seed %d, step %d: %s", seed, n, w.step(n, true))
				w.check(what, nil)
			}
			w.cleanOrphans()
			w.check(fmt.Sprintf("seed %d: at the end", seed), nil)
		})
	}
}
