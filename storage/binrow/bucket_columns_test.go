package binrow

import (
	"fmt"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// TestHasher compares the hashes of columns with those of rows of scalars.
func TestHasher(t *testing.T) {
	str := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	for _, types := range [][]*schema.Type{
		{{Root: schema.Int}}, {{Root: schema.BigInt}}, {{Root: schema.Date}}, {{Root: schema.SmallInt}}, {{Root: schema.Boolean}},
		{str}, {str, {Root: schema.Int}}, {{Root: schema.Double}, {Root: schema.TimestampLTZ, Precision: 6}}, {{Root: schema.Decimal, Precision: 30, Scale: 2}},
	} {
		for _, nulls := range []bool{false, true} {
			cols := make([]*column.Vector, len(types))
			for c, ty := range types {
				b := schema.NewBuilder(ty)
				for i := range 100 {
					switch x := int64(i*i*37 - 1000); {
					case nulls && i%7 == 0:
						b.AppendNull()
					case ty == str:
						b.AppendString(fmt.Sprintf("%.*s", i%20, "hello world, hello all"))
					case ty.Root == schema.Double:
						b.AppendFloat(float64(x) / 3)
					case ty.Root == schema.Boolean:
						b.AppendInt(x & 1)
					default:
						b.AppendInt(x)
					}
				}
				cols[c] = b.Finish()
			}
			h := NewHasher(types)
			got := make([]int32, 100)
			h.Hash(got, cols, nil, 100)
			some := make([]int32, 100)
			h.Hash(some, cols, []uint16{3, 50, 99}, 100)
			bk, err := NewBucketer("default", types, 16)
			if err != nil {
				t.Fatal(err)
			}
			buckets := make([]int32, 100)
			if err := bk.Buckets(buckets, cols, nil, 100); err != nil {
				t.Fatal(err)
			}
			for i := range 100 {
				vals := make([]column.Scalar, len(types))
				for c := range cols {
					vals[c] = column.ScalarAt(cols[c], i)
				}
				if want := Hash(types, vals); got[i] != want {
					t.Fatalf("%v row %d: hash %d, want %d", types, i, got[i], want)
				}
				if i == 3 || i == 50 || i == 99 {
					if some[i] != got[i] {
						t.Fatalf("%v row %d: selected hash %d, want %d", types, i, some[i], got[i])
					}
				} else if some[i] != 0 {
					t.Fatalf("row %d was not selected", i)
				}
				if want, _ := Bucket("default", types, vals, 16); int(buckets[i]) != want {
					t.Fatalf("%v row %d: bucket %d, want %d", types, i, buckets[i], want)
				}
			}
		}
	}
}
