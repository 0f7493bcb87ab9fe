package faults

import (
	"fmt"
	"slices"
	"strings"
)

// quick are options that keep attempts short.
const quick = "'commit.min-retry-wait' = '1 ms', 'commit.max-retry-wait' = '1 ms'"

// rowsOf makes the statements that give a table k, v, p three snapshots.
func rowsOf(name string, more ...string) []string {
	return append([]string{
		fmt.Sprintf("INSERT INTO %s VALUES (1, 'a', 1), (2, 'b', 2)", name),
		fmt.Sprintf("INSERT INTO %s VALUES (3, 'c', 1)", name),
		fmt.Sprintf("INSERT INTO %s VALUES (4, 'd', 3)", name),
	}, more...)
}

func appendTable(name, options string, more ...string) []string {
	return append([]string{fmt.Sprintf("CREATE TABLE %s (k INT, v STRING, p INT) PARTITIONED BY (p) WITH (%s%s)", name, quick, options)}, rowsOf(name, more...)...)
}

// keyTable is not compacted after commits, unless the options begin with compacted.
func keyTable(name, key, options string, more ...string) []string {
	if rest, ok := strings.CutPrefix(options, compacted); ok {
		options = rest
	} else {
		options += ", 'write-only' = 'true'"
	}
	return append([]string{fmt.Sprintf("CREATE TABLE %s (k INT, v STRING, p INT, PRIMARY KEY (%s)) PARTITIONED BY (p) WITH (%s%s)", name, key, quick, options)}, rowsOf(name, more...)...)
}

// history has tags, branches and consumers.
func history(more ...string) []string {
	return appendTable("a", "", append([]string{
		"CALL sys.create_tag('a', 'v1', 1)",
		"CALL sys.create_tag('a', 'v2', 2)",
		"CALL sys.create_tag('a', 'v3', 3)",
		"CALL sys.create_branch('a', 'b1', 'v2')",
		"INSERT INTO `a$branch_b1` VALUES (9, 'z', 9)",
	}, more...)...)
}

// values are the rows that an INSERT adds to tables of three columns.
const values = " VALUES (2, 'B', 2), (10, 'x', 1), (11, 'y', 4)"

var kinds = slices.Concat(definitions, inserts, changes, overwrites, references, histories, cleaning, compactions, appendCompactions, bucketMoves, changed, removed, written)

var definitions = []kind{
	{name: "create database", run: []string{"CREATE DATABASE d2"}},
	{name: "drop database", setup: slices.Concat([]string{"CREATE DATABASE d2", "CREATE TABLE d2.y (a INT)"}, appendTable("d2.x", "")),
		run: []string{"DROP DATABASE d2"}, each: true},
	{name: "create table", run: []string{"CREATE TABLE n (k INT PRIMARY KEY, v STRING DEFAULT 'x') COMMENT 'c' WITH ('bucket' = '2')"}},
	{name: "create table like", setup: appendTable("a", ""), run: []string{"CREATE TABLE n LIKE a"}},
	{name: "create table as", setup: appendTable("a", ""), run: []string{"CREATE TABLE n AS SELECT k, v FROM a"}, empty: true},
	{name: "drop table", setup: history(), run: []string{"DROP TABLE a"}},
	{name: "drop tables", setup: slices.Concat(appendTable("a", ""), appendTable("b", "")), run: []string{"DROP TABLE IF EXISTS a, b"}, each: true},
	{name: "rename table", setup: history(), run: []string{"ALTER TABLE a RENAME TO z"}},
	{name: "rename table to another database", setup: appendTable("a", "", "CREATE DATABASE d2"), run: []string{"RENAME TABLE a TO d2.z"}},
	{name: "alter columns", setup: history(), run: []string{"ALTER TABLE a ADD COLUMN w INT, RENAME COLUMN v TO vv"}},
	{name: "alter options", setup: history(), run: []string{"ALTER TABLE a SET ('snapshot.num-retained.max' = '50')"}},
	{name: "alter branch", setup: history(), run: []string{"ALTER TABLE `a$branch_b1` ADD COLUMN w INT"}},
	{name: "alter default", setup: appendTable("a", ""), run: []string{"CALL sys.alter_column_default_value('a', 'v', 'dflt')"}},
	{name: "add partition", setup: appendTable("a", ""), run: []string{"ALTER TABLE a ADD PARTITION (p = 7)"}, nothing: true},
}

