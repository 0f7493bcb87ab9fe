package lsm

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// Values of the tables below: nil, int, float64, string, arr, pairs (a map), row, dec (unscaled).
type (
	arr   []any
	pairs [][2]any
	row   []any
	dec   string
)

func appendAny(b *column.Builder, t *schema.Type, x any) {
	switch x := x.(type) {
	case nil:
		b.AppendNull()
	case int:
		if schema.KindOf(t) == column.KindFloat64 || schema.KindOf(t) == column.KindFloat32 {
			b.AppendFloat(float64(x))
			return
		}
		b.AppendInt(int64(x))
	case float64:
		b.AppendFloat(x)
	case string:
		b.AppendString(x)
	case dec:
		n, _ := new(big.Int).SetString(string(x), 10)
		d, _ := column.FromBig(n)
		b.AppendInt128(d)
	case arr:
		for _, e := range x {
			appendAny(b.Child(0), t.Elem, e)
		}
		b.EndList()
	case pairs:
		for _, e := range x {
			appendAny(b.Child(0), t.Key, e[0])
			appendAny(b.Child(1), t.Elem, e[1])
		}
		b.EndList()
	case row:
		for i, e := range x {
			appendAny(b.Child(i), t.Fields[i].Type, e)
		}
		b.EndStruct()
	default:
		panic(fmt.Sprintf("%T", x))
	}
}

