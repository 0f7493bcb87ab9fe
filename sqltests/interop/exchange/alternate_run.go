package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// alternateFirst is how many rows each table begins with, alternateRows how many a later round writes.
	alternateFirst, alternateRows = 240, 9
	// alternateKeys is the number of keys of a partition, alternatePartitions that of partitions.
	alternateKeys, alternatePartitions = 150, 2
	// quietTries is how often the snapshots are asked for again, after a pause each, until no compaction adds one.
	quietTries, quietPause = 5, time.Second
	// alternatePrefix begins the names of the tables.
	alternatePrefix = "alternate_"
)

// alternateTable is a keyed table that Tributary and Paimon write and compact in turn.
type alternateTable struct {
	name, options string
	// engine is the merge engine: deduplicate, first-row or aggregation.
	engine string
	// changelog says that a changelog is made, exact that it tells what the rows become.
	changelog, exact bool

	// rows are what the table must hold: op, v and n by partition and key.
	rows map[string][3]string
	// read are the rows and the newest snapshot after the round before.
	read []string
	last int
}

// alternateTables makes the tables: each changelog producer, with deletion vectors and without them.
func alternateTables() []*alternateTable {
	const deletes = "'rowkind.field' = 'op', "
	out := []*alternateTable{
		{name: "none", options: deletes + "'bucket' = '2'"},
		{name: "none_vectors", options: deletes + "'bucket' = '2', 'deletion-vectors.enabled' = 'true'"},
		{name: "input", options: deletes + "'bucket' = '2', 'changelog-producer' = 'input'", changelog: true},
		{name: "lookup", options: deletes + "'bucket' = '2', 'changelog-producer' = 'lookup'", changelog: true, exact: true},
		{name: "lookup_vectors", options: deletes + "'bucket' = '2', 'changelog-producer' = 'lookup', 'deletion-vectors.enabled' = 'true'", changelog: true, exact: true},
		{name: "full", options: deletes + "'bucket' = '2', 'changelog-producer' = 'full-compaction'", changelog: true, exact: true},
		{name: "dynamic", options: deletes + "'dynamic-bucket.target-row-num' = '60', 'changelog-producer' = 'lookup', 'deletion-vectors.enabled' = 'true'", changelog: true, exact: true},
		{name: "first", engine: "first-row", options: "'bucket' = '1', 'merge-engine' = 'first-row', 'changelog-producer' = 'lookup'", changelog: true, exact: true},
		{name: "sums", engine: "aggregation", options: "'bucket' = '1', 'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum', " +
			"'changelog-producer' = 'lookup', 'deletion-vectors.enabled' = 'true'", changelog: true, exact: true},
	}
	for _, t := range out {
		t.name, t.rows = alternatePrefix+t.name, map[string][3]string{}
	}
	return out
}

func (t *alternateTable) definition() string {
	return "CREATE TABLE " + t.name + " (k INT, p INT, op STRING, v STRING, n BIGINT, PRIMARY KEY (k, p) NOT ENFORCED) PARTITIONED BY (p) WITH (" + t.options +
		", 'num-sorted-run.compaction-trigger' = '3')"
}

// more makes an INSERT of random rows of distinct keys, and notes what the table holds after it.
func (t *alternateTable) more(rnd *rand.Rand, round, rows int) string {
	var values []string
	seen := map[string]bool{}
	for len(values) < rows {
		k, p := rnd.Intn(alternateKeys), rnd.Intn(alternatePartitions)
		key := fmt.Sprintf("%d\t%d", k, p)
		if seen[key] {
			continue
		}
		seen[key] = true
		op := []string{"+I", "+U"}[rnd.Intn(2)]
		if t.engine == "" && round > 0 && rnd.Intn(4) == 0 {
			op = "-D"
		}
		v, n := fmt.Sprintf("r%d-%016x", round, rnd.Uint64()), rnd.Intn(1000)
		values = append(values, fmt.Sprintf("(%d, %d, '%s', '%s', %d)", k, p, op, v, n))
		old, had := t.rows[key]
		switch {
		case op == "-D" && t.engine == "":
			delete(t.rows, key)
		case t.engine == "first-row" && had:
		case t.engine == "aggregation" && had:
			sum, _ := strconv.Atoi(old[2])
			t.rows[key] = [3]string{op, v, strconv.Itoa(sum + n)}
		default:
			t.rows[key] = [3]string{op, v, strconv.Itoa(n)}
		}
	}
	return "INSERT INTO " + t.name + " VALUES " + strings.Join(values, ", ")
}

