package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/tributarydb/tributary/sqltests/history"
	"github.com/tributarydb/tributary/sqltests/runner"
)

const (
	// rivalConnections is how many connections each Tributary server gets.
	rivalConnections = 3
	// checkTimeout bounds the search for an order of the statements of one partition or key.
	checkTimeout = time.Minute
	// rivalWaits is how many times the time of a contest Paimon may take to send rivalStatements.
	rivalWaits, rivalStatements = 6, 12
	// uncertainCommit is the number of the error after which nobody knows whether a statement was carried out.
	uncertainCommit = 1180
)

// rivalTables are written by all at once. Paimon numbers the rows of keyed tables by what it finds when it begins, and assigns
// dynamic buckets so, and does not look again at its commit: it has keys and partitions of its own there.
var rivalTables = []string{
	"CREATE TABLE rival_append (k INT, p INT) PARTITIONED BY (p) WITH (" + rivalOptions + ")",
	"CREATE TABLE rival_fixed (k INT, v STRING, p INT, PRIMARY KEY (k, p)) PARTITIONED BY (p) WITH (" + rivalOptions + ", 'bucket' = '2')",
	"CREATE TABLE rival_dynamic (k INT, v STRING, p INT, PRIMARY KEY (k, p)) PARTITIONED BY (p) WITH (" + rivalOptions + ", 'dynamic-bucket.target-row-num' = '3')",
	"CREATE TABLE rival_vectors (k INT, v STRING, p INT, PRIMARY KEY (k, p)) PARTITIONED BY (p) WITH (" + rivalOptions + ", 'bucket' = '1', " +
		"'changelog-producer' = 'lookup', 'deletion-vectors.enabled' = 'true')",
}

// rivalKeyed are those with a primary key, rivalNames all.
var (
	rivalKeyed = []string{"rival_fixed", "rival_dynamic", "rival_vectors"}
	rivalNames = append([]string{"rival_append"}, rivalKeyed...)
)

const rivalOptions = "'commit.max-retries' = '1000', 'commit.min-retry-wait' = '1 ms', 'commit.max-retry-wait' = '50 ms'"

// Partitions and keys: those below ownPartition are written by every server, it is Paimon's alone.
const (
	sharedPartitions = 2
	ownPartition     = 2
	rivalKeys        = 4
)

// rival is one writer.
type rival struct {
	id  int
	rec *history.Recorder
	rnd *rand.Rand
	seq int
	// exec runs a statement, query gives rows of cells separated by tabs.
	exec  func(ctx context.Context, sql string) error
	query func(ctx context.Context, sql string) ([]string, error)
	// own is set for the writer that has partitions of keyed tables to itself.
	own bool
}

func (r *rival) number() string {
	r.seq++
	return strconv.Itoa(r.id*100_000 + r.seq)
}

func outcomeOf(err error) history.Outcome {
	var me *mysql.MySQLError
	switch {
	case err == nil:
		return history.Done
	case errors.As(err, &me) && me.Number != uncertainCommit:
		return history.Refused
	}
	return history.Unknown
}

func (r *rival) write(ctx context.Context, text string, effects ...history.Effect) error {
	c := r.rec.Begin(r.id, text, effects...)
	err := r.exec(ctx, text)
	c.End(outcomeOf(err))
	return err
}

// step sends one statement.
func (r *rival) step(ctx context.Context) error {
	p := r.rnd.Intn(sharedPartitions)
	switch n := r.rnd.Intn(12); {
	case n < 4:
		var rows, values []string
		for range 1 + r.rnd.Intn(3) {
			k := r.number()
			rows, values = append(rows, fmt.Sprintf("(%s, %d)", k, p)), append(values, k)
		}
		return r.write(ctx, "INSERT INTO rival_append VALUES "+strings.Join(rows, ", "),
			history.Effect{Kind: history.Append, Object: fmt.Sprintf("rival_append/p=%d", p), Values: values})
	case n == 4 && !r.own:
		k := r.number()
		return r.write(ctx, fmt.Sprintf("INSERT OVERWRITE rival_append PARTITION (p = %d) VALUES (%s)", p, k),
			history.Effect{Kind: history.Set, Object: fmt.Sprintf("rival_append/p=%d", p), Values: []string{k}})
	case n == 5 && !r.own:
		// Paimon expects that nobody else compacts what it is writing.
		table, strategy := rivalNames[r.rnd.Intn(len(rivalNames))], []string{"minor", "full"}[r.rnd.Intn(2)]
		return r.write(ctx, fmt.Sprintf("CALL sys.compact(`table` => '%s', partitions => 'p=0;p=1', compact_strategy => '%s')", table, strategy))
	case n < 10:
		table := rivalKeyed[r.rnd.Intn(len(rivalKeyed))]
		if r.own {
			p = ownPartition
		}
		k, v := r.rnd.Intn(rivalKeys), r.number()
		return r.write(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%d, '%s', %d)", table, k, v, p),
			history.Effect{Kind: history.Set, Object: fmt.Sprintf("%s/p=%d/k=%d", table, p, k), Values: []string{v}})
	}
	return r.readAll(ctx, rivalNames[r.rnd.Intn(len(rivalNames))])
}

