package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// MaxTypeDepth is the greatest nesting of a type that is read.
const MaxTypeDepth = 64

// maxIntDigits bounds the digits of a number in a type text.
const maxIntDigits = 10

// ParseType parses the text of a type, e.g. `DECIMAL(10, 2) NOT NULL` or
// `ARRAY<INT>` (section 2.1 of the format; DataTypeJsonParser, plus the
// constructed forms that Type.String prints). Errors are errs.Invalid.
func ParseType(text string) (*Type, error) {
	p := &typeParser{src: text}
	t, err := p.parse(0)
	if err != nil {
		return nil, errs.Invalidf("data type '%s': %w", text, err)
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, errs.Invalidf("data type '%s': unexpected '%s' at the end", text, p.src[p.pos:])
	}
	return t, nil
}

type typeParser struct {
	src string
	pos int
	// nextID numbers the fields of ROW texts, which carry no ids.
	nextID int
}

func (p *typeParser) space() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t' || p.src[p.pos] == '\n' || p.src[p.pos] == '\r') {
		p.pos++
	}
}

// word takes the next keyword in upper case, "" where there is none.
func (p *typeParser) word() string {
	p.space()
	i := p.pos
	for i < len(p.src) && (p.src[i] >= 'a' && p.src[i] <= 'z' || p.src[i] >= 'A' && p.src[i] <= 'Z' || p.src[i] >= '0' && p.src[i] <= '9' || p.src[i] == '_') {
		i++
	}
	w := strings.ToUpper(p.src[p.pos:i])
	p.pos = i
	return w
}

// accept takes the keywords if they come next.
func (p *typeParser) accept(words ...string) bool {
	save := p.pos
	for _, w := range words {
		if p.word() != w {
			p.pos = save
			return false
		}
	}
	return true
}

// punct takes the character if it comes next.
func (p *typeParser) punct(c byte) bool {
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *typeParser) expect(c byte) error {
	if !p.punct(c) {
		return fmt.Errorf("'%c' expected at position %d", c, p.pos)
	}
	return nil
}

func (p *typeParser) number() (int, error) {
	p.space()
	i := p.pos
	for i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9' {
		i++
	}
	if i == p.pos || i-p.pos > maxIntDigits {
		return 0, fmt.Errorf("a number is expected at position %d", p.pos)
	}
	n, err := strconv.Atoi(p.src[p.pos:i])
	p.pos = i
	return n, err
}

// params takes `(n)` or `(n, m)`; got is how many there were.
func (p *typeParser) params(most int) (a, b, got int, err error) {
	if !p.punct('(') {
		return 0, 0, 0, nil
	}
	if a, err = p.number(); err != nil {
		return
	}
	got = 1
	if most > 1 && p.punct(',') {
		if b, err = p.number(); err != nil {
			return
		}
		got = 2
	}
	err = p.expect(')')
	return
}

func (p *typeParser) parse(depth int) (*Type, error) {
	if depth > MaxTypeDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", MaxTypeDepth)
	}
	t, err := p.base(depth)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		switch {
		case p.accept("NOT", "NULL"):
			t.NotNull = true
		case p.accept("NULL"):
			t.NotNull = false
		default:
			// The suffix forms `T ARRAY` and `T MULTISET`.
			if p.accept("ARRAY") {
				t = &Type{Root: Array, Elem: t}
			} else if p.accept("MULTISET") {
				t = &Type{Root: Multiset, Elem: t}
			} else {
				return t, nil
			}
		}
		if depth+n > MaxTypeDepth {
			return nil, fmt.Errorf("nested deeper than %d levels", MaxTypeDepth)
		}
	}
}

// lengthType makes a type with a length parameter that defaults to 1.
func (p *typeParser) lengthType(root Root) (*Type, error) {
	n, _, got, err := p.params(1)
	if err != nil {
		return nil, err
	}
	if got == 0 {
		n = 1
	}
	if n < 1 || n > MaxLength {
		return nil, fmt.Errorf("length %d is not in 1..%d", n, MaxLength)
	}
	return &Type{Root: root, Length: n}, nil
}

