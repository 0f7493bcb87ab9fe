package roundtrip

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// Maker makes values of a column in a style: what runs and dictionaries look like differs.
type Maker struct {
	rnd   *rand.Rand
	style int
	next  int64
}

const styles = 6

// NewMaker chooses a style.
func NewMaker(rnd *rand.Rand) *Maker {
	return &Maker{rnd: rnd, style: rnd.Intn(styles), next: rnd.Int63n(100)}
}

// Int is an integer of at most the bits.
func (m *Maker) Int(width int) int64 {
	span := int64(1) << (min(width, 63) - 1)
	switch m.style {
	case 0: // all there are
		return int64(m.rnd.Uint64()) >> (64 - width)
	case 1: // rising
		m.next += int64(m.rnd.Intn(3))
		return m.next % span
	case 2: // mostly repeated
		if m.rnd.Intn(20) == 0 {
			m.next = m.rnd.Int63n(span)
		}
		return m.next
	case 3: // small with outliers
		if m.rnd.Intn(40) == 0 {
			return m.rnd.Int63n(span)
		}
		return m.rnd.Int63n(min(span, 16)) - m.rnd.Int63n(2)
	case 4: // steady steps down
		m.next -= 7
		return m.next % span
	}
	return m.rnd.Int63n(min(span, 3))
}

func (m *Maker) text() []byte {
	switch m.style {
	case 0:
		b := make([]byte, m.rnd.Intn(30))
		for i := range b {
			b[i] = byte('a' + m.rnd.Intn(26))
		}
		return b
	case 1:
		m.next++
		return fmt.Appendf(nil, "name %06d", m.next)
	case 3:
		if m.rnd.Intn(500) == 0 {
			return bytes.Repeat([]byte("wörter "), 150+m.rnd.Intn(100))
		}
	}
	return []byte([]string{"", "ü", "two", "three ", "\x7f\U0010ffff", "日本"}[m.rnd.Intn(6)])
}

// Append appends a random value of the type.
func (m *Maker) Append(b *column.Builder, t *schema.Type) {
	if !t.NotNull && (m.style == 2 && m.rnd.Intn(1000) == 0 || m.style != 1 && m.style != 2 && m.rnd.Intn(4) == 0) {
		b.AppendNull()
		return
	}
	switch t.Root {
	case schema.Boolean:
		b.AppendBool(m.Int(16)&1 == 0)
	case schema.TinyInt:
		b.AppendInt(m.Int(8))
	case schema.SmallInt:
		b.AppendInt(m.Int(16))
	case schema.Int, schema.Date:
		b.AppendInt(m.Int(32))
	case schema.Time:
		b.AppendInt(m.Int(32) & 0x3ffffff)
	case schema.BigInt:
		b.AppendInt(m.Int(64))
	case schema.Float:
		b.AppendFloat(float64(math.Float32frombits(uint32(m.Int(32)) &^ 0x7f800000)))
	case schema.Double:
		switch x := float64(m.Int(50)) / 16; {
		case m.style == 0 && m.rnd.Intn(50) == 0:
			b.AppendFloat(math.NaN())
		case x == 0:
			b.AppendFloat(math.Copysign(0, float64(m.rnd.Intn(2))-1))
		default:
			b.AppendFloat(x)
		}
	case schema.Decimal:
		x := column.FromInt64(m.Int(min(64, t.Precision*3)))
		if t.Precision > 30 && m.style != 2 {
			x = column.MulInt64(m.rnd.Int63(), m.Int(60))
		}
		b.AppendInt128(x)
	case schema.Timestamp, schema.TimestampLTZ:
		micros := m.Int(56)
		var sub uint16
		switch {
		case t.Precision == 0:
			micros -= micros % 1_000_000
		case t.Precision <= 3:
			micros -= micros % 1000
		case t.Precision > 6:
			sub = uint16(m.rnd.Intn(1000))
		}
		if micros < 0 && micros > -1_000_000+999 {
			micros = -1_000_000
		}
		b.AppendTimestamp(micros, sub)
	case schema.Char:
		b.AppendBytes(bytes.TrimRight(cutRunes(m.text(), t.Length), " "))
	case schema.Varchar:
		b.AppendBytes(cutRunes(m.text(), t.Length))
	case schema.Binary, schema.Varbinary:
		b.AppendBytes(m.text())
	case schema.Array:
		for range m.rnd.Intn(4) {
			m.Append(b.Child(0), t.Elem)
		}
		b.EndList()
	case schema.Map, schema.Multiset:
		kids := schema.ChildTypes(t)
		for range m.rnd.Intn(4) {
			m.Append(b.Child(0), kids[0].WithNotNull(true))
			m.Append(b.Child(1), kids[1])
		}
		b.EndList()
	case schema.Row:
		for i, f := range t.Fields {
			m.Append(b.Child(i), f.Type)
		}
		b.EndStruct()
	case schema.Variant:
		b.Child(0).AppendBytes([]byte{0x0c, byte(m.rnd.Intn(256))})
		b.Child(1).AppendBytes([]byte{1, 0, 0})
		b.EndStruct()
	default:
		panic(t.String())
	}
}

func cutRunes(b []byte, n int) []byte {
	r := []rune(string(b))
	return []byte(string(r[:min(n, len(r))]))
}
