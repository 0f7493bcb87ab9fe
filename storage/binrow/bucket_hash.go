package binrow

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

const murmurSeed = 42

// Murmur hashes the bytes of a row without prefix; their length is a multiple
// of 8 (MurmurHashUtils.hashBytesByWords).
func Murmur(b []byte) int32 {
	h := uint32(murmurSeed)
	n := len(b) &^ 3
	for i := 0; i < n; i += 4 {
		k := binary.LittleEndian.Uint32(b[i:])
		k *= 0xcc9e2d51
		k = bits.RotateLeft32(k, 15)
		k *= 0x1b873593
		h ^= k
		h = bits.RotateLeft32(h, 13)
		h = h*5 + 0xe6546b64
	}
	h ^= uint32(len(b))
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return int32(h)
}

// Hash hashes a row of non-nested types.
func Hash(types []*schema.Type, vals []column.Scalar) int32 {
	return Murmur(AppendRow(nil, types, vals))
}

// DefaultBucket maps a hash to one of n buckets.
func DefaultBucket(hash int32, n int) int {
	r := hash % int32(n)
	if r < 0 {
		r = -r
	}
	return int(r)
}

// Bucket computes the bucket of a key among n with a bucket function: option
// bucket-function.type (default, mod, hive).
func Bucket(function string, types []*schema.Type, vals []column.Scalar, n int) (int, error) {
	if n < 1 {
		return 0, errs.Invalidf("a bucket cannot be computed for %d buckets", n)
	}
	switch function {
	case "", "default":
		return DefaultBucket(Hash(types, vals), n), nil
	case "mod":
		if len(types) != 1 || types[0].Root != schema.Int && types[0].Root != schema.BigInt {
			return 0, errs.Invalidf("bucket-function.type 'mod' needs one bucket key of type INT or BIGINT")
		}
		r := vals[0].I % int64(n)
		if r < 0 {
			r += int64(n)
		}
		return int(r), nil
	case "hive":
		var h int32
		for i, t := range types {
			f, err := hiveHash(t, vals[i])
			if err != nil {
				return 0, err
			}
			h = 31*h + f
		}
		return int(h&math.MaxInt32) % n, nil
	}
	return 0, errs.Unsupportedf("bucket-function.type '%s' is unknown", function)
}

func foldLong(x int64) int32 { return int32(x ^ int64(uint64(x)>>32)) }

func hiveHash(t *schema.Type, s column.Scalar) (int32, error) {
	if s.Null {
		return 0, nil
	}
	switch t.Root {
	case schema.Boolean, schema.TinyInt, schema.SmallInt, schema.Int, schema.Date:
		return int32(s.I), nil
	case schema.BigInt:
		return foldLong(s.I), nil
	case schema.Float:
		f := float32(s.F)
		if f == 0 {
			return 0, nil
		}
		if f != f {
			return 0x7fc00000, nil // Float.floatToIntBits canonicalises NaN.
		}
		return int32(math.Float32bits(f)), nil
	case schema.Double:
		if s.F == 0 {
			return 0, nil
		}
		if s.F != s.F {
			return foldLong(0x7ff8000000000000), nil
		}
		return foldLong(int64(math.Float64bits(s.F))), nil
	case schema.Char, schema.Varchar, schema.Binary, schema.Varbinary:
		var h int32
		for _, c := range s.B {
			h = 31*h + int32(int8(c))
		}
		return h, nil
	case schema.Decimal:
		return hiveDecimalHash(cast.Dec128(s).Big(), t.Scale), nil
	}
	return 0, errs.Unsupportedf("bucket-function.type 'hive' does not know the type %s", t)
}

// hiveDecimalHash is the hash of the BigDecimal without trailing zeros:
// 31 * hash(unscaled) + scale.
func hiveDecimalHash(x *big.Int, scale int) int32 {
	if x.Sign() == 0 {
		return 0
	}
	ten, q, r := big.NewInt(10), new(big.Int), new(big.Int)
	for {
		q.QuoRem(x, ten, r)
		if r.Sign() != 0 {
			break
		}
		x = new(big.Int).Set(q)
		scale--
	}
	// BigInteger.hashCode: over the magnitude's 32-bit words, big end first, times the sign.
	var h int32
	mag := x.Bytes()
	for len(mag)%4 != 0 {
		mag = append([]byte{0}, mag...)
	}
	for i := 0; i < len(mag); i += 4 {
		h = 31*h + int32(binary.BigEndian.Uint32(mag[i:]))
	}
	return 31*(h*int32(x.Sign())) + int32(scale)
}
