package wire_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"
)

func TestPrepared(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	mustExec(t, db, "create table p (id bigint primary key, name varchar(20), d datetime(6), n decimal(10,2), f double, b varbinary(10), u bigint unsigned)")
	when := time.Date(2024, 2, 29, 1, 2, 3, 456789000, time.UTC)
	mustExec(t, db, "insert into p values (?,?,?,?,?,?,?)", 7, "seven", when, "1.25", 2.5, []byte{0, 1}, uint64(math.MaxUint64))
	mustExec(t, db, "insert into p values (?,?,?,?,?,?,?)", 8, nil, nil, nil, nil, nil, nil)
	want := "7|seven|2024-02-29 01:02:03.456789|1.25|2.5|\x00\x01|18446744073709551615\n8|NULL|NULL|NULL|NULL|NULL|NULL"
	if got := query(t, db, "select * from p where id >= ? order by id", 7); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := query(t, db, "select name from p where d = ?", when); got != "seven" {
		t.Errorf("by datetime: got %q", got)
	}
	if got := query(t, db, "select id from p order by id limit ? offset ?", 1, 1); got != "8" {
		t.Errorf("limit: got %q", got)
	}
	if got := query(t, db, "select ?, ?, ?, ?", int64(-5), true, "x", 1.5); got != "-5|1|x|1.5" {
		t.Errorf("values: got %q", got)
	}
	st, err := db.Prepare("select name from p where id = ?")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var name string
		if err := st.QueryRow(7).Scan(&name); err != nil || name != "seven" {
			t.Fatalf("got %q, %v", name, err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"show tables", "set @x = 1", "create table q (a int)", "drop table q", "use test", "begin", "commit", "show variables like 'autocommit'"} {
		st, err := db.Prepare(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		if _, err := st.Exec(); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	_, err = db.Prepare("select * from nosuch where a = ?")
	wantError(t, err, 1146, "42S02")
	_, err = db.Prepare("select nosuch from p where id = ?")
	wantError(t, err, 1054, "42S22")
	_, err = db.Prepare("selec ?")
	wantError(t, err, 1064, "42000")
	_, err = db.Prepare("select 1; select 2")
	wantError(t, err, 1064, "42000")
	// Planning a parameter in AS OF panics in the planner; the connection must live on.
	if _, err := db.Query("select * from p as of ?", "x"); err == nil {
		t.Error("AS OF on a table without versions: no error")
	}
	if got := query(t, db, "select 1"); got != "1" {
		t.Errorf("after AS OF: %q", got)
	}
}

// TestPreparedAgain runs statements several times: planning must not change what was parsed.
func TestPreparedAgain(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	mustExec(t, db, "create table pa (id int primary key, g int, v varchar(10))")
	mustExec(t, db, "insert into pa values (1,1,'a'),(2,1,'b'),(3,2,'c'),(4,2,'d')")
	for q, want := range map[string]string{
		"select g as k, count(*) n from pa where id > ? group by g having n > 0 order by k desc limit 1":            "2|2",
		"with c as (select * from pa where id > ?) select c.*, 1 from c order by 1 desc limit 1":                    "4|2|d|1",
		"select id from pa where g in (select g from pa where id > ?) union all select 9 order by 1":                "1\n2\n3\n4\n9",
		"select id, row_number() over (partition by g order by id desc) r from pa where id > ? order by id limit 1": "2|1",
		"select a.id, b.v from pa a join pa b on a.id = b.id + ? order by 1 limit 1":                                "2|a",
		"select case when id > ? then 'x' else 'y' end z from pa order by z, id limit 1":                            "x",
	} {
		st, err := db.Prepare(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		for range 3 {
			rows, err := st.Query(1)
			if err != nil {
				t.Errorf("%s: %v", q, err)
				break
			}
			if got, err := render(rows); err != nil || got != want {
				t.Errorf("%s: got %q, %v, want %q", q, got, err, want)
			}
		}
	}
}

func TestNamedStatements(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	mustExec(t, db, "set @a = 20, @b = 22")
	mustExec(t, db, "prepare p from 'select ? + ?'")
	if got := query(t, db, "execute p using @a, @b"); got != "42" {
		t.Errorf("got %q", got)
	}
	_, err := queryErr(db, "execute p using @a")
	wantError(t, err, 1210, "HY000")
	mustExec(t, db, "prepare p from 'select * from fake_source(''all'', 1)'")
	if got := query(t, db, "execute p"); !strings.HasPrefix(got, "1|0|0|0|0|0.5") {
		t.Errorf("got %q", got)
	}
	mustExec(t, db, "set @q = 'select 7'")
	mustExec(t, db, "prepare q from @q")
	if got := query(t, db, "execute q"); got != "7" {
		t.Errorf("got %q", got)
	}
	mustExec(t, db, "deallocate prepare p")
	_, err = queryErr(db, "execute p")
	wantError(t, err, 1243, "HY000")
	_, err = queryErr(db, "deallocate prepare p")
	wantError(t, err, 1243, "HY000")
}

// TestParameterTypes sends every parameter type that clients use, and the
// same statement again without types.
func TestParameterTypes(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	f32 := binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1))
	f64 := binary.LittleEndian.AppendUint64(nil, math.Float64bits(5))
	half := binary.LittleEndian.AppendUint64(nil, math.Float64bits(-0.5))
	for _, p := range []struct {
		name     string
		typ      byte
		unsigned bool
		value    []byte
		want     string
	}{
		{"tiny", 1, false, []byte{0xff}, "-1"},
		{"tiny unsigned", 1, true, []byte{0xff}, "255"},
		{"short", 2, false, []byte{0xff, 0xff}, "-1"},
		{"short unsigned", 2, true, []byte{0x61, 0x1e}, "7777"},
		{"long", 3, false, []byte{0, 0, 0, 0x80}, "-2147483648"},
		{"long unsigned", 3, true, []byte{0, 0, 0, 0x80}, "2147483648"},
		{"longlong", 8, false, []byte{1, 0, 0, 0, 0, 0, 0, 0}, "1"},
		{"longlong unsigned", 8, true, bytes.Repeat([]byte{0xff}, 8), "18446744073709551615"},
		{"float", 4, false, f32, "0.1"},
		{"double whole", 5, false, f64, "5"},
		{"double", 5, false, half, "-0.5"},
		{"decimal", 246, false, []byte("\x06-12.50"), "-12.50"},
		{"varstring", 253, false, []byte("\x03h\xc3\xa9"), "h\u00e9"},
		{"string", 254, false, []byte("\x00"), ""},
		{"blob", 252, false, []byte{2, 0, 0xff}, "\x00\xff"},
		{"date", 10, false, []byte{4, 0xe8, 7, 2, 29}, ""},
		{"datetime", 12, false, []byte{7, 0xe8, 7, 2, 29, 1, 2, 3}, ""},
		{"timestamp micros", 7, false, []byte{11, 0xe8, 7, 2, 29, 1, 2, 3, 0x40, 0xe2, 1, 0}, ""},
		{"time", 11, false, []byte{8, 1, 1, 0, 0, 0, 2, 3, 4}, ""},
		{"time micros", 11, false, []byte{12, 0, 0, 0, 0, 0, 2, 3, 4, 0x40, 0xe2, 1, 0}, ""},
	} {
		q := "select concat(?, '')"
		dated := p.typ == 10 || p.typ == 11 || p.typ == 12 || p.typ == 7
		if p.typ == 252 || dated {
			q = "select ?"
		}
		id, _, params := c.prepare(q)
		if params != 1 {
			t.Fatalf("%d parameters", params)
		}
		sign := byte(0)
		if p.unsigned {
			sign = 0x80
		}
		first := append([]byte{0, 1, p.typ, sign}, p.value...)
		again := append([]byte{0, 0}, p.value...)
		for _, body := range [][]byte{first, again} {
			c.execute(id, 0, body...)
			c.columns()
			rows, _ := c.rows()
			if len(rows) != 1 {
				t.Fatalf("%s: %d rows", p.name, len(rows))
			}
			// Row: header, bitmap of one byte, length, text.
			if dated {
				// The value comes back as it went.
				if !bytes.Equal(rows[0][2:], p.value) {
					t.Errorf("%s: got %x, want %x", p.name, rows[0][2:], p.value)
				}
				continue
			}
			if got := string(rows[0][3:]); got != p.want {
				t.Errorf("%s: got %q, want %q", p.name, got, p.want)
			}
		}
		c.command(0x19, u32(id)...)
	}
	id, _, _ := c.prepare("select ? is null, ?")
	c.execute(id, 0, 3, 1, 6, 0, 6, 0)
	c.columns()
	if rows, _ := c.rows(); !bytes.Equal(rows[0][:3], []byte{0, 8, 1}) {
		t.Errorf("NULL parameters: row %x", rows[0])
	}
	// Types never sent: only NULLs can do without.
	id, _, _ = c.prepare("select ? is null")
	c.execute(id, 0, 1, 0)
	c.columns()
	if rows, _ := c.rows(); len(rows) != 1 || rows[0][2] != 1 {
		t.Errorf("a NULL without a type: %x", rows)
	}
	id, _, _ = c.prepare("select ?")
	c.execute(id, 0, 0, 0, 1)
	c.wantErr(1835)
	c.command(14)
	c.ok()
}

func TestLongData(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	id, _, _ := c.prepare("select length(?), ?")
	send := func(param byte, data string) {
		c.command(0x18, append(append(u32(id), param, 0), data...)...)
	}
	send(0, strings.Repeat("x", 70000))
	send(0, "y")
	// The value of a parameter that came as long data is absent.
	c.execute(id, 0, 0, 1, 254, 0, 254, 0, 1, 'z')
	c.columns()
	rows, _ := c.rows()
	if got := string(rows[0][len(rows[0])-2:]); got != "\x01z" {
		t.Errorf("row %q", rows[0])
	}
	if n := binary.LittleEndian.Uint32(rows[0][2:]); n != 70001 {
		t.Errorf("length %d, want 70001", n)
	}
	// COM_STMT_RESET forgets it.
	send(0, "abc")
	c.command(0x1a, u32(id)...)
	c.ok()
	c.execute(id, 0, 0, 1, 254, 0, 254, 0, 2, 'q', 'q', 1, 'z')
	c.columns()
	if rows, _ = c.rows(); binary.LittleEndian.Uint32(rows[0][2:]) != 2 {
		t.Errorf("after reset: row %x", rows[0])
	}
	c.command(0x1a, u32(99)...)
	c.wantErr(1243)
	c.execute(99, 0)
	c.wantErr(1243)
}

func TestCursor(t *testing.T) {
	s := start(t, options{})
	for _, caps := range []uint32{0, capDeprecateEOF} {
		for _, q := range []string{"select c0 from fake_source('slow', 5)", "select * from fake_source('slow', 5)"} {
			c := rawDial(t, s.addr, rawOptions{caps: caps})
			id, cols, _ := c.prepare(q)
			if cols != 1 {
				t.Fatalf("%d columns", cols)
			}
			c.execute(id, 1)
			_, status := c.columns()
			if caps&capDeprecateEOF != 0 {
				status = c.eof(c.read())
			}
			if status&statusCursor == 0 {
				t.Fatalf("no cursor: status %x", status)
			}
			// Other statements run while it is open.
			c.query("select 1")
			var got []byte
			for i := range 3 {
				c.command(0x1c, append(u32(id), u32(2)...)...)
				rows, status := c.rows()
				for _, r := range rows {
					got = append(got, r[2])
				}
				last := i == 2
				if last != (status&statusLastRow != 0) || last == (status&statusCursor != 0) {
					t.Errorf("fetch %d: status %x", i, status)
				}
			}
			if !bytes.Equal(got, []byte{0, 1, 2, 3, 4}) {
				t.Errorf("got rows %v", got)
			}
			c.command(0x1c, append(u32(id), u32(2)...)...)
			c.wantErr(1421)
			// Execute again, close half way.
			c.execute(id, 1)
			c.columns()
			if caps&capDeprecateEOF != 0 {
				c.eof(c.read())
			}
			c.command(0x1c, append(u32(id), u32(1)...)...)
			c.rows()
			c.command(0x1a, u32(id)...)
			c.ok()
			c.command(0x19, u32(id)...)
			c.query("select 1")
		}
	}
}

// A cursor on a source without end opens before the first row, and gives rows as they come, not when there are as many as are asked for.
func TestCursorOnTide(t *testing.T) {
	s := start(t, options{})
	for _, q := range []string{"select * from fake_source('tide', 5)", "select c0 + 0 from fake_source('tide', 5)"} {
		c := rawDial(t, s.addr, rawOptions{})
		id, _, _ := c.prepare(q)
		c.execute(id, 1)
		if _, status := c.columns(); status&statusCursor == 0 {
			t.Fatalf("no cursor: status %x", status)
		}
		c.query("select 1") // while the source waits
		var got []byte
		for fetches := 1; ; fetches++ {
			c.command(0x1c, append(u32(id), u32(100)...)...)
			rows, status := c.rows()
			for _, r := range rows {
				got = append(got, r[2])
			}
			if status&statusLastRow != 0 {
				if fetches < 4 {
					t.Errorf("%s: all rows came in %d fetches", q, fetches)
				}
				break
			}
			if len(rows) == 0 {
				t.Fatalf("%s: a fetch without rows", q)
			}
		}
		if !bytes.Equal(got, []byte{0, 1, 2, 3, 4}) {
			t.Errorf("%s: got rows %v", q, got)
		}
		// Closed while it waits.
		c.execute(id, 1)
		c.columns()
		c.command(0x1a, u32(id)...)
		c.ok()
		c.query("select 1")
		// Killed while a fetch waits.
		c.execute(id, 1)
		c.columns()
		c.command(0x1c, append(u32(id), u32(100)...)...)
		time.Sleep(10 * time.Millisecond)
		mustExec(t, s.root(), "kill query "+itoa(int(c.id)))
		c.wantErr(1317)
		c.query("select 1")
	}
}

func TestCursorFails(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	id, _, _ := c.prepare("select * from fake_source('fail', 10000)")
	c.execute(id, 1)
	c.columns()
	c.command(0x1c, append(u32(id), u32(4096)...)...)
	for range 4096 {
		c.read()
	}
	c.wantErr(1105)
	id, _, _ = c.prepare("select * from fake_source('hang', 10000)")
	c.execute(id, 1)
	time.Sleep(50 * time.Millisecond)
	mustExec(t, s.root(), "kill query "+itoa(int(c.id)))
	c.wantErr(1317)
	c.query("select 1")
	id, _, _ = c.prepare("select * from fake_source('slow', 10000)")
	c.execute(id, 1)
	c.columns()
	c.command(0x1c, append(u32(id), u32(4096)...)...)
	time.Sleep(100 * time.Millisecond)
	mustExec(t, s.root(), "kill query "+itoa(int(c.id)))
	for {
		if p := c.read(); p[0] == 0xff {
			if e := c.err(p).(rawError); e.code != 1317 {
				t.Errorf("got %v, want 1317", e)
			}
			break
		}
	}
	c.command(0x1c, append(u32(id), u32(1)...)...)
	c.wantErr(1421)
	c.query("select 1")
}
