package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	// readWindow is the number of bytes asked of storage at a time.
	readWindow = 1 << 20
	// headerGuess is what a page header is expected to take; longer ones (with
	// long statistics) cost another attempt.
	headerGuess = 512
	// maxHeader bounds a page header.
	maxHeader = 16 << 20
	// maxPooled is the largest buffer that is kept for another reader.
	maxPooled = 8 << 20
	// maxDictValues bounds a dictionary page's entries.
	maxDictValues = 1 << 26
)

// bufferPool keeps page buffers warm between readers.
var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// pageBuffer is a reusable byte buffer.
type pageBuffer struct{ b *[]byte }

// grow returns n bytes with at least padding bytes of spare capacity.
func (p *pageBuffer) grow(n, padding int) []byte {
	if p.b == nil {
		p.b = bufferPool.Get().(*[]byte)
	}
	if cap(*p.b) < n+padding {
		*p.b = make([]byte, n+n/8+padding)
	}
	return (*p.b)[:n]
}

func (p *pageBuffer) release() {
	if p.b != nil && cap(*p.b) <= maxPooled {
		bufferPool.Put(p.b)
	}
	p.b = nil
}

// window reads a column chunk by large positioned reads.
type window struct {
	src        io.ReaderAt
	start, end int64 // of the chunk in the file
	want       int64 // what is read ahead ends here
	buf        pageBuffer
	data       []byte // bytes [off, off+len(data)) of the file
	off        int64
}

// at returns n bytes at off, which lie inside the chunk; fewer only where the
// chunk ends. They are valid until the next call.
func (w *window) at(off int64, n int) ([]byte, error) {
	if off < w.start || off > w.end {
		return nil, errors.New("a page lies outside its column chunk")
	}
	if int64(n) > w.end-off {
		n = int(w.end - off)
	}
	if from := off - w.off; from >= 0 && from+int64(n) <= int64(len(w.data)) {
		return w.data[from : from+int64(n)], nil
	}
	size := int(max(int64(n), min(readWindow, w.want-off)))
	b := w.buf.grow(size, unpackPadding)
	w.data = nil
	if err := readAt(w.src, b, off); err != nil {
		return nil, err
	}
	w.data, w.off = b, off
	return b[:n], nil
}

// storageError is a failure of storage, not of the file's content.
type storageError struct{ err error }

func (e *storageError) Error() string { return e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

// readAt fills b from the file.
func readAt(src io.ReaderAt, b []byte, off int64) error {
	n, err := src.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("the file ends early")
	}
	return &storageError{err}
}

// pageReader steps through the pages of a column chunk. It decompresses a
// page only when a value of it is wanted.
type pageReader struct {
	f     *File
	group int
	ch    *chunk
	n     *node
	conv  conversion
	kind  column.Kind
	src   window

	offset int64 // of the next page header
	// seen is the number of level entries before the current page.
	seen int64
	// locs tells where pages are, nil = unknown.
	locs      *pageLocations
	locsTried bool
	// jumped says that seen is no longer known: pages of a nested column have been left out.
	jumped bool

	hdr      pageHeader
	hasPage  bool  // hdr is a data page
	body     int64 // offset of its stored bytes
	loaded   bool  // it has been decompressed
	pos      int   // level entries of the page taken or skipped
	repl     hybrid
	defl     hybrid
	vals     valueReader
	page     pageBuffer
	dict     *column.Vector
	dictLen  int // entries of dict that codes may name
	dictPage pageHeader
	dictBody int64
	hasDict  bool
	// kept has pages decompressed earlier, nil = none.
	kept *format.PageCache
}

// keptRatio is how many times longer than stored a page must be for it to be kept: others are cheap to decompress.
const keptRatio = 2

