package avro

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributarydb/tributary/storage/avrofile"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// encoder appends row i of a vector; the row is not null.
type encoder func(dst []byte, v *column.Vector, i int) ([]byte, error)

// The branches of a nullable value.
const (
	isNull  = 0
	notNull = 1
)

// orNullSchema wraps the JSON of a schema that may be null.
func orNullSchema(js string) string { return `["null",` + js + `]` }

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// recordSchema makes the schema and the encoder of a record with the fields (AvroSchemaConverter).
func recordSchema(name, path string, fields []schema.Field) (string, []encoder, error) {
	var sb strings.Builder
	sb.WriteString(`{"type":"record","name":` + quote(name))
	if path == "" {
		sb.WriteString(`,"namespace":"org.apache.paimon.avro.generated"`)
	}
	sb.WriteString(`,"fields":[`)
	var encoders []encoder
	for i, f := range fields {
		at := f.Name
		if path != "" {
			at = path + "." + f.Name
		}
		js, enc, err := typeSchema(name+"_"+f.Name, at, f.Type)
		if err != nil {
			return "", nil, err
		}
		if i > 0 {
			sb.WriteByte(',')
		}
		sb.WriteString(`{"name":` + quote(f.Name) + `,"type":`)
		if f.Type.NotNull {
			sb.WriteString(js + "}")
		} else {
			sb.WriteString(orNullSchema(js) + `,"default":null}`)
		}
		encoders = append(encoders, orNull(at, f.Type, enc))
	}
	sb.WriteString("]}")
	return sb.String(), encoders, nil
}

// orNull encodes a value that may be null, or refuses the null.
func orNull(path string, t *schema.Type, enc encoder) encoder {
	if t.NotNull {
		return func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			if v.IsNull(i) {
				return nil, errs.Invalidf("Cannot write null to non-null column(%s)", path)
			}
			return enc(dst, v, i)
		}
	}
	return func(dst []byte, v *column.Vector, i int) ([]byte, error) {
		if v.IsNull(i) {
			return avrofile.AppendLong(dst, isNull), nil
		}
		return enc(avrofile.AppendLong(dst, notNull), v, i)
	}
}

// typeSchema makes the schema and the encoder of a type's values that are not null.
func typeSchema(name, path string, t *schema.Type) (string, encoder, error) {
	long := func(dst []byte, v *column.Vector, i int) ([]byte, error) {
		return avrofile.AppendLong(dst, v.Int(i)), nil
	}
	text := func(dst []byte, v *column.Vector, i int) ([]byte, error) {
		return avrofile.AppendBytes(dst, v.Bytes(i)), nil
	}
	switch t.Root {
	case schema.Char, schema.Varchar:
		return `"string"`, text, nil
	case schema.Binary, schema.Varbinary:
		return `"bytes"`, text, nil
	case schema.Boolean:
		return `"boolean"`, func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return append(dst, byte(v.Int(i))), nil
		}, nil
	case schema.TinyInt, schema.SmallInt, schema.Int:
		return `"int"`, long, nil
	case schema.BigInt:
		return `"long"`, long, nil
	case schema.Float:
		return `"float"`, func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return appendFloat(dst, float32(v.Float(i))), nil
		}, nil
	case schema.Double:
		return `"double"`, func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return appendDouble(dst, v.Float(i)), nil
		}, nil
	case schema.Date:
		return `{"type":"int","logicalType":"date"}`, long, nil
	case schema.Time:
		if t.Precision > 3 {
			return "", nil, errs.Unsupportedf("column '%s' has the type %s: Avro files hold TIME of at most milliseconds", path, t)
		}
		return `{"type":"int","logicalType":"time-millis"}`, long, nil
	case schema.Timestamp, schema.TimestampLTZ:
		// The reverse of Avro's own meaning, as Paimon has it.
		kind := "timestamp-"
		if t.Root == schema.TimestampLTZ {
			kind = "local-timestamp-"
		}
		switch {
		case t.Precision <= 3:
			return `{"type":"long","logicalType":"` + kind + `millis"}`, func(dst []byte, v *column.Vector, i int) ([]byte, error) {
				x := v.Int(i)
				ms := x / 1000
				if x%1000 < 0 {
					ms--
				}
				return avrofile.AppendLong(dst, ms), nil
			}, nil
		case t.Precision <= 6:
			return `{"type":"long","logicalType":"` + kind + `micros"}`, long, nil
		}
		return "", nil, errs.Unsupportedf("column '%s' has the type %s: Avro files hold timestamps of at most microseconds", path, t)
	case schema.Decimal:
		js := fmt.Sprintf(`{"type":"bytes","logicalType":"decimal","precision":%d,"scale":%d}`, t.Precision, t.Scale)
		return js, func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return avrofile.AppendBytes(dst, minimal(v.Dec128(i))), nil
		}, nil
	case schema.Array:
		js, enc, err := typeSchema(name, path+".element", t.Elem)
		if err != nil {
			return "", nil, err
		}
		if !t.Elem.NotNull {
			js = orNullSchema(js)
		}
		enc = orNull(path+".element", t.Elem, enc)
		return `{"type":"array","items":` + js + `}`, func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return appendBlocks(dst, v, i, func(dst []byte, k int) ([]byte, error) { return enc(dst, v.Children[0], k) })
		}, nil
	case schema.Map, schema.Multiset:
		return mapSchema(name, path, t)
	case schema.Row:
		js, encs, err := recordSchema(name, path, t.Fields)
		if err != nil {
			return "", nil, err
		}
		return js, func(dst []byte, v *column.Vector, i int) (_ []byte, err error) {
			for j, e := range encs {
				if dst, err = e(dst, v.Children[j], i); err != nil {
					return nil, err
				}
			}
			return dst, nil
		}, nil
	}
	return "", nil, errs.Unsupportedf("column '%s' has the type %s, which Avro files cannot store; use 'file.format' = 'parquet'", path, t)
}

