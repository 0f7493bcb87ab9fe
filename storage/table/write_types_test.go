package table_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// writtenFormats are the formats that can be written.
var writtenFormats = []string{"parquet", "avro"}

const typeColumns = "k INT NOT NULL; b BOOLEAN; t TINYINT; s SMALLINT; l BIGINT; f FLOAT; d DOUBLE; n DECIMAL(10, 2); m DECIMAL(30, 5); c CHAR(5); v VARCHAR(20); x BYTES; " +
	"da DATE; ti TIME(3); t3 TIMESTAMP(3); t6 TIMESTAMP(6); z6 TIMESTAMP(6) WITH LOCAL TIME ZONE; ar ARRAY<INT>; ma MAP<STRING, INT>; r ROW<a INT, b STRING>"

var typeRows = []string{
	"1|true|1|2|3|1.5|-2.25|12.34|1234567890123456789012345.67890|abcde|hello|bytes|2024-02-29|12:34:56|2024-01-02 03:04:05.678|2024-01-02 03:04:05.678901|2024-01-02 03:04:05.678901|[1, 2]|{a -> 1}|{7, x}",
	"2|false|-128|-32768|-9223372036854775808|-0|1.0E300|-99999999.99|-1.00000||é∂ü||1969-12-31|00:00:00|1969-12-31 23:59:59.000|0001-01-01 00:00:00.000001|1900-01-01 00:00:00.000000|[]|{}|{1, y}",
	"3" + strings.Repeat("|NULL", 19),
}

// TestWriteTypes writes values of all types in every format and key mode and reads them back.
func TestWriteTypes(t *testing.T) {
	for _, format := range writtenFormats {
		for _, pk := range []string{"", "k"} {
			for _, level := range []string{"insert", "overwrite"} {
				t.Run(format+"/"+pk+"/"+level, func(t *testing.T) {
					l := newLake(t)
					opts := []string{"file.format", format, "write-buffer-size", "64 kb"}
					if pk != "" {
						opts = append(opts, "bucket", "2")
					}
					l.create("t", typeColumns, pk, "", opts...)
					rows := append([]string(nil), typeRows...)
					for i := range 2000 { // enough to spill
						rows = append(rows, fmt.Sprint(i+10)+strings.TrimPrefix(typeRows[i%3], fmt.Sprint(i%3+1)))
					}
					if level == "insert" {
						l.insert("t", rows...)
					} else {
						l.overwrite("t", relation.SinkOptions{}, rows...)
					}
					got := l.rows("t")
					if len(got) != len(rows) {
						t.Fatalf("%d rows of %d", len(got), len(rows))
					}
					// The texts of the values are compared with those of what was written.
					tb := l.open("t")
					b, _, err := batchOf(tb.Fields(), rows[:3])
					if err != nil {
						t.Fatal(err)
					}
					for i, row := range textsOf(t, tb.Fields(), b) {
						if !contains(got, row) {
							t.Errorf("row %d: %s is not there; e.g. %s", i, row, got[i])
						}
					}
				})
			}
		}
	}
}

