package schema

// Options of compaction (section 8.4 of the format).
var (
	OptCompactionRewriteAll    = boolOption("compaction.force-rewrite-all-files", false, "a full compaction rewrites every file")
	OptCompactionForceUp0      = boolOption("compaction.force-up-level-0", false, "every compaction takes the files of level 0")
	OptCompactionSizeAmp       = intOption("compaction.max-size-amplification-percent", 200, "size in percent that newer rows may have of the oldest run before all is rewritten")
	OptCompactionSizeRatio     = intOption("compaction.size-ratio", 1, "how much greater than the newer runs, in percent, a run may be to be rewritten with them")
	OptCompactionOptimize      = durationOption("compaction.optimization-interval", "", "time after which a full compaction is made")
	OptCompactionFullBelow     = sizeOption("compaction.total-size-threshold", "", "size of a bucket below which compactions are full")
	OptCompactionFullIncrement = sizeOption("compaction.incremental-size-threshold", "", "size below the top level from which a compaction is full")
	OptOffPeakStart            = intOption("compaction.offpeak.start.hour", -1, "hour in which the off-peak hours begin")
	OptOffPeakEnd              = intOption("compaction.offpeak.end.hour", -1, "hour before which the off-peak hours end")
	OptOffPeakRatio            = intOption("compaction.offpeak-ratio", 0, "what compaction.size-ratio has more in the off-peak hours")
	OptCompactionMinFiles      = intOption("compaction.min.file-num", 5, "small files of an append table before they are rewritten")
	OptCompactionMaxFiles      = intOption("compaction.file-num-limit", 100_000, "files of an append table that a compaction looks at")
	OptCompactionDeleteRatio   = doubleOption("compaction.delete-ratio-threshold", 0.2, "share of deleted rows from which a file of an append table is rewritten")
	OptCompactionSkipExpired   = boolOption("compaction.skip-expired-partitions", false, "compactions of buckets leave out partitions that have expired by their values")
	OptFullCompactionCommits   = unsetInt("full-compaction.delta-commits", "commits between full compactions")
	OptZOrderVarBytes          = intOption("zorder.var-length-contribution", 8, "bytes that texts and binaries give to a Z-order key")
	OptLookupCompact           = enumOption("lookup-compact", "RADICAL", []string{"RADICAL", "GENTLE"}, "RADICAL (each commit) or GENTLE (at intervals)")
	OptRowDeduplicate          = boolOption("changelog-producer.row-deduplicate", false, "updates that change nothing are left out of changelogs")
	OptRowDeduplicateIgnore    = stringOption("changelog-producer.row-deduplicate-ignore-fields", "", "columns that do not count for row-deduplicate")
)

// NeedsLookup reports whether compactions look the older row of a key up, so that a row
// above level 0 is the key's whole state (CoreOptions.needLookup).
func NeedsLookup(opts map[string]string) bool {
	return OptChangelogProducer.Value(opts) == "lookup" || OptDeletionVectors.Value(opts) ||
		OptForceLookup.Value(opts) || OptMergeEngine.Value(opts) == "first-row"
}
