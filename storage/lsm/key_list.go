package lsm

// keyList is the merged keys of a round: norms in ascending order, and tags
// that say where each comes from. Rows of equal norm are in the order of the parts.
type keyList struct {
	keys []uint64
	tags []uint32

	spareKeys []uint64
	spareTags []uint32
	ends      []int
}

// tagShift divides a tag: the part above, the row (k) below.
const tagShift = 16

func recOf(parts []*part, tag uint32) rec {
	return rec{parts[tag>>tagShift].c, int(tag & (1<<tagShift - 1))}
}

// grow makes room for n rows.
func (l *keyList) grow(n int) {
	if cap(l.keys) < n {
		c := max(n, 2*cap(l.keys))
		l.keys, l.tags = make([]uint64, c), make([]uint32, c)
		l.spareKeys, l.spareTags = make([]uint64, c), make([]uint32, c)
	}
	l.keys, l.tags, l.spareKeys, l.spareTags = l.keys[:n], l.tags[:n], l.spareKeys[:n], l.spareTags[:n]
}

// build merges the parts, pair by pair.
func (l *keyList) build(norm *keyNorm, parts []*part) error {
	n := 0
	for _, p := range parts {
		n += p.to - p.from
	}
	l.grow(n)
	l.ends = l.ends[:0]
	at := 0
	for i, p := range parts {
		end := at + p.to - p.from
		if err := norm.fill(l.keys[at:end], p.c, p.from); err != nil {
			return err
		}
		tag := uint32(i)<<tagShift + uint32(p.from)
		for k := range l.tags[at:end] {
			l.tags[at+k] = tag + uint32(k)
		}
		l.ends = append(l.ends, end)
		at = end
	}
	for len(l.ends) > 1 {
		start, out := 0, l.ends[:0]
		for i := 0; i < len(l.ends); i += 2 {
			if i+1 == len(l.ends) {
				copy(l.spareKeys[start:], l.keys[start:l.ends[i]])
				copy(l.spareTags[start:], l.tags[start:l.ends[i]])
				out = append(out, l.ends[i])
				break
			}
			mid, end := l.ends[i], l.ends[i+1]
			mergeTwo(l.spareKeys[start:end], l.spareTags[start:end],
				l.keys[start:mid], l.tags[start:mid], l.keys[mid:end], l.tags[mid:end])
			out = append(out, end)
			start = end
		}
		l.ends = out
		l.keys, l.spareKeys = l.spareKeys, l.keys
		l.tags, l.spareTags = l.spareTags, l.tags
	}
	return nil
}

// mergeTwo merges two ascending lists, a before b where equal. The loop has no
// branch on the data: interleaved keys would be mispredicted all the time.
func mergeTwo(keys []uint64, tags []uint32, ka []uint64, ta []uint32, kb []uint64, tb []uint32) {
	ta, tb = ta[:len(ka)], tb[:len(kb)]
	tags = tags[:len(keys)]
	i, j, o := 0, 0, 0
	for i < len(ka) && j < len(kb) {
		x, y := ka[i], kb[j]
		u, v := ta[i], tb[j]
		take := uint64(0) // 1: from a
		if x <= y {
			take = 1
		}
		keys[o] = y ^ (x^y)&-take
		tags[o] = v ^ (u^v)&-uint32(take)
		i += int(take)
		j += 1 - int(take)
		o++
	}
	copy(keys[o:], ka[i:])
	copy(tags[o:], ta[i:])
	o += len(ka) - i
	copy(keys[o:], kb[j:])
	copy(tags[o:], tb[j:])
}
