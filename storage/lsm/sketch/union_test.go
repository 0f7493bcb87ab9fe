package sketch

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
)

var unions = map[string]func(a, b []byte) ([]byte, error){
	"rbm32": UnionRoaring32, "rbm64": UnionRoaring64, "hll_sketch": UnionHLL, "theta_sketch": UnionTheta,
}

type unionCase struct {
	function string
	result   []byte
	inputs   [][]byte
}

func readUnions(t testing.TB) []unionCase {
	f, err := os.Open("testdata/unions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []unionCase
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		w := strings.Fields(sc.Text())
		if len(w) < 3 || w[0] == "#" {
			continue
		}
		c := unionCase{function: w[0]}
		for i, h := range w[1:] {
			var p []byte
			if h != "NULL" {
				if p, err = hex.DecodeString(h); err != nil {
					t.Fatal(err)
				}
			}
			if i == 0 {
				c.result = p
			} else {
				c.inputs = append(c.inputs, p)
			}
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		t.Fatal("no cases")
	}
	return out
}

// TestJavaBytes unites what Paimon united, and expects its bytes.
func TestJavaBytes(t *testing.T) {
	for i, c := range readUnions(t) {
		var acc []byte
		for _, in := range c.inputs {
			switch {
			case in == nil:
			case acc == nil:
				acc = in
			default:
				var err error
				if acc, err = unions[c.function](acc, in); err != nil {
					t.Fatalf("case %d, %s: %v", i, c.function, err)
				}
			}
		}
		if !bytes.Equal(acc, c.result) {
			t.Errorf("case %d, %s:\n got %x\nwant %x", i, c.function, acc, c.result)
		}
	}
}

func TestDamaged(t *testing.T) {
	for _, c := range readUnions(t) {
		rnd := rand.New(rand.NewSource(1))
		for _, in := range c.inputs {
			for n := range len(in) {
				if len(in) > 300 && n%37 != 0 {
					continue
				}
				if out, err := unions[c.function](c.inputs[0], in[:n]); err == nil && c.function != "theta_sketch" && out == nil {
					t.Fatalf("%s: nothing for %d of %d bytes", c.function, n, len(in))
				}
				bad := append([]byte(nil), in...)
				bad[rnd.Intn(len(bad))] ^= 1 << rnd.Intn(8)
				if _, err := unions[c.function](bad, in); err != nil && errs.ClassOf(err) == errs.Unknown {
					t.Fatalf("%s: unclassified %v", c.function, err)
				}
			}
		}
	}
}

func fuzzUnion(f *testing.F, function string) {
	for _, c := range readUnions(f) {
		if c.function == function {
			for i := range c.inputs {
				f.Add(c.inputs[i], c.inputs[(i+1)%len(c.inputs)])
			}
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		out, err := unions[function](a, b)
		if err != nil {
			if errs.ClassOf(err) == errs.Unknown {
				t.Fatalf("unclassified %v", err)
			}
			return
		}
		again, err := unions[function](out, out)
		if err != nil {
			t.Fatalf("the result cannot be read: %v\n%x", err, out)
		}
		_ = again
	})
}

func FuzzRoaring32(f *testing.F) { fuzzUnion(f, "rbm32") }
func FuzzRoaring64(f *testing.F) { fuzzUnion(f, "rbm64") }
func FuzzHLL(f *testing.F)       { fuzzUnion(f, "hll_sketch") }
func FuzzTheta(f *testing.F)     { fuzzUnion(f, "theta_sketch") }
