package golden

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// archiveTime is the time of change of every entry, so that equal folders make
// equal archives.
var archiveTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Pack writes the folder as an archive to w: entries sorted by name, one fixed
// time and owner, empty directories included. Anything but files and
// directories is refused.
func Pack(w io.Writer, folder string) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	// WalkDir goes through each directory in lexical order.
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: filepath.ToSlash(rel), ModTime: archiveTime}
		switch {
		case d.IsDir():
			h.Typeflag, h.Name, h.Mode = tar.TypeDir, h.Name+"/", 0o755
			return t.WriteHeader(h)
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o644, int64(len(b))
			if err := t.WriteHeader(h); err != nil {
				return err
			}
			_, err = t.Write(b)
			return err
		default:
			return fmt.Errorf("pack %s: %s is neither a file nor a directory", folder, path)
		}
	})
	if err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// CopyFolder copies files and directories below from into the existing folder
// to. Symbolic links and special files are refused.
func CopyFolder(from, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return root.MkdirAll(rel, 0o755)
		case d.Type().IsRegular():
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			return writeFile(root, rel, f)
		default:
			return fmt.Errorf("copy %s: %s is neither a file nor a directory", from, path)
		}
	})
}

// Difference compares two folders byte for byte and returns the first
// difference as text, "" when there is none.
func Difference(a, b string) (string, error) {
	left, err := listTree(a)
	if err != nil {
		return "", err
	}
	right, err := listTree(b)
	if err != nil {
		return "", err
	}
	for i := range max(len(left), len(right)) {
		switch {
		case i >= len(right):
			return "only left: " + left[i], nil
		case i >= len(left):
			return "only right: " + right[i], nil
		case left[i] != right[i]:
			return "left has " + left[i] + ", right has " + right[i], nil
		case strings.HasSuffix(left[i], "/"):
			continue
		}
		x, err := os.ReadFile(filepath.Join(a, filepath.FromSlash(left[i])))
		if err != nil {
			return "", err
		}
		y, err := os.ReadFile(filepath.Join(b, filepath.FromSlash(right[i])))
		if err != nil {
			return "", err
		}
		if string(x) != string(y) {
			return "different content: " + left[i], nil
		}
	}
	return "", nil
}

// listTree lists everything below a folder; directories end in a slash.
func listTree(folder string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			rel += "/"
		}
		out = append(out, rel)
		return nil
	})
	return out, err
}
