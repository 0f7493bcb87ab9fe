package exec

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// groupTable numbers the different keys of a grouping, in the order of their appearance.
type groupTable struct {
	keys []expr
	// fixed says that every key is of fixed width: then key i has its words at words[width*gid+at[i]], and null bits (by key) in
	// the last word. Else keys are bytes in arena.
	fixed bool
	width int
	at    []int
	words []uint64
	arena []byte
	ends  []uint64

	n      int
	hashes []uint64
	// slots is an open-addressing table of gid+1 in the low and a part of the hash in the high half; 0 = free.
	slots []uint64

	// cache maps combined dictionary codes to gid+1 while the dictionaries stay the same.
	cache []uint32
	dicts []*column.Vector

	key  []byte
	wkey []uint64
	hbuf []uint64
	wide []bool
	vecs []*column.Vector
}

const (
	// firstSlots is the size of an empty table.
	firstSlots = 1024
	// maxCodeCache bounds the combinations of dictionary codes that are looked up directly.
	maxCodeCache = 1 << 16
)

func newGroupTable(keys []expr) *groupTable {
	t := &groupTable{keys: keys, fixed: true}
	for _, k := range keys {
		t.at = append(t.at, t.width)
		switch k.kind() {
		case classBytes:
			t.fixed = false
		case classDecimal:
			t.width += decimalWords(k)
		default:
			t.width++
		}
		t.wide = append(t.wide, k.kind() == classDecimal && decimalWords(k) == 2)
	}
	t.width++
	if len(keys) > 64 {
		t.fixed = false
	}
	t.slots = slabs64.get(firstSlots)
	t.wkey = make([]uint64, t.width)
	return t
}

// decimalWords is 1 where every vector of the decimal is in 64 bits.
func decimalWords(e expr) int {
	if _, ok := e.(*columnExpr); ok && schema.KindOf(e.typ()) == column.KindInt64 {
		return 1
	}
	return 2
}

// bytes is the memory in use.
func (t *groupTable) bytes() int64 {
	return int64(8*cap(t.words) + cap(t.arena) + 8*cap(t.ends) + 8*cap(t.hashes) + 8*cap(t.slots))
}

// assign writes the group of each of the frame's rows.
func (t *groupTable) assign(ev *evaluator, gids []uint32) error {
	if t.assignCodes(ev, gids) {
		return nil
	}
	t.vecs = t.vecs[:0]
	for _, k := range t.keys {
		v, err := ev.eval(k)
		if err != nil {
			return err
		}
		t.vecs = append(t.vecs, v)
	}
	if t.fixed {
		t.assignWords(gids)
		return nil
	}
	for i := range gids {
		gids[i] = t.addRow(i)
	}
	return nil
}

// assignCodes looks groups up by dictionary codes; false where a key has no dictionary.
func (t *groupTable) assignCodes(ev *evaluator, gids []uint32) bool {
	size := 1
	same := len(t.dicts) == len(t.keys)
	for i, k := range t.keys {
		c, ok := k.(*columnExpr)
		if !ok {
			return false
		}
		d := ev.frame.cols[c.pos].Dict
		if d == nil || d.N+1 > maxCodeCache/size {
			return false
		}
		size *= d.N + 1
		same = same && t.dicts[i] == d
	}
	if !same {
		t.dicts = t.dicts[:0]
		for _, k := range t.keys {
			t.dicts = append(t.dicts, ev.frame.cols[k.(*columnExpr).pos].Dict)
		}
		t.cache = sized(t.cache, size)
		clear(t.cache)
	}
	sel := ev.frame.sel
	if t.assignTwo(ev, gids) {
		return true
	}
	// gids first hold the combined codes.
	for j, k := range t.keys {
		v := ev.frame.cols[k.(*columnExpr).pos]
		card := uint32(v.Dict.N + 1)
		null := uint32(v.Dict.N)
		switch {
		case v.Valid == nil && sel == nil:
			codes := v.Codes[:len(gids)]
			if j == 0 {
				copy(gids, codes)
				break
			}
			for i, c := range codes {
				gids[i] = gids[i]*card + c
			}
		case v.Valid == nil:
			if j == 0 {
				spread(gids, v.Codes, nil, sel)
				break
			}
			for i, r := range sel {
				gids[i] = gids[i]*card + v.Codes[r]
			}
		default:
			for i := range gids {
				r := i
				if sel != nil {
					r = int(sel[i])
				}
				c := null
				if isValid(v.Valid, r) {
					c = v.Codes[r]
				}
				if j == 0 {
					gids[i] = c
				} else {
					gids[i] = gids[i]*card + c
				}
			}
		}
	}
	cache := t.cache
	for i, c := range gids {
		g := cache[c]
		if g == 0 {
			g = t.addCoded(ev, i) + 1
			cache[c] = g
		}
		gids[i] = g - 1
	}
	return true
}

