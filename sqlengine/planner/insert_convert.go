package planner

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// cellWriter appends values of go-mysql-server to a column as MySQL's strict mode stores them.
type cellWriter struct {
	name string
	typ  *schema.Type
	out  *column.Builder
	zone *time.Location
	// warn takes a note where a value is cut without an error (trailing digits and blanks).
	warn func(code int, text string)
}

// row names a row in messages; rows count from 1.
func (w *cellWriter) outOfRange(row int64) error {
	return errmap.New(1264, "22003", "Out of range value for column '%s' at row %d", w.name, row)
}

func (w *cellWriter) incorrect(kind string, v any, row int64) error {
	return errmap.New(1366, "HY000", "Incorrect %s value: '%s' for column '%s' at row %d", kind, clipValue(v), w.name, row)
}

func (w *cellWriter) tooLong(row int64) error {
	return errmap.New(1406, "22001", "Data too long for column '%s' at row %d", w.name, row)
}

func (w *cellWriter) badTime(kind string, v any, row int64) error {
	return errmap.New(1292, "22007", "Incorrect %s value: '%s' for column '%s' at row %d", kind, clipValue(v), w.name, row)
}

// clipped is how much of a value a message shows.
const clipped = 64

func clipValue(v any) string {
	s := fmt.Sprint(v)
	if b, ok := v.([]byte); ok {
		s = string(b)
	}
	if len(s) > clipped {
		s = strings.ToValidUTF8(s[:clipped], "")
	}
	return s
}

// append appends a value; a null in a NOT NULL column is MySQL's error 1048.
func (w *cellWriter) append(ctx *sql.Context, v any, row int64) error {
	if v == nil {
		if w.typ.NotNull {
			return errmap.New(1048, "23000", "Column '%s' cannot be null", w.name)
		}
		w.out.AppendNull()
		return nil
	}
	switch w.typ.Root {
	case schema.Boolean:
		return w.boolean(v, row)
	case schema.TinyInt:
		return w.integer(v, math.MinInt8, math.MaxInt8, row)
	case schema.SmallInt:
		return w.integer(v, math.MinInt16, math.MaxInt16, row)
	case schema.Int:
		return w.integer(v, math.MinInt32, math.MaxInt32, row)
	case schema.BigInt:
		return w.integer(v, math.MinInt64, math.MaxInt64, row)
	case schema.Float, schema.Double:
		return w.float(v, row)
	case schema.Decimal:
		return w.decimal(v, row)
	case schema.Char, schema.Varchar:
		return w.text(v, row)
	case schema.Binary, schema.Varbinary, schema.Blob:
		return w.binary(v, row)
	case schema.Date, schema.Timestamp, schema.TimestampLTZ:
		return w.dateTime(ctx, v, row)
	case schema.Time:
		return w.time(ctx, v, row)
	case schema.Array, schema.VectorType, schema.Map, schema.Multiset, schema.Row:
		return w.nested(ctx, v, row)
	}
	return errs.Unsupportedf("column '%s' has the type %s, which cannot be written here", w.name, w.typ)
}

func (w *cellWriter) boolean(v any, row int64) error {
	if s, ok := plainText(v); ok {
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "true", "t", "yes", "y":
			w.out.AppendBool(true)
			return nil
		case "false", "f", "no", "n":
			w.out.AppendBool(false)
			return nil
		}
	}
	d, err := exactNumber(v)
	if err != nil {
		return w.incorrect("integer", v, row)
	}
	w.out.AppendBool(!d.IsZero())
	return nil
}

