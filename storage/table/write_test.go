package table_test

import (
	"testing"

	"github.com/tributarydb/tributary/storage/relation"
)

func TestWriteAppend(t *testing.T) {
	l := newLake(t)
	l.create("a", "k INT; v STRING; d DATE", "", "d")
	c := l.insert("a", "1|x|2024-01-01", "2|NULL|2024-01-02", "3||2024-01-01")
	if c.Rows != 3 || c.Snapshot != 1 {
		t.Fatalf("%+v", c)
	}
	l.insert("a", "1|x|2024-01-01")
	l.expect("a", "1|x|2024-01-01", "2|NULL|2024-01-02", "3||2024-01-01", "1|x|2024-01-01")
	if c := l.insert("a"); c.Snapshot != 0 || c.Rows != 0 {
		t.Fatalf("no rows: %+v", c)
	}
	l.overwrite("a", relation.SinkOptions{}, "9|o|2024-01-02")
	l.expect("a", "1|x|2024-01-01", "3||2024-01-01", "1|x|2024-01-01", "9|o|2024-01-02")
	one := "2024-01-01"
	l.overwrite("a", relation.SinkOptions{Static: map[string]*string{"d": &one}, Options: map[string]string{"dynamic-partition-overwrite": "false"}}, "7|s|2024-01-01")
	l.expect("a", "7|s|2024-01-01", "9|o|2024-01-02")
	l.overwrite("a", relation.SinkOptions{Options: map[string]string{"dynamic-partition-overwrite": "false"}})
	l.expect("a")
}

func TestWriteKeyed(t *testing.T) {
	l := newLake(t)
	l.create("p", "k INT NOT NULL; v STRING", "k", "", "bucket", "2")
	l.insert("p", "1|a", "2|b", "3|c", "1|a2")
	l.expect("p", "1|a2", "2|b", "3|c")
	l.insert("p", "-D 2|b", "+U 3|c3", "4|d")
	l.expect("p", "1|a2", "3|c3", "4|d")
	l.overwrite("p", relation.SinkOptions{}, "5|e", "6|f", "-D 5|e")
	l.expect("p", "6|f")
}

func TestWriteDynamic(t *testing.T) {
	l := newLake(t)
	l.create("p", "k INT NOT NULL; v STRING", "k", "", "dynamic-bucket.target-row-num", "3")
	l.insert("p", "1|a", "2|b", "3|c", "4|d", "5|e")
	l.expect("p", "1|a", "2|b", "3|c", "4|d", "5|e")
	l.insert("p", "1|a2", "5|e2", "6|f", "7|g")
	l.expect("p", "1|a2", "2|b", "3|c", "4|d", "5|e2", "6|f", "7|g")
}

func TestWriteCross(t *testing.T) {
	l := newLake(t)
	l.create("p", "k INT NOT NULL; p STRING; v STRING", "k", "p")
	l.insert("p", "1|x|a", "2|x|b", "3|y|c", "1|y|d")
	l.expect("p", "1|y|d", "2|x|b", "3|y|c")
	l.insert("p", "2|y|bb", "3|y|cc", "4|z|dd", "1|x|e")
	l.expect("p", "1|x|e", "2|y|bb", "3|y|cc", "4|z|dd")
}
