package schema

import "strings"

// storedOptions are the options of CoreOptions 2.0.0 that nothing here acts on: they are checked when a definition gives
// them, stored and shown. One a line: key, type, default, values, older keys, meaning.
const storedOptions = `
add-column-before-partition|Boolean|false|||ADD COLUMN without position goes in front of the first partition column instead of the end
alter-column-null-to-not-null.disabled|Boolean|true|||while true, changing a nullable column to NOT NULL is refused
async-file-write|Boolean|true|||writer detail: flush files on a background thread
batch-scan-mode|Enum|none|none,compact||what batch compaction jobs read
blob-compaction.enabled|Boolean|false|||also compact blob files of data-evolution tables
blob-descriptor-field|String|||blob.stored-descriptor-fields|columns kept as serialized blob references inside ordinary data files
blob-descriptor.source-table|String||||table (optionally db.T$branch_b) whose file access is used to fetch referenced blobs
blob-view-field|String||||columns holding references into blob columns of other tables
blob-view.resolve.enabled|Boolean|true|||follow blob-view references when reading
blob-write-null-on-fetch-failure|Boolean|false|||store NULL when a referenced blob cannot be fetched
blob-write-null-on-missing-file|Boolean|false|||store NULL when a referenced blob does not exist
blob.copy-buffer-size|MemorySize|4 kb|||copy buffer for blob payloads
blob.split-by-file-size|Boolean||||count blob file size when cutting splits
blob.target-file-size|MemorySize||||roll size of blob files (default: target-file-size)
cache-page-size|MemorySize|64 kb|||page size of internal caches
chain-table.split.key-range-enabled|Boolean|true|||cut chain splits by key range for parallel reading
chain-table.streaming.merge-snapshot|Boolean|false|||start phase of a stream read merges the anchor partition with deltas
changelog-file.compression|String||||compression of changelog files (default: as data files)
changelog-file.format|String||||format of changelog files (default: file.format)
changelog-file.stats-mode|String||||statistics mode for changelog files
clustering.history-partition.idle-to-full-sort|Duration||||idle time after which a partition is fully clustered
clustering.history-partition.limit|Integer|5|||number of history partitions fully clustered at once
clustering.incremental.mode|Enum|global-sort|global-sort,local-sort||global-sort or local-sort
clustering.incremental.optimize-write|Boolean|false|||cluster already before writing
clustering.strategy|String|auto||sink.clustering.strategy|auto, zorder, hilbert, order
commit.callback.#.param|String||||parameter of a callback class
commit.callbacks|String||||Java callback classes after commit (cannot be honoured by a non-Java server; store only)
commit.discard-duplicate-files|Boolean|false|||drop file additions already present when committing
commit.force-compact|Boolean|false|||always compact before committing
commit.force-create-snapshot|Boolean|false|||stream jobs create a snapshot even with nothing to commit
consumer.ignore-progress|Boolean|false|||start anew although progress is stored
consumer.mode|Enum|exactly-once|exactly-once,at-least-once||exactly-once or at-least-once
continuous.discovery-interval|Duration|10 s|||how often a stream reader looks for new snapshots
cross-partition-upsert.bootstrap-parallelism|Integer|10|||threads that build the cross partition index
cross-partition-upsert.index-ttl|Duration||||forget index entries after this time (may create duplicates)
data-evolution.compaction.rewrite-row-ids|Boolean|false|||legacy; true is rejected
data-evolution.merge-into.file-pruning|Boolean|true|||prune files while merging partial columns
data-evolution.merge-into.source-persist|Boolean|false|||persist the source of a merge
data-evolution.reassign.skip-contiguous-row-count|Long|1000000000|||runs longer than this are left out of row id reassignment
data-evolution.row-id-conflict-rewrite.max-size|MemorySize|256 mb|||size limit of automatic rebase after concurrent compaction
data-evolution.row-sidecar.enabled|Boolean|false|||also write row-oriented side files for point reads
data-evolution.row-sidecar.max-selected-rows|Long|4096|||use side files only below this many rows
data-evolution.row-sidecar.max-selection-ratio|Double|0.05|||use side files only below this share of rows
data-file.external-paths.specific-fs|String||||scheme to pick when the strategy is specific-fs
data-file.external-paths.strategy|Enum|none|none,specific-fs,round-robin,entropy-inject,weight-robin||none, specific-fs, round-robin, entropy-inject, weight-robin
data-file.external-paths.weights|String||||weights for weight-robin
data-file.external-paths|String||||extra storage roots for data files
delete.force-produce-changelog|Boolean|false|||DELETE never uses the drop-partition or truncate short cut but writes -D rows
deletion-vectors.modifiable|Boolean|false|||allow toggling deletion-vectors.enabled on a table with data
disable-explicit-type-casting|Boolean|false|||ALTER column type permits only implicit casts
dynamic-bucket.assigner-parallelism|Integer||||engine parallelism of bucket assigners
dynamic-bucket.initial-buckets|Integer||||first number of buckets per assigner
dynamic-bucket.max-buckets|Integer|-1|||cap on buckets per partition
file-operation.thread-num|Integer|||delete-file.thread-num|threads for deleting and listing files
file-reader-async-threshold|MemorySize|10 mb|||read files above this size asynchronously
file.suffix.include.compression|Boolean|false|||put the compression into the file name
format-table.commit-hive-sync-url|String||||format tables only
format-table.file.compression|String|||file.compression|format tables only
format-table.implementation|Enum|paimon|paimon,engine||format tables only
format-table.partition-path-only-value|Boolean|false|||format tables only
format-table.scan.list-parallelism|Integer|64|||format tables only
full-text-index.search-mode|Enum|fast|fast,full,detail||fast, full, detail
global-index.build.max-parallelism|Integer|4096|||index building parallelism
global-index.build.max-shard|Integer|32|||preferred cap on shards
global-index.column-update-action|Enum|THROW_ERROR|THROW_ERROR,DROP_PARTITION_INDEX,IGNORE||what an update of an indexed column does: fail, ignore, drop the partition's index
global-index.external-path|String||||directory for global index files
global-index.row-count-per-shard|Long|100000|||rows per shard
global-index.search-mode|Enum||fast,full,detail||fallback for the specific search modes
global-index.thread-num|Integer|32|||I/O threads
key-value.sequence_number.enabled|Boolean|false|||switch behind _SEQUENCE_NUMBER
local-kv-db.block-size|MemorySize|4 kb|||block size of the local store
local-merge-buffer-size|MemorySize||||pre-merge rows before the shuffle
local-sort.max-num-file-handles|Integer|128|||fan-in of external sort
lookup-compact.max-interval|Integer||||interval of gentle mode
lookup-wait|Boolean|true||changelog-producer.lookup-wait|commit waits for the lookup compaction
lookup.blob-as-descriptor|Boolean|false|||lookup join only
lookup.cache-file-retention|Duration|1 h|||local lookup files
lookup.cache-max-disk-size|MemorySize|9223372036854775807 bytes|||local lookup files
lookup.cache-max-memory-size|MemorySize|256 mb|||lookup memory
lookup.cache-rows|Long|10000|||lookup join cache
lookup.cache-spill-compression|String|zstd|||lookup spill
lookup.cache.bloom.filter.enabled|Boolean|true|||lookup bloom filter
lookup.cache.bloom.filter.fpp|Double|0.05|||lookup bloom filter
lookup.cache.high-priority-pool-ratio|Double|0.25|||lookup cache
lookup.continuous.discovery-interval|Duration||||lookup join only
lookup.hash-load-factor|Double|0.75|||lookup hash file
lookup.merge-buffer-size|MemorySize|8 mb|||lookup merging
lookup.merge-records-threshold|Integer|1024|||lookup merging
lookup.remote-file.enabled|Boolean|false|||store lookup files remotely
lookup.remote-file.level-threshold|Integer|-2147483648|||lowest level for remote lookup files
manifest-sort.max-rewrite-size|MemorySize|256 mb|||budget of one sort pass
manifest-sort.partition-field|String||||partition column to sort by; must be one
manifest.format|String|avro|||format of manifests
materialized-table.definition-query|String||||materialized tables of Flink
materialized-table.interval-freshness.time-unit|Enum||SECOND,MINUTE,HOUR,DAY||materialized tables of Flink
materialized-table.interval-freshness|String||||materialized tables of Flink
materialized-table.logical-refresh-mode|Enum||CONTINUOUS,FULL,AUTOMATIC||materialized tables of Flink
materialized-table.refresh-handler-bytes|String||||materialized tables of Flink
materialized-table.refresh-handler-description|String||||materialized tables of Flink
materialized-table.refresh-mode|Enum||CONTINUOUS,FULL,AUTOMATIC||materialized tables of Flink
materialized-table.refresh-status|Enum||INITIALIZING,ACTIVATED,SUSPENDED||materialized tables of Flink
metadata.stats-dense-store|Boolean|true|||statistics kept only for the columns that have them
metadata.stats-keep-first-n-columns|Integer|-1|||statistics only for the first N columns
metadata.stats-mode.per.level|Map||||map level to mode
metastore.partitioned-table|Boolean|false|||also register partitions in the metastore
metastore.tag-to-partition.preview|Enum|none|none,process-time,watermark,batch||preview of such tags
metastore.tag-to-partition|String||||show tags as Hive partitions
num-sorted-run.stop-trigger|Integer||||sorted runs that make writers wait
overwrite-upgrade|Boolean|true|||after INSERT OVERWRITE of a PK table new files are moved up to the top level without rewriting
page-size|MemorySize|64 kb|||memory page
parquet.enable.dictionary|String||||whether Parquet files have dictionaries
partition.end-input-to-done|Boolean|false|||mark partitions done when a batch write ends
partition.idle-time-to-report-statistic|Duration|0 s|||metastore statistics reporting
partition.mark-done-action.custom.class|String||||class for custom
partition.mark-done-action.http.params|String||||body of http-report
partition.mark-done-action.http.url|String||||target of http-report
partition.sink-strategy|Enum|NONE|NONE,HASH,PARTITION_DYNAMIC||shuffle strategy of engines
partition.timestamp-format.strict|Boolean|false|||writing fails when a partition value does not fit the formatter
pk-bitmap.index.columns|String||||bitmap index of a PK table
pk-btree.index.columns|String||||btree index of a PK table
pk-full-text.index.columns|String||||full text index of a PK table
pk-vector.index.columns|String||||vector index of a PK table
postpone.batch-write-fixed-bucket.max-parallelism|Integer|2048|||cap on inferred buckets
postpone.batch-write-fixed-bucket|Boolean|true|||batch writes to a bucket=-2 table go to real buckets at once
postpone.default-bucket-num|Integer|1|||bucket count of a new partition
postpone.target-row-num-per-bucket|Long||||rows per bucket for the estimate
postpone.target-size-per-bucket|MemorySize|1 gb|||size per bucket for the estimate
row-tracking.partition-group-on-commit|Boolean|true|||row ids contiguous per partition
scalar-index.search-mode|Enum|fast|fast,full,detail||fast, full, detail
scan.bounded.watermark|Long||||stop a stream at this watermark
scan.manifest.parallelism|Integer||||threads for manifest reading
scan.max-splits-per-task|Integer|10|||enumerator memory
scan.plan-auto-tag-for-read.time-retained|Duration||||protect the snapshot being read with a temporary tag
snapshot.expire.execution-mode|Enum|sync|sync,async||sync or async
snapshot.ignore-empty-commit|Boolean||||whether a commit without files makes no snapshot (engine specific default)
snapshot.watermark-idle-timeout|Duration||||create a snapshot for idle sources
sort-compaction.local-sample.magnification|Integer|1000|||sampling detail
sort-compaction.range-strategy|Enum|SIZE|SIZE,QUANTITY||SIZE or QUANTITY
sort-engine|Enum|loser-tree|min-heap,loser-tree||min-heap or loser-tree (no visible effect)
sort-spill-buffer-size|MemorySize|64 mb|||spill buffer
sort-spill-threshold|Integer||||spill threshold
spill-compression.zstd-level|Integer|1|||spill
spill-compression|String|zstd|||spill
stream-scan-mode|Enum|none|none,compact-bucket-table,file-monitor||what streaming compaction jobs read
streaming-read-append-overwrite|Boolean|false|||stream over append tables delivers OVERWRITE deltas
streaming.read.snapshot.delay|Duration||||deliver snapshots late
tag.callback.#.param|String||||parameter of a callback
tag.callbacks|String||||Java callback classes
variant.inferShreddingSchema|Boolean|false|||variant shredding
variant.shredding.maxSchemaDepth|Integer|50|||variant shredding
variant.shredding.maxSchemaWidth|Integer|300|||variant shredding
vector-field|String||||ARRAY columns to be treated as VECTOR
vector-index.search-mode|Enum|fast|fast,full,detail||fast, full, detail
vector-search.distribute.enabled|Boolean|false|||engine detail
vector-search.lateral-join.batch-size|Integer|256|||engine detail
vector.file.format|String||||separate format of vector columns
vector.target-file-size|MemorySize||||roll size of vector files
visibility-callback.check-interval|Duration|10 s|||poll interval
visibility-callback.enabled|Boolean|false|||commit returns only after the rows are visible (DV, postpone, index)
visibility-callback.timeout|Duration|30 min|||limit of that wait
write-buffer-for-append|Boolean|false|||append writers use a buffer
write-buffer-size|MemorySize|256 mb|||in-memory sort buffer
write-buffer-spill.max-disk-size|MemorySize|9223372036854775807 bytes|||spill limit
write-buffer-spillable|Boolean|true|||spill switch
write-max-writers-to-spill|Integer|10|||when many writers are open
write.sequence-number-init-mode|Enum|scan|scan,snapshot||scan or snapshot: how a writer learns the next sequence number
zorder.var-length-contribution|Integer|8|||bytes of text used for z-order
`

