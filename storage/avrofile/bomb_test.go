package avrofile

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
)

// TestEmptyElements has an array that says it has endless elements of no bytes.
func TestEmptyElements(t *testing.T) {
	type withList struct {
		L []*string `avro:"l"`
	}
	for _, items := range []string{`"null"`, `{"type":"record","name":"e","fields":[]}`, `["null","string"]`, `{"type":"fixed","name":"f","size":0}`} {
		s := `{"type":"record","name":"r","fields":[{"name":"l","type":{"type":"array","items":` + items + `}}]}`
		data := binary.AppendVarint(nil, 1<<50)
		done := make(chan error, 1)
		go func() {
			f, err := Open("x", block(header("null", s), 1, data))
			if err == nil {
				err = Decode(f, func(*withList) error { return nil })
			}
			done <- err
		}()
		select {
		case err := <-done:
			if !errs.Is(err, errs.Corrupt) {
				t.Errorf("%s: %v", items, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: no end", items)
		}
	}
}
