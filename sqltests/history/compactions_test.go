package history

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// compacted are tables whose buckets are compacted after every statement, by both processes, and beside that on demand.
var compacted = []string{"vectors", "vectors_lookup", "lookup", "full"}

// told is the one of them that is neither overwritten nor expired: its changelog tells what it holds.
const told = "lookup"

var compactedDefinitions = []string{
	"CREATE TABLE vectors" + compactedColumns + ", 'deletion-vectors.enabled' = 'true')",
	"CREATE TABLE vectors_lookup" + compactedColumns + ", 'deletion-vectors.enabled' = 'true', 'changelog-producer' = 'lookup')",
	"CREATE TABLE lookup" + compactedColumns + ", 'changelog-producer' = 'lookup')",
	"CREATE TABLE full" + compactedColumns + ", 'changelog-producer' = 'full-compaction')",
}

const compactedColumns = " (k INT, p INT, v STRING, PRIMARY KEY (k, p)) PARTITIONED BY (p) WITH (" + patient + ", 'bucket' = '1', 'num-sorted-run.compaction-trigger' = '3'"

// cellOf is a key of a partition.
func cellOf(table string, p, k int) string { return fmt.Sprintf("%s/p=%d/k=%d", table, p, k) }

// readTable reads all of a table.
func (c *client) readTable(ctx context.Context, table string) {
	var objects []string
	for p := range partitions {
		for k := range keys {
			objects = append(objects, cellOf(table, p, k))
		}
	}
	c.read(ctx, "SELECT CONCAT('/p=', p, '/k=', k), v FROM "+table, func(cells []string) (string, string) { return table + cells[0], cells[1] }, objects...)
}

// compactStep sends one random statement to a table that is compacted.
func (c *client) compactStep(ctx context.Context) {
	table := compacted[c.rnd.Intn(len(compacted))]
	p := c.rnd.Intn(partitions)
	switch n := c.rnd.Intn(100); {
	case n < 40:
		var rows []string
		var effects []Effect
		for _, k := range c.rnd.Perm(keys)[:1+c.rnd.Intn(3)] {
			v := c.number()
			rows = append(rows, fmt.Sprintf("(%d, %d, '%s')", k, p, v))
			effects = append(effects, Effect{Set, cellOf(table, p, k), []string{v}})
		}
		c.exec(ctx, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "), effects...)
	case n < 48 && table != told:
		k, v := c.rnd.Intn(keys), c.number()
		var effects []Effect
		for i := range keys {
			e := Effect{Kind: Set, Object: cellOf(table, p, i)}
			if i == k {
				e.Values = []string{v}
			}
			effects = append(effects, e)
		}
		c.exec(ctx, fmt.Sprintf("INSERT OVERWRITE %s PARTITION (p = %d) VALUES (%d, '%s')", table, p, k, v), effects...)
	case n < 60:
		c.exec(ctx, "CALL sys.compact('"+table+"')")
	case n < 68:
		c.exec(ctx, "CALL sys.compact(table => '"+table+"', compact_strategy => 'minor')")
	case n < 76 && table != told:
		c.exec(ctx, fmt.Sprintf("CALL sys.expire_snapshots(table => '%s', retain_max => %d, retain_min => 1)", table, 1+c.rnd.Intn(4)))
	case n < 78:
		c.exec(ctx, "CALL sys.remove_orphan_files(table => '"+table+"', dry_run => true)")
	default:
		c.readTable(ctx, table)
	}
}

// TestCompactingProcesses lets two servers write, overwrite, compact and expire the same buckets at once, and kills
// one of them amid that: no row is lost or comes back, no vector is left without its file, and the changelog tells
// what the table holds.
func TestCompactingProcesses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := startProcesses(ctx, t, 3, 50, 100, compactedDefinitions)
	b.run(func(c *client) { c.compactStep(ctx) })
	first := b.clients[0]
	for _, table := range compacted {
		// What a killed process has committed and not compacted comes to light now, or has before.
		first.exec(ctx, "CALL sys.compact('"+table+"')")
		first.readTable(ctx, table)
		b.clients[b.connections].readTable(ctx, table)
	}
	changelogTells(ctx, t, first.db(), told)
	b.end(compacted...)
}

// changelogTells replays all changes of a table and compares the result with what it holds.
func changelogTells(ctx context.Context, t *testing.T, db *sql.DB, table string) {
	t.Helper()
	query := func(text string, row func(cells []string)) {
		rows, err := db.QueryContext(ctx, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		defer rows.Close()
		for rows.Next() {
			cells := make([]string, 4)
			if err := rows.Scan(&cells[0], &cells[1], &cells[2], &cells[3]); err != nil {
				t.Fatal(err)
			}
			row(cells)
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	var last int64
	if err := db.QueryRowContext(ctx, "SELECT MAX(snapshot_id) FROM `"+table+"$snapshots`").Scan(&last); err != nil {
		t.Fatal(err)
	}
	now, changes := map[string]string{}, 0
	for id := int64(1); id <= last; id++ {
		query(fmt.Sprintf("SELECT rowkind, p, k, v FROM `%s$audit_log` /*+ OPTIONS('incremental-between' = '%d,%d', 'incremental-between-scan-mode' = 'changelog') */", table, id-1, id), func(c []string) {
			changes++
			key, old := c[1]+"/"+c[2], now[c[1]+"/"+c[2]]
			switch c[0] {
			case "+I", "+U":
				if old != "" {
					t.Errorf("table %s, snapshot %d: %s of key %s with value %s, which has value %s", table, id, c[0], key, c[3], old)
				}
				now[key] = c[3]
			default:
				if old != c[3] {
					t.Errorf("table %s, snapshot %d: %s of key %s with value %s, which has value %s", table, id, c[0], key, c[3], old)
				}
				delete(now, key)
			}
		})
	}
	held := map[string]string{}
	query("SELECT '', p, k, v FROM "+table, func(c []string) { held[c[1]+"/"+c[2]] = c[3] })
	if fmt.Sprint(now) != fmt.Sprint(held) {
		t.Errorf("table %s holds %v, its changelog tells %v", table, held, now)
	}
	if changes == 0 || len(held) == 0 {
		t.Errorf("table %s has %d changes and %d rows", table, changes, len(held))
	}
}