// readAll reads a table and records what was in each of its objects.
func (r *rival) readAll(ctx context.Context, table string) error {
	var effects []history.Effect
	text := "SELECT p, k FROM " + table
	if table == "rival_append" {
		for p := range sharedPartitions {
			effects = append(effects, history.Effect{Kind: history.Get, Object: fmt.Sprintf("%s/p=%d", table, p)})
		}
	} else {
		text = "SELECT p, k, v FROM " + table
		for p := range ownPartition + 1 {
			for k := range rivalKeys {
				effects = append(effects, history.Effect{Kind: history.Get, Object: fmt.Sprintf("%s/p=%d/k=%d", table, p, k)})
			}
		}
	}
	c := r.rec.Begin(r.id, text, effects...)
	rows, err := r.query(ctx, text)
	if err != nil {
		c.End(history.Refused)
		return err
	}
	got := map[string][]string{}
	for _, row := range rows {
		w := strings.Split(row, "\t")
		object := table + "/p=" + w[0]
		if len(w) == 3 {
			object += "/k=" + w[1]
		}
		got[object] = append(got[object], w[len(w)-1])
	}
	c.Read(got)
	return nil
}

// serverRival is a connection to a Tributary server.
func serverRival(db *sql.DB) (exec func(context.Context, string) error, query func(context.Context, string) ([]string, error)) {
	exec = func(ctx context.Context, text string) error {
		_, err := db.ExecContext(ctx, text)
		return err
	}
	query = func(ctx context.Context, text string) ([]string, error) {
		rows, err := db.QueryContext(ctx, text)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		cols, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		var out []string
		for rows.Next() {
			cells, at := make([]string, len(cols)), make([]any, len(cols))
			for i := range cells {
				at[i] = &cells[i]
			}
			if err := rows.Scan(at...); err != nil {
				return nil, err
			}
			out = append(out, strings.Join(cells, "\t"))
		}
		return out, rows.Err()
	}
	return exec, query
}

// contest lets the servers and Paimon write the same tables at once for a time. Then every engine
// reads them. It returns what is wrong.
func (x *exchange) contest(ctx context.Context, servers []runner.Target, span time.Duration) error {
	paimon := x.engines["paimon"]
	if paimon == nil {
		x.print("skip: concurrent writers: paimon is not there")
		x.Skipped++
		return nil
	}
	for _, d := range rivalTables {
		if _, err := x.db.ExecContext(ctx, d); err != nil {
			return fmt.Errorf("%s: %w", d, err)
		}
	}
	rec := history.NewRecorder()
	var rivals []*rival
	add := func(r *rival) {
		r.id, r.rec = len(rivals)+1, rec
		r.rnd = rand.New(rand.NewSource(int64(r.id)))
		rivals = append(rivals, r)
	}
	for _, s := range servers {
		for range rivalConnections {
			db, err := runner.Connect(s)
			if err != nil {
				return err
			}
			defer db.Close()
			db.SetMaxOpenConns(1)
			r := &rival{}
			r.exec, r.query = serverRival(db)
			add(r)
		}
	}
	engine := func(p *process) *rival {
		return &rival{own: true,
			exec:  func(_ context.Context, text string) error { _, err := p.run(text); return err },
			query: func(_ context.Context, text string) ([]string, error) { return p.run(text) }}
	}
	java := engine(paimon)
	add(java)
	// A slow machine gives Paimon more time.
	start := time.Now()
	var sent atomic.Int64
	going := func() bool {
		past := time.Since(start)
		return past < span || past < rivalWaits*span && sent.Load() < rivalStatements
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	failures := map[string]int{}
	for _, r := range rivals {
		wg.Go(func() {
			for going() {
				if r.own {
					sent.Add(1)
				}
				if err := r.step(ctx); err != nil {
					mu.Lock()
					failures[fmt.Sprintf("client %d: %.300s", r.id, err)]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	// All engines read what there is now.
	readers := []*rival{rivals[0], rivals[rivalConnections], java}
	for _, name := range x.order {
		if p := x.engines[name]; p != nil && p != paimon {
			r := engine(p)
			add(r)
			readers = append(readers, r)
		}
	}
	for _, r := range readers {
		for _, t := range rivalNames {
			if err := r.readAll(ctx, t); err != nil {
				return fmt.Errorf("client %d reads %s: %w", r.id, t, err)
			}
		}
	}
	done, refused, unknown := rec.Count()
	for _, f := range slices.Sorted(maps.Keys(failures)) {
		x.print(fmt.Sprintf("    %d times %s", failures[f], f))
	}
	if java.seq == 0 || done == 0 {
		return fmt.Errorf("only %d statements were carried out, %d of Paimon", done, java.seq)
	}
	if err := rec.Check(checkTimeout); err != nil {
		return err
	}
	for _, t := range rivalNames {
		if err := x.dense(ctx, t); err != nil {
			return err
		}
	}
	x.print(fmt.Sprintf("ok: concurrent writers: %d statements, %d refused, %d of unknown outcome, Paimon wrote %d rows", done, refused, unknown, java.seq))
	x.Passed++
	return nil
}

// dense demands that no snapshot id is missing.
func (x *exchange) dense(ctx context.Context, table string) error {
	var first, last, n int
	if err := x.db.QueryRowContext(ctx, "SELECT MIN(snapshot_id), MAX(snapshot_id), COUNT(*) FROM `"+table+"$snapshots`").Scan(&first, &last, &n); err != nil {
		return err
	}
	if last-first+1 != n {
		return fmt.Errorf("table %s: %d snapshots have ids from %d to %d", table, n, first, last)
	}
	return nil
}
