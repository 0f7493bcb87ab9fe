package compact

import (
	"bytes"
	"math"
	"testing"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// vectorOf casts texts to a type; "NULL" is NULL.
func vectorOf(t *testing.T, typ *schema.Type, texts ...string) *column.Vector {
	t.Helper()
	b := column.NewBuilder(column.KindBytes)
	for _, s := range texts {
		if s == "NULL" {
			b.AppendNull()
		} else {
			b.AppendString(s)
		}
	}
	conv, err := cast.New(&schema.Type{Root: schema.Varchar, Length: schema.MaxLength}, typ)
	if err != nil {
		t.Fatal(err)
	}
	v, err := conv(b.Finish())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestOrderedKeys gives values in ascending order: their bytes ascend, also with another column behind.
func TestOrderedKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ    *schema.Type
		values []string
	}{
		{&schema.Type{Root: schema.Boolean}, []string{"NULL", "false", "true"}},
		{&schema.Type{Root: schema.TinyInt}, []string{"NULL", "-128", "-1", "0", "1", "127"}},
		{&schema.Type{Root: schema.BigInt}, []string{"NULL", "-9223372036854775808", "-1", "0", "1", "9223372036854775807"}},
		{&schema.Type{Root: schema.Double}, []string{"NULL", "-1e300", "-1.5", "-1e-300", "0", "1e-300", "1.5", "1e300"}},
		{&schema.Type{Root: schema.Decimal, Precision: 38, Scale: 2}, []string{"NULL", "-123456789012345678901234.00", "-1.01", "-1", "0", "0.01", "123456789012345678901234.00"}},
		{&schema.Type{Root: schema.Timestamp, Precision: 9}, []string{"NULL", "1910-01-01 00:00:00", "1969-12-31 23:59:59.999999998", "1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00", "2026-01-01 00:00:00.000000001"}},
		{&schema.Type{Root: schema.Varchar, Length: 99}, []string{"NULL", "", "\x00", "\x00\x00", "\x00a", "a", "a\x00", "a\x00b", "aa", "b", "é"}},
	} {
		v := column.Flatten(vectorOf(t, c.typ, c.values...))
		var last []byte
		for i := range c.values {
			for _, behind := range []byte{0, 1, 0xff} {
				k := append(appendOrdered(nil, c.typ, v, i), behind)
				if bytes.Compare(last, k) >= 0 {
					t.Errorf("%s: %q does not come after the one before", c.typ, c.values[i])
				}
				last = k
			}
		}
	}
}

// TestCurveKeys compares keys with what the definitions give for small cases.
func TestCurveKeys(t *testing.T) {
	t.Parallel()
	z := &zKey{}
	z.data, z.ends = []byte{0b11110000, 0b10101010, 0b00001111}, []int{1, 3}
	// The first column has one byte only: 8 pairs of bits, then the second column's second byte.
	if got := z.interleave(nil); !bytes.Equal(got, []byte{0b11101110, 0b01000100, 0b00001111}) {
		t.Errorf("interleaved %08b", got)
	}
	// Neighbours on the curve are neighbours in the plane: walk the 8 × 8 points of the lowest bits.
	var order [64][2]uint64
	seen := map[uint64]bool{}
	for x := range uint64(8) {
		for y := range uint64(8) {
			k := appendHilbert(nil, []uint64{x, y})
			if len(k) != 16 {
				t.Fatalf("a key has %d bytes", len(k))
			}
			// 126 bits, left-justified: the last 6 of them are the position.
			at := uint64(k[15] >> 2)
			if seen[at] {
				t.Fatalf("two points at %d", at)
			}
			seen[at] = true
			order[at] = [2]uint64{x, y}
		}
	}
	for i := 1; i < len(order); i++ {
		dx, dy := math.Abs(float64(order[i][0])-float64(order[i-1][0])), math.Abs(float64(order[i][1])-float64(order[i-1][1]))
		if dx+dy != 1 {
			t.Errorf("the curve jumps from %v to %v", order[i-1], order[i])
		}
	}
	for _, c := range []struct {
		text string
		want []byte
	}{{"0", []byte{0}}, {"1.27", []byte{0x7f}}, {"1.28", []byte{0, 0x80}}, {"-1.28", []byte{0x80}}, {"-1.29", []byte{0xff, 0x7f}}} {
		v := column.Flatten(vectorOf(t, &schema.Type{Root: schema.Decimal, Precision: 30, Scale: 2}, c.text))
		if got := unscaledBytes(v, 0); !bytes.Equal(got, c.want) {
			t.Errorf("%s: bytes %x, want %x", c.text, got, c.want)
		}
	}
	if v := column.Flatten(vectorOf(t, &schema.Type{Root: schema.Decimal, Precision: 30, Scale: 2}, "-12.99")); int64(wholePart(v, 0, 2)) != -12 {
		t.Errorf("whole part %d", int64(wholePart(v, 0, 2)))
	}
}
