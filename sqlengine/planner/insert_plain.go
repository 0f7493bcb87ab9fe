package planner

import (
	"bytes"

	"github.com/tributarydb/tributary/storage/errs"
)

// simple reports whether lines may be taken apart by plainLine: fields end with one byte, which no other mark has.
func (f *lineFormat) simple() bool {
	if len(f.fieldEnd) != 1 || len(f.lineEnd) == 0 || len(f.lineStart) > 0 {
		return false
	}
	end := f.fieldEnd[0]
	isMark := func(b byte) bool { return int(b) == f.escape || int(b) == f.enclosed }
	if isMark(end) || bytes.IndexByte(f.lineEnd, end) >= 0 {
		return false
	}
	for _, b := range f.lineEnd {
		if isMark(b) {
			return false
		}
	}
	return f.escape < 0 || f.escape != f.enclosed
}

// plainLine takes a whole line that is in the buffer and has no more than the usual: fields without escapes, \N alone, and
// fields in quotes that have neither quotes nor escapes inside. ok is false, and nothing is taken, for any other.
func (l *lineReader) plainLine() (ok bool, err error) {
	line, size := l.lineAhead()
	if size == 0 {
		return false, nil
	}
	quotes := l.f.enclosed >= 0 && bytes.IndexByte(line, byte(l.f.enclosed)) >= 0
	escapes := l.f.escape >= 0 && bytes.IndexByte(line, byte(l.f.escape)) >= 0
	l.fields = l.fields[:0]
	end := l.f.fieldEnd[0]
	for more := true; more; {
		if quotes && len(line) > 0 && int(line[0]) == l.f.enclosed {
			n := bytes.IndexByte(line[1:], byte(l.f.enclosed)) + 1
			if n == 0 || n+1 < len(line) && line[n+1] != end {
				return false, nil
			}
			text := line[1:n]
			if escapes && bytes.IndexByte(text, byte(l.f.escape)) >= 0 {
				return false, nil
			}
			l.fields = append(l.fields, lineField{text: text})
			more = n+1 < len(line)
			if more {
				line = line[n+2:]
			}
		} else {
			text := line
			n := bytes.IndexByte(line, end)
			if more = n >= 0; more {
				text, line = line[:n], line[n+1:]
			}
			null := l.f.enclosed >= 0 && string(text) == "NULL"
			if escapes && bytes.IndexByte(text, byte(l.f.escape)) >= 0 {
				if len(text) != 2 || int(text[0]) != l.f.escape || text[1] != 'N' {
					return false, nil
				}
				text, null = text[1:], true
			}
			l.fields = append(l.fields, lineField{text, null})
		}
		if len(l.fields) >= maxLineFields {
			return false, errs.Limitf("a line of the file has more than %d fields", maxLineFields)
		}
	}
	if l.f.latin1 {
		for i := range l.fields {
			l.fields[i].text = fromLatin1(l.fields[i].text)
		}
	}
	// What is in the buffer stays until something is read.
	_, err = l.in.Discard(size)
	return true, err
}

// lineAhead returns the next line without its end, and its size with it; 0 where no end is in the buffer.
func (l *lineReader) lineAhead() (line []byte, size int) {
	searched := 0
	for {
		ahead, err := l.in.Peek(l.in.Buffered())
		if err != nil {
			return nil, 0
		}
		// An end may begin with the last bytes that were searched.
		from := max(searched-len(l.f.lineEnd)+1, 0)
		if i := bytes.Index(ahead[from:], l.f.lineEnd); i >= 0 {
			return ahead[:from+i], from + i + len(l.f.lineEnd)
		}
		searched = len(ahead)
		if more, err := l.in.Peek(searched + 1); len(more) <= searched || err != nil {
			return nil, 0
		}
	}
}
