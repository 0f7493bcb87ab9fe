package parquet

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/variant"

	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/schema"
)

var variantNames = []string{"a", "b", "c", "longer name", "ünï"}

// randomVariant makes a value that often, and often not, fits the shredded columns.
func randomVariant(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n == 2:
		return int32(r.IntN(1000))
	case n == 3:
		return int64(r.Uint64())
	case n == 4:
		return r.Float64()
	case n < 7 || depth == 0:
		return strings.Repeat("x", r.IntN(5)*r.IntN(40))
	case n == 7:
		list := []any{}
		for range r.IntN(4) * r.IntN(4) {
			list = append(list, randomVariant(r, depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range r.IntN(5) {
		m[variantNames[r.IntN(len(variantNames))]] = randomVariant(r, depth-1)
	}
	return m
}

func shredded(t *testing.T, typed pq.Node) pq.Node {
	n, err := pq.ShreddedVariant(typed)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestVariants(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	inner := pq.Group{"a": pq.Leaf(pq.Int64Type), "b": pq.String()}
	for name, node := range map[string]pq.Node{
		"unshredded": pq.Variant(),
		"string":     shredded(t, pq.String()),
		"int":        shredded(t, pq.Int(32)),
		"double":     shredded(t, pq.Leaf(pq.DoubleType)),
		"bool":       shredded(t, pq.Leaf(pq.BooleanType)),
		"object":     shredded(t, pq.Group{"a": pq.Int(32), "b": pq.String(), "ünï": inner}),
		"array":      shredded(t, pq.List(pq.Int(32))),
		"deep":       shredded(t, pq.List(pq.Group{"a": pq.List(pq.String()), "c": pq.Leaf(pq.DoubleType)})),
	} {
		t.Run(name, func(t *testing.T) {
			type record struct {
				ID   int64 `parquet:"id"`
				Data any   `parquet:"data"`
			}
			var buf bytes.Buffer
			w := pq.NewGenericWriter[record](&buf, pq.NewSchema("x", pq.Group{"id": pq.Leaf(pq.Int64Type), "data": pq.Optional(node)}), pq.PageBufferSize(2000))
			var want []any
			for i := range 3000 {
				v := randomVariant(r, 3)
				if name == "object" && i%2 == 0 {
					v = map[string]any{"a": int32(i), "b": "text", "longer name": nil}
				}
				want = append(want, v)
				if _, err := w.Write([]record{{int64(i), v}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := openBytes(buf.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			rd, err := f.Read(context.Background(), format.ReadOptions{Columns: []schema.Field{{Name: "data", Type: &schema.Type{Root: schema.Variant}}}})
			if err != nil {
				t.Fatal(err)
			}
			defer rd.Close()
			row := 0
			for {
				b, err := rd.Next(context.Background())
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				checkBatch(b)
				v := b.Cols[0]
				for i := range b.N {
					var got any
					if !v.IsNull(i) {
						if got, err = variant.Unmarshal(v.Children[1].Bytes(i), v.Children[0].Bytes(i)); err != nil {
							t.Fatalf("row %d: %v", row, err)
						}
					}
					m, val, err := variant.Marshal(want[row])
					if err != nil {
						t.Fatal(err)
					}
					expect, err := variant.Unmarshal(m, val)
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(got, expect) {
						t.Fatalf("row %d: got %#v, want %#v", row, got, expect)
					}
					row++
				}
			}
			if row != len(want) {
				t.Fatalf("%d rows", row)
			}
		})
	}
}

func FuzzVariantObject(f *testing.F) {
	m, v, err := variant.Marshal(map[string]any{"a": int32(1), "b": []any{"x", nil}, "c": map[string]any{"d": 1.5}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m, v)
	f.Fuzz(func(t *testing.T, metadata, value []byte) {
		var b variantBuilder
		if b.setMetadata(metadata) != nil || len(value) == 0 {
			return
		}
		fields, err := b.addFields(nil, value)
		if err != nil {
			return
		}
		for _, f := range fields {
			if n, ok := variantSize(f.data); !ok || n != len(f.data) {
				t.Fatal("a field has another length than its value")
			}
		}
	})
}