// open starts on the chunk of a column in a row group, keeping buffers.
func (p *pageReader) open(f *File, group int, n *node, conv conversion, t *schema.Type) {
	ch := &f.meta.groups[group].chunks[n.leaf]
	p.f, p.group = f, group
	p.ch, p.n, p.conv = ch, n, conv
	if t != nil {
		p.kind = schema.KindOf(t)
	}
	p.src.src, p.src.start, p.src.end, p.src.data = f.src, ch.start(), ch.start()+ch.compressed, nil
	p.src.want = p.src.end
	p.offset = p.src.start
	p.seen, p.hasPage, p.loaded, p.pos = 0, false, false, 0
	p.dict, p.hasDict = nil, false
	p.locs, p.locsTried, p.jumped = nil, false, false
}

// jump moves before page i of the page index without reading what lies between, a dictionary among it: that is
// read when a page needs it.
func (p *pageReader) jump(i int) {
	p.offset = p.locs.offset[i]
	p.hasPage = false
	if p.n.maxRep == 0 {
		p.seen = p.locs.firstRow[i]
	} else {
		p.jumped = true
	}
}

func (p *pageReader) release() {
	p.page.release()
	p.src.buf.release()
	p.src.data = nil
}

// left returns the number of level entries left in the current page.
func (p *pageReader) left() int {
	if !p.hasPage {
		return 0
	}
	return p.hdr.values - p.pos
}

// advance moves to the next page with entries; io.EOF behind the last.
func (p *pageReader) advance() error {
	for {
		if p.hasPage {
			p.seen += int64(p.hdr.values)
			p.hasPage = false
		}
		if p.seen >= p.ch.numValues || p.jumped && p.offset >= p.src.end {
			return io.EOF
		}
		if p.offset >= p.src.end {
			return fmt.Errorf("its pages hold %d of %d values", p.seen, p.ch.numValues)
		}
		h, err := p.header(p.offset)
		if err != nil {
			return err
		}
		body := p.offset + int64(h.headerLen)
		next := body + int64(h.compressed)
		if next > p.src.end {
			return errors.New("a page reaches beyond its column chunk")
		}
		p.offset = next
		switch h.typ {
		case pageDictionary:
			if p.hasDict {
				return errors.New("it has two dictionary pages")
			}
			p.hasDict, p.dictPage, p.dictBody = true, h, body
			if err := p.loadDict(); err != nil { // now, while its bytes are at hand
				return err
			}
		case pageData, pageDataV2:
			if !p.jumped && int64(h.values) > p.ch.numValues-p.seen {
				return errors.New("its pages hold more values than its metadata says")
			}
			p.hdr, p.body, p.loaded, p.pos = h, body, false, 0
			p.hasPage = true
			if h.values > 0 {
				return nil
			}
		}
	}
}

func (p *pageReader) header(off int64) (pageHeader, error) {
	for guess := headerGuess; ; guess *= 16 {
		b, err := p.src.at(off, guess)
		if err != nil {
			return pageHeader{}, err
		}
		h, err := parsePageHeader(b)
		if err == nil {
			return h, nil
		}
		if len(b) < guess || guess > maxHeader {
			return h, fmt.Errorf("a page header is damaged: %w", err)
		}
	}
}

// stored returns the page's bytes as stored, checked against their checksum.
func (p *pageReader) stored(h *pageHeader, body int64) ([]byte, error) {
	b, err := p.src.at(body, h.compressed)
	if err != nil {
		return nil, err
	}
	if len(b) != h.compressed {
		return nil, errors.New("a page reaches beyond its column chunk")
	}
	if !h.checkCRC(b) {
		return nil, errors.New("the checksum of a page is wrong")
	}
	return b, nil
}

