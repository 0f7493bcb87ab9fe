package maintain

import (
	"strconv"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

// timePattern is a date-time pattern of Java's DateTimeFormatter, of the letters
// that name parts of a date or a time by number: y, u, M, d, H, m, s, S.
type timePattern struct {
	text  string
	parts []patternPart
}

// patternPart is a run of one letter, or a text, or the begin or end of an optional section.
type patternPart struct {
	letter byte // 0 = literal, '[' and ']' = sections
	count  int
	text   string
}

// maxPatternLength bounds the pattern of an option.
const maxPatternLength = 256

// compilePattern reads a pattern; letters beyond those that are known are errs.Unsupported.
func compilePattern(text string) (*timePattern, error) {
	p := &timePattern{text: text}
	if len(text) > maxPatternLength {
		return nil, errs.Invalidf("the date-time pattern has %d characters, at most %d are taken", len(text), maxPatternLength)
	}
	depth := 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return nil, errs.Invalidf("the date-time pattern '%s' ends within a quoted text", text)
			}
			lit := text[i+1 : i+1+end]
			if lit == "" {
				lit = "'"
			}
			p.parts = append(p.parts, patternPart{text: lit})
			i += end + 2
		case c == '[' || c == ']':
			if c == '[' {
				depth++
			} else if depth--; depth < 0 {
				return nil, errs.Invalidf("the date-time pattern '%s' has a ']' without '['", text)
			}
			p.parts = append(p.parts, patternPart{letter: c})
			i++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for i+n < len(text) && text[i+n] == c {
				n++
			}
			if strings.IndexByte("yuMdHmsS", c) < 0 || c == 'M' && n > 2 || n > 9 {
				return nil, errs.Unsupportedf("the date-time pattern '%s': '%s' is not supported; the letters y, M, d, H, m, s and S are, as numbers", text, text[i:i+n])
			}
			p.parts = append(p.parts, patternPart{letter: c, count: n})
			i += n
		case c == '#' || c == '{' || c == '}':
			return nil, errs.Invalidf("the date-time pattern '%s': the character '%c' is reserved", text, c)
		default:
			p.parts = append(p.parts, patternPart{text: text[i : i+1]})
			i++
		}
	}
	for ; depth > 0; depth-- {
		p.parts = append(p.parts, patternPart{letter: ']'})
	}
	return p, nil
}

// format prints a time.
func (p *timePattern) format(t time.Time) string {
	var sb strings.Builder
	pad := func(n, width int) {
		s := strconv.Itoa(n)
		sb.WriteString(strings.Repeat("0", max(width-len(s), 0)))
		sb.WriteString(s)
	}
	for _, x := range p.parts {
		switch x.letter {
		case 0:
			sb.WriteString(x.text)
		case 'y', 'u':
			y := t.Year()
			if x.count == 2 {
				y %= 100
			}
			pad(y, x.count)
		case 'M':
			pad(int(t.Month()), x.count)
		case 'd':
			pad(t.Day(), x.count)
		case 'H':
			pad(t.Hour(), x.count)
		case 'm':
			pad(t.Minute(), x.count)
		case 's':
			pad(t.Second(), x.count)
		case 'S':
			n := strconv.Itoa(t.Nanosecond())
			n = strings.Repeat("0", 9-len(n)) + n
			sb.WriteString(n[:x.count])
		}
	}
	return sb.String()
}

// moment are the parts of a time that a text has; -1 = none.
type moment struct{ year, month, day, hour, minute, second, nano int }

// parse reads a whole text as a local date-time, midnight if the pattern has no
// time. A day beyond the end of its month becomes the last one, as in Java's smart mode.
func (p *timePattern) parse(s string) (time.Time, bool) {
	m := moment{-1, -1, -1, -1, -1, -1, -1}
	rest, ok := p.read(p.parts, s, &m)
	if !ok || rest != "" {
		return time.Time{}, false
	}
	return m.time()
}

