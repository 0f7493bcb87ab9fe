package schema

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

const sampleSchema = `{
  "version" : 3,
  "id" : 0,
  "fields" : [ {
    "id" : 0,
    "name" : "k",
    "type" : "INT NOT NULL"
  }, {
    "id" : 1,
    "name" : "dt",
    "type" : "DATE",
    "description" : "a \"day\" <of> ü",
    "defaultValue" : "2024-01-01"
  }, {
    "id" : 2,
    "name" : "r",
    "type" : {
      "type" : "ROW NOT NULL",
      "fields" : [ {
        "id" : 3,
        "name" : "x",
        "type" : {
          "type" : "MAP",
          "key" : "STRING",
          "value" : {
            "type" : "ARRAY",
            "element" : "DECIMAL(10, 2)"
          }
        }
      } ]
    }
  } ],
  "highestFieldId" : 3,
  "partitionKeys" : [ "dt" ],
  "primaryKeys" : [ "dt", "k" ],
  "options" : {
    "z" : "1",
    "bucket" : "4",
    "unknown.option" : "kept"
  },
  "comment" : "table comment",
  "timeMillis" : 1724300000000
}`

func TestParseTable(t *testing.T) {
	s, err := ParseTable("schema-0", []byte(sampleSchema))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Fields[2].Type.String(); got != "ROW<`x` MAP<STRING, ARRAY<DECIMAL(10, 2)>>> NOT NULL" {
		t.Error(got)
	}
	if *s.Fields[1].Default != "2024-01-01" || s.Fields[0].Default != nil {
		t.Error("defaults")
	}
	if strings.Join(s.OptionKeys, ",") != "z,bucket,unknown.option" || s.Options["unknown.option"] != "kept" {
		t.Error(s.OptionKeys)
	}
	if strings.Join(s.TrimmedPrimaryKeys(), ",") != "k" || strings.Join(s.BucketKeys(), ",") != "k" || s.BucketMode() != HashFixed || s.CrossPartition() {
		t.Error("derived properties")
	}
	again, err := ParseTable("again", s.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.JSON(), s.JSON()) {
		t.Error("printing is not stable")
	}
	if got := FieldsJSON(s.Fields[:2]); got != `[{"id":0,"name":"k","type":"INT NOT NULL"},{"id":1,"name":"dt","type":"DATE","description":"a \"day\" <of> ü","defaultValue":"2024-01-01"}]` {
		t.Error(got)
	}
}

