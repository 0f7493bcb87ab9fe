package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	query "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// paramType is a parameter's type in COM_STMT_EXECUTE.
type paramType struct {
	typ      byte
	unsigned bool
}

// paramValue is a parameter as the client sent it.
type paramValue struct {
	paramType
	null bool
	// bits holds integers (sign-extended) and the bits of floats.
	bits uint64
	// text holds strings, decimals and bytes, not a copy.
	text []byte
	// when holds dates and times; micros a TIME.
	when   civilTime
	micros int64
}

// executeRequest is COM_STMT_EXECUTE after the statement's id.
type executeRequest struct {
	cursor bool
	types  []paramType
	values []paramValue
}

// Flags of COM_STMT_EXECUTE.
const (
	executeReadOnlyCursor = 1
	executeAllCursors     = 7
	executeHasCount       = 8
)

// parseExecute reads COM_STMT_EXECUTE after the statement's id. types are the
// types of the last execution, long the parameters sent as long data.
func parseExecute(data []byte, caps uint32, params int, types []paramType, long map[int][]byte) (executeRequest, error) {
	var r executeRequest
	p := payload{b: data}
	flags := p.u8()
	p.u32()
	r.cursor = flags&executeAllCursors != 0
	attributes := caps&capQueryAttributes != 0
	count := params
	if params > 0 || attributes && flags&executeHasCount != 0 {
		if attributes {
			n := p.lenenc()
			if n > maxParameters+maxAttributes {
				return r, errMalformed
			}
			// Without the flag the count is the statement's, plus no attributes.
			count = int(n)
		}
		if count < params {
			return r, errMalformed
		}
		if count > 0 {
			values, err := parseParams(&p, count, params, attributes, types, long)
			if err != nil {
				return r, err
			}
			r.values = values
		}
	}
	if p.bad {
		return r, errMalformed
	}
	r.types = make([]paramType, len(r.values))
	for i := range r.values {
		r.types[i] = r.values[i].paramType
	}
	return r, nil
}

// parseParams reads the NULL bitmap, types and values of count parameters, of
// which those from keep on are query attributes and dropped.
func parseParams(p *payload, count, keep int, names bool, types []paramType, long map[int][]byte) ([]paramValue, error) {
	nulls := p.take((count + 7) / 8)
	fresh := p.u8()
	if p.bad {
		return nil, errMalformed
	}
	// A parameter takes two bytes of the packet at least, where its type is sent.
	if fresh == 1 && len(p.b) < 2*count {
		return nil, errMalformed
	}
	values := make([]paramValue, count)
	for i := range values {
		switch {
		case fresh == 1:
			values[i].typ = p.u8()
			values[i].unsigned = p.u8()&0x80 != 0
			if names {
				p.lenencBytes()
			}
		case i < len(types):
			values[i].paramType = types[i]
		case nulls[i>>3]&(1<<(i&7)) != 0:
			// Connector/J leaves the types out of a first execution whose parameters are all NULL.
			values[i].typ = typeNull
		default:
			return nil, errMalformed
		}
	}
	if p.bad {
		return nil, errMalformed
	}
	for i := range values {
		v := &values[i]
		if data, ok := long[i]; ok {
			v.text = data
			switch v.typ {
			case typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob, typeVarString, typeString, typeVarchar, typeJSON:
			default:
				v.typ = typeBlob
			}
			continue
		}
		if nulls[i>>3]&(1<<(i&7)) != 0 || v.typ == typeNull {
			v.null = true
			continue
		}
		if err := v.read(p); err != nil {
			return nil, err
		}
	}
	return values[:keep], nil
}

// read takes the value from the packet.
func (v *paramValue) read(p *payload) error {
	switch v.typ {
	case typeTiny, typeBool:
		v.bits = uint64(int8(p.u8()))
		if v.unsigned {
			v.bits &= 0xff
		}
	case typeShort, typeYear:
		v.bits = uint64(int16(p.u16()))
		if v.unsigned {
			v.bits &= 0xffff
		}
	case typeLong, typeInt24:
		v.bits = uint64(int32(p.u32()))
		if v.unsigned {
			v.bits &= 0xffffffff
		}
	case typeLongLong:
		v.bits = p.u64()
	case typeFloat:
		v.bits = math.Float64bits(float64(math.Float32frombits(p.u32())))
	case typeDouble:
		v.bits = p.u64()
	case typeDate, typeDatetime, typeTimestamp, typeNewDate:
		v.readDatetime(p)
	case typeTime:
		v.readTime(p)
	case typeDecimal, typeNewDecimal, typeVarchar, typeBit, typeJSON, typeEnum, typeSet, typeTinyBlob, typeMediumBlob,
		typeLongBlob, typeBlob, typeVarString, typeString, typeGeometry:
		v.text = p.lenencBytes()
	default:
		return errMalformed
	}
	if p.bad {
		return errMalformed
	}
	return nil
}

func (v *paramValue) readDatetime(p *payload) {
	n := int(p.u8())
	b := p.take(n)
	if p.bad {
		return
	}
	if n >= 4 {
		v.when.year, v.when.month, v.when.day = int(binary.LittleEndian.Uint16(b)), int(b[2]), int(b[3])
	}
	if n >= 7 {
		v.when.hour, v.when.minute, v.when.second = int(b[4]), int(b[5]), int(b[6])
	}
	if n >= 11 {
		v.when.micros = int(binary.LittleEndian.Uint32(b[7:]))
	}
}

