package faults

import (
	"fmt"
	"strings"
)

// small makes the statements that give a table k, v, n two snapshots: a key has two versions. key is its key, "" = none.
func small(name, key, options string, more ...string) []string {
	if key != "" {
		key = ", PRIMARY KEY (" + key + ")"
		if !strings.Contains(options, "'bucket'") {
			options += ", 'bucket' = '1'"
		}
	}
	return append([]string{
		fmt.Sprintf("CREATE TABLE %s (k INT, v STRING, n INT%s) WITH (%s%s)", name, key, quick, options),
		fmt.Sprintf("INSERT INTO %s VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)", name),
		fmt.Sprintf("INSERT INTO %s VALUES (2, 'b', 5), (4, 'd', 4)", name),
	}, more...)
}

// waiting are options of a table that only CALL sys.compact compacts.
const waiting = ", 'write-only' = 'true'"

// postponed are options of a table whose rows wait for a compaction that gives them buckets.
const postponed = ", 'bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false'"

// options of changelog producers and deletion vectors.
const (
	lookup   = ", 'changelog-producer' = 'lookup'"
	fully    = ", 'changelog-producer' = 'full-compaction'"
	input    = ", 'changelog-producer' = 'input'"
	vectors  = ", 'deletion-vectors.enabled' = 'true'"
	wide     = vectors + ", 'deletion-vectors.bitmap64' = 'true'"
	changing = ", 'changelog-producer.row-deduplicate' = 'true'"
)

// options of merge engines.
const (
	firstRow  = ", 'merge-engine' = 'first-row'"
	partial   = ", 'merge-engine' = 'partial-update'"
	sequenced = ", 'merge-engine' = 'partial-update', 'fields.n.sequence-group' = 'v'"
	summed    = ", 'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum', 'fields.v.aggregate-function' = 'listagg'"
)

// upsert writes a key that is there with another row, one with the same row, and a new one.
const upsert = "INSERT INTO a VALUES (2, 'B', 9), (3, 'c', 3), (10, 'x', 1)"

// often is of how many operations the dearer kinds see one.
const often = 4

var compactAll = []string{"CALL sys.compact('a')"}

// aged is a table of which 400 rows are on the top level, and changes of some on level 0.
func aged(options string) []string {
	return []string{
		"CREATE TABLE n AS WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 400) SELECT i FROM c",
		"CREATE TABLE a (k INT, v STRING, n INT, PRIMARY KEY (k)) WITH (" + quick + ", 'bucket' = '1'" + waiting + options + ")",
		"INSERT INTO a SELECT i, CONCAT('some text ', i), i FROM n",
		"CALL sys.compact('a')",
		"DROP TABLE n",
		"INSERT INTO a VALUES (7, 'g', 1), (500, 'y', 1)",
		"INSERT INTO a VALUES (9, 'g', 1), (7, 'h', 1)",
	}
}