func TestOldVersions(t *testing.T) {
	old := func(version, options string) *TableSchema {
		s, err := ParseTable("x", []byte(`{`+version+`"id":1,"fields":[{"id":0,"name":"a","type":"INT","nullable":true}],"highestFieldId":0,"partitionKeys":[],"primaryKeys":[],"options":{`+options+`},"comment":null,"future":{"x":[1]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := old("", ""); s.Version != 1 || s.Options["bucket"] != "1" || s.Options["file.format"] != "orc" || s.Comment != "" || s.TimeMillis != 0 || s.BucketMode() != HashFixed {
		t.Errorf("%+v", s)
	}
	if s := old("", `"bucket":"-1","file.format":"avro"`); s.Options["bucket"] != "-1" || s.Options["file.format"] != "avro" {
		t.Errorf("%+v", s)
	}
	if s := old(`"version":2,`, ""); s.Options["bucket"] != "" || s.Options["file.format"] != "orc" || s.BucketMode() != BucketUnaware {
		t.Errorf("%+v", s)
	}
	if s := old(`"version":3,`, ""); len(s.Options) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestDamagedTables(t *testing.T) {
	for name, text := range map[string]string{
		"empty": ``, "cut": sampleSchema[:300], "array": `[]`, "no id": `{"fields":[]}`, "no fields": `{"id":0}`,
		"twice":    `{"id":0,"fields":[{"id":0,"name":"a","type":"INT"},{"id":1,"name":"a","type":"INT"}]}`,
		"key":      `{"id":0,"fields":[{"id":0,"name":"a","type":"INT"}],"primaryKeys":["b"]}`,
		"type":     `{"id":0,"fields":[{"id":0,"name":"a","type":"INTT"}]}`,
		"trailing": `{"id":0,"fields":[]} {}`,
		"deep":     `{"id":0,"fields":[{"id":0,"name":"a","type":` + strings.Repeat(`{"type":"ARRAY","element":`, 200) + `"INT"` + strings.Repeat("}", 200) + `}]}`,
	} {
		if _, err := ParseTable("schema-7", []byte(text)); !errs.Is(err, errs.Corrupt) || !strings.Contains(err.Error(), "schema-7") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseTable("schema-7", []byte(`{"version":99,"id":0,"fields":[]}`)); !errs.Is(err, errs.Unsupported) || !strings.Contains(err.Error(), "99") {
		t.Error(err)
	}
}

func TestManager(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	m := NewManager(fio, "/t", nil)
	if _, err := m.Latest(ctx); !errs.Is(err, errs.NotFound) {
		t.Error(err)
	}
	put := func(name, text string) {
		if err := fio.Overwrite(ctx, "/t/schema/"+name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"0", "2", "10"} {
		put("schema-"+id, strings.Replace(sampleSchema, `"id" : 0,
  "fields"`, `"id" : `+id+`,
  "fields"`, 1))
	}
	put("schema-x", "junk")
	put(".schema-11.tmp", "junk")
	put("schema-3", "{")
	put("schema-4", sampleSchema)
	s, err := m.Latest(ctx)
	if err != nil || s.ID != 10 {
		t.Fatal(s, err)
	}
	if _, err := m.Get(ctx, 1); !errs.Is(err, errs.NotFound) || !strings.Contains(err.Error(), "schema-1") {
		t.Error(err)
	}
	if _, err := m.Get(ctx, 4); !errs.Is(err, errs.Corrupt) {
		t.Error("a schema under a wrong name is taken")
	}
	all, err := m.All(ctx)
	if len(all) != 3 || err == nil || !strings.Contains(err.Error(), "schema-3") || !strings.Contains(err.Error(), "schema-4") {
		t.Error(len(all), err)
	}
	// Parsed schemas are kept.
	if again, _ := m.Get(ctx, 10); again != s {
		t.Error("read twice")
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add([]byte(sampleSchema))
	f.Add([]byte(`{"id":0,"fields":[{"id":0,"name":"a","type":{"type":"VECTOR","element":"FLOAT","length":3}}],"options":{"a":true}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseTable("x", b)
		if err != nil {
			if c := errs.ClassOf(err); c != errs.Corrupt && c != errs.Unsupported {
				t.Fatalf("class %v: %v", c, err)
			}
			return
		}
		again, err := ParseTable("again", s.JSON())
		if err != nil {
			t.Fatalf("does not survive printing: %v\n%s", err, s.JSON())
		}
		if FieldsJSON(again.Fields) != FieldsJSON(s.Fields) {
			t.Fatalf("changes when printed:\n%s\n%s", FieldsJSON(s.Fields), FieldsJSON(again.Fields))
		}
		s.BucketKeys()
		s.BucketMode()
		NewBuilder(&Type{Root: Row, Fields: s.Fields}).AppendNull()
	})
}

func FuzzParseType(f *testing.F) {
	for _, s := range []string{"DECIMAL(10, 2) NOT NULL", "ROW<a INT, `b` STRING>", "MAP<INT, VECTOR<FLOAT, 3>>", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "GEOGRAPHY(a, b)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ty, err := ParseType(s)
		if err != nil {
			return
		}
		again, err := ParseType(ty.String())
		if err != nil || !again.EqualIgnoreNull(ty) {
			t.Fatalf("%q prints as %q: %v", s, ty, err)
		}
	})
}
