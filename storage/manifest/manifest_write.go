package manifest

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// sizeCheckRecords is how often the size of a manifest being written is looked at.
const sizeCheckRecords = 1000

// DefaultTargetSize is the size at which a new manifest is begun.
const DefaultTargetSize = 8 << 20

// Names gives the names of the files of one writer: one UUID and a counter a
// kind of file. It is safe for concurrent use.
type Names struct {
	mu     sync.Mutex
	uuid   string
	next   map[string]int
	random io.Reader
}

// NewNames returns a source of names that begin with a random UUID.
func NewNames(random io.Reader) (*Names, error) {
	id, err := uuid.NewRandomFromReader(random)
	if err != nil {
		return nil, fmt.Errorf("making a name: %w", err)
	}
	return &Names{uuid: id.String(), next: map[string]int{}, random: random}, nil
}

func (n *Names) name(kind string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := n.next[kind]
	n.next[kind]++
	return kind + "-" + n.uuid + "-" + strconv.Itoa(i)
}

// WriteOptions say how metadata files are written.
type WriteOptions struct {
	// Names gives the files' names.
	Names *Names
	// PartitionTypes are the types of the partition columns.
	PartitionTypes []*schema.Type
	// SchemaID is recorded where there are no entries.
	SchemaID int64
	// Compression is option manifest.compression, "" = zstd; ZstdLevel 0 = 1.
	Compression string
	ZstdLevel   int
	// TargetSize is the size at which a new manifest is begun, 0 = DefaultTargetSize.
	TargetSize int64
	// DropDeleteStats leaves the statistics of deletions out.
	DropDeleteStats bool
}

// create writes one file; fill appends its records.
func (s *Store) create(ctx context.Context, name string, fill func(io.Writer) (int64, error)) (size int64, err error) {
	w, err := s.fio.Create(ctx, s.Path(name))
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", s.Path(name), err)
	}
	if size, err = fill(w); err == nil {
		err = w.Close()
	}
	if err != nil {
		_ = w.Abort()
		return 0, fmt.Errorf("writing %s: %w", s.Path(name), err)
	}
	return size, nil
}

// WriteManifests writes entries in their order to one or more manifests and
// returns what a manifest list says of them. Without entries nothing is written.
// On an error the manifests already written have been removed, as far as that was possible.
func (s *Store) WriteManifests(ctx context.Context, entries []Entry, o WriteOptions) (out []FileInfo, err error) {
	defer func() {
		if err != nil {
			s.Delete(ctx, NamesOf(out)...)
			out = nil
		}
	}()
	target := o.TargetSize
	if target <= 0 {
		target = DefaultTargetSize
	}
	for len(entries) > 0 {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		sum := newSummary(&o)
		name := o.Names.name("manifest")
		n := 0
		size, err := s.create(ctx, name, func(f io.Writer) (int64, error) {
			w, err := newAvro(f, entryRecord, &o)
			if err != nil {
				return 0, err
			}
			for n < len(entries) {
				e := &entries[n]
				n++
				if o.DropDeleteStats && e.Kind == Delete {
					e = withoutStats(e)
				}
				if err := sum.add(e); err != nil {
					return 0, err
				}
				if err := w.Append(func(dst []byte) []byte { return appendEntry(dst, e) }); err != nil {
					return 0, err
				}
				if n%sizeCheckRecords == 0 && w.Size() >= target {
					break
				}
			}
			return w.Close()
		})
		if err != nil {
			s.Delete(ctx, name) // it may be there: the answer may have been lost
			return out, err
		}
		info := sum.info()
		info.Name, info.Size = name, size
		out = append(out, info)
		entries = entries[n:]
	}
	return out, nil
}

func withoutStats(e *Entry) *Entry {
	c, f := *e, *e.File
	f.KeyStats, f.ValueStats, f.StatsColumns = EmptyStats(), EmptyStats(), []string{}
	c.File = &f
	return &c
}

// NamesOf lists the names of manifests.
func NamesOf(infos []FileInfo) []string {
	out := make([]string, len(infos))
	for i := range infos {
		out[i] = infos[i].Name
	}
	return out
}

// WriteList writes a manifest list, an empty one too.
func (s *Store) WriteList(ctx context.Context, infos []FileInfo, o WriteOptions) (name string, size int64, err error) {
	name = o.Names.name("manifest-list")
	size, err = s.create(ctx, name, func(f io.Writer) (int64, error) {
		w, err := newAvro(f, listRecord, &o)
		if err != nil {
			return 0, err
		}
		for i := range infos {
			if err := w.Append(func(dst []byte) []byte { return appendFileInfo(dst, &infos[i]) }); err != nil {
				return 0, err
			}
		}
		return w.Close()
	})
	return name, size, err
}