// assignTwo is assignCodes for one or two keys without nulls, where the dictionaries are known.
func (t *groupTable) assignTwo(ev *evaluator, gids []uint32) bool {
	if len(t.keys) > 2 {
		return false
	}
	first := ev.frame.cols[t.keys[0].(*columnExpr).pos]
	last := first
	card := uint32(0) // the first code does not count twice
	if len(t.keys) == 2 {
		last = ev.frame.cols[t.keys[1].(*columnExpr).pos]
		card = uint32(last.Dict.N + 1)
	}
	if first.Valid != nil || last.Valid != nil {
		return false
	}
	cache, a, b := t.cache, first.Codes, last.Codes
	miss := uint32(1)
	if sel := ev.frame.sel; sel != nil {
		for k, i := range sel {
			g := cache[a[i]*card+b[i]]
			miss &= min(g, 1)
			gids[k] = g - 1
		}
	} else {
		a, b = a[:len(gids)], b[:len(gids)]
		for i, c := range a {
			g := cache[c*card+b[i]]
			miss &= min(g, 1)
			gids[i] = g - 1
		}
	}
	return miss == 1
}

// addCoded finds the group of row i of the frame by its values.
func (t *groupTable) addCoded(ev *evaluator, i int) uint32 {
	if ev.frame.sel != nil {
		i = int(ev.frame.sel[i])
	}
	t.vecs = t.vecs[:0]
	for _, k := range t.keys {
		t.vecs = append(t.vecs, ev.frame.cols[k.(*columnExpr).pos])
	}
	return t.addRow(i)
}

// addRow finds or adds the group of row i of vecs.
func (t *groupTable) addRow(i int) uint32 {
	if t.fixed {
		t.wordsOf(i)
		return t.findWords(t.wkey, hashWords(t.wkey))
	}
	t.key = t.key[:0]
	for k, v := range t.vecs {
		if v.IsNull(i) {
			t.key = append(t.key, 0)
			continue
		}
		t.key = append(t.key, 1)
		switch t.keys[k].kind() {
		case classBytes:
			b := v.Bytes(i)
			t.key = binary.LittleEndian.AppendUint32(t.key, uint32(len(b)))
			t.key = append(t.key, b...)
		case classFloat:
			t.key = binary.LittleEndian.AppendUint64(t.key, floatWord(v.Float(i)))
		case classDecimal:
			x := v.Dec128(i)
			t.key = binary.LittleEndian.AppendUint64(t.key, x.Lo)
			t.key = binary.LittleEndian.AppendUint64(t.key, uint64(x.Hi))
		default:
			t.key = binary.LittleEndian.AppendUint64(t.key, uint64(v.Int(i)))
		}
	}
	return t.findBytes(t.key, xxhash.Sum64(t.key))
}

// floatWord is a word that equal doubles share.
func floatWord(f float64) uint64 {
	if f == 0 {
		f = 0 // -0 is equal to 0
	}
	if f != f {
		f = math.NaN()
	}
	return math.Float64bits(f)
}

// wordsOf makes the key of row i in wkey.
func (t *groupTable) wordsOf(i int) {
	nulls := uint64(0)
	for k, v := range t.vecs {
		at := t.at[k]
		wide := t.wide[k]
		if v.IsNull(i) {
			nulls |= 1 << k
			t.wkey[at] = 0
			if wide {
				t.wkey[at+1] = 0
			}
			continue
		}
		switch t.keys[k].kind() {
		case classFloat:
			t.wkey[at] = floatWord(v.Float(i))
		case classDecimal:
			x := v.Dec128(i)
			t.wkey[at] = x.Lo
			if wide {
				t.wkey[at+1] = uint64(x.Hi)
			}
		default:
			t.wkey[at] = uint64(v.Int(i))
		}
	}
	t.wkey[t.width-1] = nulls
}

