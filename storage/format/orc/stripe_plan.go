package orc

import (
	"slices"

	"github.com/tributarydb/tributary/storage/errs"
)

// streamKey names a stream of a stripe.
type streamKey struct {
	column int
	kind   streamKind
}

// rowRange is a run of consecutive row groups [firstGroup, endGroup) that is
// read: rows [from, to) of the stripe.
type rowRange struct {
	from, to             int64
	firstGroup, endGroup int
}

// stripe is a stripe that is being read.
type stripe struct {
	info    stripeInfo
	number  int
	footer  stripeFooter
	streams map[streamKey]streamInfo
	// index are the row index entries by column; filled for the columns that were needed.
	index map[int][]rowIndexEntry
	// groups is the number of row groups, 0 where there is no row index.
	groups int
}

// find returns a stream; one that is absent has length 0.
func (s *stripe) find(column int, k streamKind) streamInfo {
	return s.streams[streamKey{column, k}]
}

// openStripe reads the footer of stripe i.
func (env *readEnv) openStripe(i int) (*stripe, error) {
	f := env.file
	s := &stripe{info: f.footer.stripes[i], number: i, index: map[int][]rowIndexEntry{}}
	at := int64(s.info.offset + s.info.indexLength + s.info.dataLength)
	raw, err := f.section(env.ctx, at, int64(s.info.footerLength), maxFooterBytes)
	if err == nil {
		s.footer, err = parseStripeFooter(raw, s.info, len(f.footer.types))
	}
	if err != nil {
		return nil, asCorrupt(err, f.path, "stripe footer")
	}
	if s.footer.encrypted {
		return nil, errs.Unsupportedf("file %s is encrypted, which is not supported", f.path)
	}
	s.streams = make(map[streamKey]streamInfo, len(s.footer.streams))
	for _, st := range s.footer.streams {
		if st.column < uint64(len(f.footer.types)) {
			s.streams[streamKey{int(st.column), st.kind}] = st
		}
	}
	if f.footer.stride > 0 && s.info.rows > 0 {
		if n := (s.info.rows-1)/f.footer.stride + 1; n <= maxRowGroups {
			s.groups = int(n)
		}
	}
	return s, nil
}

// indexStream reads and decompresses an index stream of a column; nil where it is absent.
func (env *readEnv) indexStream(column int, k streamKind) ([]byte, error) {
	st := env.stripe.find(column, k)
	if st.length == 0 {
		return nil, nil
	}
	raw, err := env.file.section(env.ctx, st.offset, st.length, maxIndexBytes)
	if err != nil {
		return nil, asCorrupt(err, env.file.path, "index of column "+env.file.columnName(column))
	}
	return raw, nil
}

// rowIndex returns the row index of a column; ok is false where the stripe has none that can be used.
func (env *readEnv) rowIndex(column int) (entries []rowIndexEntry, ok bool, err error) {
	s := env.stripe
	if e, done := s.index[column]; done {
		return e, len(e) == s.groups, nil
	}
	raw, err := env.indexStream(column, streamRowIndex)
	if err != nil || raw == nil {
		return nil, false, err
	}
	if entries, err = parseRowIndex(raw, s.groups); err != nil {
		return nil, false, asCorrupt(err, env.file.path, "row index of column "+env.file.columnName(column))
	}
	s.index[column] = entries
	return entries, len(entries) == s.groups && s.groups > 0, nil
}

// columnName is the name of a type for messages.
func (f *file) columnName(id int) string {
	if id == 0 {
		return "(all)"
	}
	for name, c := range f.columns {
		if id >= c && id <= f.footer.types[c].last {
			return name
		}
	}
	return "(unknown)"
}

// allRows is the range of a whole stripe.
func (s *stripe) allRows() []rowRange {
	return []rowRange{{from: 0, to: int64(s.info.rows), firstGroup: 0, endGroup: s.groups}}
}

// seekable reports whether every column that is read can be moved to any row group.
func (env *readEnv) seekable(root columnReader) (ok bool, err error) {
	ok = true
	walkColumns(root, func(c *colBase) {
		if err != nil || !ok {
			return
		}
		var entries []rowIndexEntry
		var usable bool
		if entries, usable, err = env.rowIndex(c.typ.id); err != nil || !usable {
			ok = false
			return
		}
		for _, e := range entries {
			if _, fits := c.positionsFit(e.positions); !fits {
				ok = false
				return
			}
		}
	})
	return ok, err
}

// prefetch reads the stored bytes that the ranges need into pieces, near ones
// together. What does not fit the budget is left to the streams.
func (env *readEnv) prefetch(root columnReader, ranges []rowRange) error {
	type span struct{ from, to int64 }
	s := env.stripe
	var spans []span
	add := func(st streamInfo, from, to int64) {
		from, to = max(0, from), min(to, st.length)
		if from < to {
			spans = append(spans, span{st.offset + from, st.offset + to})
		}
	}
	// Where the next group starts, the block or run goes on that the last group's values end in.
	overlap := int64(maxRunBytes)
	if env.file.codec != codecNone {
		overlap = int64(blockHeaderBytes + env.file.blockSize)
	}
	whole := len(ranges) == 1 && ranges[0].to-ranges[0].from == int64(s.info.rows)
	streams := 0
	walkColumns(root, func(c *colBase) {
		for _, k := range []streamKind{streamPresent, streamData, streamLength, streamDictionaryData, streamSecondary} {
			st := s.find(c.typ.id, k)
			if st.length == 0 {
				continue
			}
			streams++
			if whole || k == streamDictionaryData || k == streamLength && c.enc.dictionarySize > 0 {
				add(st, 0, st.length)
			}
		}
		if whole {
			return
		}
		entries := s.index[c.typ.id]
		for _, r := range ranges {
			first, _ := c.positionsFit(entries[r.firstGroup].positions)
			var end []uint64
			if r.endGroup < len(entries) {
				end, _ = c.positionsFit(entries[r.endGroup].positions)
			}
			for _, d := range c.seekers() {
				src := d.source()
				from := int64(min(first[0], uint64(src.length)))
				to := src.length
				if end != nil {
					to = int64(min(end[0], uint64(src.length))) + overlap
					end = end[d.positions():]
				}
				add(streamInfo{offset: src.offset, length: src.length}, from, to)
				first = first[d.positions():]
			}
		}
	})
	env.pieceBytes = min(max(stripeReadBudget/max(streams, 1), minPieceBytes), maxPieceBytes)
	env.pieces = env.pieces[:0]
	slices.SortFunc(spans, func(a, b span) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return 0
	})
	var merged []span
	total := int64(0)
	for _, sp := range spans {
		if n := len(merged); n > 0 && sp.from <= merged[n-1].to+coalesceGap {
			grown := max(merged[n-1].to, sp.to)
			total += grown - merged[n-1].to
			merged[n-1].to = grown
			continue
		}
		merged = append(merged, sp)
		total += sp.to - sp.from
	}
	if total > stripeReadBudget {
		return nil // piece by piece
	}
	if int64(cap(env.memory)) < total {
		env.memory = make([]byte, total)
	}
	mem := env.memory[:total]
	for _, sp := range merged {
		n := sp.to - sp.from
		p := piece{offset: sp.from, data: mem[:n:n]}
		mem = mem[n:]
		if err := env.file.readRange(env.ctx, p.data, sp.from); err != nil {
			return err
		}
		env.pieces = append(env.pieces, p)
	}
	return nil
}