// timeType makes a type with a precision parameter.
func (p *typeParser) timeType(root Root, def int) (*Type, error) {
	n, _, got, err := p.params(1)
	if err != nil {
		return nil, err
	}
	if got == 0 {
		n = def
	}
	if n > 9 {
		return nil, fmt.Errorf("precision %d is not in 0..9", n)
	}
	return &Type{Root: root, Precision: n}, nil
}

func (p *typeParser) base(depth int) (*Type, error) {
	at := p.pos
	w := p.word()
	switch w {
	case "CHAR":
		return p.lengthType(Char)
	case "VARCHAR":
		return p.lengthType(Varchar)
	case "STRING":
		return &Type{Root: Varchar, Length: MaxLength}, nil
	case "BOOLEAN":
		return &Type{Root: Boolean}, nil
	case "BINARY":
		return p.lengthType(Binary)
	case "VARBINARY":
		return p.lengthType(Varbinary)
	case "BYTES":
		return &Type{Root: Varbinary, Length: MaxLength}, nil
	case "DECIMAL", "DEC", "NUMERIC":
		prec, scale, got, err := p.params(2)
		if err != nil {
			return nil, err
		}
		if got == 0 {
			prec = 10
		}
		if prec < 1 || prec > 38 || scale > prec {
			return nil, fmt.Errorf("DECIMAL(%d, %d) is not possible: the precision is 1..38, the scale 0..precision", prec, scale)
		}
		return &Type{Root: Decimal, Precision: prec, Scale: scale}, nil
	case "TINYINT":
		return &Type{Root: TinyInt}, nil
	case "SMALLINT":
		return &Type{Root: SmallInt}, nil
	case "INT", "INTEGER":
		return &Type{Root: Int}, nil
	case "BIGINT":
		return &Type{Root: BigInt}, nil
	case "FLOAT":
		return &Type{Root: Float}, nil
	case "DOUBLE":
		p.accept("PRECISION")
		return &Type{Root: Double}, nil
	case "DATE":
		return &Type{Root: Date}, nil
	case "TIME":
		t, err := p.timeType(Time, 0)
		p.accept("WITHOUT", "TIME", "ZONE")
		return t, err
	case "TIMESTAMP":
		t, err := p.timeType(Timestamp, 6)
		if err == nil && p.accept("WITH", "LOCAL", "TIME", "ZONE") {
			t.Root = TimestampLTZ
		}
		p.accept("WITHOUT", "TIME", "ZONE")
		return t, err
	case "TIMESTAMP_LTZ":
		return p.timeType(TimestampLTZ, 6)
	case "VARIANT":
		return &Type{Root: Variant}, nil
	case "BLOB":
		return &Type{Root: Blob}, nil
	case "GEOMETRY", "GEOGRAPHY":
		return p.geo(w)
	case "ARRAY", "MULTISET":
		if err := p.expect('<'); err != nil {
			return nil, err
		}
		e, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		t := &Type{Root: Array, Elem: e}
		if w == "MULTISET" {
			t.Root = Multiset
		}
		return t, p.expect('>')
	case "MAP":
		if err := p.expect('<'); err != nil {
			return nil, err
		}
		k, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := p.expect(','); err != nil {
			return nil, err
		}
		v, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		return &Type{Root: Map, Key: k, Elem: v}, p.expect('>')
	case "VECTOR":
		if err := p.expect('<'); err != nil {
			return nil, err
		}
		e, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := p.expect(','); err != nil {
			return nil, err
		}
		n, err := p.number()
		if err != nil {
			return nil, err
		}
		t, err := vectorOf(e, n)
		if err != nil {
			return nil, err
		}
		return t, p.expect('>')
	case "ROW":
		return p.row(depth)
	}
	if w == "" {
		return nil, fmt.Errorf("a type name is expected at position %d", at)
	}
	return nil, fmt.Errorf("unknown type '%s'", w)
}

