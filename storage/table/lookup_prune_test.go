package table_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/format"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// keyShape makes primary keys of a kind, the n-th of which is text(n).
type keyShape struct {
	columns, keys string
	text          func(n int) string
}

var keyShapes = []keyShape{
	{"k INT NOT NULL", "k", func(n int) string { return strconv.Itoa(n - 700) }},
	{"k BIGINT NOT NULL", "k", func(n int) string { return strconv.Itoa(n * 10_000_000_000) }},
	{"k STRING NOT NULL", "k", func(n int) string { return fmt.Sprintf("key-%d", n) }},
	// Statistics of long values are cut.
	{"k STRING NOT NULL", "k", func(n int) string { return strings.Repeat("ß", 60) + fmt.Sprintf("%04d", n) }},
	{"k DECIMAL(25, 2) NOT NULL", "k", func(n int) string { return fmt.Sprintf("%d.%02d", n*n-40_000, n%100) }},
	{"k TIMESTAMP(3) NOT NULL", "k", func(n int) string {
		return time.UnixMilli(int64(n-900) * 1977).UTC().Format("2006-01-02 15:04:05.000")
	}},
	{"k DOUBLE NOT NULL", "k", func(n int) string { return strconv.FormatFloat(float64(n-300)/7, 'g', -1, 64) }},
	{"a INT NOT NULL; k BIGINT NOT NULL", "a,k", func(n int) string { return fmt.Sprintf("%d|%d", n%5, n/5) }},
	{"k BIGINT NOT NULL; a BOOLEAN NOT NULL", "k,a", func(n int) string { return fmt.Sprintf("%d|%v", n/2, n%2 == 0) }},
	{"a STRING NOT NULL; b DATE NOT NULL; c STRING NOT NULL", "a,b,c", func(n int) string {
		return fmt.Sprintf("%s|%s|%d", strings.Repeat("x", n%3), time.Unix(int64(n%40)*86400, 0).UTC().Format("2006-01-02"), n/40)
	}},
}

// pick returns one of some values.
func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.Intn(len(of))] }

// lookupOptions makes random options of a table whose compactions look rows up.
func lookupOptions(rnd *rand.Rand) (engine string, opts []string) {
	engine = pick(rnd, "deduplicate", "sequence", "partial-update", "aggregation", "first-row")
	vectors, producer := pick(rnd, "false", "true"), pick(rnd, "none", "lookup")
	if engine == "first-row" {
		vectors = "false"
	} else if vectors == "false" {
		producer = "lookup"
	}
	opts = []string{"bucket", "1", "changelog-producer", producer, "deletion-vectors.enabled", vectors, "changelog-producer.row-deduplicate", pick(rnd, "false", "true"),
		"parquet.enable.dictionary", pick(rnd, "false", "false", "true"), "parquet.page.row.count.limit", pick(rnd, "7", "50", "4096"), "parquet.block.size", pick(rnd, "20 kb", "128 mb"),
		"orc.row.index.stride", "1000", "target-file-row-num", pick(rnd, "100000", "301"), "data-file.thin-mode", pick(rnd, "false", "true"),
		"file.format", pick(rnd, "parquet", "parquet", "orc", "avro"), "num-sorted-run.compaction-trigger", pick(rnd, "2", "5"),
		"compaction.size-ratio", pick(rnd, "0", "1"), "compaction.max-size-amplification-percent", pick(rnd, "200", "100000")}
	if rnd.Intn(3) == 0 {
		opts = append(opts, "file.format.per.level", pick(rnd, "0:avro", "5:orc", "4:orc,5:parquet"))
	}
	if rnd.Intn(4) == 0 {
		opts = append(opts, "file-index.bloom-filter.columns", "v")
	}
	if rnd.Intn(4) == 0 {
		opts = append(opts, "record-level.expire-time", "100 s", "record-level.time-field", "q")
	}
	merge := engine
	switch engine {
	case "sequence":
		merge, opts = "deduplicate", append(opts, "sequence.field", "q")
	case "partial-update":
		if rnd.Intn(2) == 0 {
			opts = append(opts, "fields.q.sequence-group", "v")
		}
	case "aggregation":
		opts = append(opts, "fields.v.aggregate-function", "sum", "fields.q.aggregate-function", "last_value")
	}
	return engine, append(opts, "merge-engine", merge)
}

