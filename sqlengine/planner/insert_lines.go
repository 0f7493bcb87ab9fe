package planner

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/tributarydb/tributary/storage/errs"
)

const (
	// maxLineBytes bounds a line of a file.
	maxLineBytes = 1 << 30
	// maxLineFields bounds the fields of a line.
	maxLineFields = 1 << 16
	// lineBuffer is how much of a file is read at a time.
	lineBuffer = 256 << 10
)

// lineFormat says how the lines of a file are written, in the terms of LOAD DATA.
type lineFormat struct {
	// fieldEnd and lineEnd separate fields and lines; lines begin behind lineStart, where that is not empty.
	fieldEnd, lineStart, lineEnd []byte
	// enclosed and escape are bytes; -1 for none.
	enclosed, escape int
	// latin1 texts become UTF-8.
	latin1 bool
}

// lineField is a field of a line. The text is valid until the next line.
type lineField struct {
	text []byte
	null bool
}

// lineReader reads lines as MySQL does.
type lineReader struct {
	in  *bufio.Reader
	f   lineFormat
	buf []byte
	// ends are where the fields end in buf.
	ends   []int
	nulls  []bool
	fields []lineField
	// simple says that separators cannot be taken for anything else, so that lines are found by them (plainLine).
	simple bool
}

func newLineReader(in io.Reader, f lineFormat) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, lineBuffer), f: f, simple: f.simple()}
}

// ahead reports whether the rest of a separator, whose first byte has been read, comes next, and takes it.
func (l *lineReader) ahead(separator []byte) bool {
	rest := separator[1:]
	if len(rest) == 0 {
		return true
	}
	p, _ := l.in.Peek(len(rest))
	if !bytes.Equal(p, rest) {
		return false
	}
	_, _ = l.in.Discard(len(rest)) // it was there
	return true
}

// skipLine leaves out a line; io.EOF where there is none.
func (l *lineReader) skipLine() error {
	for {
		b, err := l.in.ReadByte()
		if err != nil {
			return err
		}
		if b == l.f.lineEnd[0] && l.ahead(l.f.lineEnd) {
			return nil
		}
	}
}

// start goes to where a line begins; io.EOF where none does.
func (l *lineReader) start() error {
	if len(l.f.lineStart) == 0 {
		_, err := l.in.Peek(1)
		return err
	}
	for {
		b, err := l.in.ReadByte()
		if err != nil {
			return err
		}
		if b == l.f.lineStart[0] && l.ahead(l.f.lineStart) {
			return nil
		}
	}
}

// next returns the fields of the next line; io.EOF at the end of the file.
func (l *lineReader) next() ([]lineField, error) {
	if l.simple {
		if ok, err := l.plainLine(); ok || err != nil {
			return l.fields, err
		}
	}
	if err := l.start(); err != nil {
		return nil, err
	}
	l.buf, l.ends, l.nulls, l.fields = l.buf[:0], l.ends[:0], l.nulls[:0], l.fields[:0]
	for more := true; more; {
		var err error
		if more, err = l.field(); err != nil {
			return nil, err
		}
		if len(l.ends) >= maxLineFields {
			return nil, errs.Limitf("a line of the file has more than %d fields", maxLineFields)
		}
	}
	from := 0
	for i, end := range l.ends {
		text := l.buf[from:end:end]
		if l.f.latin1 {
			text = fromLatin1(text)
		}
		l.fields = append(l.fields, lineField{text, l.nulls[i]})
		from = end
	}
	return l.fields, nil
}

// end ends a field. What is NULL: an escaped N alone, and the bare word where fields may be enclosed.
func (l *lineReader) end(escapedNull, quoted bool) {
	from := 0
	if n := len(l.ends); n > 0 {
		from = l.ends[n-1]
	}
	text := l.buf[from:]
	null := escapedNull && len(text) == 1 || l.f.enclosed >= 0 && !quoted && string(text) == "NULL"
	l.ends, l.nulls = append(l.ends, len(l.buf)), append(l.nulls, null)
}

// field reads a field; more says that another one follows in the line.
func (l *lineReader) field() (more bool, err error) {
	quoted, escapedNull := false, false
	if l.f.enclosed >= 0 {
		if p, _ := l.in.Peek(1); len(p) == 1 && int(p[0]) == l.f.enclosed {
			_, _ = l.in.Discard(1)
			quoted = true
		}
	}
	from := len(l.buf)
	for {
		b, err := l.in.ReadByte()
		if errors.Is(err, io.EOF) {
			if quoted { // the quote was never closed: it is a character
				l.buf = append(l.buf, 0)
				copy(l.buf[from+1:], l.buf[from:])
				l.buf[from] = byte(l.f.enclosed)
			}
			l.end(escapedNull, quoted)
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if len(l.buf) >= maxLineBytes {
			return false, errs.Limitf("a line of the file has more than %d bytes; is LINES TERMINATED BY right?", maxLineBytes)
		}
		if int(b) == l.f.escape {
			p, _ := l.in.Peek(1)
			if len(p) == 0 {
				l.buf = append(l.buf, b)
				continue
			}
			// An escape character that encloses as well only doubles itself.
			if l.f.escape != l.f.enclosed || p[0] == b {
				_, _ = l.in.Discard(1)
				escapedNull = escapedNull || p[0] == 'N'
				l.buf = append(l.buf, unescaped(p[0]))
				continue
			}
		}
		switch {
		case quoted:
			if int(b) != l.f.enclosed {
				break
			}
			done, lineDone := l.closes(b)
			if done {
				l.end(escapedNull, quoted)
				return !lineDone, nil
			}
		case b == l.f.lineEnd[0] && l.ahead(l.f.lineEnd):
			l.end(escapedNull, quoted)
			return false, nil
		case b == l.f.fieldEnd[0] && l.ahead(l.f.fieldEnd):
			l.end(escapedNull, quoted)
			return true, nil
		}
		l.buf = append(l.buf, b)
	}
}

// closes looks at what follows a quote inside of a quoted field: another one makes it a character; a separator or the end of the file ends the field.
func (l *lineReader) closes(quote byte) (done, lineDone bool) {
	n := max(len(l.f.lineEnd), len(l.f.fieldEnd))
	p, _ := l.in.Peek(n)
	switch {
	case len(p) == 0:
		return true, true
	case p[0] == quote:
		_, _ = l.in.Discard(1)
		return false, false
	case bytes.HasPrefix(p, l.f.lineEnd):
		_, _ = l.in.Discard(len(l.f.lineEnd))
		return true, true
	case bytes.HasPrefix(p, l.f.fieldEnd):
		_, _ = l.in.Discard(len(l.f.fieldEnd))
		return true, false
	}
	return false, false
}

// unescaped is what a character behind the escape character stands for.
func unescaped(b byte) byte {
	switch b {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case '0':
		return 0
	case 'Z':
		return 26
	}
	return b
}

// windows1252 are the characters of bytes 0x80 to 0x9f in MySQL's latin1.
var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

func fromLatin1(s []byte) []byte {
	var out []byte
	for _, b := range s {
		if b >= 0x80 && b < 0xa0 {
			out = append(out, string(windows1252[b-0x80])...)
		} else {
			out = append(out, string(rune(b))...)
		}
	}
	return out
}
