package manifest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/fileio"
	_ "github.com/tributarydb/tributary/storage/format/orc"
	_ "github.com/tributarydb/tributary/storage/format/parquet"
	"github.com/tributarydb/tributary/storage/manifest"
)

func TestDecodeAllGolden(t *testing.T) {
	root := os.Getenv("TRIBUTARY_GOLDEN")
	if root == "" {
		t.Skip("TRIBUTARY_GOLDEN is not set")
	}
	n := map[string]int{}
	fio := fileio.NewLocal()
	ctx := context.Background()
	filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(p)) != "manifest" || strings.Contains(p, "bug-") || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		st := manifest.NewStore(fio, filepath.Dir(filepath.Dir(p)), nil)
		switch {
		case strings.HasPrefix(d.Name(), "manifest-list-"):
			x, err := st.ReadList(ctx, d.Name())
			if err != nil {
				t.Error(err)
			}
			n["list"] += len(x)
			for _, i := range x {
				if _, err := os.Stat(st.Path(i.Name)); err != nil {
					continue
				}
				_, err := st.ReadManifest(ctx, i.Name, i.Size)
				if err != nil {
					t.Error(err)
				}
			}
		case strings.HasPrefix(d.Name(), "index-manifest-"):
			x, err := st.ReadIndexManifest(ctx, d.Name())
			if err != nil {
				t.Error(err)
			}
			n["index"] += len(x)
		default:
			x, err := st.ReadManifest(ctx, d.Name(), -1)
			if err != nil {
				t.Error(err)
			}
			n["entries"] += len(x)
		}
		n["files"]++
		return nil
	})
	t.Log(n)
}
