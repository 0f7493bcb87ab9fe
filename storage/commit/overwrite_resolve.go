package commit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// resolve completes the change for its base: an OVERWRITE deletes what is live in
// its partitions (section 12.4 of the format), Request.DropVectors removes vectors.
func (a *attempt) resolve(ctx context.Context) error {
	a.delta, a.indexAdd, a.indexDelete = a.ch.delta, a.ch.indexAdd, a.ch.indexDelete
	if a.ch.overwrite != nil {
		if err := a.resolveOverwrite(ctx, a.ch.overwrite); err != nil {
			return err
		}
	}
	if a.r.DropVectors {
		return a.dropVectors()
	}
	return nil
}

func (a *attempt) resolveOverwrite(ctx context.Context, o *Overwrite) error {
	match, err := a.matcher(o)
	if err != nil {
		return err
	}
	for i := range a.ch.delta {
		in, err := match(a.ch.delta[i].Partition)
		if err != nil {
			return err
		}
		if !in {
			return errs.Invalidf("Trying to overwrite partition %s of table %s, but the changes in %s does not belong to this partition",
				staticText(o), a.c.t.Label, a.c.partitionText(a.ch.delta[i].Partition))
		}
	}
	live, err := a.live(ctx, a.base, match)
	if err != nil {
		return err
	}
	a.delta = make([]manifest.Entry, 0, len(live)+len(a.ch.delta))
	gone := map[string]bool{}
	postpone := a.c.t.Schema.BucketMode() == schema.Postpone
	for _, e := range live {
		if e.Bucket == schema.PostponeBucket && !postpone {
			continue // a rescale: rows that wait were not read, and stay
		}
		d := *e
		d.Kind = manifest.Delete
		id, err := a.identity(e)
		if err != nil {
			return err
		}
		gone[id] = true
		a.delta = append(a.delta, d)
	}
	for i := range a.ch.delta {
		e := &a.ch.delta[i]
		if e.Kind == manifest.Delete {
			// What a message deletes is among what the overwrite deletes, or is a conflict.
			id, err := a.identity(e)
			if err != nil {
				return err
			}
			if gone[id] {
				continue
			}
		}
		a.delta = append(a.delta, *e)
	}
	a.indexDelete = slices.Clone(a.ch.indexDelete)
	for i := range a.index {
		in, err := match(a.index[i].Partition)
		if err != nil {
			return err
		}
		named := slices.ContainsFunc(a.ch.indexDelete, func(e manifest.IndexEntry) bool { return e.Name == a.index[i].Name })
		if in && !named {
			a.indexDelete = append(a.indexDelete, a.index[i])
		}
	}
	return nil
}

// matcher returns which partitions an OVERWRITE replaces. Partitions are compared by their values.
func (a *attempt) matcher(o *Overwrite) (func(framed []byte) (bool, error), error) {
	s := a.c.t.Schema
	if o.Match == nil && o.Dynamic && s.Partitioned() {
		touched, err := a.partitions(a.ch.delta)
		if err != nil {
			return nil, err
		}
		return func(framed []byte) (bool, error) {
			p, err := a.parts.Canonical(framed)
			return touched[p], err
		}, nil
	}
	at := map[int]column.Scalar{}
	for name, want := range o.Static {
		i := slices.Index(s.PartitionKeys, name)
		if i < 0 {
			return nil, errs.Invalidf("table %s: '%s' is no partition column", a.c.t.Label, name)
		}
		at[i] = want
	}
	seen := map[string]bool{}
	return func(framed []byte) (bool, error) {
		if in, ok := seen[string(framed)]; ok {
			return in, nil
		}
		vals, err := binrow.DecodeRow(a.options.PartitionTypes, framed)
		if err != nil {
			return false, err
		}
		in := true
		if o.Match != nil {
			in = o.Match(vals)
		} else {
			for i, want := range at {
				if vals[i].Null != want.Null || !want.Null && vals[i].Compare(want) != 0 {
					in = false
				}
			}
		}
		seen[string(framed)] = in
		return in, nil
	}, nil
}

