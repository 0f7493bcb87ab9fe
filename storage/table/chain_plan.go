package table

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
)

// chain is the other branches of a chain table, seen from main (section 9 of the branch rules).
type chain struct {
	snap, delta *Table
	// group and link are the positions of the partition keys that form groups
	// and the chain within a group.
	group, link []int
}

// openChain opens the branches of a chain table. A branch of it is read by itself.
func (t *Table) openChain(ctx context.Context) error {
	o := t.stored.Options
	s, d := o["scan.fallback-snapshot-branch"], o["scan.fallback-delta-branch"]
	if s == "" || d == "" || t.branch == s || t.branch == d {
		return nil
	}
	c := &chain{}
	for _, x := range []struct {
		name string
		to   **Table
	}{{s, &c.snap}, {d, &c.delta}} {
		b, err := t.openOther(ctx, x.name)
		if err != nil {
			return err
		}
		if b == nil {
			return errs.NotFoundf("chain table %s: its branch '%s' does not exist", t.Label(), x.name)
		}
		*x.to = b
	}
	keys := t.schema.PartitionKeys
	links := keys
	if v := schema.OptChainPartitionKeys.Value(o); strings.TrimSpace(v) != "" {
		links = strings.Split(v, ",")
	}
	for i, k := range keys {
		if slices.ContainsFunc(links, func(l string) bool { return strings.TrimSpace(l) == k }) {
			c.link = append(c.link, i)
		} else {
			c.group = append(c.group, i)
		}
	}
	t.chain = c
	return nil
}

func pick(v []column.Scalar, at []int) []column.Scalar {
	out := make([]column.Scalar, len(at))
	for i, k := range at {
		out[i] = v[k]
	}
	return out
}

// chain plans a read of a chain table: a partition comes from main, else from
// the snapshot branch, else it is the nearest earlier partition of the snapshot branch
// merged with the delta branch's partitions since.
func (p *planner) chain(ctx context.Context) error {
	t, c := p.t, p.t.chain
	main, err := p.present(ctx, t)
	if err != nil {
		return err
	}
	if err := p.branch(ctx, t, nil, false); err != nil {
		return err
	}
	notIn := func(ids map[string]bool) func([]column.Scalar) bool {
		return func(v []column.Scalar) bool { return !ids[partitionID(t, v)] }
	}
	snap, err := p.present(ctx, c.snap)
	if err != nil {
		return err
	}
	if err := p.branch(ctx, c.snap, notIn(main), true); err != nil {
		return err
	}
	p.inexact = true
	// Anchors and links are searched without the statement's filter.
	snapFiles, err := p.chainFiles(ctx, c.snap)
	if err != nil {
		return err
	}
	deltaFiles, err := p.chainFiles(ctx, c.delta)
	if err != nil {
		return err
	}
	part := t.PartitionPredicate(p.want.Filter)
	merged := 0
	for _, q := range partitionsOf(deltaFiles) {
		id := partitionID(t, q)
		if main[id] || snap[id] || part != nil && !predicate.Matches(part, func(i int) column.Scalar { return q[i] }) {
			continue
		}
		merged++
		files := c.links(snapFiles, deltaFiles, q)
		p.splits = append(p.splits, t.Source().MergeSplits(files, q)...)
	}
	p.plan.Info = append(p.plan.Info, relation.Note{Key: "chain", Value: pluralPartitions(merged) + " put together from branches " + c.snap.branch + " and " + c.delta.branch})
	return nil
}

func pluralPartitions(n int) string {
	if n == 1 {
		return "1 partition"
	}
	return strconv.Itoa(n) + " partitions"
}

func (p *planner) chainFiles(ctx context.Context, b *Table) ([]*scan.File, error) {
	st, err := b.State(ctx)
	if err != nil {
		return nil, err
	}
	return b.Source().VisibleFiles(ctx, st.Snapshot, scan.Request{})
}

// partitionsOf lists the partitions of files, ascending.
func partitionsOf(files []*scan.File) [][]column.Scalar {
	seen := map[string]bool{}
	var out [][]column.Scalar
	for _, f := range files {
		if !seen[f.PartitionID] {
			seen[f.PartitionID] = true
			out = append(out, f.Partition)
		}
	}
	slices.SortStableFunc(out, binrow.Compare)
	return out
}

// links collects the files that make up partition q, the oldest first: the
// anchor's, then those of the delta partitions after it up to q.
func (c *chain) links(snap, delta []*scan.File, q []column.Scalar) []*scan.File {
	group, link := pick(q, c.group), pick(q, c.link)
	var anchor []column.Scalar
	for _, f := range snap {
		l := pick(f.Partition, c.link)
		if binrow.Compare(pick(f.Partition, c.group), group) == 0 && binrow.Compare(l, link) < 0 &&
			(anchor == nil || binrow.Compare(l, anchor) > 0) {
			anchor = l
		}
	}
	var out []*scan.File
	if anchor != nil {
		for _, f := range snap {
			if binrow.Compare(pick(f.Partition, c.group), group) == 0 && binrow.Compare(pick(f.Partition, c.link), anchor) == 0 {
				out = append(out, f)
			}
		}
	}
	for _, part := range partitionsOf(delta) {
		l := pick(part, c.link)
		if binrow.Compare(pick(part, c.group), group) != 0 || binrow.Compare(l, link) > 0 || anchor != nil && binrow.Compare(l, anchor) <= 0 {
			continue
		}
		for _, f := range delta {
			if binrow.Compare(f.Partition, part) == 0 {
				out = append(out, f)
			}
		}
	}
	return out
}
