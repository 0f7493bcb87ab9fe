package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/tributarydb/tributary/sqltests/inventory"
	"github.com/tributarydb/tributary/sqltests/runner"
	"github.com/tributarydb/tributary/storage/fileio"
)

// Sizes of the tables of a workload: few, so that statements meet.
const (
	partitions = 3
	keys       = 5
)

// patient are options with which a statement does not give up for lost races.
const patient = "'commit.max-retries' = '1000', 'commit.min-retry-wait' = '1 ms', 'commit.max-retry-wait' = '20 ms'"

// logs and keyed are the tables of a workload.
var (
	logs  = []string{"log", "log2"}
	keyed = []string{"fixed", "dynamic"}
)

// definitions make the tables.
var definitions = []string{
	"CREATE TABLE log (k INT, p INT) PARTITIONED BY (p) WITH (" + patient + ")",
	"CREATE TABLE log2 (k INT, p INT) PARTITIONED BY (p) WITH (" + patient + ", 'file.format' = 'avro', 'manifest.merge-min-count' = '5')",
	"CREATE TABLE fixed (k INT PRIMARY KEY, v STRING) WITH (" + patient + ", 'bucket' = '2')",
	"CREATE TABLE dynamic (k INT PRIMARY KEY, v STRING) WITH (" + patient + ", 'dynamic-bucket.target-row-num' = '2')",
}

// client is one connection that sends random statements.
type client struct {
	t   *testing.T
	id  int
	rec *Recorder
	rnd *rand.Rand
	seq int
	// db may change: a server may end and start anew.
	db func() *sql.DB
	// maintain says that statements of maintenance are sent as well, interrupt that some statements are cancelled.
	maintain, interrupt bool
	// failed counts queries without an answer.
	failed *atomic.Int64
}

// number is a number that no other statement writes.
func (c *client) number() string {
	c.seq++
	return strconv.Itoa(c.id*100_000 + c.seq)
}

// outcome tells how a statement ended.
func outcome(err error) Outcome {
	var me *mysql.MySQLError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &me) && me.Number != 1180:
		return Refused
	}
	return Unknown // error during commit, or the connection has gone
}

// exec sends a statement that writes.
func (c *client) exec(ctx context.Context, text string, effects ...Effect) {
	if c.interrupt && c.rnd.Intn(20) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.rnd.Intn(8000))*time.Microsecond)
		defer cancel()
	}
	call := c.rec.Begin(c.id, text, effects...)
	_, err := c.db().ExecContext(ctx, text)
	call.End(outcome(err))
}

// read asks for some rows and records what the answer says of the objects.
func (c *client) read(ctx context.Context, text string, object func(cells []string) (name, value string), objects ...string) {
	var effects []Effect
	for _, o := range objects {
		effects = append(effects, Effect{Kind: Get, Object: o})
	}
	call := c.rec.Begin(c.id, text, effects...)
	got := map[string][]string{}
	err := func() error {
		rows, err := c.db().QueryContext(ctx, text)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var a, b string
			if err := rows.Scan(&a, &b); err != nil {
				return err
			}
			name, value := object([]string{a, b})
			got[name] = append(got[name], value)
		}
		return rows.Err()
	}()
	if err != nil {
		c.failed.Add(1)
		call.End(Refused)
		return
	}
	call.Read(got)
}

func partitionOf(table string, p int) string { return fmt.Sprintf("%s/p=%d", table, p) }
func keyOf(table string, k int) string       { return fmt.Sprintf("%s/k=%d", table, k) }

func (c *client) readPartitions(ctx context.Context, table string, list ...int) {
	var in, objects []string
	for _, p := range list {
		in, objects = append(in, strconv.Itoa(p)), append(objects, partitionOf(table, p))
	}
	c.read(ctx, fmt.Sprintf("SELECT p, k FROM %s WHERE p IN (%s)", table, strings.Join(in, ", ")),
		func(cells []string) (string, string) { return table + "/p=" + cells[0], cells[1] }, objects...)
}

func (c *client) readKeys(ctx context.Context, table string, list ...int) {
	var in, objects []string
	for _, k := range list {
		in, objects = append(in, strconv.Itoa(k)), append(objects, keyOf(table, k))
	}
	c.read(ctx, fmt.Sprintf("SELECT k, v FROM %s WHERE k IN (%s)", table, strings.Join(in, ", ")),
		func(cells []string) (string, string) { return table + "/k=" + cells[0], cells[1] }, objects...)
}

// readAll reads all tables.
func (c *client) readAll(ctx context.Context) {
	for _, t := range logs {
		c.readPartitions(ctx, t, 0, 1, 2)
	}
	for _, t := range keyed {
		c.readKeys(ctx, t, 0, 1, 2, 3, 4)
	}
}

