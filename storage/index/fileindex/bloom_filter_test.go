package fileindex

import (
	"encoding/hex"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/predicate"
	"github.com/tributarydb/tributary/storage/schema"
)

// TestBloomVector checks the vector of section 18 of the format, computed by
// Paimon's Java classes.
func TestBloomVector(t *testing.T) {
	data, _ := hex.DecodeString("0000000388000100e400")
	typ := &schema.Type{Root: schema.Int}
	for v, h := range map[int64]int64{1: 6614235796240398542, -7: -9040340845809335386, 1000000: -1125786655527149387} {
		if got := wang(v); got != h {
			t.Errorf("hash of %d is %d, want %d", v, got, h)
		}
	}
	r, err := openBloom(data, typ)
	if err != nil {
		t.Fatal(err)
	}
	misses := 0
	for v := int64(-20); v <= 1000000; v += 20 {
		got, err := r.leaf(&predicate.Leaf{Op: predicate.Eq, Literals: []column.Scalar{column.IntScalar(column.KindInt32, v)}})
		if err != nil {
			t.Fatal(err)
		}
		if got != nil {
			misses++
		}
	}
	for _, v := range []int64{1, -7, 1000000} {
		got, err := r.leaf(&predicate.Leaf{Op: predicate.Eq, Literals: []column.Scalar{column.IntScalar(column.KindInt32, v)}})
		if err != nil || got != nil {
			t.Errorf("%d is in the filter, but it is ruled out (%v)", v, err)
		}
	}
	if misses < 40000 {
		t.Errorf("only %d of 50000 values that are not there are ruled out", misses)
	}
}