const mixFactor = 0x9e3779b97f4a7c15

func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, mixFactor)
	return hi ^ lo
}

// Constants of hashWords: odd numbers without a pattern.
const (
	hashSeed = 0x517cc1b727220a95
	hashEnd  = 0x2545f4914f6cdd1d
)

func hashWords(w []uint64) uint64 {
	h := uint64(hashSeed)
	for _, x := range w {
		h = mix(h, x)
	}
	return mix(h, hashEnd)
}

// assignWords is addRow for all rows of fixed keys.
func (t *groupTable) assignWords(gids []uint32) {
	if len(t.keys) == 1 && t.width == 2 && t.keys[0].kind() != classFloat && t.vecs[0].Valid == nil {
		t.assignOne(t.vecs[0].I64, gids)
		return
	}
	for i := range gids {
		t.wordsOf(i)
		gids[i] = t.findWords(t.wkey, hashWords(t.wkey))
	}
}

// tagOf is the part of a hash that a slot holds.
func tagOf(h uint64) uint64 { return h &^ (1<<32 - 1) }

// assignOne is assignWords for one key of one word, without nulls. Hashes come first: the loop has no chain of
// dependent loads, and memory is fetched ahead.
func (t *groupTable) assignOne(vals []int64, gids []uint32) {
	t.hbuf = sized(t.hbuf, len(gids))
	hs := t.hbuf
	for i := range gids {
		hs[i] = mix(mix(mix(hashSeed, uint64(vals[i])), 0), hashEnd)
	}
	for i, h := range hs {
		x := uint64(vals[i])
		mask := uint64(len(t.slots) - 1)
		tag := tagOf(h)
		for s := h & mask; ; s = (s + 1) & mask {
			e := t.slots[s]
			if e == 0 {
				t.wkey[0], t.wkey[1] = x, 0
				t.pushWords(t.wkey)
				gids[i] = t.add(s, h)
				break
			}
			g := uint32(e) - 1
			if tagOf(e) == tag {
				if w := t.words[2*g:]; w[0] == x && w[1] == 0 {
					gids[i] = g
					break
				}
			}
		}
	}
}

func (t *groupTable) pushWords(key []uint64) {
	n := len(t.words)
	t.words = slabs64.extend(t.words, n+len(key))
	copy(t.words[n:], key)
}

func (t *groupTable) findWords(key []uint64, h uint64) uint32 {
	mask := uint64(len(t.slots) - 1)
	w := uint64(t.width)
	tag := tagOf(h)
next:
	for s := h & mask; ; s = (s + 1) & mask {
		e := t.slots[s]
		if e == 0 {
			t.pushWords(key)
			return t.add(s, h)
		}
		if tagOf(e) != tag {
			continue
		}
		g := uint64(uint32(e) - 1)
		have := t.words[w*g:][:w]
		for i, x := range key {
			if have[i] != x {
				continue next
			}
		}
		return uint32(g)
	}
}

func (t *groupTable) findBytes(key []byte, h uint64) uint32 {
	mask := uint64(len(t.slots) - 1)
	tag := tagOf(h)
	for s := h & mask; ; s = (s + 1) & mask {
		e := t.slots[s]
		if e == 0 {
			t.arena = append(t.arena, key...)
			t.ends = slabs64.extend(t.ends, t.n+1)
			t.ends[t.n] = uint64(len(t.arena))
			return t.add(s, h)
		}
		if g := uint32(e) - 1; tagOf(e) == tag && bytes.Equal(t.keyBytes(int(g)), key) {
			return g
		}
	}
}

func (t *groupTable) keyBytes(g int) []byte {
	from := uint64(0)
	if g > 0 {
		from = t.ends[g-1]
	}
	return t.arena[from:t.ends[g]]
}