// plainText returns a value that is a text.
func plainText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// exactNumber reads a number exactly.
func exactNumber(v any) (decimal.Decimal, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return decimal.New(1, 0), nil
		}
		return decimal.Zero, nil
	case int:
		return decimal.NewFromInt(int64(v)), nil
	case int8:
		return decimal.NewFromInt(int64(v)), nil
	case int16:
		return decimal.NewFromInt(int64(v)), nil
	case int32:
		return decimal.NewFromInt(int64(v)), nil
	case int64:
		return decimal.NewFromInt(v), nil
	case uint:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(uint64(v)), 0), nil
	case uint8:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(uint64(v)), 0), nil
	case uint16:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(uint64(v)), 0), nil
	case uint32:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(uint64(v)), 0), nil
	case uint64:
		return decimal.NewFromBigInt(new(big.Int).SetUint64(v), 0), nil
	case float32:
		return decimal.NewFromFloat32(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return decimal.Zero, errs.Invalidf("%v is no number", v)
		}
		return decimal.NewFromFloat(v), nil
	case decimal.Decimal:
		return v, nil
	case time.Time:
		text := v.Format("20060102150405.999999")
		return decimal.NewFromString(text)
	case gms.Timespan:
		t := int64(v) / 1_000_000
		return decimal.NewFromInt(t/3600*10000 + t/60%60*100 + t%60), nil
	}
	if s, ok := plainText(v); ok {
		s = strings.TrimSpace(s)
		if len(s) > maxNumberText {
			return decimal.Zero, errs.Invalidf("the text is too long for a number")
		}
		d, err := decimal.NewFromString(s)
		if err == nil && (d.Exponent() > maxNumberExponent || d.Exponent() < -maxNumberExponent) {
			return decimal.Zero, errs.Invalidf("the number's exponent is too great")
		}
		return d, err
	}
	if j, ok := v.(sql.JSONWrapper); ok {
		x, err := j.ToInterface()
		if err != nil {
			return decimal.Zero, err
		}
		switch x.(type) {
		case map[string]any, []any, nil:
			return decimal.Zero, errs.Invalidf("a JSON document is no number")
		}
		return exactNumber(x)
	}
	return decimal.Zero, errs.Invalidf("a value of type %T is no number", v)
}

const (
	// maxNumberText bounds the text of a number.
	maxNumberText = 500
	// maxNumberExponent bounds a number's exponent: exact arithmetic would need as many digits.
	maxNumberExponent = 400
)

func (w *cellWriter) integer(v any, lo, hi int64, row int64) error {
	var n int64
	switch x := v.(type) {
	case int8:
		n = int64(x)
	case int16:
		n = int64(x)
	case int32:
		n = int64(x)
	case int64:
		n = x
	case int:
		n = int64(x)
	default:
		d, err := exactNumber(v)
		if err != nil {
			return w.incorrect("integer", v, row)
		}
		r := d.Round(0) // half away from zero, as MySQL
		if !r.BigInt().IsInt64() {
			return w.outOfRange(row)
		}
		n = r.IntPart()
	}
	if n < lo || n > hi {
		return w.outOfRange(row)
	}
	w.out.AppendInt(n)
	return nil
}

func (w *cellWriter) float(v any, row int64) error {
	var f float64
	switch x := v.(type) {
	case float32:
		f = float64(x)
	case float64:
		f = x
	default:
		d, err := exactNumber(v)
		if err != nil {
			if s, ok := plainText(v); ok {
				if p, perr := strconv.ParseFloat(strings.TrimSpace(s), 64); perr == nil {
					w.out.AppendFloat(p) // NaN and Infinity as Paimon stores them
					return nil
				}
			}
			return w.incorrect("DOUBLE", v, row)
		}
		f, _ = d.Float64()
	}
	if w.typ.Root == schema.Float && !math.IsInf(f, 0) && math.Abs(f) > math.MaxFloat32 {
		return w.outOfRange(row)
	}
	w.out.AppendFloat(f)
	return nil
}

