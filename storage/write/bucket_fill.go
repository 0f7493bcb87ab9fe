package write

import "github.com/tributarydb/tributary/storage/manifest"

// Fill says what files a bucket has: whether it may be worth compacting, without reading manifests once more.
type Fill struct {
	// Partition is the framed row of the partition's values.
	Partition []byte
	Bucket    int
	// Runs is the number of sorted runs: files of level 0, and higher levels that have files.
	Runs int
	// Files is the number of data files. Small ones are those below the size at which compactions of an append table leave
	// a file alone; SmallBytes is their size.
	Files, Small int
	SmallBytes   int64
}

// fill counts the files of a bucket.
type fill struct {
	level0, files, small int
	smallBytes           int64
	// levels are the higher levels that have files.
	levels map[int]bool
}

func (f *fill) add(d *manifest.DataFile, small int64) {
	f.files++
	if d.Size < small {
		f.small++
		f.smallBytes += d.Size
	}
	if d.Level == 0 {
		f.level0++
		return
	}
	if f.levels == nil {
		f.levels = map[int]bool{}
	}
	f.levels[d.Level] = true
}

// Fills says what the buckets that got rows hold, by the state and the messages of the last Prepare, once these are
// published.
func (w *Writer) Fills() []Fill {
	var out []Fill
	for _, s := range w.slots {
		if len(s.files) == 0 || s.bucket < 0 {
			continue
		}
		f := s.there
		f.levels = make(map[int]bool, len(s.there.levels)+1)
		for l := range s.there.levels {
			f.levels[l] = true
		}
		for _, d := range s.files {
			f.add(d, w.opts.smallSize)
		}
		out = append(out, Fill{Partition: s.part.framed, Bucket: s.bucket, Runs: f.level0 + len(f.levels), Files: f.files, Small: f.small, SmallBytes: f.smallBytes})
	}
	return out
}
