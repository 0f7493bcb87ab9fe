package planner

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/types"
)

// textArguments are the functions of texts with the places of their text arguments; nil is all of them. go-mysql-server's
// fail for other types, or print dates with a time.
var textArguments = map[string][]int{
	"left": {0}, "right": {0}, "substring": {0}, "substring_index": {0, 1}, "insert": {0, 3},
	"concat": nil, "concat_ws": nil, "replace": nil, "reverse": {0}, "repeat": {0}, "lpad": {0, 2}, "rpad": {0, 2},
	"upper": {0}, "lower": {0}, "trim": nil, "ltrim": {0}, "rtrim": {0}, "instr": {0, 1}, "locate": {0, 1},
	"character_length": {0}, "char_length": {0}, "length": {0}, "bit_length": {0}, "md5": {0}, "sha1": {0}, "sha2": {0},
	"ascii": {0}, "ord": {0}, "soundex": {0}, "to_base64": {0}, "find_in_set": nil, "strcmp": nil, "quote": {0}, "crc32": {0},
	"regexp_like": {0, 1}, "regexp_replace": {0, 1, 2}, "regexp_substr": {0, 1}, "regexp_instr": {0, 1}, "elt": {},
	"hex": {}, "group_concat": {}, "make_set": {}, "field": {},
}

// jsonFunctions put values into JSON, dates and times as texts.
var jsonFunctions = map[string]bool{
	"json_object": true, "json_array": true, "json_arrayagg": true, "json_objectagg": true, "json_set": true,
	"json_insert": true, "json_replace": true, "json_array_append": true, "json_array_insert": true,
}

// repairTexts gives a function of texts texts; nil where it has them.
func repairTexts(e sql.FunctionExpression) sql.Expression {
	name := strings.ToLower(e.FunctionName())
	places, ok := textArguments[name]
	inJSON := jsonFunctions[name]
	if !ok && !inJSON {
		return nil
	}
	text := func(i int) bool {
		if inJSON {
			return false
		}
		if places == nil {
			return true
		}
		for _, p := range places {
			if p == i {
				return true
			}
		}
		return false
	}
	kids := e.Children()
	changed := false
	out := make([]sql.Expression, len(kids))
	for i, k := range kids {
		out[i] = k
		switch kind := kindOfType(k.Type()); {
		case kind == kindMoment || kind == kindTimeOfDay:
			out[i], changed = textOf(k, inJSON), true
		case (kind == kindInteger || kind == kindDecimal || kind == kindDouble) && text(i):
			out[i], changed = textOf(k, false), true
		}
	}
	if !changed {
		return nil
	}
	n, err := e.WithChildren(out...)
	if err != nil {
		return nil
	}
	return n
}

// textOf is a value as text, dates and times with the digits of their type.
func textOf(e sql.Expression, inJSON bool) sql.Expression {
	name := "text_of"
	if inJSON {
		name = "json_text_of"
	}
	print := momentPrinter(e, inJSON)
	return &scalarFunction{name: name, args: []sql.Expression{e}, typ: always(gms.LongText), strict: true,
		eval: func(_ *sql.Context, a []any) (any, error) { return print(a[0]), nil }}
}

// momentPrinter prints values of an expression. A column of a type with a fraction shows all its digits, other expressions
// those they have; in JSON there are always six.
func momentPrinter(e sql.Expression, inJSON bool) func(any) string {
	isDate := gms.IsDateType(e.Type())
	digits := -1
	if d, ok := e.Type().(sql.DatetimeType); ok && !isDate {
		if _, column := e.(*expression.GetField); column || d.Precision() < 6 {
			digits = d.Precision()
		}
	}
	if inJSON {
		digits = 6
	}
	layout := "2006-01-02 15:04:05.999999"
	switch {
	case isDate:
		layout = "2006-01-02"
	case digits == 0:
		layout = "2006-01-02 15:04:05"
	case digits > 0:
		layout = "2006-01-02 15:04:05." + strings.Repeat("0", digits)
	}
	return func(v any) string {
		switch v := v.(type) {
		case time.Time:
			return v.Format(layout)
		case gms.Timespan:
			if s := v.String(); !inJSON || strings.Contains(s, ".") {
				return s
			}
			return v.String() + ".000000"
		}
		return valueText(v)
	}
}

// truth makes a condition of a text, which is true where it begins with a number that is not 0; other expressions stay.
func truth(e sql.Expression) sql.Expression {
	if !isText(e) {
		return e
	}
	return &scalarFunction{name: "truth_of", args: []sql.Expression{e}, typ: always(gms.Boolean), strict: true,
		eval: func(ctx *sql.Context, a []any) (any, error) { return doubleValue(ctx, a[0]) != 0, nil }}
}

// isText reports whether an expression's value is a text. Expressions cannot be compared with what is made of them: some are
// values that Go does not compare.
func isText(e sql.Expression) bool { return kindOfType(e.Type()) == kindText }

// numberOf makes a double of a text in arithmetic; other expressions stay.
func numberOf(e sql.Expression) sql.Expression {
	if kindOfType(e.Type()) != kindText {
		return e
	}
	return &scalarFunction{name: "number_of", args: []sql.Expression{e}, typ: always(gms.Float64), strict: true,
		eval: func(ctx *sql.Context, a []any) (any, error) { return textDouble(ctx, valueText(a[0])), nil }}
}

// repairLogic makes conditions of the texts in a logical expression; nil where there are none.
func repairLogic(e sql.Expression) sql.Expression {
	both := func(b expression.BinaryExpressionStub, make func(l, r sql.Expression) sql.Expression) sql.Expression {
		if !isText(b.LeftChild) && !isText(b.RightChild) {
			return nil
		}
		return make(truth(b.LeftChild), truth(b.RightChild))
	}
	switch e := e.(type) {
	case *expression.And:
		return both(e.BinaryExpressionStub, expression.NewAnd)
	case *expression.Or:
		return both(e.BinaryExpressionStub, expression.NewOr)
	case *expression.Xor:
		return both(e.BinaryExpressionStub, expression.NewXor)
	case *expression.Not:
		if isText(e.Child) {
			return expression.NewNot(truth(e.Child))
		}
	}
	return nil
}
