package planner

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// Numbers of MySQL's errors and warnings about values.
const (
	errNotNull        = 1048 // ER_BAD_NULL_ERROR
	errOutOfRange     = 1264 // ER_WARN_DATA_OUT_OF_RANGE
	errTruncated      = 1265 // WARN_DATA_TRUNCATED
	errWrongTime      = 1292 // ER_TRUNCATED_WRONG_VALUE
	warnSkippedTime   = 1299 // ER_WARN_INVALID_TIMESTAMP
	errNoDefault      = 1364 // ER_NO_DEFAULT_FOR_FIELD
	errWrongValue     = 1366 // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
	errTooLong        = 1406 // ER_DATA_TOO_LONG
	errInvalidJSON    = 3140 // ER_INVALID_JSON_TEXT
	maxStatementNotes = 1024 // max_error_count: how many warnings of a statement are kept
)

// misfits decides what becomes of values that do not fit their column, and counts the warnings. One serves a statement.
type misfits struct {
	ctx *sql.Context
	// strict makes them errors; else the nearest value is stored, with a warning.
	strict bool
	// row is the number of the row being written, from 1.
	row int64
	// warnings counts all of them; the session keeps the first maxStatementNotes.
	warnings int
	// bytes counts the bytes of texts appended since the last flush.
	bytes int
}

// wrong reports a value that does not fit: the error in strict mode, nil after a warning else.
func (m *misfits) wrong(code uint16, state, format string, args ...any) error {
	if m.strict {
		return errmap.New(code, state, format, args...)
	}
	m.warn("Warning", int(code), fmt.Sprintf(format, args...))
	return nil
}

func (m *misfits) warn(level string, code int, text string) {
	m.warnings++
	if m.warnings <= maxStatementNotes {
		m.ctx.Session.Warn(&sql.Warning{Level: level, Code: code, Message: text})
	}
}

// cellWriter appends values to a column as MySQL stores them: out of range
// values, texts that are too long and the like are errors, or the nearest
// value and a warning (misfits).
type cellWriter struct {
	name string
	typ  *schema.Type
	out  *column.Builder
	zone *time.Location
	m    *misfits
}

func newCellWriter(name string, t *schema.Type, zone *time.Location, m *misfits) *cellWriter {
	return &cellWriter{name: name, typ: t, out: schema.NewBuilder(t), zone: zone, m: m}
}

// at ends a message: the column and the row.
func (w *cellWriter) at() string {
	return fmt.Sprintf("for column '%s' at row %d", w.name, w.m.row)
}

func (w *cellWriter) outOfRange() error {
	return w.m.wrong(errOutOfRange, "22003", "Out of range value %s", w.at())
}

func (w *cellWriter) truncated() error {
	return w.m.wrong(errTruncated, "01000", "Data truncated %s", w.at())
}

func (w *cellWriter) noteTruncated() {
	w.m.warn("Note", errTruncated, "Data truncated "+w.at())
}

func (w *cellWriter) incorrect(kind string, v any) error {
	return w.m.wrong(errWrongValue, "HY000", "Incorrect %s value: '%s' %s", kind, shownValue(v), w.at())
}

func (w *cellWriter) badTime(kind string, v any) error {
	return w.m.wrong(errWrongTime, "22007", "Incorrect %s value: '%s' %s", kind, shownValue(v), w.at())
}

// maxShown is how many bytes of a value a message shows.
const maxShown = 128

func shownValue(v any) string {
	var s string
	switch v := v.(type) {
	case string:
		s = v
	case []byte:
		s = string(v)
	case hexLiteral:
		s = string(v)
	case decimal.Decimal:
		s = v.StringFixed(max(0, -v.Exponent()))
	case time.Time:
		s = v.Format("2006-01-02 15:04:05.999999")
	case gms.Timespan:
		s = v.String()
	default:
		s = fmt.Sprint(v)
	}
	if len(s) > maxShown {
		s = s[:maxShown]
	}
	return strings.ToValidUTF8(s, "?")
}

// hexLiteral is x'…', 0x… or b'…': a number for numeric columns, bytes for others.
type hexLiteral []byte

// number is the value as an unsigned integer; ok is false for more than eight bytes.
func (h hexLiteral) number() (n uint64, ok bool) {
	for _, b := range h {
		if n>>56 != 0 {
			return 0, false
		}
		n = n<<8 | uint64(b)
	}
	return n, true
}

