package avro

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// memFile is a file in memory.
type memFile []byte

func (m memFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
func (m memFile) Close() error { return nil }
func (m memFile) Size() int64  { return int64(len(m)) }

func openBytes(b []byte) (*File, error) {
	return open(context.Background(), memFile(b), "test.avro", -1)
}

// inferType returns a Paimon type that is stored as t, by section 7.5.
func inferType(t *typ) *schema.Type {
	switch t.shape {
	case shapeUnion:
		_, other, err := nullable(t)
		if err != nil || other == nil {
			return nil
		}
		return inferType(other)
	case shapeBoolean:
		return &schema.Type{Root: schema.Boolean}
	case shapeInt:
		switch t.logical {
		case "date":
			return &schema.Type{Root: schema.Date}
		case "time-millis":
			return &schema.Type{Root: schema.Time}
		}
		return &schema.Type{Root: schema.Int}
	case shapeLong:
		if strings.Contains(t.logical, "timestamp") {
			return &schema.Type{Root: schema.Timestamp, Precision: 6}
		}
		return &schema.Type{Root: schema.BigInt}
	case shapeFloat:
		return &schema.Type{Root: schema.Float}
	case shapeDouble:
		return &schema.Type{Root: schema.Double}
	case shapeBytes, shapeFixed:
		if t.logical == "decimal" {
			return &schema.Type{Root: schema.Decimal, Precision: 38, Scale: t.scale}
		}
		return &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}
	case shapeString, shapeEnum:
		return &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	case shapeArray:
		if t.logical == "map" {
			return &schema.Type{Root: schema.Map, Key: inferType(t.elem.fields[0].typ), Elem: inferType(t.elem.fields[1].typ)}
		}
		return &schema.Type{Root: schema.Array, Elem: inferType(t.elem)}
	case shapeMap:
		return &schema.Type{Root: schema.Map, Key: &schema.Type{Root: schema.Varchar}, Elem: inferType(t.elem)}
	case shapeRecord:
		return &schema.Type{Root: schema.Row, Fields: inferFields(t)}
	}
	return nil
}

func inferFields(t *typ) []schema.Field {
	var out []schema.Field
	for _, f := range t.fields {
		out = append(out, schema.Field{Name: f.name, Type: inferType(f.typ)})
	}
	return out
}

// text prints one value in a form that other readers' dumps can be compared with.
func text(sb *strings.Builder, v *column.Vector, i int) {
	if v.IsNull(i) {
		sb.WriteByte('N')
		return
	}
	switch v.Kind {
	case column.KindInt32:
		sb.WriteString(strconv.Itoa(int(v.I32[i])))
	case column.KindInt64:
		sb.WriteString(strconv.FormatInt(v.I64[i], 10))
	case column.KindInt128:
		sb.Write(column.AppendDecimal(nil, v.I128[i], 0))
	case column.KindFloat32:
		fmt.Fprintf(sb, "f%08x", math.Float32bits(v.F32[i]))
	case column.KindFloat64:
		fmt.Fprintf(sb, "d%016x", math.Float64bits(v.F64[i]))
	case column.KindTimestamp:
		fmt.Fprintf(sb, "t%d.%d", v.I64[i], v.SubNanos(i))
	case column.KindBytes:
		sb.WriteByte('\'')
		sb.WriteString(hex.EncodeToString(v.Bytes(i)))
	case column.KindList, column.KindMap:
		brackets := "[]"
		if v.Kind == column.KindMap {
			brackets = "{}"
		}
		sb.WriteByte(brackets[0])
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			if j > v.Offsets[i] {
				sb.WriteByte(',')
			}
			for k, c := range v.Children {
				if k > 0 {
					sb.WriteByte(':')
				}
				text(sb, c, int(j))
			}
		}
		sb.WriteByte(brackets[1])
	case column.KindStruct:
		sb.WriteByte('(')
		for k, c := range v.Children {
			if k > 0 {
				sb.WriteByte(',')
			}
			text(sb, c, i)
		}
		sb.WriteByte(')')
	}
}

// dump reads columns of a file as lines of text.
func dump(f *File, opts format.ReadOptions) (lines []string, err error) {
	r, err := f.Read(context.Background(), opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		b, err := r.Next(context.Background())
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		if b.N == 0 || b.N > column.MaxRows {
			return nil, errs.Invalidf("a batch has %d rows", b.N)
		}
		for k := range b.N {
			var sb strings.Builder
			for c, v := range b.Cols {
				if v.N != b.N {
					return nil, errs.Invalidf("column %d has %d rows in a batch of %d", c, v.N, b.N)
				}
				if c > 0 {
					sb.WriteByte('|')
				}
				text(&sb, v, k)
			}
			lines = append(lines, sb.String())
		}
	}
}