// load decompresses the current page and passes over its first pos entries.
func (p *pageReader) load() error {
	if p.loaded {
		return nil
	}
	h := &p.hdr
	if h.enc == encPlainDictionary || h.enc == encRLEDictionary {
		// Before the page is read: the page may be used where it lies in the window.
		if err := p.loadDict(); err != nil {
			return err
		}
	}
	key := format.PageKey{Path: p.f.path, Offset: p.body}
	keep := p.kept != nil && h.typ == pageData && h.uncompressed >= keptRatio*h.compressed
	if keep {
		if b, ok := p.kept.Get(key); ok && len(b) == h.uncompressed {
			return p.loadValues(nil, b)
		}
	}
	b, err := p.stored(h, p.body)
	if err != nil {
		return err
	}
	var levels []byte // v2
	codec := p.ch.codec
	size := h.uncompressed
	if h.typ == pageDataV2 {
		n := h.defLen + h.repLen
		if n > len(b) || n > size {
			return errors.New("a page has longer levels than bytes")
		}
		levels, b = b[:n], b[n:]
		size -= n
		if h.plainData {
			codec = codecNone
		}
	}
	if codec == codecNone {
		if size != len(b) {
			return errPageSize
		}
	} else if size == 0 {
		b = b[:0]
	} else {
		if err := codec.checkUncompressed(len(b), size); err != nil {
			return err
		}
		dst := p.page.grow(size, pagePadding)
		if err := codec.decompress(dst, b); err != nil {
			return fmt.Errorf("a page cannot be decompressed (%s): %w", codec, err)
		}
		b = dst
		if keep {
			p.kept.Put(key, b, unpackPadding)
		}
	}
	return p.loadValues(levels, b)
}

// loadValues starts the decoders on a page's decompressed bytes. Levels are apart in v2 pages.
func (p *pageReader) loadValues(levels, b []byte) (err error) {
	h := &p.hdr
	if h.typ == pageDataV2 {
		p.repl.reset(levels[:h.repLen], levelWidth(p.n.maxRep))
		p.defl.reset(levels[h.repLen:], levelWidth(p.n.maxDef))
	} else {
		if b, err = p.levelsV1(&p.repl, p.n.maxRep, h.repEnc, b); err != nil {
			return err
		}
		if b, err = p.levelsV1(&p.defl, p.n.maxDef, h.defEnc, b); err != nil {
			return err
		}
	}
	if err := p.vals.reset(p.n, h.enc, b, h.values); err != nil {
		return err
	}
	p.loaded = true
	if p.pos == 0 {
		return nil
	}
	// Only flat columns skip entries of a page that is not loaded.
	n := p.pos
	if p.n.maxDef == 1 {
		if n, err = p.defl.countOnes(n); err != nil {
			return err
		}
	}
	return p.vals.skip(n)
}

func levelWidth(maxLevel uint8) uint {
	w := uint(0)
	for x := maxLevel; x > 0; x >>= 1 {
		w++
	}
	return w
}

// levelsV1 starts the level decoder at the head of a v1 page and returns what follows.
func (p *pageReader) levelsV1(h *hybrid, maxLevel uint8, enc encoding, b []byte) ([]byte, error) {
	if maxLevel == 0 {
		return b, nil
	}
	if enc != encRLE {
		return nil, fmt.Errorf("the level encoding %d of a page is not read here", enc)
	}
	if len(b) < 4 {
		return nil, errRunEnd
	}
	n := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if uint64(n) > uint64(len(b)) {
		return nil, errRunEnd
	}
	h.reset(b[:n], levelWidth(maxLevel))
	return b[n:], nil
}