// mapSchema is an Avro map where keys are texts, else an array of records.
func mapSchema(name, path string, t *schema.Type) (string, encoder, error) {
	kt, vt := t.Key, t.Elem
	if t.Root == schema.Multiset {
		kt, vt = t.Elem, &schema.Type{Root: schema.Int, NotNull: true}
	}
	isText := kt.Root == schema.Char || kt.Root == schema.Varchar
	valueName := name
	if !isText {
		valueName += "_value" // the record of the entry has the name itself
	}
	vjs, venc, err := typeSchema(valueName, path+".value", vt)
	if err != nil {
		return "", nil, err
	}
	venc = orNull(path+".value", vt, venc)
	if isText {
		if !vt.NotNull {
			vjs = orNullSchema(vjs)
		}
		return `{"type":"map","values":` + vjs + `}`, func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return appendBlocks(dst, v, i, func(dst []byte, k int) ([]byte, error) {
				if v.Children[0].IsNull(k) {
					return nil, errs.Invalidf("column '%s': a key of a map is null", path)
				}
				return venc(avrofile.AppendBytes(dst, v.Children[0].Bytes(k)), v.Children[1], k)
			})
		}, nil
	}
	kjs, kenc, err := typeSchema(name+"_key", path+".key", kt)
	if err != nil {
		return "", nil, err
	}
	kenc = orNull(path+".key", kt, kenc)
	if !kt.NotNull {
		kjs = orNullSchema(kjs)
	}
	value := `"type":` + vjs
	if !vt.NotNull {
		value = `"type":` + orNullSchema(vjs) + `,"default":null`
	}
	js := `{"type":"array","items":{"type":"record","name":` + quote(name) + `,"fields":[{"name":"key","type":` + kjs + `},{"name":"value",` + value + `}]},"logicalType":"map"}`
	return js, func(dst []byte, v *column.Vector, i int) ([]byte, error) {
		return appendBlocks(dst, v, i, func(dst []byte, k int) ([]byte, error) {
			if v.Children[0].IsNull(k) {
				return nil, errs.Invalidf("column '%s': a key of a map is null", path)
			}
			dst, err := kenc(dst, v.Children[0], k)
			if err != nil {
				return nil, err
			}
			return venc(dst, v.Children[1], k)
		})
	}, nil
}

// appendBlocks appends the entries of a list or map: one block and the end.
func appendBlocks(dst []byte, v *column.Vector, i int, entry func(dst []byte, k int) ([]byte, error)) (_ []byte, err error) {
	from, to := int(v.Offsets[i]), int(v.Offsets[i+1])
	if from < to {
		dst = avrofile.AppendLong(dst, int64(to-from))
		for k := from; k < to; k++ {
			if dst, err = entry(dst, k); err != nil {
				return nil, err
			}
		}
	}
	return avrofile.AppendLong(dst, 0), nil
}
