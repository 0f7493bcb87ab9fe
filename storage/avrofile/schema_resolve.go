package avrofile

import (
	"reflect"
	"strings"
	"sync"

	"github.com/twmb/avro"
)

// maxCachedSchemas bounds the parsed schemas that are kept: few writers write many files.
const maxCachedSchemas = 256

type schemaKey struct {
	text string
	typ  reflect.Type // nil = the file's own schema
}

var schemas struct {
	sync.Mutex
	m map[schemaKey]*avro.Schema
}

// cached returns the schema of a key, making it where it is not kept.
func cached(k schemaKey, build func() (*avro.Schema, error)) (*avro.Schema, error) {
	schemas.Lock()
	s := schemas.m[k]
	schemas.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := build()
	if err != nil {
		return nil, err
	}
	schemas.Lock()
	defer schemas.Unlock()
	if schemas.m == nil || len(schemas.m) >= maxCachedSchemas {
		schemas.m = map[schemaKey]*avro.Schema{}
	}
	schemas.m[k] = s
	return s, nil
}

// parseSchema parses a schema text. Names are taken as they are.
func parseSchema(text string) (*avro.Schema, error) {
	return cached(schemaKey{text: text}, func() (*avro.Schema, error) { return avro.Parse(text, avro.WithLaxNames(nil)) })
}

// readerSchema returns the schema that decodes a file's records into a struct
// type: the file's own, or one that skips the fields which the struct lacks.
func readerSchema(text string, s *avro.Schema, t reflect.Type) (*avro.Schema, error) {
	return cached(schemaKey{text, t}, func() (*avro.Schema, error) {
		root := s.Root()
		if !prune(root, t) {
			return s, nil
		}
		r, err := root.Schema(avro.WithLaxNames(nil))
		if err != nil {
			return nil, err
		}
		return avro.Resolve(s, r)
	})
}

// prune removes the record fields that a struct type has no place for,
// reporting whether there were any.
func prune(n *avro.SchemaNode, t reflect.Type) (changed bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range n.Branches {
		changed = prune(&n.Branches[i], t) || changed
	}
	if n.Items != nil && t.Kind() == reflect.Slice {
		changed = prune(n.Items, t.Elem()) || changed
	}
	if len(n.Fields) == 0 || t.Kind() != reflect.Struct {
		return changed
	}
	types := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("avro"), ",")
		types[name] = t.Field(i).Type
	}
	kept := n.Fields[:0:0]
	for _, f := range n.Fields {
		ft, ok := types[f.Name]
		if !ok {
			changed = true
			continue
		}
		changed = prune(&f.Type, ft) || changed
		kept = append(kept, f)
	}
	n.Fields = kept
	return changed
}