// compactions rewrite files: the rows stay.
var compactions = []kind{
	{name: "compact deletes", setup: small("a", "k", waiting, "DELETE FROM a WHERE k = 1"), run: compactAll, finish: compactAll},
	{name: "compact partial update", setup: small("a", "k", waiting+partial, "INSERT INTO a (k, v) VALUES (2, 'w')"), run: compactAll, finish: compactAll},
	{name: "compact aggregation", setup: small("a", "k", waiting+summed), run: compactAll, finish: compactAll},
	{name: "compact first row", setup: small("a", "k", waiting+firstRow+lookup), run: compactAll, finish: compactAll},
	{name: "compact minor", setup: small("a", "k", waiting+", 'num-sorted-run.compaction-trigger' = '2', 'compaction.size-ratio' = '100'"), run: []string{"CALL sys.compact(table => 'a', compact_strategy => 'minor')"}, finish: compactAll},
	{name: "compact where", setup: keyTable("a", "k, p", ", 'bucket' = '1'", "INSERT INTO a VALUES (1, 'A', 1), (2, 'B', 2)"), run: []string{"CALL sys.compact(table => 'a', `where` => 'p < 3')"}, finish: compactAll, every: often},
	{name: "compact partitions with lookup", setup: keyTable("a", "k, p", ", 'bucket' = '1'"+lookup, "INSERT INTO a"+values), run: compactAll, finish: compactAll, every: often},
	{name: "compact partitions with vectors", setup: keyTable("a", "k, p", ", 'bucket' = '1'"+vectors, "INSERT INTO a"+values), run: compactAll, finish: compactAll, every: often},
	{name: "compact dynamic buckets", setup: keyTable("a", "k, p", lookup, "INSERT INTO a"+values), run: compactAll, finish: compactAll, every: often},
	{name: "compact with lookup", setup: small("a", "k", waiting+lookup, "DELETE FROM a WHERE k = 1"), run: compactAll, finish: compactAll},
	{name: "compact with lookup of changes", setup: small("a", "k", waiting+lookup+changing, "CALL sys.compact('a')", upsert), run: compactAll, finish: compactAll},
	{name: "compact with full changelog", setup: small("a", "k", waiting+fully, "CALL sys.compact('a')", upsert, "DELETE FROM a WHERE k = 1"), run: compactAll, finish: compactAll},
	{name: "compact with input changelog", setup: small("a", "k", waiting+input, "DELETE FROM a WHERE k = 1"), run: compactAll, finish: compactAll},
	{name: "compact aggregation with lookup", setup: small("a", "k", waiting+summed+lookup, "CALL sys.compact('a')", upsert), run: compactAll, finish: compactAll},
	{name: "compact beside old rows", setup: aged(lookup + vectors), run: []string{"CALL sys.compact(table => 'a', compact_strategy => 'minor')"}, finish: compactAll, every: often},
	{name: "compact beside old rows without changelog", setup: aged(wide), run: []string{"CALL sys.compact(table => 'a', compact_strategy => 'minor')"}, finish: compactAll, every: often},
	{name: "compact vectors", setup: append(aged(vectors), "CALL sys.compact(table => 'a', compact_strategy => 'minor')"), run: compactAll, finish: compactAll, every: often},
	{name: "compact wide vectors", setup: append(aged(wide+lookup), "CALL sys.compact(table => 'a', compact_strategy => 'minor')", upsert), run: compactAll, finish: compactAll, every: often},
	{name: "compact expired rows", setup: small("a", "k", waiting, "ALTER TABLE a SET ('record-level.expire-time' = '1 h', 'record-level.time-field' = 'n')", "INSERT INTO a VALUES (8, 'y', 2100000000)"), run: compactAll, finish: compactAll},
	{name: "compact database", setup: append(small("a", "k", waiting), small("b", "k", waiting+lookup)...), run: []string{"CALL sys.compact_database('default')"}, finish: []string{"CALL sys.compact('a')", "CALL sys.compact('b')"}, each: true},
}

// appendCompactions rewrite files of tables without a key.
var appendCompactions = []kind{
	{name: "compact small files", setup: small("a", "", ", 'compaction.min.file-num' = '2'"), run: compactAll, finish: compactAll},
	{name: "compact small files minor", setup: small("a", "", ", 'compaction.min.file-num' = '2'"), run: []string{"CALL sys.compact(table => 'a', compact_strategy => 'minor')"}, finish: compactAll},
	{name: "compact append buckets", setup: small("a", "", ", 'bucket' = '2', 'bucket-key' = 'k', 'write-only' = 'true'", "INSERT INTO a VALUES (1, 'a', 1), (2, 'b', 2)"), run: compactAll, finish: compactAll},
	{name: "compact tracked rows", setup: small("a", "", ", 'row-tracking.enabled' = 'true', 'compaction.min.file-num' = '2'"), run: compactAll, finish: compactAll},
	{name: "compact append partitions", setup: appendTable("a", ", 'compaction.min.file-num' = '2'", "INSERT INTO a"+values), run: []string{"CALL sys.compact(table => 'a', partitions => 'p=1;p=2')"}, finish: compactAll, every: often},
	{name: "sort", setup: small("a", "", ""), run: []string{"CALL sys.compact(table => 'a', order_strategy => 'order', order_by => 'v,k')"}, finish: compactAll},
	{name: "sort by curve", setup: appendTable("a", ""), run: []string{"CALL sys.compact(table => 'a', order_strategy => 'zorder', order_by => 'k,v', `where` => 'p = 1')"}, finish: compactAll},
	{name: "sort marked files", setup: small("a", "", vectors, "DELETE FROM a WHERE k < 3"), run: []string{"CALL sys.compact(table => 'a', order_strategy => 'hilbert', order_by => 'k,n')"}, finish: compactAll},
	{name: "compact marked files", setup: small("a", "", vectors, "DELETE FROM a WHERE k = 1 OR n = 5"), run: compactAll, finish: compactAll},
	{name: "compact some marked files", setup: appendTable("a", wide+", 'compaction.min.file-num' = '2'", "INSERT INTO a VALUES (5, 'e', 1), (6, 'f', 1), (7, 'g', 2)", "DELETE FROM a WHERE k < 6"), run: []string{"CALL sys.compact(table => 'a', partitions => 'p=1')"}, finish: compactAll, every: often},
	{name: "compact marked buckets", setup: small("a", "", vectors+", 'bucket' = '1', 'bucket-key' = 'k', 'write-only' = 'true'", "DELETE FROM a WHERE k = 2"), run: compactAll, finish: compactAll},
}