// add takes slot s for a new group, whose key has been stored.
func (t *groupTable) add(s, h uint64) uint32 {
	g := uint32(t.n)
	t.n++
	t.hashes = slabs64.extend(t.hashes, t.n)
	t.hashes[g] = h
	t.slots[s] = tagOf(h) | uint64(g) + 1
	if t.n*2 > len(t.slots) {
		t.rehash()
	}
	return g
}

func (t *groupTable) rehash() {
	old := t.slots
	t.slots = slabs64.get(len(old) * 4)
	mask := uint64(len(t.slots) - 1)
	for g, h := range t.hashes {
		s := h & mask
		for t.slots[s] != 0 {
			s = (s + 1) & mask
		}
		t.slots[s] = tagOf(h) | uint64(g) + 1
	}
	slabs64.put(old)
}

// reserve makes room for n groups.
func (t *groupTable) reserve(n int) {
	size := len(t.slots)
	for size < 2*n {
		size *= 2
	}
	if size > len(t.slots) && t.n == 0 {
		slabs64.put(t.slots)
		t.slots = slabs64.get(size)
	}
}

// release gives the memory back; the table must not be used any more.
func (t *groupTable) release() {
	slabs64.put(t.words)
	slabs64.put(t.ends)
	slabs64.put(t.hashes)
	slabs64.put(t.slots)
	t.words, t.ends, t.hashes, t.slots, t.n = nil, nil, nil, nil, 0
}

// take finds or adds group g of another table of the same keys.
func (t *groupTable) take(o *groupTable, g int) uint32 {
	if t.fixed {
		return t.findWords(o.words[g*o.width:][:o.width], o.hashes[g])
	}
	return t.findBytes(o.keyBytes(g), o.hashes[g])
}

// column builds key k of the groups [from, to).
func (t *groupTable) column(k, from, to int) *column.Vector {
	typ := t.keys[k].typ()
	b := column.NewBuilder(vectorKind(t.keys[k]))
	for g := from; g < to; g++ {
		if t.fixed {
			w := t.words[g*t.width:][:t.width]
			if w[t.width-1]>>k&1 == 1 {
				b.AppendNull()
				continue
			}
			hi := int64(w[t.at[k]]) >> 63
			if t.keys[k].kind() == classDecimal && decimalWords(t.keys[k]) == 2 {
				hi = int64(w[t.at[k]+1])
			}
			appendWord(b, typ, w[t.at[k]], hi)
			continue
		}
		t.appendKey(b, k, t.keyBytes(g))
	}
	return b.Finish()
}

// appendKey appends key k out of a key's bytes.
func (t *groupTable) appendKey(b *column.Builder, k int, key []byte) {
	for i := 0; ; i++ {
		null := key[0] == 0
		key = key[1:]
		if i == k && null {
			b.AppendNull()
			return
		}
		if null {
			continue
		}
		size := 8
		switch t.keys[i].kind() {
		case classBytes:
			n := int(binary.LittleEndian.Uint32(key))
			key = key[4:]
			if i == k {
				b.AppendBytes(key[:n])
				return
			}
			size = n
		case classDecimal:
			size = 16
			if i == k {
				appendWord(b, t.keys[i].typ(), binary.LittleEndian.Uint64(key), int64(binary.LittleEndian.Uint64(key[8:])))
				return
			}
		default:
			if i == k {
				appendWord(b, t.keys[i].typ(), binary.LittleEndian.Uint64(key), 0)
				return
			}
		}
		key = key[size:]
	}
}

func appendWord(b *column.Builder, t *schema.Type, w uint64, hi int64) {
	switch b.Kind() {
	case column.KindFloat32, column.KindFloat64:
		b.AppendFloat(math.Float64frombits(w))
	case column.KindInt128:
		b.AppendInt128(column.Int128{Hi: hi, Lo: w})
	default:
		b.AppendInt(int64(w))
	}
}

// vectorKind is the kind of vector in which an expression's values are given out.
func vectorKind(e expr) column.Kind {
	k := schema.KindOf(e.typ())
	if e.kind() == classDecimal {
		if _, ok := e.(*columnExpr); !ok {
			return column.KindInt128
		}
	}
	return k
}
