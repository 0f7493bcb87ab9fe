package golden

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tributarydb/tributary/sqltests/runner"
)

// tree makes a folder with an empty file, an empty directory and odd names.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.db/t/snapshot/LATEST":                    "",
		"a.db/t/p=1%3A2 3/bucket-0/data-ü.parquet":  "PAR1\x00\xff",
		"a.db/" + strings.Repeat("long", 50) + "/f": "x",
		"z": "last",
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "empty", "inner"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPackUnpack(t *testing.T) {
	src := tree(t)
	var first, second bytes.Buffer
	if err := Pack(&first, src); err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := CopyFolder(src, copied); err != nil {
		t.Fatal(err)
	}
	if err := Pack(&second, copied); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("equal folders made different archives")
	}
	dest := t.TempDir()
	if err := UnpackReader(&first, dest); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dest, copied} {
		if diff, err := Difference(src, d); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dest, "z"), []byte("lost"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff, _ := Difference(src, dest); diff != "different content: z" {
		t.Error(diff)
	}
	if err := os.Remove(filepath.Join(dest, "empty", "inner")); err != nil {
		t.Fatal(err)
	}
	if diff, _ := Difference(src, dest); diff != "left has empty/inner/, right has z" {
		t.Error(diff)
	}
}

func TestPackRefusesLinks(t *testing.T) {
	src := tree(t)
	if err := os.Symlink("z", filepath.Join(src, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := Pack(&bytes.Buffer{}, src); err == nil {
		t.Error("a link was packed")
	}
	if err := CopyFolder(src, t.TempDir()); err == nil {
		t.Error("a link was copied")
	}
}

func archive(t *testing.T, headers ...tar.Header) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestUnpackRefusesHostileArchives(t *testing.T) {
	outside := t.TempDir()
	for name, headers := range map[string][]tar.Header{
		"parent":        {{Name: "../x", Typeflag: tar.TypeReg, Size: 1}},
		"inner parent":  {{Name: "a/../../x", Typeflag: tar.TypeReg, Size: 1}},
		"absolute":      {{Name: "/x", Typeflag: tar.TypeReg, Size: 1}},
		"symlink":       {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: outside}},
		"hard link":     {{Name: "a", Typeflag: tar.TypeReg}, {Name: "l", Typeflag: tar.TypeLink, Linkname: "a"}},
		"device":        {{Name: "d", Typeflag: tar.TypeChar}},
		"parent folder": {{Name: "../d/", Typeflag: tar.TypeDir}},
	} {
		if err := UnpackReader(archive(t, headers...), t.TempDir()); !errors.Is(err, ErrArchive) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A file written twice would hide the first one.
	twice := archive(t, tar.Header{Name: "a", Typeflag: tar.TypeReg}, tar.Header{Name: "a", Typeflag: tar.TypeReg})
	if err := UnpackReader(twice, t.TempDir()); !errors.Is(err, os.ErrExist) {
		t.Errorf("twice: %v", err)
	}
	whole := archive(t, tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 5000}).Bytes()
	for _, n := range []int{0, 3, len(whole) / 2, len(whole) - 1} {
		if err := UnpackReader(bytes.NewReader(whole[:n]), t.TempDir()); n > 0 && !errors.Is(err, ErrArchive) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func TestEveryCase(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			script, err := runner.ParseFile(c.Script)
			if err != nil {
				t.Fatal(err)
			}
			if len(script.Records) == 0 {
				t.Error("the script is empty")
			}
			dir := t.TempDir()
			if err := Unpack(c.Archive, dir); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "default.db")); err != nil {
				t.Error("the warehouse has no database default:", err)
			}
		})
	}
}

func TestListRefusesHalfCases(t *testing.T) {
	dir := t.TempDir()
	if _, err := List(dir); err == nil {
		t.Error("an empty folder was accepted")
	}
	if err := os.MkdirAll(filepath.Join(dir, "half"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := List(dir); err == nil || !strings.Contains(err.Error(), "golden case half") {
		t.Error(err)
	}
}

func FuzzUnpack(f *testing.F) {
	var b bytes.Buffer
	z, _ := zstd.NewWriter(&b)
	w := tar.NewWriter(z)
	_ = w.WriteHeader(&tar.Header{Name: "d/", Typeflag: tar.TypeDir})
	_ = w.WriteHeader(&tar.Header{Name: "d/a", Typeflag: tar.TypeReg, Size: 1})
	_, _ = w.Write([]byte("x"))
	_ = w.Close()
	_ = z.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		dest := filepath.Join(parent, "dest")
		if err := os.Mkdir(dest, 0o755); err != nil {
			t.Fatal(err)
		}
		_ = UnpackReader(bytes.NewReader(data), dest)
		entries, err := os.ReadDir(parent)
		if err != nil || len(entries) != 1 {
			t.Fatal("something was written outside the folder")
		}
	})
}