func (v *paramValue) readTime(p *payload) {
	n := int(p.u8())
	b := p.take(n)
	if p.bad || n < 8 {
		return
	}
	micros := int64(binary.LittleEndian.Uint32(b[1:]))*24 + int64(b[5])
	micros = (micros*60+int64(b[6]))*60 + int64(b[7])
	micros *= microsPerSecond
	if n >= 12 {
		micros += int64(binary.LittleEndian.Uint32(b[8:]))
	}
	if b[0] != 0 {
		micros = -micros
	}
	v.micros = micros
}

// skipAttributes reads the query attributes before a COM_QUERY's text and returns the text.
func skipAttributes(data []byte) ([]byte, error) {
	p := payload{b: data}
	count := p.lenenc()
	p.lenenc() // the number of sets, always 1
	if p.bad || count > maxAttributes {
		return nil, errMalformed
	}
	if count > 0 {
		if _, err := parseParams(&p, int(count), 0, true, nil, nil); err != nil {
			return nil, err
		}
	}
	return p.b, nil
}

// maxWholeFloat is the greatest integer that every double below it holds exactly.
const maxWholeFloat = 1 << 53

// binary text types, sent by clients for bytes.
func (v *paramValue) isBytes() bool {
	switch v.typ {
	case typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob, typeGeometry, typeBit:
		return true
	}
	return false
}

// expression makes the literal that stands for the parameter in a plan.
func (v *paramValue) expression() (sql.Expression, error) {
	if v.null {
		return expression.NewLiteral(nil, gms.Null), nil
	}
	switch v.typ {
	case typeTiny, typeBool, typeShort, typeYear, typeLong, typeInt24, typeLongLong:
		if v.unsigned {
			return expression.NewLiteral(v.bits, gms.Uint64), nil
		}
		return expression.NewLiteral(int64(v.bits), gms.Int64), nil
	case typeFloat, typeDouble:
		f := math.Float64frombits(v.bits)
		if f != f || math.IsInf(f, 0) {
			return nil, errmap.New(1367, "22007", "Illegal double '%v' value found during parsing", f)
		}
		// Node's mysql2 sends every number as DOUBLE, LIMIT's and keys' too.
		if f == math.Trunc(f) && math.Abs(f) <= maxWholeFloat && !(f == 0 && math.Signbit(f)) {
			return expression.NewLiteral(int64(f), gms.Int64), nil
		}
		if v.typ == typeFloat {
			// The shortest text of the float, not of its widening.
			if w, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64); err == nil {
				f = w
			}
		}
		return expression.NewLiteral(f, gms.Float64), nil
	case typeDecimal, typeNewDecimal:
		return decimalLiteral(string(v.text))
	case typeDate, typeNewDate:
		return v.dateLiteral(sqltypes.Date, 0)
	case typeDatetime:
		return v.dateLiteral(sqltypes.Datetime, 6)
	case typeTimestamp:
		// The client means a wall-clock time of the session, as in DATETIME.
		return v.dateLiteral(sqltypes.Datetime, 6)
	case typeTime:
		return expression.NewLiteral(gms.Timespan(v.micros), gms.Time), nil
	}
	if v.isBytes() || !utf8.Valid(v.text) {
		// Connector/J sends byte arrays as VAR_STRING.
		t, err := gms.CreateBinary(sqltypes.VarBinary, int64(max(len(v.text), 1)))
		if err != nil {
			t = gms.LongBlob
		}
		return expression.NewLiteral(append([]byte{}, v.text...), t), nil
	}
	return expression.NewLiteral(string(v.text), gms.LongText), nil
}

// decimalLiteral makes an exact literal with the digits as sent.
func decimalLiteral(s string) (sql.Expression, error) {
	d, err := decimal.NewFromString(s)
	if err != nil {
		return nil, errmap.New(1367, "22007", "Illegal decimal '%s' value found during parsing", firstChars(s))
	}
	scale := max(-int(d.Exponent()), 0)
	precision := max(len(d.Coefficient().Text(10)), scale+1)
	if d.Sign() < 0 {
		precision = max(len(d.Coefficient().Text(10))-1, scale+1)
	}
	if precision+max(int(d.Exponent()), 0) > 65 || scale > 30 {
		f, _ := d.Float64()
		return expression.NewLiteral(f, gms.Float64), nil
	}
	precision += max(int(d.Exponent()), 0)
	t, err := gms.CreateDecimalType(uint8(precision), uint8(scale))
	if err != nil {
		return nil, fmt.Errorf("decimal parameter %s: %w", s, err)
	}
	return expression.NewLiteral(d, t), nil
}

// dateLiteral makes a typed date or datetime; one that does not exist stays text, which the server then judges.
func (v *paramValue) dateLiteral(base query.Type, fraction int) (sql.Expression, error) {
	w := v.when
	t := time.Date(w.year, time.Month(w.month), w.day, w.hour, w.minute, w.second, w.micros*1000, time.UTC)
	real := w.month >= 1 && w.month <= 12 && w.day >= 1 && t.Day() == w.day && w.year <= 9999 &&
		w.hour < 24 && w.minute < 60 && w.second < 60 && w.micros < microsPerSecond
	if !real {
		text := fmt.Sprintf("%04d-%02d-%02d", w.year, w.month, w.day)
		if base != sqltypes.Date {
			text += fmt.Sprintf(" %02d:%02d:%02d", w.hour, w.minute, w.second)
			if w.micros != 0 {
				text += fmt.Sprintf(".%06d", w.micros)
			}
		}
		return expression.NewLiteral(text, gms.LongText), nil
	}
	if base == sqltypes.Date {
		return expression.NewLiteral(t, gms.Date), nil
	}
	dt, err := gms.CreateDatetimeType(base, fraction)
	if err != nil {
		return nil, fmt.Errorf("datetime parameter: %w", err)
	}
	return expression.NewLiteral(t, dt), nil
}