func showAt(v *column.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	v, i = v.At(i)
	var parts []string
	switch v.Kind {
	case column.KindList:
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			parts = append(parts, showAt(v.Children[0], int(j)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case column.KindMap:
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			parts = append(parts, showAt(v.Children[0], int(j))+":"+showAt(v.Children[1], int(j)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case column.KindStruct:
		for _, c := range v.Children {
			parts = append(parts, showAt(c, i))
		}
		return "(" + strings.Join(parts, ",") + ")"
	case column.KindBytes:
		return string(v.Bytes(i))
	}
	return show(column.ScalarAt(v, i))
}

// step is a record: a kind and a value.
type step struct {
	kind int32
	x    any
}

func adds(xs ...any) []step {
	var out []step
	for _, x := range xs {
		out = append(out, step{Insert, x})
	}
	return out
}

// foldColumn merges the records of one key, one a run, and shows the column's result.
func foldColumn(t *testing.T, typ *schema.Type, opts map[string]string, steps []step) string {
	t.Helper()
	all := map[string]string{"merge-engine": "aggregation"}
	for k, v := range opts {
		all["fields.c."+k] = v
	}
	e, err := NewEngine(TableInfo{Fields: []schema.Field{field("k", tInt), field("c", typ)}, PrimaryKeys: []string{"k"}, Options: all})
	if err != nil {
		return "error: " + err.Error()
	}
	var runs []RunReader
	for i, s := range steps {
		b := schema.NewBuilder(typ)
		appendAny(b, typ, s.x)
		one := func(k column.Kind, x int64) *column.Vector { return column.FromScalar(column.IntScalar(k, x)) }
		runs = append(runs, &sliceReader{batches: []*column.Batch{{N: 1, Cols: []*column.Vector{
			one(column.KindInt32, 1), one(column.KindInt64, int64(i)), one(column.KindInt32, int64(s.kind)), b.Finish()}}}})
	}
	l := Layout{Keys: []int{0}, Seq: 1, Kind: 2, Values: []int{0, 3}, Fields: []int{0, 1}, Output: []int{1}}
	r, err := NewMerge(context.Background(), e, l, runs, MergeOptions{KeepDeletes: true})
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Close()
	b, err := r.Next(context.Background())
	if err != nil {
		return "error: " + err.Error()
	}
	if b.Rows() != 1 {
		t.Fatalf("%d rows for one key", b.Rows())
	}
	return showAt(b.Cols[0], b.Row(0))
}

func TestAggregateFunctions(t *testing.T) {
	fn := func(name string, more ...string) map[string]string {
		o := map[string]string{"aggregate-function": name}
		for i := 0; i < len(more); i += 2 {
			o[more[i]] = more[i+1]
		}
		return o
	}
	tArr := &schema.Type{Root: schema.Array, Elem: tInt}
	tArrS := &schema.Type{Root: schema.Array, Elem: tString}
	tArrB := &schema.Type{Root: schema.Array, Elem: tBytes}
	tMap := &schema.Type{Root: schema.Map, Key: tString, Elem: tInt}
	tMapB := &schema.Type{Root: schema.Map, Key: tBytes, Elem: tInt}
	tRow := &schema.Type{Root: schema.Row, Fields: []schema.Field{field("id", tInt), field("s", tString), field("n", tInt)}}
	tRows := &schema.Type{Root: schema.Array, Elem: tRow}
	tArrRow := &schema.Type{Root: schema.Array, Elem: tArr}
	tTimed := &schema.Type{Root: schema.Map, Key: tString, Elem: &schema.Type{Root: schema.Row, Fields: []schema.Field{field("v", tInt), field("ts", tString)}}}
	const D, U = Delete, UpdateBefore
	for _, tc := range []struct {
		typ   *schema.Type
		opts  map[string]string
		steps []step
		want  string
	}{
		// sum
		{tInt, fn("sum"), adds(1, nil, 5), "6"},
		{tInt, fn("sum"), adds(nil, nil), "NULL"},
		{tTiny, fn("sum"), adds(100, 28), "error: column 'c': byte overflow: 100 + 28 (aggregate function 'sum')"},
		{tTiny, fn("sum"), adds(-100, -28), "-128"},
		{tSmall, fn("sum"), adds(32767, 1), "error: column 'c': short overflow: 32767 + 1 (aggregate function 'sum')"},
		{tInt, fn("sum"), adds(math.MaxInt32, 1), "error: column 'c': int overflow: 2147483647 + 1 (aggregate function 'sum')"},
		{tBig, fn("sum"), adds(math.MaxInt64, 1), "error: column 'c': long overflow: 9223372036854775807 + 1 (aggregate function 'sum')"},
		{tBig, fn("sum"), adds(math.MinInt64, -1), "error: column 'c': long overflow: -9223372036854775808 + -1 (aggregate function 'sum')"},
		{tBig, fn("sum"), adds(math.MinInt64, math.MaxInt64, 1), "0"},
		{tFloat, fn("sum"), adds(0.5, 0.25), "0.75"},
		{tDouble, fn("sum"), adds(math.MaxFloat64, math.MaxFloat64), "+Inf"},
		{tDecimal(5, 2), fn("sum"), adds(99999, 1), "100000"}, // compact sums are not checked against the precision
		{tDecimal(18, 0), fn("sum"), adds(math.MaxInt64, 1), "NULL"},
		{tDecimal(20, 0), fn("sum"), adds(dec("99999999999999999998"), dec("1")), "99999999999999999999"},
		{tDecimal(20, 0), fn("sum"), adds(dec("99999999999999999999"), dec("1")), "NULL"},
		{tDecimal(38, 0), fn("sum"), adds(dec("99999999999999999999999999999999999999"), dec("99999999999999999999999999999999999999")), "NULL"},
		{tString, fn("sum"), adds("a", "b"), "error: Data type for sum column 'c' must be 'NumericType'."},
		{tInt, fn("sum"), []step{{Insert, 7}, {D, 5}}, "2"},
		{tInt, fn("sum"), []step{{Insert, nil}, {D, 5}}, "-5"},
		{tInt, fn("sum"), []step{{Insert, 3}, {U, nil}}, "3"},
		{tTiny, fn("sum"), []step{{Insert, nil}, {D, -128}}, "error: column 'c': byte overflow: --128 (aggregate function 'sum')"},
		{tBig, fn("sum"), []step{{Insert, -2}, {D, math.MaxInt64}}, "error: column 'c': long overflow: -2 - 9223372036854775807 (aggregate function 'sum')"},
		{tDecimal(30, 1), fn("sum"), []step{{Insert, dec("15")}, {D, dec("20")}}, "-5"},
		{tDouble, fn("sum"), []step{{Insert, nil}, {D, 1.5}}, "-1.5"},
		{tInt, fn("sum", "ignore-retract", "true"), []step{{Insert, 7}, {D, 5}, {Insert, 1}}, "8"},
		// product
		{tInt, fn("product"), adds(3, nil, -5), "-15"},
		{tTiny, fn("product"), adds(16, 8), "error: column 'c': byte overflow: 16 * 8 (aggregate function 'product')"},
		{tBig, fn("product"), adds(math.MinInt64, -1), "error: column 'c': long overflow: -9223372036854775808 * -1 (aggregate function 'product')"},
		{tBig, fn("product"), adds(math.MinInt64, 1), "-9223372036854775808"},
		{tInt, fn("product"), []step{{Insert, 7}, {D, 2}}, "3"},
		{tInt, fn("product"), []step{{Insert, 7}, {D, 0}}, "error: column 'c': aggregate function 'product' cannot take back a factor 0"},
		{tInt, fn("product"), []step{{Insert, nil}, {D, 2}}, "NULL"},
		{tDouble, fn("product"), []step{{Insert, 7.0}, {D, 2.0}}, "3.5"},
		{tDecimal(10, 2), fn("product"), adds(150, 33), "50"},    // 1.50 * 0.33 = 0.495 -> 0.50
		{tDecimal(10, 2), fn("product"), adds(-150, 33), "-50"},  // half up is away from zero
		{tDecimal(4, 2), fn("product"), adds(9999, 200), "NULL"}, // 199.98
		{tDecimal(30, 2), fn("product"), adds(dec("100000000000000000000"), 200), "200000000000000000000"},
		{tDecimal(10, 2), fn("product"), []step{{Insert, 150}, {D, 400}}, "38"}, // 0.375
		{tDecimal(10, 2), fn("product"), []step{{Insert, 100}, {D, 300}}, "error: column 'c': Non-terminating decimal expansion; no exact representable decimal result. (aggregate function 'product' takes a factor back)"},
		// max, min
		{tInt, fn("max"), adds(3, nil, 9, 4), "9"},
		{tInt, fn("min"), adds(nil, 3, 9, 1), "1"},
		{tString, fn("max"), adds("é", "z", "a"), "é"},
		{tDouble, fn("max"), adds(math.NaN(), 5.0), "NaN"},
		{tDouble, fn("min"), adds(0.0, math.Copysign(0, -1)), "-0"},
		{tDecimal(30, 0), fn("min"), adds(dec("5"), dec("-12345678901234567890123")), "-12345678901234567890123"},
		{tBool, fn("max"), adds(1, 0), "error: column 'c': Incomparable type for aggregate function 'max'"},
		{tInt, fn("max"), []step{{Insert, 3}, {D, 3}}, "error: column 'c': Aggregate function 'max' does not support retraction, If you allow this function to ignore retraction messages, you can configure 'fields.${field_name}.ignore-retract'='true'."},
		{tInt, fn("max", "ignore-retract", "true"), []step{{Insert, 3}, {D, 9}}, "3"},
		// first and last
		{tInt, fn("last_value"), adds(1, 2, nil), "NULL"},
		{tInt, fn("last_value"), []step{{Insert, 1}, {D, 7}}, "NULL"},
		{tInt, fn("last_non_null_value"), adds(1, 2, nil), "2"},
		{tInt, fn("last_non_null_value"), []step{{Insert, 1}, {D, nil}}, "1"},
		{tInt, fn("last_non_null_value"), []step{{Insert, 1}, {D, 7}}, "NULL"},
		{tInt, nil, adds(1, nil), "1"},
		{tInt, fn("first_value"), adds(nil, 2, 3), "NULL"},
		{tInt, fn("first_value"), adds(5, 2, 3), "5"},
		{tInt, fn("first_non_null_value"), adds(nil, 2, 3), "2"},
		{tInt, fn("first_not_null_value"), adds(nil, 2, 3), "2"},
		{tInt, fn("first_value", "ignore-retract", "true"), []step{{D, 9}, {Insert, 5}}, "5"},
		// booleans
		{tBool, fn("bool_and"), adds(1, nil, 1), "1"},
		{tBool, fn("bool_and"), adds(1, 0, 1), "0"},
		{tBool, fn("bool_or"), adds(nil, 0, 1), "1"},
		{tInt, fn("bool_or"), adds(1, 1), "error: Data type for bool_or column 'c' must be 'BooleanType'."},
		// listagg
		{tString, fn("listagg"), adds("a", nil, "", " \t", "b"), "a,b"},
		{tString, fn("listagg"), adds("  ", "b", "c"), "b,c"},
		{tString, fn("listagg", "list-agg-delimiter", "; "), adds("a", "b"), "a; b"},
		{tString, fn("listagg", "distinct", "true"), adds("a,b,a", "b,c", "c,,d"), "a,b,a,c,d"},
		{tString, fn("listagg", "distinct", "true", "list-agg-delimiter", ";"), adds("p", "p", "q;p"), "p;q"},
		{tString, fn("listagg", "distinct", "true", "list-agg-delimiter", ""), adds("p q", "q r"), "p qr"},
		{tString, fn("listagg"), adds("\u00a0", "x"), "\u00a0,x"}, // a no-break space is not blank in Java
		// collect
		{tArr, fn("collect"), adds(arr{1, 1}, nil, arr{2}), "[1 1 2]"},
		{tArr, fn("collect"), adds(nil, nil), "NULL"},
		{tArr, fn("collect", "distinct", "true"), adds(arr{9, 1, 9}, arr{17, 1, nil}), "[NULL 1 17 9]"}, // hash order
		{tArr, fn("collect", "distinct", "true"), adds(nil, arr{3, 3}), "[3]"},
		{tArrB, fn("collect", "distinct", "true"), adds(arr{"z", "a"}, arr{"a", "b"}), "[z a b]"},
		{tArrRow, fn("collect", "distinct", "true"), adds(arr{arr{1}, arr{2}}, arr{arr{2}, arr{}, nil, nil}), "[[1] [2] [] NULL]"},
		{tArrS, fn("collect"), []step{{Insert, arr{"a", "b", "a", nil}}, {D, arr{"a", nil, "x"}}}, "[b a]"},
		{tArrS, fn("collect"), []step{{Insert, arr{"a"}}, {D, arr{}}}, "[a]"},
		{tArrS, fn("collect"), []step{{Insert, nil}, {D, arr{"a"}}}, "NULL"},
		// merge_map
		{tMap, fn("merge_map"), adds(pairs{{"x", 1}, {"y", 2}}, pairs{{"y", 3}, {"z", nil}}), "{x:1 z:NULL y:3}"}, // hash order,
		{tMap, fn("merge_map"), adds(nil, pairs{{"y", 3}, {"y", 4}}), "{y:3 y:4}"},
		{tMapB, fn("merge_map"), adds(pairs{{"x", 1}, {"a", 0}}, pairs{{"x", 2}}), "{x:2 a:0}"},
		{tMap, fn("merge_map"), []step{{Insert, pairs{{"x", 1}, {"y", 2}}}, {D, pairs{{"y", 9}, {"q", 1}}}}, "{x:1}"},
		{tMap, fn("merge_map"), []step{{Insert, pairs{{"x", 1}}}, {D, nil}}, "{x:1}"},
		// merge_map_with_keytime
		{tTimed, fn("merge_map_with_keytime"), adds(pairs{{"a", row{1, "5"}}, {"b", row{1, "5"}}}, pairs{{"a", row{2, "4"}}, {"b", row{2, "6"}}}), "{a:(1,5) b:(2,6)}"},
		{tTimed, fn("merge_map_with_keytime"), adds(pairs{{"a", row{1, "5"}}}, pairs{{"a", row{2, "5"}}}), "{a:(1,5)}"},
		{tTimed, fn("merge_map_with_keytime"), adds(pairs{{"a", row{1, "5"}}, {"b", row{1, "1"}}}, pairs{{"a", nil}}), "{b:(1,1)}"},
		{tTimed, fn("merge_map_with_keytime"), adds(pairs{{"a", row{1, nil}}, {"b", nil}}, pairs{{"a", row{2, "1"}}, {"b", row{3, "1"}}, {"c", row{4, nil}}}), "{a:(2,1) b:(3,1)}"},
		{tTimed, fn("merge_map_with_keytime", "ts-field", "v"), adds(pairs{{"a", row{9, "1"}}}, pairs{{"a", row{10, "0"}}}), "{a:(10,0)}"},
		{tTimed, fn("merge_map_with_keytime", "ts-field", "x"), adds(nil, nil), "error: Timestamp field 'x' not found in ROW type for field 'c'."},
		// nested_update
		{tRows, fn("nested_update"), adds(arr{row{1, "a", 1}, nil}, arr{row{1, "a", 1}}), "[(1,a,1) (1,a,1)]"},
		{tRows, fn("nested_update", "count-limit", "2"), adds(arr{row{1, "a", 1}}, arr{row{2, "b", 1}, row{3, "c", 1}}), "[(1,a,1) (2,b,1)]"},
		{tRows, fn("nested_update", "count-limit", "1"), adds(arr{row{1, "a", 1}, row{2, "b", 1}}, arr{row{3, "c", 1}}), "[(1,a,1)]"},
		{tRows, fn("nested_update"), []step{{Insert, arr{row{1, "a", 1}, row{2, "b", nil}, row{1, "a", 1}}}, {D, arr{row{1, "a", 1}}}}, "[(2,b,NULL)]"},
		{tRows, fn("nested_update", "nested-key", "id"), adds(arr{row{1, "a", 1}, row{2, "b", 2}}, arr{row{1, "c", nil}, row{3, "d", 1}, row{4, "e", 1}}), "[(3,d,1) (2,b,2) (1,c,NULL) (4,e,1)]"},
		{tRows, fn("nested_update", "nested-key", "id", "count-limit", "2"), adds(arr{row{1, "a", 1}, row{2, "b", 2}}, arr{row{1, "c", 3}, row{3, "d", 1}}), "[(2,b,2) (1,c,3)]"},
		{tRows, fn("nested_update", "nested-key", "id", "nested-sequence-field", "n"), adds(arr{row{1, "a", 5}}, arr{row{1, "b", 4}, row{1, "c", nil}}), "[(1,a,5)]"},
		{tRows, fn("nested_update", "nested-key", "id", "nested-sequence-field", "n"), adds(arr{row{1, "a", nil}}, arr{row{1, "b", 4}, row{1, "c", 4}}), "[(1,c,4)]"},
		{tRows, fn("nested_update", "nested-key", "id"), []step{{Insert, arr{row{1, "a", 1}, row{2, "b", 2}}}, {D, arr{row{2, "x", nil}}}}, "[(1,a,1)]"},
		{tRows, fn("nested_update", "nested-key", "id,s", "nested-key-null-strategy", "ignore"), adds(arr{row{1, nil, 1}, row{2, "b", 2}}, arr{row{nil, "b", 3}}), "[(2,b,2)]"},
		{tRows, fn("nested_update", "nested-key", "id", "nested-key-null-strategy", "error"), adds(arr{row{1, "a", 1}}, arr{row{nil, "b", 3}}), "error: column 'c': Nested key contains null values. Primary key fields must not be null."},
		{tRows, fn("nested_update", "nested-key", "id"), adds(arr{row{nil, "a", 1}}, arr{row{nil, "b", 3}}), "[(NULL,b,3)]"},
		{tRows, fn("nested_update", "nested-key", "zz"), adds(nil, nil), "error: option 'fields.c.nested-key' names field 'zz', which the rows of column 'c' do not have"},
		// nested_partial_update
		{tRows, fn("nested_partial_update", "nested-key", "id"), adds(arr{row{1, "a", nil}, row{2, "b", 2}}, arr{row{1, nil, 7}}), "[(2,b,2) (1,a,7)]"},
		{tRows, fn("nested_partial_update", "nested-key", "id"), adds(nil, arr{row{1, "a", nil}, row{1, nil, 3}}), "[(1,a,3)]"},
		{tRows, fn("nested_partial_update"), adds(nil, nil), "error: aggregate function 'nested_partial_update' of column 'c' needs option 'fields.c.nested-key'"},
		{tRows, fn("nested_partial_update", "nested-key", "id"), []step{{Insert, nil}, {D, nil}}, "error: column 'c': Aggregate function 'nested_partial_update' does not support retraction, If you allow this function to ignore retraction messages, you can configure 'fields.${field_name}.ignore-retract'='true'."},
		// bitmaps and sketches: their bytes are tested in package sketch
		{tBytes, fn("rbm32"), adds(nil, "abc"), "abc"},
		{tBytes, fn("rbm32"), adds("abc", "abc"), "error: column 'c': Roaring bitmap: cut off"},
		{tBytes, fn("theta_sketch"), adds("abc", nil), "abc"},
		{tInt, fn("hll_sketch"), adds(nil, nil), "error: Data type for hll_sketch column 'c' must be 'VarBinaryType'."},
	} {
		if got := foldColumn(t, tc.typ, tc.opts, tc.steps); got != tc.want {
			t.Errorf("%v %v %v:\n got %s\nwant %s", tc.typ.Root, tc.opts, tc.steps, got, tc.want)
		}
	}
}

// TestHashOrder checks the order of a Java hash map against known orders: growth, collisions, removal.
func TestHashOrder(t *testing.T) {
	order := func(hashes ...int32) string {
		h := newHashTable(false)
		for i, x := range hashes {
			h.insert([]byte{byte(i)}, x)
		}
		out := ""
		h.each(func(id int) { out += fmt.Sprint(hashes[id], " ") })
		return strings.TrimSpace(out)
	}
	if got := order(16, 1, 0, 32); got != "16 0 32 1" {
		t.Errorf("collisions: %s", got)
	}
	// 13 entries grow the table to 32 buckets: 16 leaves bucket 0.
	if got := order(16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11); got != "0 1 2 3 4 5 6 7 8 9 10 11 16" {
		t.Errorf("growth: %s", got)
	}
	if got := order(65536, 1); got != "65536 1" {
		t.Errorf("spread: %s", got)
	}
}

func TestJavaHash(t *testing.T) {
	at := func(typ *schema.Type, x any) value {
		b := schema.NewBuilder(typ)
		appendAny(b, typ, x)
		return valueAt(b.Finish(), 0)
	}
	for _, tc := range []struct {
		typ  *schema.Type
		x    any
		want int32
	}{
		{tInt, -5, -5}, {tBool, 1, 1231}, {tBool, 0, 1237}, {tInt, nil, 0},
		{tBig, 1 << 32, 1}, {tBig, -1, 0},
		{tFloat, 1.0, 0x3f800000}, {tDouble, 1.0, 0x3ff00000}, {tDouble, math.NaN(), 0x7ff80000},
		{tDecimal(10, 2), 150, 31*150 + 2}, {tDecimal(10, 2), -150, -31*150 + 2},
		{tDecimal(30, 0), dec("4294967296"), 31 * 31}, // BigInteger 2^32: 31*1 + 0
	} {
		if got := javaHash(tc.typ, at(tc.typ, tc.x)); got != tc.want {
			t.Errorf("%v %v: %d, want %d", tc.typ.Root, tc.x, got, tc.want)
		}
	}
}
