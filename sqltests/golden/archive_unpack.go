package golden

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// Limits of an archive, against damaged or hostile ones.
const (
	maxArchiveEntries = 1_000_000
	maxArchiveBytes   = 16 << 30 // of all files, unpacked
	maxDecoderMemory  = 256 << 20
)

// ErrArchive is wrapped by errors about the content of an archive.
var ErrArchive = errors.New("not a valid warehouse archive")

// Unpack writes the content of the archive into dest, which must exist and
// should be empty. Only plain files and directories with local names are
// accepted; nothing is ever written outside dest. Files get the present time as
// their time of change, as with any copy.
func Unpack(archive, dest string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := UnpackReader(f, dest); err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	return nil
}

// UnpackReader is Unpack for the bytes of an archive.
func UnpackReader(r io.Reader, dest string) error {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDecoderMemory))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	defer z.Close()
	root, err := os.OpenRoot(dest)
	if err != nil {
		return err
	}
	defer root.Close()
	t := tar.NewReader(z)
	left := int64(maxArchiveBytes)
	for n := 0; ; n++ {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if n >= maxArchiveEntries {
			return fmt.Errorf("%w: more than %d entries", ErrArchive, maxArchiveEntries)
		}
		name := filepath.FromSlash(h.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%w: the name %q leaves the folder", ErrArchive, h.Name)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			if err := root.MkdirAll(filepath.Clean(name), 0o755); err != nil {
				return err
			}
		case tar.TypeReg:
			if h.Size > left {
				return fmt.Errorf("%w: more than %d bytes", ErrArchive, int64(maxArchiveBytes))
			}
			left -= h.Size
			if err := writeFile(root, name, t); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w: %q is neither a file nor a directory (type %q)", ErrArchive, h.Name, h.Typeflag)
		}
	}
}

func writeFile(root *os.Root, name string, r io.Reader) error {
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if e := f.Close(); err == nil {
		err = e
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %w", ErrArchive, err)
	}
	return err
}
