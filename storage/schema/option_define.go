package schema

// Options that definitions are checked by (CoreOptions of 2.0.0).
var (
	optAutoCreate             = boolOption("auto-create", false, "the table is made when it is first opened; false in catalogs")
	optUpsertKey              = stringOption("upsert-key", "", "columns that rows of an append table are matched by")
	optStreamingReadOverwrite = boolOption("streaming-read-overwrite", false, "streaming reads show the changes of INSERT OVERWRITE")
	optFormatPerLevel         = levelOption("file.format.per.level", "formats of data files by level")
	optCompressionPerLevel    = levelOption("file.compression.per.level", "compressions of data files by level")
	optFileBlockSize          = sizeOption("file.block-size", "", "size of a row group or stripe")
	optReadBatchSize          = intOption("read.batch-size", 1024, "rows that are read at once")
	optWriteBatchSize         = intOption("write.batch-size", 1024, "rows that are written at once", "orc.write.batch-size")
	optWriteBatchMemory       = sizeOption("write.batch-memory", "128 mb", "memory of rows that are written at once")
	optManifestSort           = boolOption("manifest-sort.enabled", false, "manifests are sorted by partition")
	optClusteringIncremental  = boolOption("clustering.incremental", false, "compaction clusters new files")
	optVariantMode            = enumOption("variant.shredding.inferenceMode", "per-file", []string{"per-file", "adaptive"}, "how the columns of shredded variants are found")
	optVariantInferRows       = intOption("variant.shredding.maxInferBufferRow", 4096, "rows that the columns of shredded variants are found by")
	optVariantMinRatio        = doubleOption("variant.shredding.minFieldCardinalityRatio", 0.1, "share of rows that make a field of a variant a column")
	optVariantAdaptiveRows    = intOption("variant.shredding.adaptive.maxInferBufferRow", 256, "rows that are looked at for each next file")
	optVariantRetention       = doubleOption("variant.shredding.adaptive.retentionRatio", 0.05, "share of rows that keeps a field of a variant a column")
)
