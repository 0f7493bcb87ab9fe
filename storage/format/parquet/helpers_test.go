package parquet

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

// diskFiles opens files of the operating system.
type diskFiles struct{ fileio.FileIO }

func (diskFiles) Open(_ context.Context, path string) (fileio.File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return memFile(b), nil
}

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

// openBytes opens a file in memory.
func openBytes(b []byte) (*File, error) { return open(memFile(b), "test.parquet", -1) }

// inferType returns the Paimon type that Paimon stores as n, by section 7.3.
func inferType(n *node) *schema.Type {
	l := n.logical
	if !n.isLeaf() {
		switch {
		case l.kind == logicalList:
			_, elem, ok := listOf(n)
			if !ok || elem == n {
				return nil
			}
			t := inferType(elem)
			if elem.rep == repeated && elem.isLeaf() {
				t = inferLeaf(elem)
			}
			return &schema.Type{Root: schema.Array, Elem: t}
		case l.kind == logicalMap:
			kv := mapOf(n)
			if kv == nil {
				return nil
			}
			return &schema.Type{Root: schema.Map, Key: inferType(kv.children[0]), Elem: inferType(kv.children[1])}
		}
		t := &schema.Type{Root: schema.Row}
		for _, c := range n.children {
			t.Fields = append(t.Fields, schema.Field{Name: c.name, Type: inferType(c)})
		}
		return t
	}
	if n.rep == repeated {
		return &schema.Type{Root: schema.Array, Elem: inferLeaf(n)}
	}
	return inferLeaf(n)
}

func inferLeaf(n *node) *schema.Type {
	l := n.logical
	switch l.kind {
	case logicalString:
		return &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	case logicalDecimal:
		return &schema.Type{Root: schema.Decimal, Precision: int(l.precision), Scale: int(l.scale)}
	case logicalDate:
		return &schema.Type{Root: schema.Date}
	case logicalTime:
		return &schema.Type{Root: schema.Time}
	case logicalTimestamp:
		return &schema.Type{Root: schema.Timestamp, Precision: 3 * int(l.unit)}
	}
	switch n.typ {
	case typeBoolean:
		return &schema.Type{Root: schema.Boolean}
	case typeInt32:
		if l.unsigned {
			return &schema.Type{Root: schema.BigInt}
		}
		return &schema.Type{Root: schema.Int}
	case typeInt64:
		if l.unsigned {
			return &schema.Type{Root: schema.Decimal, Precision: 20}
		}
		return &schema.Type{Root: schema.BigInt}
	case typeInt96:
		return &schema.Type{Root: schema.Timestamp, Precision: 9}
	case typeFloat:
		return &schema.Type{Root: schema.Float}
	case typeDouble:
		return &schema.Type{Root: schema.Double}
	}
	return &schema.Type{Root: schema.Varbinary, Length: schema.MaxLength}
}

// allColumns returns the file's columns with inferred types.
func allColumns(f *File) []schema.Field {
	var out []schema.Field
	for _, c := range f.root.children {
		out = append(out, schema.Field{Name: c.name, Type: inferType(c)})
	}
	return out
}

// text prints one value in a form that other readers' dumps can be compared with.
func text(sb *strings.Builder, t *schema.Type, v *column.Vector, i int) {
	if v.IsNull(i) {
		sb.WriteByte('N')
		return
	}
	v, i = v.At(i)
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
		kids := schema.ChildTypes(t)
		open, end := "[", "]"
		if v.Kind == column.KindMap {
			open, end = "{", "}"
		}
		sb.WriteString(open)
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			if j > v.Offsets[i] {
				sb.WriteByte(',')
			}
			for k, c := range v.Children {
				if k > 0 {
					sb.WriteByte(':')
				}
				text(sb, kids[k], c, int(j))
			}
		}
		sb.WriteString(end)
	case column.KindStruct:
		kids := schema.ChildTypes(t)
		sb.WriteByte('(')
		for k, c := range v.Children {
			if k > 0 {
				sb.WriteByte(',')
			}
			text(sb, kids[k], c, i)
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
		for k := range b.Rows() {
			var sb strings.Builder
			for c, v := range b.Cols {
				if v.N != b.N {
					return nil, errs.Invalidf("column %d has %d rows in a batch of %d", c, v.N, b.N)
				}
				if c > 0 {
					sb.WriteByte('|')
				}
				text(&sb, opts.Columns[c].Type, v, b.Row(k))
			}
			lines = append(lines, sb.String())
		}
	}
}

func mustDump(t *testing.T, f *File, opts format.ReadOptions) []string {
	t.Helper()
	lines, err := dump(f, opts)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