func (w *cellWriter) decimal(v any, row int64) error {
	d, err := exactNumber(v)
	if err != nil {
		return w.incorrect("DECIMAL", v, row)
	}
	r := d.Round(int32(w.typ.Scale))
	unscaled := r.Shift(int32(w.typ.Scale)).BigInt()
	if unscaled.CmpAbs(powerOfTen(w.typ.Precision)) >= 0 {
		return w.outOfRange(row)
	}
	if !r.Equal(d) && w.warn != nil {
		w.warn(1265, fmt.Sprintf("Data truncated for column '%s' at row %d", w.name, row))
	}
	x, ok := column.FromBig(unscaled)
	if !ok {
		return w.outOfRange(row)
	}
	w.out.AppendInt128(x)
	return nil
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// printed is the text of any value.
func (w *cellWriter) printed(v any) (string, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case []byte:
		return string(x), nil
	case bool:
		if x {
			return "1", nil
		}
		return "0", nil
	case time.Time:
		if x.Hour()|x.Minute()|x.Second()|x.Nanosecond() == 0 {
			return x.Format("2006-01-02"), nil
		}
		return x.Format("2006-01-02 15:04:05.999999"), nil
	case gms.Timespan:
		return x.String(), nil
	case decimal.Decimal:
		return x.StringFixed(max(0, -x.Exponent())), nil
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64), nil
	case float32:
		return strconv.FormatFloat(float64(x), 'g', -1, 32), nil
	case sql.JSONWrapper:
		y, err := x.ToInterface()
		if err != nil {
			return "", err
		}
		if s, ok := y.(string); ok {
			return strconv.Quote(s), nil
		}
		b, err := json.Marshal(y)
		return string(b), err
	}
	return fmt.Sprint(v), nil
}

func (w *cellWriter) text(v any, row int64) error {
	s, err := w.printed(v)
	if err != nil {
		return err
	}
	if !utf8.ValidString(s) {
		return errmap.New(1366, "HY000", "Incorrect string value: '%s' for column '%s' at row %d", escapeBytes(s), w.name, row)
	}
	if w.typ.Length < schema.MaxLength && len(s) > w.typ.Length && utf8.RuneCountInString(s) > w.typ.Length {
		// Only blanks may be cut.
		cut := 0
		for i := range s {
			if cut == w.typ.Length {
				if strings.Trim(s[i:], " ") != "" {
					return w.tooLong(row)
				}
				s = s[:i]
				break
			}
			cut++
		}
	}
	if w.typ.Root == schema.Char {
		// MySQL's CHAR gives no trailing blanks back; those that Flink pads with are not added.
		s = strings.TrimRight(s, " ")
	}
	w.out.AppendString(s)
	return nil
}

// escapeBytes shows the bytes of a text that is no UTF-8, as MySQL does.
func escapeBytes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && i < 6; i++ {
		fmt.Fprintf(&b, `\x%02X`, s[i])
	}
	if len(s) > 6 {
		b.WriteString("...")
	}
	return b.String()
}

func (w *cellWriter) binary(v any, row int64) error {
	s, err := w.printed(v)
	if err != nil {
		return err
	}
	if w.typ.Root != schema.Blob && w.typ.Length < schema.MaxLength && len(s) > w.typ.Length {
		return w.tooLong(row)
	}
	if w.typ.Root == schema.Binary && len(s) < w.typ.Length {
		s += strings.Repeat("\x00", w.typ.Length-len(s))
	}
	w.out.AppendString(s)
	return nil
}

func (w *cellWriter) dateTime(ctx *sql.Context, v any, row int64) error {
	kind := "datetime"
	if w.typ.Root == schema.Date {
		kind = "date"
	}
	t, nanos, ok := timeOf(ctx, v)
	if !ok {
		return w.badTime(kind, v, row)
	}
	if y := t.Year(); y < 0 || y > 9999 {
		return w.badTime(kind, v, row)
	}
	if w.typ.Root == schema.Date {
		days := t.Unix() / 86400
		if t.Unix()%86400 < 0 {
			days--
		}
		w.out.AppendInt(days)
		return nil
	}
	// Fractions beyond the column's are rounded, as in MySQL.
	if p := w.typ.Precision; p < 9 {
		unit := int64(math.Pow10(9 - p))
		nanos = (nanos + unit/2) / unit * unit
		if nanos >= 1_000_000_000 {
			nanos -= 1_000_000_000
			t = t.Add(time.Second)
		}
	}
	micros := t.Unix()*1_000_000 + nanos/1000
	if w.typ.Root == schema.TimestampLTZ {
		wall := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, w.zone)
		micros = wall.Unix()*1_000_000 + nanos/1000
	}
	w.out.AppendTimestamp(micros, uint16(nanos%1000))
	return nil
}