// TestLookupPrunes makes the same changes to two tables, of which one looks the new keys up in what the statistics of the files
// leave, and the other reads all rows: all files must have the same rows, and the deletion vectors must be the same.
func TestLookupPrunes(t *testing.T) {
	const tables = 60
	for seed := range int64(tables) {
		if underRace && seed%raceThin != 0 {
			continue
		}
		t.Run(strconv.FormatInt(seed, 10), func(t *testing.T) {
			t.Parallel()
			comparePruned(t, seed)
		})
	}
}

func comparePruned(t *testing.T, seed int64) {
	rnd := rand.New(rand.NewSource(seed))
	shape := pick(rnd, keyShapes...)
	engine, opts := lookupOptions(rnd)
	t.Log(shape.columns, opts)
	now := time.Unix(1_700_000_000, 0).UTC()
	var lakes [2]*lake
	for i := range lakes {
		l := newLake(t)
		l.env.Writing.Rand = rand.New(rand.NewSource(seed))
		l.env.Writing.Clock = func() time.Time { return now }
		l.create("t", shape.columns+"; q INT; v INT; s STRING", shape.keys, "", opts...)
		lakes[i] = l
	}
	lakes[0].env.Writing.LookupKeys = -1
	lakes[1].env.Writing.LookupKeys = pick(rnd, int64(0), 0, 30)
	const domain = 4000
	values := func(step int) string {
		q := strconv.FormatInt(now.Unix()-int64(rnd.Intn(200)), 10)
		return pick(rnd, q, q, q, "NULL") + fmt.Sprintf("|%d|%s", rnd.Intn(1000), pick(rnd, "NULL", "value of step "+strconv.Itoa(step)))
	}
	extra, seen := "", map[string]bool{}
	for step := range 9 {
		now = now.Add(time.Duration(rnd.Intn(30)) * time.Second)
		var rows []string
		n := pick(rnd, 1, 3, 40, 200)
		if step == 0 {
			n = domain / 2
		}
		for range n {
			kind := ""
			if engine == "deduplicate" && rnd.Intn(5) == 0 && step > 0 {
				kind = "-D "
			}
			rows = append(rows, kind+shape.text(rnd.Intn(domain))+"|"+values(step)+extra)
		}
		full := rnd.Intn(6) == 0 || step == 0
		alter := step == 4 && rnd.Intn(2) == 0
		for _, l := range lakes {
			if _, err := l.tryInsert(context.Background(), "t", relation.SinkOptions{}, rows...); err != nil {
				t.Fatal(err)
			}
			if full {
				l.compact("t", table.CompactOptions{Full: true})
			}
		}
		sameFiles(t, step, lakes, seen)
		if a, b := lakes[0].rows("t"), lakes[1].rows("t"); strings.Join(a, "\n") != strings.Join(b, "\n") {
			t.Fatalf("step %d: %d rows, pruned %d", step, len(a), len(b))
		}
		if alter {
			extra = "|5"
			for _, l := range lakes {
				l.alter("t", schema.AddColumn{Path: []string{"more"}, Type: &schema.Type{Root: schema.BigInt}})
				l.alter("t", schema.ChangeType{Path: []string{"v"}, Type: &schema.Type{Root: schema.BigInt}})
			}
		}
	}
}

// sameFiles compares the files of the buckets and the deletion vectors of two tables, but for those seen before.
func sameFiles(t *testing.T, step int, lakes [2]*lake, seen map[string]bool) {
	t.Helper()
	ctx := context.Background()
	var names [2][]string
	for _, dir := range []string{"/lake/default.db/t/bucket-0", "/lake/default.db/t/index"} {
		for i, l := range lakes {
			infos, err := l.mem.List(ctx, dir)
			if err != nil {
				continue // no vectors
			}
			for _, f := range infos {
				names[i] = append(names[i], dir+"/"+f.Name)
			}
		}
	}
	if a, b := strings.Join(names[0], "\n"), strings.Join(names[1], "\n"); a != b {
		t.Fatalf("step %d: there are the files\n%s\npruned\n%s", step, a, b)
	}
	for _, n := range names[0] {
		if seen[n] {
			continue
		}
		seen[n] = true
		var contents [2]string
		for i, l := range lakes {
			data, err := l.mem.ReadFile(ctx, n)
			if err != nil {
				t.Fatal(err)
			}
			if contents[i] = string(data); format.NameOf(n) != "index" && strings.Contains(n, "/bucket-0/") {
				// Row groups depend on how the rows came in batches, Avro files have a random marker.
				contents[i] = fileRows(t, l, n)
			}
		}
		if contents[0] != contents[1] {
			t.Fatalf("step %d: file %s differs:\n%s\npruned\n%s", step, n, contents[0], contents[1])
		}
	}
}

