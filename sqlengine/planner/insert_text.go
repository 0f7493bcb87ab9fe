package planner

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// text appends a text, or bytes.
func (w *cellWriter) text(s string) error {
	switch w.typ.Root {
	case schema.TinyInt, schema.SmallInt, schema.Int, schema.BigInt:
		return w.textInt(s)
	case schema.Boolean:
		return w.textBool(s)
	case schema.Decimal:
		return w.textDecimal(s)
	case schema.Float, schema.Double:
		return w.textFloat(s)
	case schema.Char, schema.Varchar:
		return w.characters(s)
	case schema.Binary, schema.Varbinary, schema.Blob:
		return w.octets(s)
	case schema.Date, schema.Timestamp, schema.TimestampLTZ:
		return w.textMoment(s)
	case schema.Time:
		return w.textTime(s)
	case schema.Array, schema.VectorType, schema.Map, schema.Multiset, schema.Row, schema.Variant:
		return w.jsonText(s)
	}
	return errs.Unsupportedf("column '%s' has the type %s, which cannot be written here", w.name, w.typ)
}

// characters appends to a CHAR or VARCHAR column.
func (w *cellWriter) characters(s string) error {
	if !utf8.ValidString(s) {
		if err := w.m.wrong(errWrongValue, "HY000", "Incorrect string value: '%s' %s", invalidBytes(s), w.at()); err != nil {
			return err
		}
		for i, r := range s { // up to the first byte that is wrong
			if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
				s = s[:i]
				break
			}
		}
	}
	if len(s) > w.typ.Length && utf8.RuneCountInString(s) > w.typ.Length {
		kept := 0
		cut := len(s)
		for i := range s {
			if kept == w.typ.Length {
				cut = i
				break
			}
			kept++
		}
		switch {
		case strings.Trim(s[cut:], " ") != "":
			if err := w.m.wrong(errTooLong, "22001", "Data too long %s", w.at()); err != nil {
				return err
			}
		case w.typ.Root == schema.Varchar: // blanks alone
			w.noteTruncated()
		}
		s = s[:cut]
	}
	if w.typ.Root == schema.Char {
		// MySQL's CHAR gives no trailing blanks back; those that Flink pads with are not added.
		s = strings.TrimRight(s, " ")
	}
	w.m.bytes += len(s)
	w.out.AppendString(s)
	return nil
}

// invalidBytes shows a text from its first byte that is no UTF-8, as MySQL does: six bytes at most.
func invalidBytes(s string) string {
	for i, r := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
			s = s[i:]
			break
		}
	}
	const shown = 6
	var b strings.Builder
	for i := 0; i < len(s) && i < shown; i++ {
		if s[i] >= ' ' && s[i] < utf8.RuneSelf-1 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, `\x%02X`, s[i])
		}
	}
	if len(s) > shown {
		b.WriteString("...")
	}
	return b.String()
}

// octets appends to a BINARY or VARBINARY column.
func (w *cellWriter) octets(s string) error {
	if w.typ.Root != schema.Blob && len(s) > w.typ.Length {
		if err := w.m.wrong(errTooLong, "22001", "Data too long %s", w.at()); err != nil {
			return err
		}
		s = s[:w.typ.Length]
	}
	if w.typ.Root == schema.Binary && len(s) < w.typ.Length {
		s += strings.Repeat("\x00", w.typ.Length-len(s))
	}
	w.m.bytes += len(s)
	w.out.AppendString(s)
	return nil
}

// json appends a JSON value: as a document, or in a column of another type the scalar that it holds.
func (w *cellWriter) json(j sql.JSONWrapper) error {
	document := w.typ.IsNested() || w.typ.Root == schema.Char || w.typ.Root == schema.Varchar ||
		w.typ.Root == schema.Binary || w.typ.Root == schema.Varbinary || w.typ.Root == schema.Blob
	if document {
		if b, ok := j.(gms.JSONBytes); ok {
			text, err := b.GetBytes()
			if err != nil {
				return err
			}
			return w.text(string(text))
		}
		text, err := gms.JsonToMySqlString(j)
		if err != nil {
			return err
		}
		return w.text(text)
	}
	v, err := j.ToInterface()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		return w.text(v)
	case bool, float64, int64, uint64, decimal.Decimal:
		return w.append(v, nil)
	}
	if err := w.incorrect(strings.ToLower(w.typ.Kindless()), fmt.Sprint(v)); err != nil {
		return err
	}
	return w.fallback()
}
