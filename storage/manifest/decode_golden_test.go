package manifest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/fileio"
	_ "github.com/tributarydb/tributary/storage/format/orc"
	_ "github.com/tributarydb/tributary/storage/format/parquet"
	"github.com/tributarydb/tributary/storage/manifest"
)

// TestDecodeGolden decodes every manifest of warehouses of all releases and
// formats, those of expired snapshots included.
func TestDecodeGolden(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Skip(err)
	}
	cases, err := golden.List(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if !strings.HasPrefix(c.Name, "legacy-") && !strings.HasPrefix(c.Name, "py-") && c.Name != "append-manifest-formats" && c.Name != "api-many-manifests" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := golden.Unpack(c.Archive, dir); err != nil {
				t.Fatal(err)
			}
			decodeBelow(t, dir)
		})
	}
}

func decodeBelow(t *testing.T, root string) {
	n := map[string]int{}
	fio := fileio.NewLocal()
	ctx := context.Background()
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(p)) != "manifest" || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		st := manifest.NewStore(fio, filepath.Dir(filepath.Dir(p)), nil)
		switch {
		case strings.HasPrefix(d.Name(), "manifest-list-"):
			x, err := st.ReadList(ctx, d.Name())
			if err != nil {
				t.Error(err)
			}
			n["list records"] += len(x)
			for _, i := range x {
				if _, err := os.Stat(st.Path(i.Name)); err != nil {
					continue
				}
				// The size in the list must be that of the file, and the counts those of its entries.
				entries, err := st.ReadManifest(ctx, i.Name, i.Size)
				if err != nil {
					t.Error(err)
				}
				var added, deleted int64
				for _, e := range entries {
					if e.Kind == manifest.Add {
						added++
					} else {
						deleted++
					}
				}
				if added != i.Added || deleted != i.Deleted {
					t.Errorf("%s has %d and %d entries, its list says %d and %d", i.Name, added, deleted, i.Added, i.Deleted)
				}
			}
		case strings.HasPrefix(d.Name(), "index-manifest-"):
			x, err := st.ReadIndexManifest(ctx, d.Name())
			if err != nil {
				t.Error(err)
			}
			n["index entries"] += len(x)
		default:
			x, err := st.ReadManifest(ctx, d.Name(), -1)
			if err != nil {
				t.Error(err)
			}
			n["entries"] += len(x)
		}
		return nil
	})
	if err != nil || n["entries"] == 0 {
		t.Error(n, err)
	}
	t.Log(n)
}
