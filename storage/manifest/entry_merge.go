package manifest

import (
	"bytes"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/schema"
)

// Partitions brings partition rows into one canonical form: writers differ in
// the bytes of some nulls (section 5.2), so rows are compared after decoding. It
// is not safe for concurrent use.
type Partitions struct {
	types []*schema.Type
	seen  map[string]string
	last  []byte
	canon string
}

// NewPartitions returns a canonicaliser for the partition columns' types.
func NewPartitions(types []*schema.Type) *Partitions {
	return &Partitions{types: types, seen: map[string]string{}}
}

// Canonical returns the canonical bytes of a framed partition row as a string,
// fit for a map key.
func (p *Partitions) Canonical(framed []byte) (string, error) {
	if p.last != nil && bytes.Equal(framed, p.last) {
		return p.canon, nil
	}
	c, ok := p.seen[string(framed)]
	if !ok {
		vals, err := binrow.DecodeRow(p.types, framed)
		if err != nil {
			return "", err
		}
		c = string(binrow.EncodeRow(p.types, vals))
		p.seen[string(framed)] = c
	}
	p.last, p.canon = framed, c
	return c, nil
}

// Merge returns the additions that no deletion cancels, in order (section
// 4.6, full scan: order-free). keep as in Store.Live.
func Merge(manifests [][]Entry, partitionTypes []*schema.Type, keep func(*Entry) bool) ([]*Entry, error) {
	parts := NewPartitions(partitionTypes)
	var deleted map[string]bool
	for _, m := range manifests {
		for i := range m {
			e := &m[i]
			if e.Kind != Delete || keep != nil && !keep(e) {
				continue
			}
			p, err := parts.Canonical(e.Partition)
			if err != nil {
				return nil, err
			}
			if deleted == nil {
				deleted = map[string]bool{}
			}
			deleted[e.Identity(p)] = true
		}
	}
	var out []*Entry
	for _, m := range manifests {
		for i := range m {
			e := &m[i]
			if e.Kind != Add || keep != nil && !keep(e) {
				continue
			}
			if deleted != nil {
				p, err := parts.Canonical(e.Partition)
				if err != nil {
					return nil, err
				}
				if deleted[e.Identity(p)] {
					continue
				}
			}
			out = append(out, e)
		}
	}
	return out, nil
}