// want are the rows that the table must hold, sorted.
func (t *alternateTable) want() (out []string) {
	for key, r := range t.rows {
		out = append(out, key+"\t"+strings.Join(r[:], "\t"))
	}
	slices.Sort(out)
	return out
}

// alternation is the run of all tables.
type alternation struct {
	tables []*alternateTable
	mine   func(ctx context.Context, sql string) ([]string, error)
	paimon func(sql string) ([]string, error)
	// compared counts rows that both engines gave.
	compared int
}

// alternate lets Tributary and Paimon write and compact the same keyed tables in turn. After each round both read the tables, the
// changes since the round before, and the snapshots, and must agree with each other and with what the statements mean.
func (x *exchange) alternate(ctx context.Context, rounds int) error {
	paimon := x.engines["paimon"]
	if paimon == nil {
		x.print("skip: tables written in turn: paimon is not there")
		x.Skipped++
		return nil
	}
	exec, query := serverRival(x.db)
	a := &alternation{tables: alternateTables(), mine: query, paimon: paimon.run}
	for _, t := range a.tables {
		if err := exec(ctx, t.definition()); err != nil {
			return fmt.Errorf("%s: %w", t.definition(), err)
		}
	}
	rnd := rand.New(rand.NewSource(1))
	for round := range rounds {
		rows := alternateRows
		if round == 0 {
			rows = alternateFirst
		}
		var inserts []string
		for _, t := range a.tables {
			inserts = append(inserts, t.more(rnd, round, rows))
		}
		// Tributary writes in even rounds and Paimon in odd ones; who has not written compacts in every other round of theirs.
		turn := round / 2
		if round%2 == 0 {
			for _, q := range inserts {
				if err := exec(ctx, q); err != nil {
					return fmt.Errorf("round %d: %.200s: %w", round, q, err)
				}
			}
			if turn%2 == 1 {
				if _, err := paimon.run("CALL sys.compact_database(including_databases => 'default', including_tables => 'default." + alternatePrefix + ".*')"); err != nil {
					return fmt.Errorf("round %d: Paimon compacts: %w", round, err)
				}
			}
		} else {
			if _, err := paimon.run("EXECUTE STATEMENT SET BEGIN " + strings.Join(inserts, "; ") + "; END"); err != nil {
				return fmt.Errorf("round %d: Paimon writes: %w", round, err)
			}
			for _, t := range a.tables {
				if err := exec(ctx, "CALL sys.compact(`table` => '"+t.name+"', compact_strategy => '"+[]string{"minor", "full"}[turn%2]+"')"); err != nil {
					return fmt.Errorf("round %d: compacting %s: %w", round, t.name, err)
				}
			}
		}
		if err := a.compare(ctx); err != nil {
			return fmt.Errorf("after round %d: %w", round, err)
		}
	}
	x.print(fmt.Sprintf("ok: tables written in turn: %d tables, %d rounds, %d rows agree", len(a.tables), rounds, a.compared))
	x.Passed++
	return nil
}