// liveFiles lists the data files of the newest snapshot.
func liveFiles(t *testing.T, tb *table.Table) []*scan.File {
	t.Helper()
	snap, err := tb.Snapshots().Latest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := tb.Source().LiveFiles(context.Background(), snap, scan.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRollAndNames rolls files by rows and by size, and looks at names, levels and sequence numbers.
func TestRollAndNames(t *testing.T) {
	l := newLake(t)
	var rows []string
	for i := range 10_000 {
		rows = append(rows, fmt.Sprintf("%d|%d", i%9000, i))
	}
	l.create("byrows", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "target-file-row-num", "1000", "write-only", "true")
	l.insert("byrows", rows...)
	files := liveFiles(t, l.open("byrows"))
	if len(files) != 9 {
		t.Errorf("%d files of 9000 rows with 1000 each", len(files))
	}
	for _, f := range files {
		if f.Meta.RowCount != 1000 || f.Meta.Level != 0 || *f.Meta.Source != manifest.SourceAppend || f.TotalBuckets != 1 {
			t.Errorf("%+v", f.Meta)
		}
	}
	l.create("bysize", "k INT; v INT", "", "", "target-file-size", "1 kb", "file.suffix.include.compression", "true", "data-file.prefix", "x-", "data-file.path-directory", "data")
	l.insert("bysize", rows...)
	files = liveFiles(t, l.open("bysize"))
	if len(files) < 2 {
		t.Errorf("%d files", len(files))
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Meta.Name, "x-") || !strings.HasSuffix(f.Meta.Name, ".zst.parquet") || !strings.Contains(f.Path, "/t/data/bucket-0/") && !strings.Contains(f.Path, "/bysize/data/bucket-0/") {
			t.Errorf("%s", f.Path)
		}
	}
	l.create("over", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "target-file-row-num", "1000", "write-only", "true")
	l.overwrite("over", relation.SinkOptions{}, rows...)
	for _, f := range liveFiles(t, l.open("over")) {
		if f.Meta.Level != 5 {
			t.Errorf("a file of an OVERWRITE is at level %d", f.Meta.Level)
		}
	}
	l.create("fixed", "k INT; v INT", "", "", "bucket", "1", "bucket-key", "k")
	l.insert("fixed", rows[:10]...)
	l.insert("fixed", rows[:5]...)
	for _, f := range liveFiles(t, l.open("fixed")) {
		if r := f.Meta.RowCount; r == 10 && (f.Meta.MinSequence != 0 || f.Meta.MaxSequence != 9) || r == 5 && (f.Meta.MinSequence != 10 || f.Meta.MaxSequence != 14) {
			t.Errorf("%d rows have the numbers %d to %d", r, f.Meta.MinSequence, f.Meta.MaxSequence)
		}
	}
}

// TestManyPartitions writes rows spread over more partitions than files are open at a time, with spilling.
func TestManyPartitions(t *testing.T) {
	for _, c := range []struct{ pk, bucket string }{{"", "-1"}, {"k,p", "1"}, {"k,p", "-1"}} {
		l := newLake(t)
		l.create("t", "k INT NOT NULL; p INT NOT NULL; v STRING", c.pk, "p", "bucket", c.bucket, "write-buffer-size", "64 kb")
		var rows []string
		for i := range 20_000 {
			rows = append(rows, fmt.Sprintf("%d|%d|%s", i, i*7%101, strings.Repeat("v", i%13)))
		}
		l.insert("t", rows...)
		l.expect("t", rows...)
		if n := len(liveFiles(t, l.open("t"))); n != 101 {
			t.Errorf("%v: %d files for 101 partitions", c, n)
		}
	}
}

// TestDefaults fills defaults in: for nulls of nullable columns only, nested ones too.
func TestDefaults(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT NOT NULL; v STRING DEFAULT 'it; n INT DEFAULT 7; d DATE DEFAULT '2024-05-06'", "k", "", "bucket", "1")
	l.insert("t", "1|NULL|NULL|NULL", "2|x|1|2020-01-01")
	l.expect("t", "1|'it|7|2024-05-06", "2|x|1|2020-01-01")
}

// TestRowKinds reads kinds from a column and drops those that options tell to.
func TestRowKinds(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT NOT NULL; op STRING; v INT", "k", "", "bucket", "1", "rowkind.field", "op")
	l.insert("t", "1|+I|1", "2|+I|2", "1|-U|1", "1|+U|5", "2|-D|2")
	l.expect("t", "1|+U|5")
	l.create("i", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "ignore-delete", "true")
	l.insert("i", "1|1", "-D 1|1", "-U 1|1")
	l.expect("i", "1|1")
	if c := l.insert("i", "-D 1|1"); c.Snapshot != 0 || c.Rows != 1 {
		t.Errorf("%+v", c)
	}
	l.create("u", "k INT NOT NULL; v INT", "k", "", "bucket", "1", "ignore-update-before", "true")
	l.insert("u", "1|1", "2|2", "-U 1|1", "-D 2|2")
	l.expect("u", "1|1")
}

// TestRowTracking gives rows of append tables their ids.
func TestRowTracking(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT; v STRING", "", "", "row-tracking.enabled", "true", "target-file-row-num", "2")
	l.insert("t", "1|a", "2|b", "3|c")
	l.insert("t", "4|d")
	var got []string
	for _, f := range liveFiles(t, l.open("t")) {
		got = append(got, fmt.Sprintf("%d+%d@%d..%d", *f.Meta.FirstRowID, f.Meta.RowCount, f.Meta.MinSequence, f.Meta.MaxSequence))
	}
	slices.Sort(got)
	if want := "[0+2@1..1 2+1@1..1 3+1@2..2]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	l.expect("t", "1|a", "2|b", "3|c", "4|d")
}

// TestPostpone writes to the postpone bucket, whose rows only a merging read shows, and to the real buckets of such tables.
func TestPostpone(t *testing.T) {
	l := newLake(t)
	l.create("t", "k INT NOT NULL; p INT NOT NULL; v STRING", "k,p", "p", "bucket", "-2", "postpone.batch-write-fixed-bucket", "false")
	l.insert("t", "3|1|a", "1|1|b", "+U 3|1|c", "-D 1|1|b", "5|2|d")
	l.insert("t", "3|1|e")
	l.expect("t")
	for _, f := range liveFiles(t, l.open("t")) {
		if f.Bucket != schema.PostponeBucket || f.TotalBuckets != schema.PostponeBucket || !strings.HasPrefix(f.Meta.Name, "data--u-") || !strings.Contains(f.Meta.Name, "-s-0-w-") ||
			!strings.HasSuffix(f.Meta.Name, ".avro") || !strings.Contains(f.Path, "/bucket-postpone/") || f.Meta.MinSequence != -1 || len(f.Meta.StatsColumns) != 0 || f.Meta.StatsColumns == nil {
			t.Errorf("%s: %+v", f.Path, f.Meta)
		}
	}
	tb, err := table.Open(context.Background(), l.env, "default", "t", table.OpenOptions{Dynamic: map[string]string{"postpone.merge-on-read": "true"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readRows(context.Background(), tb); err != nil || fmt.Sprint(got) != "[3|1|e 5|2|d]" {
		t.Errorf("merged: %v %v", got, err)
	}
	var many []string
	for i := range 3000 {
		many = append(many, fmt.Sprintf("%d|%d|x", i, i%40))
	}
	l.insert("t", many...)
	l.create("real", "k INT NOT NULL; p INT NOT NULL; v STRING", "k,p", "p", "bucket", "-2", "postpone.default-bucket-num", "3")
	l.insert("real", many...)
	four := relation.SinkOptions{Options: map[string]string{"postpone.default-bucket-num": "4"}}
	if _, err := l.tryInsert(context.Background(), "real", four, append(many, "1|99|y", "2|99|y")...); err != nil {
		t.Fatal(err)
	}
	l.expect("real", append(many, "1|99|y", "2|99|y")...)
	for _, f := range liveFiles(t, l.open("real")) {
		if want := map[bool]int{true: 4, false: 3}[f.Partition[0].I == 99]; f.TotalBuckets != want {
			t.Errorf("partition %d has %d buckets", f.Partition[0].I, f.TotalBuckets)
		}
	}
}
