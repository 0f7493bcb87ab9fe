package compact

import (
	"cmp"
	"slices"

	"github.com/tributarydb/tributary/storage/scan"
)

// fullMinFiles is the number of files of a bucket from which a full compaction rewrites them
// (BucketedAppendCompactManager.FULL_COMPACT_MIN_FILE).
const fullMinFiles = 3

// binTargets is how many target sizes make a unit that is worth rewriting for its size alone.
const binTargets = 2

// pick chooses the units of a bucket: groups of files, each to be rewritten together. The rows
// of a unit's files keep their order.
func (o *appendOptions) pick(files []*scan.File, full bool) [][]*scan.File {
	if o.unaware {
		return o.pickUnaware(files, full)
	}
	if u := o.pickBucket(files, full); u != nil {
		return [][]*scan.File{u}
	}
	return nil
}

// wants reports whether a file of an unaware bucket is to be rewritten.
func (o *appendOptions) wants(f *scan.File, full bool) bool {
	if f.Meta.Size < o.small || full && o.rewriteAll {
		return true
	}
	if f.Vector == nil {
		return false
	}
	n := f.Vector.Range.Cardinality
	return n == nil || float64(*n) > float64(f.Meta.RowCount)*o.deleteRatio
}

// pickUnaware packs small files, and those with many deleted rows, into units (AppendCompactCoordinator):
// Files that have vectors in the same index file come together, and are rewritten even if they are few.
// Paimon packs by size; here files are packed in the order of their arrival, which rows mostly keep so.
func (o *appendOptions) pickUnaware(files []*scan.File, full bool) [][]*scan.File {
	var units [][]*scan.File
	var left []*scan.File // plain files that were too few
	for wanted := range slices.Chunk(o.wanted(files, full), o.maxFiles) {
		groups, plain := byVectorFile(wanted)
		bin := o.bin()
		for _, g := range groups {
			if bin.add(g...) {
				units = append(units, bin.drain())
			}
		}
		if len(bin.files) > 0 {
			units = append(units, bin.drain())
		}
		bin = o.bin()
		for _, f := range append(left, plain...) {
			if bin.add(f) {
				units = append(units, bin.drain())
			}
		}
		left = nil
		if len(bin.files) >= max(o.minFiles, 2) || full && o.rewriteAll && len(bin.files) > 0 {
			units = append(units, bin.drain())
		}
		left = bin.files
	}
	at := make(map[*scan.File]int, len(files))
	for i, f := range files {
		at[f] = i
	}
	for _, u := range units {
		slices.SortFunc(u, func(a, b *scan.File) int { return cmp.Compare(at[a], at[b]) })
	}
	return units
}

func (o *appendOptions) wanted(files []*scan.File, full bool) []*scan.File {
	var out []*scan.File
	for _, f := range files {
		if o.wants(f, full) {
			out = append(out, f)
		}
	}
	return out
}

// byVectorFile groups the files with a vector by the index file that holds it, the smallest group
// first; plain are the others.
func byVectorFile(files []*scan.File) (groups [][]*scan.File, plain []*scan.File) {
	at := map[string]int{}
	for _, f := range files {
		if f.Vector == nil {
			plain = append(plain, f)
			continue
		}
		i, ok := at[f.Vector.Path]
		if !ok {
			i = len(groups)
			at[f.Vector.Path] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	size := func(files []*scan.File) (n int64) {
		for _, f := range files {
			n += f.Meta.Size
		}
		return n
	}
	slices.SortStableFunc(groups, func(a, b []*scan.File) int { return cmp.Compare(size(a), size(b)) })
	return groups, plain
}

// fileBin collects files until they are a unit.
type fileBin struct {
	o     *appendOptions
	files []*scan.File
	size  int64
}

func (o *appendOptions) bin() *fileBin { return &fileBin{o: o} }

// add reports whether the files are enough.
func (b *fileBin) add(files ...*scan.File) bool {
	for _, f := range files {
		b.files = append(b.files, f)
		b.size += f.Meta.Size + b.o.openCost
	}
	return len(b.files) > 1 && b.size >= binTargets*b.o.target
}

func (b *fileBin) drain() []*scan.File {
	files := b.files
	b.files, b.size = nil, 0
	return files
}

// pickBucket chooses neighbouring files of a real bucket (BucketedAppendCompactManager): their rows
// are in the order of sequence numbers.
func (o *appendOptions) pickBucket(files []*scan.File, full bool) []*scan.File {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b *scan.File) int { return cmp.Compare(a.Meta.MinSequence, b.Meta.MinSequence) })
	if full {
		return o.pickFullBucket(files)
	}
	var window []*scan.File
	var size int64
	for _, f := range files {
		window = append(window, f)
		size += f.Meta.Size
		if len(window) >= max(o.minFiles, 2) {
			return window
		}
		for len(window) > 0 && size >= binTargets*o.target {
			size -= window[0].Meta.Size
			window = window[1:]
		}
	}
	return nil
}

// pickFullBucket takes all files but the big ones in front. With deletion vectors it takes them
// however few they are, unless there is nothing to gain: a single file without deleted rows.
func (o *appendOptions) pickFullBucket(files []*scan.File) []*scan.File {
	if o.rewriteAll {
		return files
	}
	vectors := slices.ContainsFunc(files, func(f *scan.File) bool { return f.Vector != nil })
	if !vectors && len(files) < fullMinFiles && !o.vectors {
		return nil
	}
	for len(files) > 0 && files[0].Meta.Size >= o.target && files[0].Vector == nil {
		files = files[1:]
	}
	if vectors || o.vectors && len(files) > 1 {
		return files
	}
	big := 0
	for _, f := range files {
		if f.Meta.Size >= o.target {
			big++
		}
	}
	if len(files)-big > big && len(files) >= fullMinFiles {
		return files
	}
	return nil
}
