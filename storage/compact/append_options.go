package compact

import (
	"github.com/tributarydb/tributary/storage/schema"
)

// appendOptions are the options of an append table as far as compaction goes.
type appendOptions struct {
	// unaware says that the table has no real buckets.
	unaware bool
	// target is the size of files, small the size below which they are rewritten, openCost what
	// opening a file weighs beside its size.
	target, small, openCost int64
	// minFiles is the number of small files that is worth rewriting, maxFiles bounds the files looked at together.
	minFiles, maxFiles int
	// deleteRatio is the share of deleted rows above which a file is rewritten.
	deleteRatio float64
	// rewriteAll rewrites every file of a full compaction.
	rewriteAll bool
	vectors    bool
	// wide says that new vectors have 64-bit positions.
	wide bool
	// vectorFile is the size of deletion vector files.
	vectorFile int64
	// tracked says that rows have ids.
	tracked bool
}

// defaultAppendSize is the target size of files of append tables.
const defaultAppendSize = 256 << 20

func readAppendOptions(s *schema.TableSchema) (*appendOptions, error) {
	m := s.Options
	o := &appendOptions{
		unaware: s.BucketMode() == schema.BucketUnaware, vectors: schema.OptDeletionVectors.Value(m), tracked: schema.OptRowTracking.Value(m),
	}
	var set bool
	var err error
	if o.target, set, err = schema.OptTargetFileSize.Lookup(m); err != nil {
		return nil, err
	}
	if !set {
		o.target = defaultAppendSize
	}
	ratio, err := schema.OptSmallFileRatio.Get(m)
	if err != nil {
		return nil, err
	}
	o.small = int64(float64(o.target) * ratio)
	if o.openCost, err = schema.OptSplitOpenCost.Get(m); err != nil {
		return nil, err
	}
	if o.minFiles, err = schema.OptCompactionMinFiles.Get(m); err != nil {
		return nil, err
	}
	if o.maxFiles, err = schema.OptCompactionMaxFiles.Get(m); err != nil {
		return nil, err
	}
	o.maxFiles = max(o.maxFiles, 1)
	if o.deleteRatio, err = schema.OptCompactionDeleteRatio.Get(m); err != nil {
		return nil, err
	}
	if o.rewriteAll, err = schema.OptCompactionRewriteAll.Get(m); err != nil {
		return nil, err
	}
	if o.wide, err = schema.OptDVBitmap64.Get(m); err != nil {
		return nil, err
	}
	o.vectorFile, err = schema.OptDVTargetSize.Get(m)
	return o, err
}