// bucketMoves bring rows into other buckets.
var bucketMoves = []kind{
	{name: "compact postponed", setup: small("a", "k", postponed), run: compactAll, finish: compactAll},
	{name: "compact postponed again", setup: small("a", "k", postponed, "CALL sys.compact('a')", upsert, upsert), run: compactAll, finish: compactAll, every: often},
	{name: "compact postponed with lookup", setup: small("a", "k", postponed+lookup, "CALL sys.compact('a')", upsert), run: compactAll, finish: compactAll, every: often},
	{name: "compact postponed with input changelog", setup: small("a", "k", postponed+input, "CALL sys.compact('a')", upsert), run: compactAll, finish: compactAll, every: often},
	{name: "compact postponed with vectors", setup: small("a", "k", postponed+vectors, "CALL sys.compact('a')", upsert), run: compactAll, finish: compactAll, every: often},
	{name: "compact postponed partitions", setup: keyTable("a", "k, p", postponed), run: []string{"CALL sys.compact(table => 'a', partitions => 'p=1')"}, finish: compactAll, every: often},
	{name: "rescale", setup: small("a", "k", waiting, "DELETE FROM a WHERE k = 1"), run: []string{"CALL sys.rescale('a', 3)"}, finish: compactAll},
	{name: "rescale where", setup: keyTable("a", "k, p", ", 'bucket' = '1'"), run: []string{"CALL sys.rescale(table => 'a', bucket_num => 2, `where` => 'p = 1')"}, finish: compactAll, every: often},
	{name: "rescale with lookup", setup: small("a", "k", lookup), run: []string{"CALL sys.rescale('a', 2)"}, finish: compactAll, every: often},
	{name: "rescale with vectors", setup: small("a", "k", vectors+waiting, "CALL sys.compact('a')", upsert), run: []string{"CALL sys.rescale('a', 2)"}, finish: compactAll, every: often},
	{name: "rescale append buckets", setup: small("a", "", ", 'bucket' = '1', 'bucket-key' = 'k', 'write-only' = 'true'"), run: []string{"CALL sys.rescale('a', 2)"}, finish: compactAll},
	{name: "rescale postponed", setup: small("a", "k", postponed, "CALL sys.compact('a')", upsert), run: []string{"CALL sys.rescale('a', 2)"}, finish: compactAll, every: often},
}

