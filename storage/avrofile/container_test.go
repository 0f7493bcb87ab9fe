package avrofile

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/tributarydb/tributary/storage/errs"
)

const recordSchema = `{"type":"record","name":"r","fields":[{"name":"n","type":"long"},{"name":"s","type":"string"}]}`

// payload are the records (1, a) and (-2, bc).
var payload = []byte("\x02\x02a\x03\x04bc")

func header(codec, schema string) []byte {
	out := []byte("Obj\x01")
	put := func(s string) {
		out = binary.AppendVarint(out, int64(len(s)))
		out = append(out, s...)
	}
	out = binary.AppendVarint(out, 2)
	put("avro.codec")
	put(codec)
	put("avro.schema")
	put(schema)
	out = binary.AppendVarint(out, 0)
	return append(out, "0123456789abcdef"...)
}

func block(file []byte, count int64, data []byte) []byte {
	file = binary.AppendVarint(file, count)
	file = binary.AppendVarint(file, int64(len(data)))
	file = append(file, data...)
	return append(file, "0123456789abcdef"...)
}

type record struct {
	N int64  `avro:"n"`
	S string `avro:"s"`
}

func decode(b []byte) ([]record, error) {
	f, err := Open("the file", b)
	if err != nil {
		return nil, err
	}
	var out []record
	err = Decode(f, func(r *record) error { out = append(out, *r); return nil })
	return out, err
}

func TestCodecs(t *testing.T) {
	bz, _ := hex.DecodeString("425a68393141592653599d43bd4e00000041001c003800200021800c032b1ddc5dc914e14242750ef538")
	sn := snappy.Encode(nil, payload)
	sn = binary.BigEndian.AppendUint32(sn, crc32.ChecksumIEEE(payload))
	for codec, data := range map[string][]byte{"null": payload, "bzip2": bz, "snappy": sn} {
		got, err := decode(block(block(header(codec, recordSchema), 2, data), 2, data))
		if err != nil || len(got) != 4 || got[0] != (record{1, "a"}) || got[3] != (record{-2, "bc"}) {
			t.Errorf("%s: %v %v", codec, got, err)
		}
	}
	sn[len(sn)-1]++
	if _, err := decode(block(header("snappy", recordSchema), 2, sn)); !errs.Is(err, errs.Corrupt) {
		t.Errorf("a wrong checksum is taken: %v", err)
	}
	if _, err := decode(block(header("xz", recordSchema), 2, payload)); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "'xz'") {
		t.Error(err)
	}
}

func TestHostileContainers(t *testing.T) {
	good := block(header("null", recordSchema), 2, payload)
	huge := snappy.Encode(nil, payload)
	huge = append(binary.AppendUvarint(nil, 1<<31), huge[1:]...)
	empty := `{"type":"record","name":"e","fields":[]}`
	for name, b := range map[string][]byte{
		"nothing":         nil,
		"other":           []byte("PAR1"),
		"no header":       good[:4],
		"header cut":      good[:40],
		"block cut":       good[:len(good)-20],
		"mark":            append(good[:len(good)-1:len(good)-1], 'x'),
		"count":           block(header("null", recordSchema), 3, payload),
		"too few":         block(header("null", recordSchema), 1, payload),
		"negative count":  block(header("null", recordSchema), -2, payload),
		"huge length":     append(header("null", recordSchema), 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"snappy bomb":     block(header("snappy", recordSchema), 2, append(huge, 0, 0, 0, 0)),
		"snappy short":    block(header("snappy", recordSchema), 2, []byte{1}),
		"endless nothing": block(header("null", empty), 1<<62, nil),
		"schema":          header("null", `{"type":"recor"}`),
		"no schema":       header("null", ""),
		"entries":         append([]byte("Obj\x01"), 0xfe, 0xff, 0xff, 0xff, 0x0f),
		"other type":      block(header("null", `"string"`), 1, []byte("\x02a")),
	} {
		if got, err := decode(b); !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), "the file") {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}