// timeOf reads a date-time as wall clock, with its nanoseconds apart.
func timeOf(ctx *sql.Context, v any) (t time.Time, nanos int64, ok bool) {
	switch x := v.(type) {
	case time.Time:
		t = time.Date(x.Year(), x.Month(), x.Day(), x.Hour(), x.Minute(), x.Second(), 0, time.UTC)
		return t, int64(x.Nanosecond()), true
	case gms.Timespan:
		y, m, d := ctx.QueryTime().Date()
		t = time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Add(time.Duration(int64(x)) * time.Microsecond)
		nanos = int64(t.Nanosecond())
		return t.Truncate(time.Second), nanos, true
	}
	s, isText := plainText(v)
	if !isText {
		d, err := exactNumber(v)
		if err != nil {
			return t, 0, false
		}
		s = d.String()
	}
	s = strings.TrimSpace(s)
	frac := ""
	if i := strings.LastIndexByte(s, '.'); i > 0 && strings.ContainsAny(s[:i], ":") || i > 0 && strings.IndexByte(s, '-') < 0 && i >= 12 {
		s, frac = s[:i], s[i+1:]
	}
	if !isText || strings.Trim(s, "0123456789") == "" {
		// Digits alone: YYYYMMDD or YYYYMMDDhhmmss.
		switch len(s) {
		case 8:
			s = s[:4] + "-" + s[4:6] + "-" + s[6:]
		case 14:
			s = s[:4] + "-" + s[4:6] + "-" + s[6:8] + " " + s[8:10] + ":" + s[10:12] + ":" + s[12:]
		default:
			return t, 0, false
		}
	}
	zone := ""
	if i := strings.LastIndexAny(s+frac, "+Z"); i > 0 && frac == "" {
		if j := strings.LastIndexAny(s, "+Z"); j > 10 {
			s, zone = s[:j], s[j:]
		}
	} else if i := strings.IndexAny(frac, "+-Z"); i >= 0 {
		frac, zone = frac[:i], frac[i:]
	}
	for _, layout := range []string{"2006-1-2 15:4:5", "2006-1-2T15:4:5", "2006-1-2 15:4", "2006-1-2T15:4", "2006-1-2", "2006/1/2", "2006/1/2 15:4:5", "2006.1.2"} {
		p, err := time.ParseInLocation(layout, s, time.UTC)
		if err != nil {
			continue
		}
		if frac != "" {
			if strings.Trim(frac, "0123456789") != "" {
				return t, 0, false
			}
			n, _ := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
			nanos = n
		}
		if zone != "" {
			z, err := time.Parse("Z07:00", zone)
			if err != nil {
				return t, 0, false
			}
			_, off := z.Zone()
			// An offset in the text: the wall clock of the session's zone.
			at := p.Add(-time.Duration(off) * time.Second).In(SessionZone(ctx))
			p = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
		}
		return p, nanos, true
	}
	return t, 0, false
}

const dayMillis = 86_400_000

func (w *cellWriter) time(ctx *sql.Context, v any, row int64) error {
	var micros int64
	switch x := v.(type) {
	case gms.Timespan:
		micros = int64(x)
	case time.Time:
		micros = int64(x.Hour()*3600+x.Minute()*60+x.Second())*1_000_000 + int64(x.Nanosecond()/1000)
	default:
		s, err := w.printed(v)
		if err != nil {
			return err
		}
		c, err := gms.Time.ConvertToTimespan(s)
		if err != nil {
			return w.badTime("time", v, row)
		}
		micros = int64(c)
	}
	unit := int64(1_000_000)
	for i := 0; i < min(w.typ.Precision, 3); i++ {
		unit /= 10
	}
	micros = (micros + unit/2) / unit * unit
	if ms := micros / 1000; micros >= 0 && ms < dayMillis {
		w.out.AppendInt(ms)
		return nil
	}
	return errmap.New(1292, "22007", "Incorrect time value: '%s' for column '%s' at row %d: Paimon's TIME is a time of day, from 00:00:00 to 23:59:59", clipValue(v), w.name, row)
}