// fileRows prints the rows of a data or changelog file of the newest schema.
func fileRows(t *testing.T, l *lake, name string) string {
	t.Helper()
	ctx := context.Background()
	f, err := format.Open(ctx, l.mem, name, -1, format.NameOf(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := l.open("t").Schema()
	fields := s.KeyValueFields(schema.OptThinMode.Value(s.Options))
	r, err := f.Read(ctx, format.ReadOptions{Columns: fields})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return strings.Join(out, "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		rows, err := printRows(fields, b)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rows...)
	}
}

// TestLookupReadsFewPages counts the bytes that a compaction reads for a few new keys.
func TestLookupReadsFewPages(t *testing.T) {
	const rows = 60_000
	for _, c := range []struct {
		name string
		opts []string
		// most is the greatest share of the bucket's bytes that one key may cost, least what it costs at least without pruning.
		most, least float64
	}{
		{"parquet", []string{"changelog-producer", "lookup"}, 0.10, 0.9},
		{"parquet-partial", []string{"changelog-producer", "lookup", "merge-engine", "partial-update"}, 0.20, 1.8},
		// No other columns than those of the key are read.
		{"parquet-vectors", []string{"deletion-vectors.enabled", "true"}, 0.04, 0.08},
		{"parquet-first-row", []string{"merge-engine", "first-row"}, 0.04, 0.08},
		{"orc", []string{"changelog-producer", "lookup", "file.format", "orc", "orc.row.index.stride", "1000"}, 0.15, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLake(t)
			files := &measured{FileIO: l.mem, part: "/data-"}
			l = openLake(t, l.mem, files)
			l.create("t", "a INT NOT NULL; k INT NOT NULL; v STRING", "a,k", "", append([]string{"bucket", "1"}, c.opts...)...)
			text := func(n int) string {
				r := rand.New(rand.NewSource(int64(n)))
				return fmt.Sprintf("%d|%d|%x%x%x%x", n%3, n, r.Int63(), r.Int63(), r.Int63(), r.Int63())
			}
			var all []string
			for n := range rows {
				all = append(all, text(n))
			}
			l.insert("t", all...)
			l.compact("t", table.CompactOptions{Full: true})
			size := int64(0)
			for _, f := range liveFiles(t, l.open("t")) {
				size += f.Meta.Size
			}
			share := func(key int) float64 {
				before := files.read.Load()
				l.insert("t", text(key))
				return float64(files.read.Load()-before) / float64(size)
			}
			// The key is the last of the bucket: without pruning, all before it is read.
			if got := share(rows - 1); got > c.most {
				t.Errorf("one key cost %.3f of the bucket's bytes, at most %.2f are expected", got, c.most)
			}
			l.env.Writing.LookupKeys = -1
			if got := share(rows - 1); got < c.least {
				t.Errorf("without looking keys up one key cost %.3f of the bucket's bytes: the test shows nothing", got)
			}
		})
	}
}

// TestLookupLongKeys changes rows whose keys are too long to be kept in memory.
func TestLookupLongKeys(t *testing.T) {
	const keys, length = 8500, 2000 // 17 MB
	l := newLake(t)
	l.create("t", "k STRING NOT NULL; p INT NOT NULL; v INT", "k,p", "", "bucket", "1", "changelog-producer", "lookup")
	log := &replayed{l: l, name: "t", rows: map[string]string{}}
	for version := range 2 {
		var rows []string
		for i := range keys {
			rows = append(rows, fmt.Sprintf("%0*d|1|%d", length, i, version))
		}
		l.insert("t", rows...)
		log.follow()
	}
	if want := [4]int{keys, keys, keys, 0}; log.kinds != want {
		t.Errorf("changes by kind: %v, want %v", log.kinds, want)
	}
}