// null appends NULL; in a NOT NULL column it is error 1048, or the type's implicit default and a warning.
func (w *cellWriter) null(lenient bool) error {
	if !w.typ.NotNull {
		w.out.AppendNull()
		return nil
	}
	text := fmt.Sprintf("Column '%s' cannot be null", w.name)
	if lenient && w.implicitDefault() {
		w.m.warn("Warning", errNotNull, text)
		return nil
	}
	return errmap.New(errNotNull, "23000", "%s", text)
}

// implicitDefault appends what MySQL stores in a NOT NULL column without a default: zero, ” and the like; false for
// types that have none here, for there are no zero dates.
func (w *cellWriter) implicitDefault() bool {
	switch w.typ.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt, schema.Time:
		w.out.AppendInt(0)
	case schema.Decimal:
		w.out.AppendInt128(column.Int128{})
	case schema.Float, schema.Double:
		w.out.AppendFloat(0)
	case schema.Char, schema.Varchar, schema.Varbinary:
		w.out.AppendString("")
	case schema.Binary:
		w.out.AppendString(strings.Repeat("\x00", w.typ.Length))
	default:
		return false
	}
	return true
}

// fallback appends what stands for a value that has no nearest one: NULL, or the implicit default.
func (w *cellWriter) fallback() error {
	if !w.typ.NotNull {
		w.out.AppendNull()
		return nil
	}
	if !w.implicitDefault() {
		return errmap.New(errNotNull, "23000", "Column '%s' cannot be null", w.name)
	}
	return nil
}

// append appends a value of go-mysql-server's, which is not nil. src is the type of the expression that gave it; nil where unknown.
func (w *cellWriter) append(v any, src sql.Type) error {
	switch x := v.(type) {
	case int8:
		return w.int(int64(x))
	case int16:
		return w.int(int64(x))
	case int32:
		return w.int(int64(x))
	case int64:
		return w.int(x)
	case int:
		return w.int(int64(x))
	case uint8:
		return w.int(int64(x))
	case uint16:
		return w.int(int64(x))
	case uint32:
		return w.int(int64(x))
	case uint64:
		return w.uint(x)
	case uint:
		return w.uint(uint64(x))
	case bool:
		if x {
			return w.int(1)
		}
		return w.int(0)
	case float32:
		return w.float(float64(x), 32)
	case float64:
		return w.float(x, 64)
	case decimal.Decimal:
		return w.exact(x)
	case string:
		return w.text(x)
	case []byte:
		return w.text(string(x))
	case hexLiteral:
		return w.hex(x)
	case time.Time:
		micros := x.Unix()*1_000_000 + int64(x.Nanosecond()/1000)
		if src != nil && gms.IsDateType(src) {
			return w.date(micros / microsPerDay)
		}
		digits := 6
		if d, ok := src.(sql.DatetimeType); ok {
			digits = d.Precision()
		}
		return w.moment(micros, uint16(x.Nanosecond()%1000), digits)
	case gms.Timespan:
		return w.timeOfDay(int64(x))
	case sql.JSONWrapper:
		return w.json(x)
	}
	return errs.Unsupportedf("a value of type %T cannot be stored in column '%s'", v, w.name)
}

// int appends an integer.
func (w *cellWriter) int(n int64) error {
	lo, hi, isInt := integerRange(w.typ.Root)
	if isInt {
		if n < lo || n > hi {
			if err := w.outOfRange(); err != nil {
				return err
			}
			n = min(max(n, lo), hi)
		}
		w.out.AppendInt(n)
		return nil
	}
	switch w.typ.Root {
	case schema.Boolean:
		w.out.AppendBool(n != 0)
		return nil
	case schema.Float, schema.Double:
		w.out.AppendFloat(float64(n))
		return nil
	case schema.Decimal:
		return w.unscaled(column.FromInt64(n), 0)
	}
	return w.exact(decimal.NewFromInt(n))
}

func (w *cellWriter) uint(n uint64) error {
	if n <= 1<<63-1 {
		return w.int(int64(n))
	}
	return w.exact(decimal.NewFromBigInt(new(big.Int).SetUint64(n), 0))
}

func (w *cellWriter) hex(h hexLiteral) error {
	_, _, isInt := integerRange(w.typ.Root)
	if !isInt && w.typ.Root != schema.Boolean && w.typ.Root != schema.Decimal && w.typ.Root != schema.Float && w.typ.Root != schema.Double {
		return w.text(string(h))
	}
	n, ok := h.number()
	if !ok {
		if err := w.outOfRange(); err != nil {
			return err
		}
		n = 1<<64 - 1
	}
	return w.uint(n)
}