// WriteIndexManifest writes the whole index state of a snapshot.
func (s *Store) WriteIndexManifest(ctx context.Context, entries []IndexEntry, o WriteOptions) (name string, err error) {
	name = o.Names.name("index-manifest")
	_, err = s.create(ctx, name, func(f io.Writer) (int64, error) {
		w, err := newAvro(f, indexRecord, &o)
		if err != nil {
			return 0, err
		}
		for i := range entries {
			if err := w.Append(func(dst []byte) []byte { return appendIndexEntry(dst, &entries[i]) }); err != nil {
				return 0, err
			}
		}
		return w.Close()
	})
	return name, err
}

// Delete removes metadata files that nothing refers to, best effort: what
// stays is removed by the cleaning of orphan files.
func (s *Store) Delete(ctx context.Context, names ...string) {
	ctx = context.WithoutCancel(ctx)
	for _, n := range names {
		if n != "" {
			_ = s.fio.Delete(ctx, s.Path(n))
		}
	}
}

// EmptyStats are the statistics of no columns (SimpleStats.EMPTY_STATS).
func EmptyStats() SimpleStats {
	return SimpleStats{Min: binrow.Empty, Max: binrow.Empty, Nulls: []int64{}}
}

// EncodeStats makes statistics of columns: null scalars for unknown bounds, -1 for unknown null counts.
func EncodeStats(types []*schema.Type, mins, maxs []column.Scalar, nulls []int64) SimpleStats {
	return SimpleStats{Min: binrow.EncodeRow(types, mins), Max: binrow.EncodeRow(types, maxs), Nulls: nulls}
}

// summary collects what a manifest list says of a manifest.
type summary struct {
	o          *WriteOptions
	out        FileInfo
	n          int
	mins, maxs []column.Scalar
	nulls      []int64
	minB, maxB int32
	minL, maxL int32
	rowIDs     bool
	minR, maxR int64
}

func newSummary(o *WriteOptions) *summary {
	s := &summary{o: o, nulls: make([]int64, len(o.PartitionTypes)), rowIDs: true}
	for _, t := range o.PartitionTypes {
		null := column.NullScalar(schema.KindOf(t))
		s.mins, s.maxs = append(s.mins, null), append(s.maxs, null)
	}
	return s
}

func (s *summary) add(e *Entry) error {
	if e.Kind == Add {
		s.out.Added++
	} else {
		s.out.Deleted++
	}
	vals, err := binrow.DecodeRow(s.o.PartitionTypes, e.Partition)
	if err != nil {
		return fmt.Errorf("data file %s: its partition: %w", e.File.Name, err)
	}
	for i, v := range vals {
		switch {
		case v.Null:
			s.nulls[i]++
		case s.mins[i].Null:
			s.mins[i], s.maxs[i] = v, v
		default:
			if binrow.Compare([]column.Scalar{v}, s.mins[i:i+1]) < 0 {
				s.mins[i] = v
			}
			if binrow.Compare([]column.Scalar{v}, s.maxs[i:i+1]) > 0 {
				s.maxs[i] = v
			}
		}
	}
	f := e.File
	b, l := int32(e.Bucket), int32(f.Level)
	if s.n == 0 {
		s.minB, s.maxB, s.minL, s.maxL = b, b, l, l
		s.out.SchemaID = f.SchemaID
	}
	s.minB, s.maxB, s.minL, s.maxL = min(s.minB, b), max(s.maxB, b), min(s.minL, l), max(s.maxL, l)
	s.out.SchemaID = max(s.out.SchemaID, f.SchemaID)
	if f.FirstRowID == nil {
		s.rowIDs = false
	} else {
		first, last := *f.FirstRowID, *f.FirstRowID+f.RowCount-1
		if s.n == 0 {
			s.minR, s.maxR = first, last
		}
		s.minR, s.maxR = min(s.minR, first), max(s.maxR, last)
	}
	s.n++
	return nil
}

func (s *summary) info() FileInfo {
	out := s.out
	out.PartitionStats = EncodeStats(s.o.PartitionTypes, s.mins, s.maxs, s.nulls)
	out.MinBucket, out.MaxBucket, out.MinLevel, out.MaxLevel = &s.minB, &s.maxB, &s.minL, &s.maxL
	if s.rowIDs && s.n > 0 {
		out.MinRowID, out.MaxRowID = &s.minR, &s.maxR
	}
	return out
}
