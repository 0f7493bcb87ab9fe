package wire

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/tributarydb/tributary/sqlengine/types"
	"github.com/tributarydb/tributary/storage/column"
)

// cell checks a length-encoded cell against its text.
func cell(t *testing.T, got []byte, want string) {
	t.Helper()
	if w := appendLenencString(nil, want); !bytes.Equal(got, w) {
		t.Errorf("got %q, want %q", got, w)
	}
}

func TestIntCells(t *testing.T) {
	try := func(v int64) {
		cell(t, appendIntCell(nil, v), strconv.FormatInt(v, 10))
		cell(t, appendUintCell(nil, uint64(v)), strconv.FormatUint(uint64(v), 10))
		for scale := range 31 {
			cell(t, appendDecimalCell(nil, v, scale), string(column.AppendDecimal(nil, column.FromInt64(v), scale)))
		}
	}
	p := int64(1)
	for range 19 {
		for _, d := range []int64{-1, 0, 1} {
			try(p + d)
			try(-p - d)
		}
		p *= 10
	}
	try(math.MaxInt64)
	try(math.MinInt64)
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		try(int64(r.Uint64() >> r.IntN(64)))
	}
}

func TestDoubleCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	try := func(f float64) { cell(t, appendDoubleCell(nil, f), string(types.AppendFloat64(nil, f))) }
	for _, f := range []float64{0, math.Copysign(0, -1), 0.5, -0.1, 1e15, 1e16, 123456789.12, 0.0001, -0.00001, 1e-300, math.MaxFloat64,
		math.SmallestNonzeroFloat64, math.Inf(1), math.NaN(), 99999999999.99, 0.1 + 0.2, 1.005, 2.675} {
		try(f)
	}
	for range 200000 {
		try(math.Float64frombits(r.Uint64()))
		try(float64(r.Int64N(2e13)-1e13) / math.Pow10(r.IntN(6)))
		try(r.NormFloat64() * 1000)
		n := r.Int64N(1e12)
		try(math.Nextafter(float64(n)/100, math.Inf(1-2*r.IntN(2))))
	}
}

func TestTimeCells(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	days := []int64{minPlainDays, minPlainDays - 1, maxPlainDays, maxPlainDays + 1, 0, -1, 11016, 19782, 10957 + 59, -719468, -719469}
	for range 20000 {
		days = append(days, r.Int64N(maxPlainDays-minPlainDays)+minPlainDays)
	}
	for _, d := range days {
		cell(t, appendDateCell(nil, d), string(types.AppendDate(nil, d)))
		micros := d*microsPerDay + r.Int64N(microsPerDay)
		for digits := range 7 {
			cell(t, appendDatetimeCell(nil, micros, digits), string(types.AppendDatetime(nil, micros, digits)))
		}
		if w, ok := splitMicros(micros); ok {
			text := appendLater(nil, func(b []byte) []byte { return types.AppendDatetime(b, micros, 6) })
			bin := appendBinaryDatetime(nil, w, false, 6)
			if got := appendBinaryFromText(nil, text[1:], typeDatetime, false); !bytes.Equal(got, bin) {
				t.Fatalf("day %d: binary %x, from text %x", d, bin, got)
			}
		}
	}
}

func TestAppendLater(t *testing.T) {
	for _, n := range []int{0, 1, 250, 251, 65535, 65536, 1 << 24} {
		want := bytes.Repeat([]byte{'x'}, n)
		got := appendLater([]byte("head"), func(dst []byte) []byte { return append(dst, want...) })
		if w := appendLenencString([]byte("head"), want); !bytes.Equal(got, w) {
			t.Errorf("%d bytes: wrong", n)
		}
	}
}

func TestBlankSQL(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, " ; ;\n": true, "-- x": true, "--": true, "--x": false, "# a\n ; /* b */ ": true, "/*! select 1 */": false,
		"/* open": true, "select": false, "-- a\nselect 1": false,
	} {
		if got := blankSQL(s); got != want {
			t.Errorf("%q: got %v", s, got)
		}
	}
}

func TestLikeMatch(t *testing.T) {
	for _, c := range []struct {
		p, s string
		want bool
	}{{"%", "", true}, {"a%", "abc", true}, {"%c", "abc", true}, {"_b_", "abc", true}, {"a", "ab", false}, {`a\%`, "a%", true},
		{`a\%`, "ab", false}, {"%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false}, {"", "", true}} {
		if got := likeMatch(c.p, c.s); got != c.want {
			t.Errorf("%q LIKE %q: got %v", c.s, c.p, got)
		}
	}
}

func TestCountPlaceholders(t *testing.T) {
	for _, c := range []struct {
		sql         string
		backslashes bool
		want        int
	}{
		{"select ?, ? + ?", true, 3}, {"", true, 0},
		{"select '?', \"?\", `?`, ? /* ? */ -- ?\n, ? # ?", true, 2},
		{"select 'it''s ?', 'a\\'?', ?", true, 1}, {`select 'a\', ?`, false, 1}, {`select 'a\', ?`, true, 0},
		{"select /*!40101 ? */ , 1--?", true, 2}, {"select * from t as of ? limit ?", true, 2}, {"select '?", true, 0}, {"select /* ?", true, 0},
	} {
		if got := countPlaceholders(c.sql, c.backslashes); got != c.want {
			t.Errorf("%q: got %d, want %d", c.sql, got, c.want)
		}
	}
}