func init() {
	for line := range strings.SplitSeq(strings.TrimSpace(storedOptions), "\n") {
		f := strings.Split(line, "|")
		key, kind, def, desc := f[0], f[1], f[2], f[5]
		if _, known := registry[key]; known {
			continue
		}
		var values, fallbacks []string
		if f[3] != "" {
			values = strings.Split(f[3], ",")
		}
		if f[4] != "" {
			fallbacks = strings.Split(f[4], ",")
		}
		var info *OptionInfo
		switch kind {
		case "Boolean":
			info = &boolOption(key, def == "true", desc, fallbacks...).Info
		case "Integer":
			info = &intOption(key, 0, desc, fallbacks...).Info
		case "Long":
			info = &unsetLong(key, desc, fallbacks...).Info
		case "Double":
			info = &doubleOption(key, 0, desc, fallbacks...).Info
		case "MemorySize":
			info = &sizeOption(key, def, desc, fallbacks...).Info
		case "Duration":
			info = &durationOption(key, def, desc, fallbacks...).Info
		case "Map":
			info = &mapOption(key, desc).Info
		case "Enum":
			info = &enumOption(key, def, values, desc, fallbacks...).Info
		default:
			info = &stringOption(key, def, desc, fallbacks...).Info
		}
		info.Default = def
	}
	for _, k := range immutableOptions {
		if o, ok := registry[k]; ok {
			o.info.Immutable = true
		}
	}
}

// immutableOptions cannot change once there is data (CoreOptions.IMMUTABLE_OPTIONS).
var immutableOptions = []string{
	"type", "bucket-key", "bucket-function.type", "data-file.path-directory", "merge-engine", "sequence.snapshot-ordering", "aggregation.remove-record-on-delete",
	"partial-update.remove-record-on-delete", "partial-update.remove-record-on-sequence-group", "rowkind.field", optPrimaryKey, optPartition,
	"dynamic-bucket.initial-buckets", "force-lookup", "row-tracking.enabled", "data-evolution.enabled", "index-file-in-data-file-dir", "blob-field",
	"blob-descriptor-field", "blob-view-field", "pk-clustering-override",
}