// compare reads everything with both engines.
func (a *alternation) compare(ctx context.Context) error {
	rows, err := a.both(ctx, func(t *alternateTable) string { return "SELECT '%s', k, p, op, v, n FROM " + t.name })
	if err != nil {
		return err
	}
	// A compaction that no statement waits for may make a snapshot between the two answers.
	var snapshots map[string][]string
	for try := 0; ; try++ {
		snapshots, err = a.both(ctx, func(t *alternateTable) string {
			return "SELECT '%s', snapshot_id, schema_id, commit_kind, COALESCE(total_record_count, -1), COALESCE(delta_record_count, -1), COALESCE(changelog_record_count, -1) FROM `" + t.name + "$snapshots`"
		})
		if err == nil {
			break
		}
		if try == quietTries {
			return err
		}
		time.Sleep(quietPause)
	}
	newest := map[string]int{}
	for _, t := range a.tables {
		for _, s := range snapshots[t.name] {
			id, err := strconv.Atoi(s[:strings.IndexByte(s, '\t')])
			if err != nil {
				return err
			}
			newest[t.name] = max(newest[t.name], id)
		}
		if len(snapshots[t.name]) != newest[t.name] {
			return fmt.Errorf("table %s: %d snapshots up to id %d", t.name, len(snapshots[t.name]), newest[t.name])
		}
	}
	changes, err := a.both(ctx, func(t *alternateTable) string {
		query := "SELECT '%s', rowkind, k, p, op, v, n FROM `" + t.name + "$audit_log`"
		if t.changelog {
			query += fmt.Sprintf(" /*+ OPTIONS('incremental-between' = '%d,%d', 'incremental-between-scan-mode' = 'changelog') */", t.last, newest[t.name])
		}
		return query
	})
	if err != nil {
		return err
	}
	var bad []error
	for _, t := range a.tables {
		if d := lines(t.want(), rows[t.name]); d != "" {
			bad = append(bad, fmt.Errorf("table %s does not hold what was written:\n%s", t.name, d))
		}
		if t.exact {
			if d := lines(rows[t.name], after(t.read, changes[t.name])); d != "" {
				bad = append(bad, fmt.Errorf("table %s: its changelog tells other rows than it holds:\n%s", t.name, d))
			}
		}
		t.read, t.last = rows[t.name], newest[t.name]
	}
	return errors.Join(bad...)
}

// both asks both engines the query of each table, in which %s stands for its name, and returns the rows by table, sorted. Paimon
// answers all tables at once, since each query of its takes long.
func (a *alternation) both(ctx context.Context, query func(t *alternateTable) string) (map[string][]string, error) {
	ours, theirs := map[string][]string{}, map[string][]string{}
	var parts []string
	add := func(to map[string][]string, rows []string) {
		for _, r := range rows {
			name, rest, _ := strings.Cut(r, "\t")
			name = strings.TrimSpace(name)
			to[name] = append(to[name], rest)
		}
	}
	for _, t := range a.tables {
		q := strings.Replace(query(t), "%s", t.name, 1)
		rows, err := a.mine(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
		add(ours, rows)
		parts = append(parts, q)
	}
	all := strings.Join(parts, " UNION ALL ")
	rows, err := a.paimon(all)
	if err != nil {
		return nil, fmt.Errorf("by paimon: %s: %w", all, err)
	}
	add(theirs, rows)
	var bad []error
	for i, t := range a.tables {
		slices.Sort(ours[t.name])
		slices.Sort(theirs[t.name])
		if d := lines(theirs[t.name], ours[t.name]); d != "" {
			bad = append(bad, fmt.Errorf("%s: Paimon's answer and ours differ:\n%s", parts[i], d))
		}
		a.compared += len(ours[t.name])
	}
	return ours, errors.Join(bad...)
}

// after applies changes, whose first cell is a row kind, to rows in any order: rows that come and go in between leave nothing.
func after(rows, changes []string) []string {
	n := map[string]int{}
	for _, r := range rows {
		n[r]++
	}
	for _, c := range changes {
		kind, r, _ := strings.Cut(c, "\t")
		if kind == "+I" || kind == "+U" {
			n[r]++
		} else {
			n[r]--
		}
	}
	var out []string
	for r, times := range n {
		for range max(times, -times) {
			if times < 0 {
				out = append(out, "retracted without being there: "+r)
			} else {
				out = append(out, r)
			}
		}
	}
	slices.Sort(out)
	return out
}

// lines lists how two sorted lists differ, "" where they do not.
func lines(want, got []string) string {
	if slices.Equal(want, got) {
		return ""
	}
	var out []string
	i, k := 0, 0
	for i < len(want) || k < len(got) {
		switch {
		case k == len(got) || i < len(want) && want[i] < got[k]:
			out = append(out, "- "+want[i])
			i++
		case i == len(want) || got[k] < want[i]:
			out = append(out, "+ "+got[k])
			k++
		default:
			i, k = i+1, k+1
		}
	}
	if len(out) > shownDifferences {
		out = append(out[:shownDifferences], fmt.Sprintf("… and %d more", len(out)-shownDifferences))
	}
	return strings.Join(out, "\n")
}

// shownDifferences bounds the rows that an error lists.
const shownDifferences = 20