var inserts = []kind{
	{name: "insert append", setup: appendTable("a", ""), run: []string{"INSERT INTO a" + values}},
	{name: "insert first", setup: []string{"CREATE TABLE a (k INT, v STRING, p INT) WITH (" + quick + ")"}, run: []string{"INSERT INTO a" + values}},
	{name: "insert select", setup: appendTable("a", ""), run: []string{"INSERT INTO a SELECT k + 100, v, p FROM a"}},
	{name: "insert partition", setup: appendTable("a", ""), run: []string{"INSERT INTO a PARTITION (p = 8) VALUES (1, 'q')"}},
	{name: "insert fixed append buckets", setup: appendTable("a", ", 'bucket' = '2', 'bucket-key' = 'k'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert avro", setup: appendTable("a", ", 'file.format' = 'avro'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert indexed", setup: appendTable("a", ", 'file-index.bloom-filter.columns' = 'k', 'file-index.in-manifest-threshold' = '1 b'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert row tracking", setup: appendTable("a", ", 'row-tracking.enabled' = 'true'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert keyed", setup: keyTable("a", "k, p", ", 'bucket' = '2'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert aggregation", setup: keyTable("a", "k, p", ", 'bucket' = '1', 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'listagg'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert partial update", setup: keyTable("a", "k, p", ", 'bucket' = '1', 'merge-engine' = 'partial-update'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert changelog input", setup: keyTable("a", "k, p", ", 'bucket' = '1', 'changelog-producer' = 'input'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert dynamic buckets", setup: keyTable("a", "k, p", ""), run: []string{"INSERT INTO a" + values}},
	{name: "insert cross partition", setup: keyTable("a", "k", ""), run: []string{"INSERT INTO a VALUES (2, 'B', 7), (10, 'x', 1), (11, 'y', 4)"}},
	{name: "insert postpone", setup: keyTable("a", "k, p", ", 'bucket' = '-2'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert branch", setup: history(), run: []string{"INSERT INTO `a$branch_b1`" + values}},
	{name: "insert merging manifests", setup: appendTable("a", ", 'manifest.merge-min-count' = '2', 'manifest.full-compaction-threshold-size' = '1 b'"), run: []string{"INSERT INTO a" + values}},
	{name: "insert and expire", setup: appendTable("a", ", 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1'"), run: []string{"INSERT OVERWRITE a" + values}, each: true, lazy: true},
	{name: "insert and changelogs", setup: keyTable("a", "k, p", changelogs), run: []string{"INSERT INTO a" + values}, each: true, lazy: true},
	{name: "insert many", setup: appendTable("a", "", "CREATE TABLE n AS WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 70) SELECT i FROM c"),
		run: []string{"INSERT INTO a SELECT x.i, 'm', 1 FROM n x, n y"}},
	{name: "replace", setup: keyTable("a", "k, p", ", 'bucket' = '1'"), run: []string{"REPLACE INTO a" + values}},
	{name: "insert and compact", setup: keyTable("a", "k, p", compacted+", 'bucket' = '1', 'num-sorted-run.compaction-trigger' = '2'"), run: []string{"INSERT INTO a" + values}, each: true, lazy: true},
	{name: "insert with lookup", setup: keyTable("a", "k, p", compacted+", 'bucket' = '1', 'changelog-producer' = 'lookup'"), run: []string{"INSERT INTO a" + values}, each: true, lazy: true},
	{name: "insert with vectors", setup: keyTable("a", "k, p", compacted+", 'bucket' = '1', 'deletion-vectors.enabled' = 'true'"), run: []string{"INSERT INTO a" + values}, each: true, lazy: true, once: true},
	{name: "insert ignore", setup: keyTable("a", "k, p", ", 'bucket' = '1'"), run: []string{"INSERT IGNORE INTO a" + values}},
	{name: "insert or update", setup: keyTable("a", "k, p", ", 'bucket' = '1'"), run: []string{"INSERT INTO a" + values + " ON DUPLICATE KEY UPDATE v = 'u'"}},
	{name: "load data", setup: appendTable("a", ""), run: []string{"LOAD DATA LOCAL INFILE 'x' INTO TABLE a"}},
	{name: "transaction of one table", setup: appendTable("a", ""), run: []string{"BEGIN", "INSERT INTO a VALUES (7, 'x', 1)", "INSERT INTO a VALUES (8, 'x', 2)", "COMMIT"}},
	{name: "transaction of two tables", setup: slices.Concat(appendTable("a", ""), keyTable("b", "k, p", ", 'bucket' = '1'")),
		run: []string{"BEGIN", "INSERT INTO a VALUES (7, 'x', 1)", "INSERT INTO b VALUES (8, 'x', 2)", "COMMIT"}, each: true, once: true},
}

var changes = []kind{
	{name: "update", setup: keyTable("a", "k, p", ", 'bucket' = '1'"), run: []string{"UPDATE a SET v = 'u' WHERE k < 3"}},
	{name: "update with input changelog", setup: keyTable("a", "k, p", ", 'bucket' = '1', 'changelog-producer' = 'input'"), run: []string{"UPDATE a SET v = UPPER(CONCAT(v, 'u'))"}},
	{name: "update with vectors", setup: keyTable("a", "k, p", compacted+", 'bucket' = '1', 'deletion-vectors.enabled' = 'true'"), run: []string{"UPDATE a SET v = 'u' WHERE k < 3"}, each: true, lazy: true, once: true},
	{name: "update of files", setup: appendTable("a", ""), run: []string{"UPDATE a SET v = 'u', p = p + 1 WHERE k < 3"}},
	{name: "update of marked files", setup: appendTable("a", ", 'deletion-vectors.enabled' = 'true'"), run: []string{"UPDATE a SET v = 'u' WHERE k < 3"}},
	{name: "delete", setup: keyTable("a", "k, p", ", 'bucket' = '1'"), run: []string{"DELETE FROM a WHERE k < 3"}},
	{name: "delete from files", setup: appendTable("a", ""), run: []string{"DELETE FROM a WHERE k < 3"}},
	{name: "delete from marked files", setup: appendTable("a", ", 'deletion-vectors.enabled' = 'true'"), run: []string{"DELETE FROM a WHERE k < 3"}},
	{name: "delete partition", setup: appendTable("a", ""), run: []string{"DELETE FROM a WHERE p = 1"}},
	{name: "delete all", setup: keyTable("a", "k, p", ", 'bucket' = '1'"), run: []string{"DELETE FROM a"}},
	{name: "changes in a transaction", setup: appendTable("a", ""), run: []string{"BEGIN", "INSERT INTO a VALUES (7, 'x', 1)", "UPDATE a SET v = 'u' WHERE k > 2", "DELETE FROM a WHERE k = 1", "COMMIT"}},
}

// compacted begins the options of tables that are compacted after commits.
const compacted = "compacted"

// changelogs are options that keep changelogs longer than snapshots.
const changelogs = compacted + ", 'num-sorted-run.compaction-trigger' = '50', 'bucket' = '1', 'changelog-producer' = 'input', 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1'," +
	" 'changelog.num-retained.min' = '1', 'changelog.num-retained.max' = '2', 'changelog.time-retained' = '1 d'"

var overwrites = []kind{
	{name: "overwrite dynamic", setup: appendTable("a", ""), run: []string{"INSERT OVERWRITE a VALUES (30, 'o', 1)"}},
	{name: "overwrite static", setup: appendTable("a", ""), run: []string{"INSERT OVERWRITE a /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ PARTITION (p = 1) VALUES (30, 'o')"}},
	{name: "overwrite everything", setup: appendTable("a", ""), run: []string{"INSERT OVERWRITE a /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ SELECT k, 'o', p FROM a WHERE k = 1"}},
	{name: "overwrite keyed", setup: keyTable("a", "k, p", ", 'bucket' = '2'"), run: []string{"INSERT OVERWRITE a VALUES (30, 'o', 1)"}},
	{name: "overwrite dynamic buckets", setup: keyTable("a", "k, p", ""), run: []string{"INSERT OVERWRITE a VALUES (30, 'o', 1)"}},
	{name: "truncate", setup: history(), run: []string{"TRUNCATE TABLE a"}},
	{name: "truncate partition", setup: appendTable("a", ""), run: []string{"TRUNCATE TABLE a PARTITION (p = 1)"}},
	{name: "drop partition", setup: keyTable("a", "k, p", ""), run: []string{"ALTER TABLE a DROP PARTITION (p = 1), PARTITION (p = 2)"}},
	{name: "procedure drop_partition", setup: appendTable("a", ""), run: []string{"CALL sys.drop_partition('a', 'p=1')"}},
}

var references = []kind{
	{name: "create tag", setup: history(), run: []string{"CALL sys.create_tag('a', 'n', 2)"}},
	{name: "create retained tag", setup: history(), run: []string{"CALL sys.create_tag(table => 'a', tag => 'n', time_retained => '1 d')"}},
	{name: "alter table create tag", setup: history(), run: []string{"ALTER TABLE a CREATE TAG n AS OF VERSION 1"}},
	{name: "create tag from timestamp", setup: history(), run: []string{"CALL sys.create_tag_from_timestamp('a', 'n', 1)"}},
	{name: "replace tag", setup: history(), run: []string{"CALL sys.replace_tag('a', 'v1', 3)"}},
	{name: "rename tag", setup: history(), run: []string{"CALL sys.rename_tag('a', 'v1', 'n')"}},
	{name: "delete tag", setup: history(), run: []string{"CALL sys.delete_tag('a', 'v1')"}},
	{name: "delete tag of expired snapshot", setup: history("INSERT OVERWRITE a"+values, "CALL sys.expire_snapshots(table => 'a', retain_max => 1, retain_min => 1)"), run: []string{"CALL sys.delete_tag('a', 'v3')"}},
	{name: "delete tags", setup: history(), run: []string{"CALL sys.delete_tag('a', 'v1,v3')"}, each: true, once: true},
	{name: "create branch", setup: history(), run: []string{"CALL sys.create_branch('a', 'n')"}},
	{name: "create branch of tag", setup: history(), run: []string{"CALL sys.create_branch('a', 'n', 'v3')"}},
	{name: "delete branch", setup: history(), run: []string{"CALL sys.delete_branch('a', 'b1')"}},
	{name: "rename branch", setup: history(), run: []string{"CALL sys.rename_branch('a', 'b1', 'n')"}},
	{name: "fast forward", setup: history(), run: []string{"CALL sys.fast_forward('a', 'b1')"}, each: true},
	{name: "fast forward to a longer branch", setup: history("INSERT INTO `a$branch_b1` VALUES (8, 'y', 9)", "INSERT INTO `a$branch_b1` VALUES (7, 'x', 9)"), run: []string{"CALL sys.fast_forward('a', 'b1')"}, each: true},
	{name: "merge branch", setup: appendTable("a", "", "CALL sys.create_branch('a', 'b2')", "INSERT INTO `a$branch_b2`"+values), run: []string{"CALL sys.merge_branch('a', 'b2')"}},
	{name: "reset consumer", setup: history(), run: []string{"CALL sys.reset_consumer('a', 'c', 2)"}},
	{name: "move consumer", setup: history("CALL sys.reset_consumer('a', 'c', 2)"), run: []string{"CALL sys.reset_consumer('a', 'c', 3)"}},
	{name: "delete consumer", setup: history("CALL sys.reset_consumer('a', 'c', 2)"), run: []string{"CALL sys.reset_consumer('a', 'c')"}},
	{name: "clear consumers", setup: history("CALL sys.reset_consumer('a', 'c', 2)", "CALL sys.reset_consumer('a', 'd', 2)"), run: []string{"CALL sys.clear_consumers('a')"}, each: true},
	{name: "mark partition done", setup: appendTable("a", ""), run: []string{"CALL sys.mark_partition_done('a', 'p=1')"}},
	{name: "mark partitions done", setup: appendTable("a", ""), run: []string{"CALL sys.mark_partition_done('a', 'p=1;p=2')"}, each: true},
}

var histories = []kind{
	{name: "rollback to snapshot", setup: history(), run: []string{"CALL sys.rollback_to(table => 'a', snapshot_id => 1)"}, each: true},
	{name: "rollback to tag", setup: history(), run: []string{"CALL sys.rollback_to('a', 'v2')"}, each: true},
	{name: "rollback to expired tag", setup: history("CALL sys.expire_snapshots(table => 'a', retain_max => 1, retain_min => 1)"), run: []string{"CALL sys.rollback_to('a', 'v1')"}, each: true},
	{name: "rollback keyed", setup: keyTable("a", "k, p", ", 'changelog-producer' = 'input', 'bucket' = '1'"), run: []string{"CALL sys.rollback_to(table => 'a', snapshot_id => 1)"}, each: true, gaps: true},
	{name: "rollback branch", setup: history(), run: []string{"CALL sys.rollback_to('a$branch_b1', 'v2')"}, each: true},
	{name: "rollback as latest", setup: history(), run: []string{"CALL sys.rollback_to_as_latest(table => 'a', snapshot_id => 1)"}, each: true, once: true},
	{name: "compact", setup: keyTable("a", "k, p", ", 'bucket' = '1'"), run: []string{"CALL sys.compact('a')"}},
	{name: "analyze", setup: appendTable("a", ""), run: []string{"ANALYZE TABLE a COMPUTE STATISTICS FOR ALL COLUMNS"}},
	{name: "compact manifests", setup: appendTable("a", "", "TRUNCATE TABLE a", "INSERT INTO a"+values), run: []string{"CALL sys.compact_manifest('a')"}},
}

var cleaning = []kind{
	{name: "expire snapshots", setup: history("INSERT OVERWRITE a" + values), run: []string{"CALL sys.expire_snapshots(table => 'a', retain_max => 1, retain_min => 1)"}, each: true},
	{name: "expire snapshots without tags", setup: keyTable("a", "k, p", ", 'bucket' = '1', 'changelog-producer' = 'input'", "INSERT OVERWRITE a"+values), run: []string{"CALL sys.expire_snapshots(table => 'a', retain_max => 1, retain_min => 1)"}, each: true},
	{name: "expire dynamic buckets", setup: keyTable("a", "k, p", "", "INSERT OVERWRITE a"+values), run: []string{"CALL sys.expire_snapshots(table => 'a', retain_max => 2, retain_min => 1)"}, each: true},
	{name: "expire changelogs", setup: keyTable("a", "k, p", changelogs, "ALTER TABLE a SET ('changelog.num-retained.max' = '9')", "INSERT INTO a"+values, "INSERT INTO a"+values),
		run: []string{"CALL sys.expire_changelogs(table => 'a', retain_max => 1, retain_min => 1)"}, each: true},
	{name: "expire tags", setup: history("CALL sys.create_tag(table => 'a', tag => 'r1', time_retained => '1 ms')", "CALL sys.create_tag(table => 'a', tag => 'r2', time_retained => '1 ms')", "SELECT SLEEP(0.01)"), run: []string{"CALL sys.expire_tags('a')"}, each: true},
	{name: "expire partitions", setup: []string{"CREATE TABLE a (k INT, dt STRING) PARTITIONED BY (dt) WITH (" + quick + ")", "INSERT INTO a VALUES (1, '2020-01-01'), (2, '2020-01-02'), (3, '2999-01-01')"},
		run: []string{"CALL sys.expire_partitions('a', '1 d', 'yyyy-MM-dd', '$dt', 'values-time')"}},
	{name: "remove orphan files", setup: history("TRUNCATE TABLE `a$branch_b1`", "CALL sys.delete_branch('a', 'b1')"), run: []string{"CALL sys.remove_orphan_files(table => 'a', older_than => '2020-01-01 00:00:00')"}, nothing: true},
	{name: "remove unexisting files", setup: history(), run: []string{"CALL sys.remove_unexisting_files('a')"}, nothing: true},
	{name: "automatic tags", setup: appendTable("a", ""), run: []string{"CALL sys.trigger_tag_automatic_creation('a')"}, nothing: true},
	{name: "repair", setup: history(), run: []string{"CALL sys.repair('a')"}, nothing: true},
}