// step sends one random statement.
func (c *client) step(ctx context.Context) {
	table := logs[c.rnd.Intn(len(logs))]
	p := c.rnd.Intn(partitions)
	object := partitionOf(table, p)
	switch n := c.rnd.Intn(100); {
	case n < 30: // rows of some partitions
		added := map[int][]string{}
		var rows []string
		for range 1 + c.rnd.Intn(3) {
			k, p := c.number(), c.rnd.Intn(partitions)
			added[p] = append(added[p], k)
			rows = append(rows, fmt.Sprintf("(%s, %d)", k, p))
		}
		var effects []Effect
		for p, v := range added {
			effects = append(effects, Effect{Kind: Append, Object: partitionOf(table, p), Values: v})
		}
		c.exec(ctx, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "), effects...)
	case n < 37:
		k := c.number()
		c.exec(ctx, fmt.Sprintf("INSERT OVERWRITE %s PARTITION (p = %d) VALUES (%s)", table, p, k), Effect{Set, object, []string{k}})
	case n < 39:
		var effects []Effect
		for p := range partitions {
			effects = append(effects, Effect{Kind: Set, Object: partitionOf(table, p)})
		}
		c.exec(ctx, "TRUNCATE TABLE "+table, effects...)
	case n < 43:
		c.exec(ctx, fmt.Sprintf("ALTER TABLE %s DROP IF EXISTS PARTITION (p = %d)", table, p), Effect{Kind: Set, Object: object})
	case n < 60:
		c.readPartitions(ctx, table, p)
	case n < 75:
		table := keyed[c.rnd.Intn(len(keyed))]
		var rows []string
		var effects []Effect
		for _, k := range c.rnd.Perm(keys)[:1+c.rnd.Intn(2)] {
			v := c.number()
			rows = append(rows, fmt.Sprintf("(%d, '%s')", k, v))
			effects = append(effects, Effect{Set, keyOf(table, k), []string{v}})
		}
		c.exec(ctx, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "), effects...)
	case n < 90:
		c.readKeys(ctx, keyed[c.rnd.Intn(len(keyed))], c.rnd.Perm(keys)[:2]...)
	case !c.maintain:
		c.readPartitions(ctx, table, 0, 1, 2)
	case n < 93:
		c.exec(ctx, "CALL sys.compact_manifest('"+table+"')")
	case n < 96:
		c.exec(ctx, "CALL sys.expire_snapshots(table => '"+table+"', retain_max => 30, retain_min => 1)")
	case n < 98:
		c.exec(ctx, "CALL sys.create_tag('"+table+"', 't"+c.number()+"')")
	default:
		c.exec(ctx, "CALL sys.delete_tag('"+table+"', 't"+strconv.Itoa(c.id*100_000+c.rnd.Intn(c.seq+1))+"')")
	}
}

// connect opens a pool of a single connection.
func connect(t *testing.T, target runner.Target) *sql.DB {
	t.Helper()
	target.Database = "default"
	db, err := runner.Connect(target)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// judge checks a history and the files that it left of tables.
func judge(t *testing.T, rec *Recorder, fio fileio.FileIO, warehouse string, tables ...string) {
	t.Helper()
	ctx := context.Background()
	done, refused, unknown := rec.Count()
	t.Logf("%d statements done, %d refused, %d of unknown outcome", done, refused, unknown)
	if err := rec.Check(30 * time.Second); err != nil {
		t.Error(err)
	}
	look := func() *inventory.Inventory {
		v, err := inventory.Read(ctx, fio, warehouse, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range tables {
			dir := warehouse + "/default.db/" + n
			if err := v.Table(ctx, dir); err != nil {
				t.Fatal(err)
			}
			first, last, err := inventory.Dense(ctx, fio, dir)
			if err != nil {
				t.Error(err)
			}
			t.Logf("%s: snapshots %d to %d", n, first, last)
		}
		return v
	}
	look()
	// The cleaning removes strays, and nothing else.
	stray := warehouse + "/default.db/" + tables[0] + "/p=0/bucket-0/data-stray.parquet"
	if err := fio.Overwrite(ctx, stray, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := inventory.Clean(ctx, fio, warehouse); err != nil {
		t.Fatal(err)
	}
	if x := look().Strays(); len(x) > 0 {
		t.Errorf("cleaning left %v", x)
	}
}

// together runs f for each client in a goroutine of its own.
func together(clients []*client, f func(*client)) {
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() { f(c) })
	}
	wg.Wait()
}
