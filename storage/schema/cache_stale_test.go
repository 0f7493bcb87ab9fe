package schema

import (
	"context"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/fileio"
)

// TestCacheSeesNewTable drops a table and makes another under its name.
func TestCacheSeesNewTable(t *testing.T) {
	ctx := context.Background()
	fio := fileio.NewMemory()
	m := NewManager(fio, "w/d.db/t", &Cache{})
	for i, name := range []string{"a", "b"} {
		s := &TableSchema{Version: 3, Fields: []Field{{Name: name, Type: &Type{Root: Int}}}}
		if err := fio.Overwrite(ctx, m.Path(0), s.JSON()); err != nil {
			t.Fatal(err)
		}
		fio.SetModTime(m.Path(0), time.UnixMilli(int64(1000+i)))
		for range 2 {
			got, err := m.Get(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got.Fields[0].Name != name {
				t.Fatalf("column %s, want %s", got.Fields[0].Name, name)
			}
		}
	}
}
