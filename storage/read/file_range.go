package read

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/format"
)

// compactedPrefix begins the names of changelog files that Flink's changelog
// compaction makes (format section 11.5).
const compactedPrefix = "compacted-changelog-"

// openData opens a data file; the parts of compacted changelog files are byte ranges of one.
func openData(ctx context.Context, fio fileio.FileIO, path string, size int64, name string) (format.File, error) {
	real, from, length, ok, err := compactedRange(path)
	if err != nil {
		return nil, err
	}
	if ok {
		ranged := &rangedIO{FileIO: fio, from: from, length: length}
		return format.Open(ctx, ranged, real, length, strings.TrimPrefix(name, "cc-"))
	}
	return format.Open(ctx, fio, path, size, name)
}

// compactedRange decodes the path of a part of a compacted changelog file:
// …/bucket-B/compacted-changelog-U$B-LEN.cc-F is bytes [0, LEN) of itself;
// …/bucket-X/compacted-changelog-U$B-LEN-OFF-LEN2.cc-F is bytes [OFF, OFF+LEN2) of ../bucket-B/compacted-changelog-U$B-LEN.cc-F.
func compactedRange(path string) (real string, from, length int64, ok bool, err error) {
	slash := strings.LastIndexByte(path, '/')
	name := path[slash+1:]
	if !strings.HasPrefix(name, compactedPrefix) {
		return "", 0, 0, false, nil
	}
	bad := errs.Corruptf("changelog file %s: the name is none of a compacted changelog", path)
	base, ext, found := strings.Cut(name, ".")
	stem, tail, found2 := strings.Cut(base, "$")
	if !found || !found2 {
		return "", 0, 0, false, bad
	}
	var nums []int64
	for _, p := range strings.Split(tail, "-") {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil || n < 0 {
			return "", 0, 0, false, bad
		}
		nums = append(nums, n)
	}
	switch len(nums) {
	case 2:
		return path, 0, nums[1], true, nil
	case 4:
		up := strings.LastIndexByte(path[:max(slash, 0)], '/')
		real = path[:up+1] + bucketPrefix + strconv.FormatInt(nums[0], 10) + "/" + stem + "$" +
			strconv.FormatInt(nums[0], 10) + "-" + strconv.FormatInt(nums[1], 10) + "." + ext
		return real, nums[2], nums[3], true, nil
	}
	return "", 0, 0, false, bad
}

const bucketPrefix = "bucket-"

// rangedIO opens a range of a file as if it were one.
type rangedIO struct {
	fileio.FileIO
	from, length int64
}

func (r *rangedIO) Open(ctx context.Context, path string) (fileio.File, error) {
	f, err := r.FileIO.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if f.Size() < r.from+r.length {
		_ = f.Close()
		return nil, errs.Corruptf("changelog file %s has %d bytes; bytes %d to %d of it are wanted", path, f.Size(), r.from, r.from+r.length)
	}
	return &rangedFile{File: f, SectionReader: io.NewSectionReader(f, r.from, r.length)}, nil
}

type rangedFile struct {
	fileio.File
	*io.SectionReader
}

func (f *rangedFile) ReadAt(p []byte, off int64) (int, error) { return f.SectionReader.ReadAt(p, off) }
func (f *rangedFile) Size() int64                             { return f.SectionReader.Size() }
