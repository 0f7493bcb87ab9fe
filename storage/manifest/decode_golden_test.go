package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDecodeAllGolden(t *testing.T) {
	root := os.Getenv("TRIBUTARY_GOLDEN")
	if root == "" {
		t.Skip("TRIBUTARY_GOLDEN is not set")
	}
	n := map[string]int{}
	filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(p)) != "manifest" || strings.Contains(p, "bug-") || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasPrefix(d.Name(), "manifest-list-"):
			x, err := DecodeList(p, b)
			if err != nil {
				t.Error(err)
			}
			n["list"] += len(x)
		case strings.HasPrefix(d.Name(), "index-manifest-"):
			x, err := DecodeIndex(p, b)
			if err != nil {
				t.Error(err)
			}
			n["index"] += len(x)
		default:
			x, err := DecodeManifest(p, b)
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