// read reads the parts of a text from its beginning.
func (p *timePattern) read(parts []patternPart, s string, m *moment) (rest string, ok bool) {
	for i := 0; i < len(parts); i++ {
		x := parts[i]
		switch x.letter {
		case '[':
			end, depth := i, 0
			for ; end < len(parts); end++ {
				if parts[end].letter == '[' {
					depth++
				} else if parts[end].letter == ']' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			try := *m
			if r, ok := p.read(parts[i+1:end], s, &try); ok {
				s, *m = r, try
			}
			i = end
		case ']':
		case 0:
			if !strings.HasPrefix(s, x.text) {
				return s, false
			}
			s = s[len(x.text):]
		default:
			least, most := x.width()
			if most > least {
				// Numbers of fixed width that follow at once keep their digits.
				for _, next := range parts[i+1:] {
					if next.letter == 0 || next.letter == '[' || next.letter == ']' {
						break
					}
					l, h := next.width()
					if l != h {
						break
					}
					digits := 0
					for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
						digits++
					}
					most = min(most, max(digits-reserved(parts[i+1:]), least))
					break
				}
			}
			n := 0
			for n < len(s) && n < most && s[n] >= '0' && s[n] <= '9' {
				n++
			}
			if n < least {
				return s, false
			}
			v, err := strconv.Atoi(s[:n])
			if err != nil || !m.set(x, v, n) {
				return s, false
			}
			s = s[n:]
		}
	}
	return s, true
}

// reserved are the digits of the numbers of fixed width at the beginning of parts.
func reserved(parts []patternPart) int {
	n := 0
	for _, x := range parts {
		if x.letter == 0 || x.letter == '[' || x.letter == ']' {
			break
		}
		l, h := x.width()
		if l != h {
			break
		}
		n += l
	}
	return n
}

// width is how many digits a number has.
func (x patternPart) width() (least, most int) {
	switch {
	case x.letter == 'S', x.count == 2:
		return x.count, x.count
	case x.letter == 'y' || x.letter == 'u':
		return x.count, 9
	case x.count == 1:
		return 1, 9
	}
	return x.count, x.count
}

// set takes a number of n digits; false if it is out of range or contradicts another one.
func (m *moment) set(x patternPart, v, n int) bool {
	to, least, most := &m.year, 0, 999_999_999
	switch x.letter {
	case 'y', 'u':
		if x.count == 2 {
			v += 2000
		}
	case 'M':
		to, least, most = &m.month, 1, 12
	case 'd':
		to, least, most = &m.day, 1, 31
	case 'H':
		to, most = &m.hour, 23
	case 'm':
		to, most = &m.minute, 59
	case 's':
		to, most = &m.second, 59
	case 'S':
		for ; n < 9; n++ {
			v *= 10
		}
		to = &m.nano
	}
	if v < least || v > most || *to >= 0 && *to != v {
		return false
	}
	*to = v
	return true
}

// maxYear is the greatest year of a partition's time.
const maxYear = 99_999

func (m *moment) time() (time.Time, bool) {
	if m.year < 0 || m.year > maxYear || m.month < 0 || m.day < 0 {
		return time.Time{}, false
	}
	if m.hour < 0 && (m.minute >= 0 || m.second >= 0 || m.nano >= 0) || m.minute < 0 && (m.second >= 0 || m.nano >= 0) {
		return time.Time{}, false
	}
	last := time.Date(m.year, time.Month(m.month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(m.year, time.Month(m.month), min(m.day, last), max(m.hour, 0), max(m.minute, 0), max(m.second, 0), max(m.nano, 0), time.UTC), true
}

// lenientTime reads yyyy-M-d, with or without ` H:m:s` and a fraction of it: the times of partitions without a formatter.
func lenientTime(s string) (time.Time, bool) {
	m := moment{-1, -1, -1, -1, -1, -1, -1}
	date, clock, timed := strings.Cut(s, " ")
	number := func(letter byte, text string, most int) bool {
		if text == "" || len(text) > most {
			return false
		}
		for _, c := range []byte(text) {
			if c < '0' || c > '9' {
				return false
			}
		}
		v, err := strconv.Atoi(text)
		return err == nil && m.set(patternPart{letter: letter, count: 1}, v, len(text))
	}
	d := strings.Split(date, "-")
	if len(d) != 3 || !number('y', d[0], 9) || !number('M', d[1], 2) || !number('d', d[2], 2) {
		return time.Time{}, false
	}
	if timed {
		h := strings.Split(clock, ":")
		if len(h) != 3 || !number('H', h[0], 2) || !number('m', h[1], 2) {
			return time.Time{}, false
		}
		sec, frac, fraction := strings.Cut(h[2], ".")
		if !number('s', sec, 2) || fraction && frac != "" && !number('S', frac, 9) {
			return time.Time{}, false
		}
	}
	t, ok := m.time()
	return t, ok && t.Day() == m.day // strict: no 30th of February
}
