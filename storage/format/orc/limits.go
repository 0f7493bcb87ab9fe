package orc

// Limits. A file beyond one of them is refused as corrupt, or with errs.Limit
// where an honest file could get there.
const (
	// tailReadBytes is read from the end of a file at once; footers beyond it
	// cost a second read.
	tailReadBytes = 16 << 10
	// maxFooterBytes bounds a footer or stripe footer after decompression.
	maxFooterBytes = 64 << 20
	// maxMetadataBytes bounds the stripe statistics after decompression.
	maxMetadataBytes = 256 << 20
	// maxIndexBytes bounds one row index or Bloom filter stream after decompression.
	maxIndexBytes = 64 << 20
	// maxCompressionBlock is the greatest compression block: lengths have 23 bits.
	maxCompressionBlock = 1<<23 - 1
	// defaultCompressionBlock holds where the postscript gives none.
	defaultCompressionBlock = 256 << 10
	// maxTypes bounds the columns of a file, nested ones included.
	maxTypes = 100_000
	// maxTypeDepth bounds the nesting of types.
	maxTypeDepth = 100
	// maxStripes bounds the stripes of a file.
	maxStripes = 1 << 20
	// maxStreamsPerType bounds the streams of a stripe footer.
	maxStreamsPerType = 12
	// maxRowGroups bounds the row groups of a stripe; with more the row index is not used.
	maxRowGroups = 1 << 18
	// maxPositions bounds the positions of a row index entry.
	maxPositions = 64
	// maxDictionaryEntries and maxDictionaryBytes bound a string dictionary.
	maxDictionaryEntries = 1 << 26
	maxDictionaryBytes   = 1 << 30
	// maxBatchBytes bounds the string bytes of one column in one batch.
	maxBatchBytes = 1 << 30
	// maxBatchElements bounds the elements of lists and maps in one batch, all
	// columns together; an element of several columns counts as often.
	maxBatchElements = 1 << 24
	// targetBatchBytes is the size of batches that readers aim at by taking fewer
	// rows where the statistics tell of long values.
	targetBatchBytes = 16 << 20
	// stripeReadBudget bounds the stored bytes of a stripe that are read ahead;
	// beyond it streams are read piece by piece.
	stripeReadBudget = 16 << 20
	// minPieceBytes and maxPieceBytes bound those pieces.
	minPieceBytes = 64 << 10
	maxPieceBytes = 1 << 20
	// coalesceGap is the gap between wanted ranges that is read along.
	coalesceGap = 32 << 10
	// maxZoneName bounds the name of a time zone.
	maxZoneName = 64
)
