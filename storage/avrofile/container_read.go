package avrofile

import (
	"bytes"
	"encoding/binary"
	"io"
	"reflect"

	"github.com/twmb/avro"

	"github.com/tributarydb/tributary/storage/errs"
)

const (
	// MaxBlockBytes bounds a block, stored and decompressed.
	MaxBlockBytes = 256 << 20
	// maxHeaderEntries bounds the header's metadata.
	maxHeaderEntries = 1000
	// maxSchemaBytes bounds a schema's text.
	maxSchemaBytes = 4 << 20
	syncBytes      = 16
)

var magic = []byte{'O', 'b', 'j', 1}

// File is an open container file.
type File struct {
	name   string
	data   []byte
	sync   [syncBytes]byte
	codec  string
	schema *avro.Schema
	text   string
	meta   map[string][]byte
}

// Open reads the header of a container file; name is used in messages. Damage
// is errs.Corrupt, an unknown codec errs.Unsupported.
func Open(name string, data []byte) (*File, error) {
	f := &File{name: name, meta: map[string][]byte{}}
	if len(data) == 0 {
		return nil, errs.Corruptf("%s is damaged: it is empty", name)
	}
	if !bytes.HasPrefix(data, magic) {
		return nil, errs.Corruptf("%s is damaged: it does not begin as an Avro file", name)
	}
	r := reader{b: data[len(magic):]}
	for {
		n := r.long()
		if n < 0 {
			n = -n
			r.long()
		}
		if r.err || n == 0 {
			break
		}
		if n > maxHeaderEntries || len(f.meta) > maxHeaderEntries {
			r.err = true
			break
		}
		for ; n > 0 && !r.err; n-- {
			k := r.bytes()
			f.meta[string(k)] = r.bytes()
		}
	}
	copy(f.sync[:], r.take(syncBytes))
	if r.err {
		return nil, errs.Corruptf("%s is damaged: its header is cut off or wrong", name)
	}
	f.data = r.b
	f.codec = "null"
	if c, ok := f.meta["avro.codec"]; ok {
		f.codec = string(c)
	}
	if !knownCodec(f.codec) {
		return nil, errs.Unsupportedf("%s is compressed with '%s', which cannot be read here (known: %s)", name, f.codec, codecNames)
	}
	f.text = string(f.meta["avro.schema"])
	var err error
	if f.schema, err = parseSchema(f.text); err != nil {
		return nil, errs.Corruptf("%s is damaged: its Avro schema is wrong: %w", name, err)
	}
	return f, nil
}

// Schema is the file's schema.
func (f *File) Schema() *avro.Schema { return f.schema }

// SchemaText is the file's schema as JSON.
func (f *File) SchemaText() string { return f.text }

// Codec is the name of the file's compression.
func (f *File) Codec() string { return f.codec }

// Meta is the header's metadata.
func (f *File) Meta() map[string][]byte { return f.meta }

// Next returns the next block, decompressed, and its number of records;
// io.EOF after the last.
func (f *File) Next() (count int64, block []byte, err error) {
	if len(f.data) == 0 {
		return 0, nil, io.EOF
	}
	r := reader{b: f.data}
	count = r.long()
	size := r.long()
	if r.err || count < 0 || size < 0 || size > MaxBlockBytes || size > int64(len(r.b)) {
		return 0, nil, errs.Corruptf("%s is damaged: a block is cut off or its length is wrong", f.name)
	}
	stored := r.take(int(size))
	if mark := r.take(syncBytes); r.err || !bytes.Equal(mark, f.sync[:]) {
		return 0, nil, errs.Corruptf("%s is damaged: a block does not end where it should", f.name)
	}
	block, err = decompress(f.codec, stored)
	if err != nil {
		return 0, nil, errs.Corruptf("%s is damaged: a block cannot be decompressed (%s): %w", f.name, f.codec, err)
	}
	f.data = r.b
	return count, block, nil
}

// Decode decodes every record into a T, a struct with `avro` tags, and calls
// each for those that are not null. Fields of the file that T lacks are
// skipped, fields of T that the file lacks stay zero. Texts and bytes of the
// records share the blocks' memory.
func Decode[T any](f *File, each func(*T) error) error {
	s, err := readerSchema(f.text, f.schema, reflect.TypeFor[T]())
	if err != nil {
		return errs.Corruptf("%s is damaged: its Avro schema does not fit: %w", f.name, err)
	}
	for {
		count, block, err := f.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for ; count > 0; count-- {
			var v *T
			rest, err := s.Decode(block, &v, avro.AliasInput())
			if err != nil {
				return errs.Corruptf("%s is damaged: a record cannot be decoded: %w", f.name, err)
			}
			if len(rest) == len(block) {
				return errs.Corruptf("%s is damaged: it has records without content", f.name)
			}
			block = rest
			if v == nil {
				continue
			}
			if err := each(v); err != nil {
				return err
			}
		}
		if len(block) != 0 {
			return errs.Corruptf("%s is damaged: a block has %d bytes too many", f.name, len(block))
		}
	}
}

// reader reads header primitives; err is sticky.
type reader struct {
	b   []byte
	err bool
}

func (r *reader) long() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.err = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.err = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) bytes() []byte {
	n := r.long()
	if n > maxSchemaBytes {
		r.err = true
		return nil
	}
	return r.take(int(n))
}
