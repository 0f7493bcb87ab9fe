package types

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// JSON is a JSON document that keeps its text. Functions that look inside get
// numbers exactly: an integer or decimal that a float64 cannot hold comes as int64, uint64 or decimal.
type JSON struct {
	text  []byte
	parse func() (any, error)
}

var (
	_ gms.JSONBytes = (*JSON)(nil)
	_ fmt.Stringer  = (*JSON)(nil)
	_ driver.Valuer = (*JSON)(nil)
)

// NewJSON wraps JSON text, which must not change afterwards.
func NewJSON(text []byte) *JSON {
	return &JSON{text: text, parse: sync.OnceValues(func() (any, error) { return parseJSON(text) })}
}

// ToInterface parses the text.
func (j *JSON) ToInterface() (any, error) { return j.parse() }

// Clone returns a document of the same text.
func (j *JSON) Clone(context.Context) sql.JSONWrapper { return NewJSON(j.text) }

// GetBytes returns the text.
func (j *JSON) GetBytes() ([]byte, error) { return j.text, nil }

// String returns the text.
func (j *JSON) String() string { return string(j.text) }

// Value returns the text for database/sql.
func (j *JSON) Value() (driver.Value, error) { return string(j.text), nil }

func parseJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("JSON of a column: %w", err)
	}
	return exactNumbers(v), nil
}

func exactNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = exactNumbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = exactNumbers(e)
		}
	case json.Number:
		return exactNumber(string(v))
	}
	return v
}

// maxExactFloat is the greatest integer up to which float64 has all integers.
const maxExactFloat = 1 << 53

func exactNumber(s string) any {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		if i >= -maxExactFloat && i <= maxExactFloat {
			return float64(i)
		}
		return i
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return u
	}
	f, err := strconv.ParseFloat(s, 64)
	d, derr := decimal.NewFromString(s)
	if err == nil && !math.IsInf(f, 0) && (derr != nil || decimal.NewFromFloat(f).Equal(d)) {
		return f
	}
	if derr == nil {
		return d
	}
	return s
}
