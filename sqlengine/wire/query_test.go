package wire_test

import (
	"bytes"
	"strings"
	"testing"
)

func TestTextQueries(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	mustExec(t, db, "create table t (id int primary key, name varchar(20), d datetime(3), n decimal(10,2))")
	res := mustExec(t, db, "insert into t values (1,'a','2024-01-02 03:04:05.678',1.5),(2,null,null,null)")
	if n, _ := res.RowsAffected(); n != 2 {
		t.Errorf("affected %d rows, want 2", n)
	}
	if got, want := query(t, db, "select * from t order by id"), "1|a|2024-01-02 03:04:05.678|1.50\n2|NULL|NULL|NULL"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := query(t, db, "select 1; select 'x', 2.5; -- end"), "1\nx|2.5"; got != want {
		t.Errorf("multi statements: got %q, want %q", got, want)
	}
	if got := query(t, db, "select id from t where id > 5"); got != "" {
		t.Errorf("empty result: got %q", got)
	}
}

func TestErrors(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	for _, c := range []struct {
		q      string
		number uint16
		state  string
	}{
		{"select * from nosuch", 1146, "42S02"},
		{"select nosuch", 1054, "42S22"},
		{"selec 1", 1064, "42000"},
		{"use nosuch", 1049, "42000"},
		{"select nosuch(1)", 1305, "42000"},
		{"select @@nosuch", 1193, "HY000"},
		{"kill 99999", 1094, "HY000"},
		{"kill query 99999", 1094, "HY000"},
		{"", 1065, "42000"},
		{"select (select 1 union select 2)", 1242, "21000"},
		{"execute nosuch", 1243, "HY000"},
		{"select * from fake_source('fail', 10)", 1105, "HY000"},
		{"select * from fake_source('fail0', 10)", 1105, "HY000"},
		{"select * from fake_source('panic', 10)", 1105, "HY000"},
	} {
		_, err := queryErr(db, c.q)
		if err == nil {
			t.Errorf("%s: no error", c.q)
			continue
		}
		wantError(t, err, c.number, c.state)
		if got := query(t, db, "select connection_id()"); got != "1" {
			t.Errorf("%s: the connection was lost", c.q)
		}
	}
}

func TestSourceText(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	mustExec(t, db, "set time_zone = '+02:00'")
	want := "1|0|0|0|0|0.5|0.5|-0.05|-1234567898765432010864.19746|2024-01-01|01:02:03.004|2024-01-01 00:00:00.123456|2024-01-01 02:00:00.123|s0|s0|\x00\xff\x00|[0, null]\n" +
		strings.Repeat("NULL|", 16) + "NULL\n" +
		"1|2|2|2|2|2.5|2.5|-0.07|-1234567901234567791111.11102|2024-01-03|01:02:03.006|2024-01-01 00:00:02.123456|2024-01-01 02:00:02.123|s2|s2|\x00\xff\x02|[2, null]"
	if got := query(t, db, "select * from fake_source('all', 3)"); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	got := query(t, db, "select * from fake_source('all', ?)", 3)
	if got != want {
		t.Errorf("prepared: got\n%q\nwant\n%q", got, want)
	}
	if got, want := query(t, db, "select * from fake_source('dict', 5)"), "NULL|0\nblue|2\ngreen|4"; got != want {
		t.Errorf("dictionary: got %q, want %q", got, want)
	}
}

func TestCharacterSets(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	c.command(3, []byte("set names latin1")...)
	c.ok()
	// e with acute accent is one byte there and back, in text and as a parameter.
	for _, q := range []string{"select 'h\xe9'", "select c0 from (select 'h\xe9' as c0) as t"} {
		if rows := c.query(q); string(rows[0]) != "\x02h\xe9" {
			t.Errorf("%q: got %q", q, rows[0])
		}
	}
	id, _, _ := c.prepare("select char_length(concat(?)), ?")
	c.execute(id, 0, 0, 1, 253, 0, 253, 0, 1, 0xe9, 1, 0xe9)
	c.columns()
	if rows, _ := c.rows(); !bytes.HasPrefix(rows[0][2:], []byte{1}) || !bytes.HasSuffix(rows[0], []byte{1, 0xe9}) {
		t.Errorf("parameter: %q", rows[0])
	}
	rows := c.query("select * from fake_source('accent', 1)")
	if string(rows[0]) != "\x03\xe9?x" {
		t.Errorf("batch: %q", rows[0])
	}
	c.command(3, []byte("set names utf8mb4")...)
	c.ok()
	if rows := c.query("select 'h\u00e9'"); string(rows[0]) != "\x03h\u00e9" {
		t.Errorf("got %q", rows[0])
	}
	// Bytes that are no UTF-8 pass through binary literals.
	if rows := c.query("select hex(_binary'\xff\x00')"); string(rows[0]) != "\x04FF00" {
		t.Errorf("binary: %q", rows[0])
	}
}