// changed are statements after whose commit a compaction writes a changelog or vectors.
var changed = []kind{
	upserted("lookup", lookup),
	upserted("lookup of changes", lookup+changing),
	upserted("lookup and vectors", lookup+vectors),
	upserted("wide vectors", wide+", 'num-sorted-run.compaction-trigger' = '2'"),
	upserted("input changelog and vectors", input+vectors),
	upserted("input changelog and compaction", input+", 'num-sorted-run.compaction-trigger' = '2'"),
	upserted("full changelog", fully),
	upserted("full changelog of each commit", fully+", 'full-compaction.delta-commits' = '1'"),
	upserted("full changelog of changes", fully+changing),
	upserted("full compactions", ", 'full-compaction.delta-commits' = '1'"),
	upserted("first row", firstRow+lookup),
	upserted("first row without changelog", firstRow),
	upserted("partial update and lookup", partial+lookup),
	upserted("sequence group and full changelog", sequenced+fully),
	upserted("sequence group, lookup and vectors", sequenced+lookup+vectors),
	upserted("sequence field, lookup and vectors", ", 'sequence.field' = 'n'"+lookup+vectors),
	added("aggregation and lookup", summed+lookup),
	added("aggregation and full changelog", summed+fully),
	added("aggregation and vectors", summed+vectors),
	upserted("dynamic buckets and lookup", ", 'bucket' = '-1'"+lookup),
	upserted("dynamic buckets, full changelog", ", 'bucket' = '-1'"+fully),
	upserted("dynamic buckets, lookup and vectors", ", 'bucket' = '-1'"+lookup+vectors),
	{name: "insert with partitions, lookup and vectors", setup: keyTable("a", "k, p", compacted+", 'bucket' = '1'"+lookup+vectors), run: []string{"INSERT INTO a" + values}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "insert with partitions and full changelog", setup: keyTable("a", "k, p", compacted+", 'bucket' = '1'"+fully), run: []string{"INSERT INTO a" + values}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "insert cross partition with lookup", setup: keyTable("a", "k", compacted+lookup), run: []string{"INSERT INTO a VALUES (2, 'B', 7), (10, 'x', 1)"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "insert beside old rows", setup: append(aged(lookup+vectors), "CALL sys.compact(table => 'a', compact_strategy => 'minor')", "ALTER TABLE a SET ('write-only' = 'false')"), run: []string{upsert}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "insert append buckets and compact", setup: small("a", "", ", 'bucket' = '1', 'bucket-key' = 'k', 'compaction.min.file-num' = '2'"), run: []string{upsert}, each: true, lazy: true, once: true, finish: compactAll, every: often},
	{name: "update with lookup and vectors", setup: small("a", "k", lookup+vectors), run: []string{"UPDATE a SET v = 'u' WHERE k > 2"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "update with full changelog", setup: small("a", "k", fully), run: []string{"UPDATE a SET v = 'u' WHERE k > 2"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "delete with lookup and vectors", setup: small("a", "k", lookup+vectors), run: []string{"DELETE FROM a WHERE k > 2"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "delete with lookup", setup: small("a", "k", lookup), run: []string{"DELETE FROM a"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "transaction with lookup", setup: small("a", "k", lookup), run: []string{"BEGIN", upsert, "DELETE FROM a WHERE k = 1", "COMMIT"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "overwrite with lookup", setup: small("a", "k", lookup), run: []string{"INSERT OVERWRITE a VALUES (2, 'o', 1), (7, 'o', 2)"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "overwrite with full changelog", setup: keyTable("a", "k, p", compacted+", 'bucket' = '1'"+fully), run: []string{"INSERT OVERWRITE a VALUES (30, 'o', 1)"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "overwrite with vectors", setup: small("a", "k", lookup+vectors), run: []string{"INSERT OVERWRITE a VALUES (2, 'o', 1), (7, 'o', 2)"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "insert, compact and expire", setup: small("a", "k", lookup+", 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '2'"), run: []string{upsert}, each: true, lazy: true, expires: true, finish: compactAll, every: often},
	{name: "insert, compact and expire vectors", setup: small("a", "k", vectors+", 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1'"), run: []string{upsert}, each: true, lazy: true, expires: true, finish: compactAll, every: often},
	{name: "insert with lookup and keep changelogs", setup: small("a", "k", lookup+keep), run: []string{upsert}, each: true, lazy: true, expires: true, finish: compactAll, every: often},
	{name: "insert with full changelog and keep changelogs", setup: small("a", "k", fully+keep), run: []string{upsert}, each: true, lazy: true, expires: true, finish: compactAll, every: often},
	{name: "insert with lookup and expire changelogs", setup: small("a", "k", lookup+keepFew), run: []string{upsert}, each: true, lazy: true, expires: true, finish: compactAll, every: often},
}

// removed are statements that remove rows, snapshots or changelogs where there are vectors and changelogs.
var removed = []kind{
	{name: "drop partition with vectors", setup: keyTable("a", "k, p", compacted+", 'bucket' = '1'"+vectors, "INSERT INTO a"+values), run: []string{"ALTER TABLE a DROP PARTITION (p = 2)"}, finish: compactAll, every: often},
	{name: "truncate with lookup", setup: small("a", "k", lookup+vectors), run: []string{"TRUNCATE TABLE a"}, finish: compactAll, every: often},
	{name: "delete from wide marked files", setup: small("a", "", wide+", 'deletion-vector.index-file.target-size' = '1 b'", "DELETE FROM a WHERE n = 2"), run: []string{"DELETE FROM a WHERE k = 1 OR k = 4"}, finish: compactAll, every: often},
	{name: "delete the rest of marked files", setup: small("a", "", vectors, "DELETE FROM a WHERE k = 1"), run: []string{"DELETE FROM a WHERE k <= 3"}, finish: compactAll, every: often},
	{name: "delete from marked buckets", setup: small("a", "", vectors+", 'bucket' = '1', 'bucket-key' = 'k', 'write-only' = 'true'", "DELETE FROM a WHERE k = 1"), run: []string{"DELETE FROM a WHERE k = 2"}, finish: compactAll, every: often},
	{name: "update of marked tracked rows", setup: small("a", "", vectors+", 'row-tracking.enabled' = 'true'", "DELETE FROM a WHERE k = 1"), run: []string{"UPDATE a SET v = 'u' WHERE k = 2"}, finish: compactAll, every: often},
	{name: "expire compacted snapshots", setup: small("a", "k", lookup+vectors, upsert), run: []string{"CALL sys.expire_snapshots(table => 'a', retain_max => 2, retain_min => 1)"}, finish: compactAll, each: true, leaves: true, every: often},
	{name: "expire marked files", setup: small("a", "", vectors+", 'compaction.min.file-num' = '2'", "DELETE FROM a WHERE k = 1", "CALL sys.compact('a')"), run: []string{"CALL sys.expire_snapshots(table => 'a', retain_max => 1, retain_min => 1)"}, finish: compactAll, each: true, leaves: true, every: often},
	{name: "expire changelogs of compactions", setup: small("a", "k", lookup+keep, upsert), run: []string{"CALL sys.expire_changelogs(table => 'a', retain_max => 1, retain_min => 1)"}, finish: compactAll, each: true, expires: true, leaves: true, every: often},
	{name: "delete tag of compacted files", setup: small("a", "k", lookup, "CALL sys.create_tag('a', 'v1', 2)", upsert, "CALL sys.expire_snapshots(table => 'a', retain_max => 1, retain_min => 1)"), run: []string{"CALL sys.delete_tag('a', 'v1')"}, finish: compactAll, leaves: true, every: often},
	{name: "rollback with lookup and vectors", setup: small("a", "k", lookup+vectors, upsert), run: []string{"CALL sys.rollback_to(table => 'a', snapshot_id => 2)"}, finish: compactAll, each: true, gaps: true, leaves: true, every: often},
}

// written are ways to write beside INSERT, and tables whose compactions write other files.
var written = []kind{
	{name: "insert postponed rows", setup: small("a", "k", postponed+lookup, "CALL sys.compact('a')"), run: []string{upsert}, finish: compactAll, every: often},
	{name: "insert or update with lookup and vectors", setup: small("a", "k", lookup+vectors), run: []string{upsert + " ON DUPLICATE KEY UPDATE v = 'u'"}, each: true, lazy: true, once: true, finish: compactAll, every: often},
	{name: "insert ignore with lookup and vectors", setup: small("a", "k", lookup+vectors), run: []string{strings.Replace(upsert, "INSERT", "INSERT IGNORE", 1)}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "load data with lookup", setup: small("a", "k", lookup), run: []string{"LOAD DATA LOCAL INFILE 'x' INTO TABLE a"}, each: true, lazy: true, finish: compactAll, every: often},
	{name: "insert many with lookup", setup: small("a", "k", lookup+vectors, "CREATE TABLE n AS WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 70) SELECT i FROM c"),
		run: []string{"INSERT INTO a SELECT x.i * 70 + y.i, 'm', 1 FROM n x, n y"}, each: true, lazy: true, finish: compactAll, every: 4 * often},
	upserted("small files, lookup and vectors", lookup+vectors+", 'target-file-row-num' = '2'"),
	upserted("formats by level", lookup+", 'file.format' = 'orc', 'file.format.per.level' = '0:avro', 'changelog-file.format' = 'avro'"),
	upserted("indexes and full changelog", fully+", 'file-index.bitmap.columns' = 'v', 'file-index.in-manifest-threshold' = '1 b'"),
	upserted("merged manifests and lookup", lookup+vectors+", 'manifest.merge-min-count' = '2', 'manifest.full-compaction-threshold-size' = '1 b'"),
	upserted("index files beside data", lookup+vectors+", 'index-file-in-data-file-dir' = 'true'"),
	{name: "compact branch", setup: small("a", "k", waiting+lookup, "CALL sys.create_tag('a', 'v1', 2)", "CALL sys.create_branch('a', 'b1', 'v1')", strings.Replace(upsert, "a", "`a$branch_b1`", 1)),
		run: []string{"CALL sys.compact('a$branch_b1')"}, finish: []string{"CALL sys.compact('a$branch_b1')", "CALL sys.compact('a')"}, every: often},
	{name: "compact manifests with vectors", setup: small("a", "k", lookup+vectors, upsert, "DELETE FROM a WHERE k = 1"), run: []string{"CALL sys.compact_manifest('a')"}, finish: compactAll, every: often},
}

// keep and keepFew are options that keep one snapshot, and changelogs for longer.
const (
	keepOne = ", 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1', 'changelog.num-retained.min' = '1', 'changelog.time-retained' = '1 d'"
	keep    = keepOne + ", 'changelog.num-retained.max' = '20'"
	keepFew = keepOne + ", 'changelog.num-retained.max' = '4'"
)

// upserted is an INSERT that may be repeated.
func upserted(name, options string) kind {
	return kind{name: "insert with " + name, setup: small("a", "k", options), run: []string{upsert}, each: true, lazy: true, finish: compactAll, every: often}
}

// added is an INSERT whose rows count each time.
func added(name, options string) kind {
	k := upserted(name, options)
	k.once = true
	return k
}