// partitions are the canonical partitions of entries.
func (a *attempt) partitions(entries []manifest.Entry) (map[string]bool, error) {
	out := map[string]bool{}
	for i := range entries {
		p, err := a.parts.Canonical(entries[i].Partition)
		if err != nil {
			return nil, err
		}
		out[p] = true
	}
	return out, nil
}

// identity is the identity of an entry's file (section 4.6 of the format).
func (a *attempt) identity(e *manifest.Entry) (string, error) {
	p, err := a.parts.Canonical(e.Partition)
	if err != nil {
		return "", err
	}
	return e.Identity(p), nil
}

// live reads the live entries of the partitions that match.
func (a *attempt) live(ctx context.Context, infos []manifest.FileInfo, match func(partition []byte) (bool, error)) ([]*manifest.Entry, error) {
	var failed error
	live, err := a.c.t.Store.Live(ctx, infos, a.options.PartitionTypes, func(e *manifest.Entry) bool {
		in, err := match(e.Partition)
		if err != nil {
			failed = err
		}
		return in
	})
	if err == nil {
		err = failed
	}
	return live, err
}

// maxExactPartitions is up to how many partitions a manifest's bounds are compared with
// each; with more, only with the bounds of all.
const maxExactPartitions = 64

// liveIn reads the live entries of partitions, given in canonical form. Manifests
// whose bounds leave all of them out are not read.
func (a *attempt) liveIn(ctx context.Context, partitions map[string]bool) ([]*manifest.Entry, error) {
	types := a.options.PartitionTypes
	var wanted [][2][]column.Scalar // least and greatest values
	for p := range partitions {
		vals, err := binrow.DecodeRow(types, []byte(p))
		if err != nil {
			return nil, err
		}
		if len(partitions) <= maxExactPartitions || len(wanted) == 0 {
			wanted = append(wanted, [2][]column.Scalar{vals, slices.Clone(vals)})
			continue
		}
		for i, v := range vals {
			if v.Compare(wanted[0][0][i]) < 0 {
				wanted[0][0][i] = v
			}
			if v.Compare(wanted[0][1][i]) > 0 {
				wanted[0][1][i] = v
			}
		}
	}
	var infos []manifest.FileInfo
	for i := range a.base {
		if slices.ContainsFunc(wanted, func(w [2][]column.Scalar) bool { return mayOverlap(&a.base[i], types, w[0], w[1]) }) {
			infos = append(infos, a.base[i])
		}
	}
	return a.live(ctx, infos, func(framed []byte) (bool, error) {
		p, err := a.parts.Canonical(framed)
		return partitions[p], err
	})
}

// mayOverlap reports whether the partition bounds of a manifest leave room for a
// partition between two others. Nulls are least and have no bounds.
func mayOverlap(info *manifest.FileInfo, types []*schema.Type, least, greatest []column.Scalar) bool {
	for i := range types {
		st, ok := info.PartitionColumn(types, i)
		if !ok || least[i].Null || !st.HasBounds {
			continue
		}
		if greatest[i].Compare(st.Min) < 0 || least[i].Compare(st.Max) > 0 {
			return false
		}
	}
	return true
}

func staticText(o *Overwrite) string {
	var parts []string
	for k, v := range o.Static {
		parts = append(parts, fmt.Sprintf("%s=%v", k, scalarText(v)))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

func scalarText(v column.Scalar) string {
	switch {
	case v.Null:
		return "null"
	case v.Kind == column.KindBytes:
		return string(v.B)
	}
	return fmt.Sprint(v.I)
}

// partitionText names a partition in messages.
func (c *Committer) partitionText(framed []byte) string {
	fields := c.t.Schema.PartitionFields()
	vals, err := binrow.DecodeRow(schema.Types(fields), framed)
	if err != nil || len(vals) == 0 {
		return "the table"
	}
	texts, err := binrow.PartitionValues(fields, vals, schema.OptPartitionDefault.Value(c.t.Schema.Options), false)
	if err != nil {
		return "a partition"
	}
	for i := range texts {
		texts[i] = fields[i].Name + "=" + texts[i]
	}
	return strings.Join(texts, ",")
}