// loadDict decodes the chunk's dictionary page to a vector with memory of its
// own: a dictionary vector stays valid and unchanged as long as it is referred to.
func (p *pageReader) loadDict() error {
	if p.dict != nil || p.conv == convNone {
		return nil
	}
	if p.dict, p.dictLen = p.f.dicts.get(p.dictKey()); p.dict != nil {
		p.hasDict = true
		return nil
	}
	var b []byte
	if !p.hasDict {
		var err error
		if b, err = p.passedDict(); err != nil {
			return err
		}
	}
	if !p.hasDict {
		// Fine as long as the chunk holds nulls only: take refuses any code.
		p.dict, p.dictLen = emptyDict(p.kind), 0
		return nil
	}
	h := &p.dictPage
	if b == nil {
		var err error
		if b, err = p.stored(h, p.dictBody); err != nil {
			return err
		}
	}
	if h.enc != encPlain && h.enc != encPlainDictionary {
		return fmt.Errorf("the encoding %d of a dictionary page is unknown", h.enc)
	}
	if err := p.ch.codec.checkUncompressed(len(b), h.uncompressed); err != nil {
		return err
	}
	buf := make([]byte, h.uncompressed, h.uncompressed+unpackPadding)
	if h.uncompressed > 0 {
		if err := p.ch.codec.decompress(buf, b); err != nil {
			return fmt.Errorf("the dictionary page cannot be decompressed (%s): %w", p.ch.codec, err)
		}
	}
	if h.values > maxDictValues || h.values > 8*len(buf) {
		return errValues
	}
	var v valueReader
	if err := v.reset(p.n, encPlain, buf, h.values); err != nil {
		return err
	}
	dict := &column.Vector{Kind: p.kind, N: h.values}
	if h.values == 0 {
		p.dict, p.dictLen = emptyDict(p.kind), 0
		return nil
	}
	if err := takeDense(&v, p.conv, h.values, dict, new(scratch)); err != nil {
		return err
	}
	p.dict, p.dictLen = dict, h.values
	if p.f.meta.groups[p.group].split {
		p.f.dicts.put(p.dictKey(), dict, h.values, len(buf))
	}
	return nil
}

// passedDict reads the dictionary page that a jump has passed over, and returns its stored bytes: it lies before the first page of
// the index, in which it has no place. The window stays where it is.
func (p *pageReader) passedDict() ([]byte, error) {
	if p.locs == nil || p.locs.offset[0] <= p.src.start || p.offset <= p.src.start {
		return nil, nil
	}
	all := make([]byte, p.locs.offset[0]-p.src.start)
	if err := readAt(p.src.src, all, p.src.start); err != nil {
		return nil, err
	}
	h, err := parsePageHeader(all)
	if err != nil {
		return nil, fmt.Errorf("a page header is damaged: %w", err)
	}
	if h.typ != pageDictionary || h.compressed > len(all)-h.headerLen {
		return nil, nil
	}
	b := all[h.headerLen : h.headerLen+h.compressed : h.headerLen+h.compressed]
	if !h.checkCRC(b) {
		return nil, errors.New("the checksum of a page is wrong")
	}
	p.hasDict, p.dictPage, p.dictBody = true, h, p.src.start+int64(h.headerLen)
	return b, nil
}

func (p *pageReader) dictKey() dictKey {
	return dictKey{group: p.group, leaf: p.n.leaf, conv: p.conv, kind: p.kind}
}

// emptyDict returns a dictionary of one entry, as codes of null rows must be
// below a dictionary's length.
func emptyDict(kind column.Kind) *column.Vector {
	one := column.NewBuilder(kind)
	one.AppendNull()
	dict := one.Finish()
	dict.Valid = nil
	return dict
}

// takeDense takes the next n not-null, not dictionary-coded values into the
// value slices of out.
func takeDense(v *valueReader, c conversion, n int, out *column.Vector, s *scratch) error {
	switch {
	case c == convBool:
		if v.form != formBools {
			return errValues
		}
		codes := grow(&s.u32, n)
		if err := v.codes.decode(codes); err != nil {
			return err
		}
		out.I32 = grow(&s.i32, n)
		for i, x := range codes {
			out.I32[i] = int32(x)
		}
		return nil
	case v.fixed:
		raw, err := v.takeFixed(n)
		if err != nil {
			return err
		}
		return convertFixed(c, raw, n, v.width, out, s)
	}
	refs, data, err := v.takeBytes(n)
	if err != nil {
		return err
	}
	return convertBytes(c, refs, data, out, s)
}

// take reads the next n values, present in the page, into the value slices of
// out: dictionary codes where the page has them.
func (p *pageReader) take(n int, out *column.Vector, s *scratch) error {
	if p.vals.form == formCodes {
		out.Dict = p.dict
		out.Codes = grow(&s.u32, n)
		if n > 0 && !p.hasDict {
			return errNoDict
		}
		return p.vals.takeCodes(out.Codes, p.dictLen)
	}
	return takeDense(&p.vals, p.conv, n, out, s)
}
