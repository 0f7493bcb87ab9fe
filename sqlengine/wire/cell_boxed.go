package wire

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/tributarydb/tributary/sqlengine/types"
)

// boxedColumn writes one column of rows that come from go-mysql-server's executor.
type boxedColumn struct {
	typ sql.Type
	def *columnDef
	// plainText: the Go string can be sent as it is.
	plainText bool
	// digits are the fractional digits of times, -1 for "as many as there are":
	// go-mysql-server types the results of functions DATETIME(6) throughout.
	digits int
}

func newBoxedColumn(c *sql.Column, d *columnDef, cs resultCharset) boxedColumn {
	b := boxedColumn{typ: c.Type, def: d, digits: -1}
	if gms.IsText(c.Type) || gms.IsTextBlob(c.Type) {
		b.plainText = gms.IsBinaryType(c.Type) || !cs.recode && c.Type.Type() != sqltypes.Enum && c.Type.Type() != sqltypes.Set
	}
	if dt, ok := c.Type.(sql.DatetimeType); ok && (dt.Precision() < types.MaxFraction || c.Source != "") {
		b.digits = dt.Precision()
	}
	return b
}

// appendText appends a value as a cell of the text protocol.
func (c *boxedColumn) appendText(ctx *sql.Context, dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, cellNull), nil
	case int8:
		return appendIntCell(dst, int64(v)), nil
	case int16:
		return appendIntCell(dst, int64(v)), nil
	case int32:
		return appendIntCell(dst, int64(v)), nil
	case int64:
		if c.def.typ != typeBit && c.def.typ != typeTime && c.def.typ != typeNewDecimal {
			return appendIntCell(dst, v), nil
		}
	case uint64:
		if c.def.typ != typeBit && c.def.flags&(flagSet|flagEnum) == 0 && c.def.typ != typeNewDecimal {
			return appendUintCell(dst, v), nil
		}
	case uint32:
		return appendUintCell(dst, uint64(v)), nil
	case uint8:
		return appendUintCell(dst, uint64(v)), nil
	case bool:
		if c.def.flags&flagNum != 0 {
			if v {
				return append(dst, 1, '1'), nil
			}
			return append(dst, 1, '0'), nil
		}
	case float64:
		if c.def.typ == typeDouble {
			return appendLater(dst, func(dst []byte) []byte { return types.AppendFloat64(dst, v) }), nil
		}
	case float32:
		if c.def.typ == typeFloat {
			return appendLater(dst, func(dst []byte) []byte { return types.AppendFloat32(dst, v) }), nil
		}
	case string:
		if c.plainText {
			return appendLenencString(dst, v), nil
		}
	case []byte:
		if c.plainText {
			return appendLenencString(dst, v), nil
		}
	case time.Time:
		switch c.def.typ {
		case typeDate:
			return appendLater(dst, func(dst []byte) []byte { return appendGoDate(dst, v) }), nil
		case typeDatetime, typeTimestamp:
			return appendLater(dst, func(dst []byte) []byte { return appendGoDatetime(dst, v, c.digits) }), nil
		}
	}
	text, err := c.text(ctx, v)
	if err != nil {
		return dst, err
	}
	if text == nil {
		return append(dst, cellNull), nil
	}
	return appendLenencString(dst, text), nil
}

// text is a value's text by way of its type; nil is NULL.
func (c *boxedColumn) text(ctx *sql.Context, v any) ([]byte, error) {
	if doc, ok := v.(sql.JSONWrapper); ok {
		escaped, err := types.EscapeKeys(doc)
		if err != nil {
			return nil, err
		}
		v = escaped
	}
	out, err := c.typ.SQL(ctx, nil, v)
	if err != nil {
		return nil, err
	}
	if out.IsNull() {
		return nil, nil
	}
	b := out.Raw()
	if c.def.flags&flagNum != 0 {
		// EXPLAIN puts words such as NULL into integer columns.
		if _, err := strconv.ParseFloat(string(b), 64); err != nil {
			return nil, nil
		}
	}
	if b == nil {
		b = []byte{}
	}
	return b, nil
}

// zeroTime is go-mysql-server's stand-in for 0000-00-00.
var zeroTime = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)

// isZeroTime reports zeroTime, and what Go makes of 0000-00-00. 0001-01-01, Go's zero time, is a date like others.
func isZeroTime(t time.Time) bool {
	return t.Year() < 0 || t.Equal(zeroTime)
}

func appendGoDate(dst []byte, t time.Time) []byte {
	if isZeroTime(t) {
		return append(dst, "0000-00-00"...)
	}
	return t.AppendFormat(dst, time.DateOnly)
}

func appendGoDatetime(dst []byte, t time.Time, digits int) []byte {
	if isZeroTime(t) {
		return append(dst, "0000-00-00 00:00:00"...)
	}
	dst = t.AppendFormat(dst, time.DateTime)
	micros := t.Nanosecond() / 1000
	if digits < 0 {
		if micros == 0 {
			return dst
		}
		digits = types.MaxFraction
	}
	if digits == 0 {
		return dst
	}
	frac := fmt.Appendf(nil, "%06d", micros)
	return append(append(dst, '.'), frac[:digits]...)
}
