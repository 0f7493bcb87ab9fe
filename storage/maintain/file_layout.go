package maintain

import (
	"path"
	"strconv"
	"strings"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/schema"
)

// layout computes the paths of a branch's files (sections 1.3 and 1.4).
type layout struct {
	tableDir, dataDir string
	fields            []schema.Field
	types             []*schema.Type
	def               string
	legacy, indexNear bool
	dirs              map[string]string // partition directories by framed row
}

func newLayout(tableDir string, s *schema.TableSchema) *layout {
	o := s.Options
	l := &layout{
		tableDir: tableDir, dataDir: tableDir, fields: s.PartitionFields(), types: s.PartitionTypes(),
		def: schema.OptPartitionDefault.Value(o), legacy: schema.OptPartitionLegacy.Value(o),
		indexNear: schema.OptIndexInDataDir.Value(o), dirs: map[string]string{},
	}
	if d := strings.Trim(schema.OptDataFileDirectory.Value(o), "/"); d != "" {
		l.dataDir += "/" + d
	}
	return l
}

// partitionDir is the directory of a partition's values, without a slash at its end.
func (l *layout) partitionDir(vals []column.Scalar) (string, error) {
	p, err := binrow.PartitionPath(l.fields, vals, l.def, l.legacy)
	return strings.TrimSuffix(l.dataDir+"/"+p, "/"), err
}

func (l *layout) bucketDir(partition []byte, bucket int) (string, error) {
	dir, ok := l.dirs[string(partition)]
	if !ok {
		vals, err := binrow.DecodeRow(l.types, partition)
		if err != nil {
			return "", err
		}
		if dir, err = l.partitionDir(vals); err != nil {
			return "", err
		}
		l.dirs[string(partition)] = dir
	}
	if bucket == schema.PostponeBucket {
		return dir + "/bucket-postpone", nil
	}
	return dir + "/bucket-" + strconv.Itoa(bucket), nil
}

// fileRef is a file below the table: its name, unique in the table, and its path.
type fileRef struct{ name, path string }

// files lists a data file and the files that go with it.
func (l *layout) files(e *manifest.Entry) ([]fileRef, error) {
	var dir string
	if x := e.File.ExternalPath; x != nil && *x != "" {
		dir = path.Dir(*x)
		if path.Base(*x) != e.File.Name || !strings.HasPrefix(path.Base(dir), "bucket-") {
			return nil, nil // no place where a writer puts data files; never a path to delete
		}
		dir = (*x)[:len(*x)-len(e.File.Name)]
	} else {
		d, err := l.bucketDir(e.Partition, e.Bucket)
		if err != nil {
			return nil, err
		}
		dir = d + "/"
	}
	out := make([]fileRef, 0, 1+len(e.File.ExtraFiles))
	for _, n := range fileNames(e) {
		if plainName(n) {
			out = append(out, fileRef{n, dir + n})
		}
	}
	return out, nil
}

// plainName reports whether a name from a manifest stays in its directory.
func plainName(n string) bool {
	return n != "" && n != "." && n != ".." && !strings.ContainsAny(n, "/\x00")
}

// fileNames are the names of a data file and of the files that go with it.
func fileNames(e *manifest.Entry) []string {
	return append([]string{e.File.Name}, e.File.ExtraFiles...)
}

// index returns the path of an index file.
func (l *layout) index(e *manifest.IndexEntry) (string, error) {
	var dir string
	if l.indexNear {
		var err error
		if dir, err = l.bucketDir(e.Partition, e.Bucket); err != nil {
			return "", err
		}
	}
	return index.Path(l.tableDir, dir, e, l.indexNear), nil
}

// compactedPrefix begins the names of changelog files that Flink's changelog compaction makes (section 11.5).
const compactedPrefix = "compacted-changelog-"

// realName returns the name of the file that holds a part of a compacted
// changelog: `…$B-LEN-OFF-LEN2.F` is kept in `…$B-LEN.F`. Other names are their own.
func realName(name string) string {
	if !strings.HasPrefix(name, compactedPrefix) {
		return name
	}
	base, ext, ok := strings.Cut(name, ".")
	stem, tail, ok2 := strings.Cut(base, "$")
	nums := strings.Split(tail, "-")
	if !ok || !ok2 || len(nums) != 4 {
		return name
	}
	return stem + "$" + nums[0] + "-" + nums[1] + "." + ext
}