// nested reads the JSON text of an ARRAY, MAP, MULTISET or ROW.
func (w *cellWriter) nested(ctx *sql.Context, v any, row int64) error {
	s, err := w.printed(v)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.UseNumber()
	x, err := decodeOrdered(dec)
	if err == nil && dec.More() {
		err = fmt.Errorf("there is text after the end of the document")
	}
	if err != nil {
		return errmap.New(3140, "22032", "Invalid JSON text: \"%s\" in value for column '%s' at row %d (%s is written as JSON)", err.Error(), w.name, row, w.typ.Kindless())
	}
	return w.element(ctx, w.out, w.typ, x, w.name, row)
}

// member is one member of a JSON object; objects keep their order.
type member struct {
	key   string
	value any
}

func decodeOrdered(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	d, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if d == '[' {
		out := []any{}
		for dec.More() {
			x, err := decodeOrdered(dec)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		_, err := dec.Token()
		return out, err
	}
	out := []member{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("an object key is no text")
		}
		x, err := decodeOrdered(dec)
		if err != nil {
			return nil, err
		}
		out = append(out, member{key, x})
	}
	_, err = dec.Token()
	return out, err
}

func (w *cellWriter) mismatch(path string, t *schema.Type, row int64) error {
	return errmap.New(3140, "22032", "Invalid JSON value for column '%s' at row %d: %s does not hold a %s", w.name, row, path, t.Kindless())
}

// element appends a JSON value as a value of the type.
func (w *cellWriter) element(ctx *sql.Context, out *column.Builder, t *schema.Type, x any, path string, row int64) error {
	if x == nil {
		if t.NotNull {
			return errmap.New(1048, "23000", "Column '%s' cannot be null (%s)", w.name, path)
		}
		out.AppendNull()
		return nil
	}
	switch t.Root {
	case schema.Array, schema.VectorType:
		list, ok := x.([]any)
		if !ok || t.Root == schema.VectorType && len(list) != t.Length {
			return w.mismatch(path, t, row)
		}
		for i, e := range list {
			if err := w.element(ctx, out.Child(0), t.Elem, e, fmt.Sprintf("%s[%d]", path, i), row); err != nil {
				return err
			}
		}
		out.EndList()
		return nil
	case schema.Map, schema.Multiset:
		obj, ok := x.([]member)
		if !ok {
			return w.mismatch(path, t, row)
		}
		kt, vt := t.Key, t.Elem
		if t.Root == schema.Multiset {
			kt, vt = t.Elem, &schema.Type{Root: schema.Int, NotNull: true}
		}
		last := map[string]int{}
		for i, m := range obj {
			last[m.key] = i
		}
		for i, m := range obj {
			if last[m.key] != i {
				continue // the last of equal keys counts
			}
			at := path + "." + m.key
			if err := w.element(ctx, out.Child(0), kt.WithNotNull(true), m.key, at, row); err != nil {
				return err
			}
			if err := w.element(ctx, out.Child(1), vt, m.value, at, row); err != nil {
				return err
			}
		}
		out.EndList()
		return nil
	case schema.Row:
		obj, ok := x.([]member)
		if !ok {
			return w.mismatch(path, t, row)
		}
		byName := map[string]any{}
		for _, m := range obj {
			if schema.IndexOf(t.Fields, m.key) < 0 {
				return errmap.New(3140, "22032", "Invalid JSON value for column '%s' at row %d: %s has no field '%s'", w.name, row, path, m.key)
			}
			byName[m.key] = m.value
		}
		for i, f := range t.Fields {
			if err := w.element(ctx, out.Child(i), f.Type, byName[f.Name], path+"."+f.Name, row); err != nil {
				return err
			}
		}
		out.EndStruct()
		return nil
	}
	switch v := x.(type) {
	case []any, []member:
		return w.mismatch(path, t, row)
	case json.Number:
		x = string(v)
	}
	if s, ok := x.(string); ok && (t.Root == schema.Binary || t.Root == schema.Varbinary) {
		// Bytes in JSON are base64, as they are shown.
		b, err := types.Base64(s)
		if err != nil {
			if b, err = hex.DecodeString(s); err != nil {
				return w.mismatch(path, t, row)
			}
		}
		x = b
	}
	c := cellWriter{name: path, typ: t, out: out, zone: w.zone, warn: w.warn}
	return c.append(ctx, x, row)
}