// vectorOf makes a VECTOR type.
func vectorOf(e *Type, n int) (*Type, error) {
	switch e.Root {
	case Boolean, TinyInt, SmallInt, Int, BigInt, Float, Double:
	default:
		return nil, fmt.Errorf("a VECTOR cannot have elements of type %s", e)
	}
	if n < 1 || n > MaxLength {
		return nil, fmt.Errorf("VECTOR length %d is not in 1..%d", n, MaxLength)
	}
	return &Type{Root: VectorType, Elem: e, Length: n}, nil
}

// geo parses the parameters of GEOMETRY(crs) and GEOGRAPHY(crs, algorithm).
func (p *typeParser) geo(w string) (*Type, error) {
	t := &Type{Root: Geometry, CRS: "OGC:CRS84"}
	if w == "GEOGRAPHY" {
		t.Root, t.Algorithm = Geography, "SPHERICAL"
	}
	if !p.punct('(') {
		return t, nil
	}
	end := strings.IndexByte(p.src[p.pos:], ')')
	if end < 0 {
		return nil, fmt.Errorf("')' is missing after %s", w)
	}
	args := strings.Split(p.src[p.pos:p.pos+end], ",")
	p.pos += end + 1
	if len(args) > 2 || len(args) == 2 && t.Root == Geometry {
		return nil, fmt.Errorf("%s has too many parameters", w)
	}
	t.CRS = strings.TrimSpace(args[0])
	if len(args) == 2 {
		t.Algorithm = strings.ToUpper(strings.TrimSpace(args[1]))
	}
	return t, nil
}

// row parses the text form of ROW; its fields get ids from 0 in order.
func (p *typeParser) row(depth int) (*Type, error) {
	open, end := byte('<'), byte('>')
	if !p.punct('<') {
		if !p.punct('(') {
			return nil, fmt.Errorf("'<' expected at position %d", p.pos)
		}
		open, end = '(', ')'
	}
	_ = open
	t := &Type{Root: Row}
	for !p.punct(end) {
		if len(t.Fields) > 0 {
			if err := p.expect(','); err != nil {
				return nil, err
			}
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		f := Field{ID: p.nextID, Name: name}
		p.nextID++
		if f.Type, err = p.parse(depth + 1); err != nil {
			return nil, err
		}
		p.accept("COMMENT")
		p.space()
		if p.pos < len(p.src) && p.src[p.pos] == '\'' {
			if f.Description, err = p.quoted('\''); err != nil {
				return nil, err
			}
		}
		t.Fields = append(t.Fields, f)
	}
	return t, nil
}

// name takes a plain or back-quoted identifier.
func (p *typeParser) name() (string, error) {
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == '`' {
		return p.quoted('`')
	}
	i := p.pos
	for i < len(p.src) && !strings.ContainsRune(" \t\r\n,<>()'`", rune(p.src[i])) {
		i++
	}
	if i == p.pos {
		return "", fmt.Errorf("a field name is expected at position %d", p.pos)
	}
	n := p.src[p.pos:i]
	p.pos = i
	return n, nil
}

// quoted takes a text between quotes, in which a doubled quote stands for one.
func (p *typeParser) quoted(q byte) (string, error) {
	var sb strings.Builder
	for i := p.pos + 1; i < len(p.src); i++ {
		if p.src[i] != q {
			sb.WriteByte(p.src[i])
			continue
		}
		if i+1 < len(p.src) && p.src[i+1] == q {
			sb.WriteByte(q)
			i++
			continue
		}
		p.pos = i + 1
		return sb.String(), nil
	}
	return "", fmt.Errorf("the quote opened at position %d is not closed", p.pos)
}
