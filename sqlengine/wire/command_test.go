package wire_test

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestSimpleCommands(t *testing.T) {
	s := start(t, options{})
	for _, caps := range []uint32{0, capDeprecateEOF, capOptionalMeta, capDeprecateEOF | capSessionTrack | capAttributes} {
		c := rawDial(t, s.addr, rawOptions{caps: caps})
		c.command(14)
		c.ok()
		c.command(9)
		if p := c.read(); !strings.HasPrefix(string(p), "Uptime: ") {
			t.Errorf("statistics: %q", p)
		}
		c.command(2, []byte("other")...)
		c.ok()
		if rows := c.query("select database()"); string(rows[0]) != "\x05other" {
			t.Errorf("database: %q", rows[0])
		}
		c.command(2, []byte("nosuch")...)
		c.wantErr(1049)
		c.command(13)
		c.eof(c.read())
		c.command(0x42)
		c.wantErr(1047)
		// Multi statements off and on.
		set := func(n byte) {
			c.command(0x1b, n, 0)
			if caps&capDeprecateEOF != 0 {
				c.ok()
			} else {
				c.eof(c.read())
			}
		}
		set(1)
		q := []byte("select 1; select 2")
		if caps&capAttributes != 0 {
			q = append([]byte{0, 1}, q...)
		}
		c.command(3, []byte(q)...)
		c.wantErr(1064)
		set(0)
		c.command(3, []byte(q)...)
		for i := range 2 {
			c.columns()
			if _, status := c.rows(); (status&8 != 0) != (i == 0) {
				t.Errorf("result %d: status %x", i, status)
			}
		}
		c.command(1)
		if _, err := c.tryRead(); !errors.Is(err, io.EOF) {
			t.Errorf("after COM_QUIT: %v", err)
		}
	}
}

func TestQueryAttributes(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{caps: capAttributes})
	if c.offered&capAttributes == 0 {
		t.Fatal("query attributes are not offered")
	}
	// Two attributes: n1 = LONG 5, n2 = NULL.
	body := []byte{2, 1, 2, 1, 3, 0, 2, 'n', '1', 254, 0, 2, 'n', '2', 5, 0, 0, 0}
	c.command(3, append(body, "select 42"...)...)
	c.columns()
	if rows, _ := c.rows(); string(rows[0]) != "\x0242" {
		t.Errorf("got %q", rows[0])
	}
	id, _, _ := c.prepare("select ? + 1")
	// One parameter and one attribute.
	c.execute(id, 8, 2, 0, 1, 8, 0, 0, 253, 0, 1, 'a', 41, 0, 0, 0, 0, 0, 0, 0, 1, 'v')
	c.columns()
	if rows, _ := c.rows(); binary.LittleEndian.Uint64(rows[0][2:]) != 42 {
		t.Errorf("got %x", rows[0])
	}
	// No attributes and no parameters.
	id, _, _ = c.prepare("select 1")
	c.execute(id, 8, 0)
	c.columns()
	c.rows()
	c.execute(id, 0)
	c.columns()
	c.rows()
	// A claim that was not offered is dropped: this greeting offers it, so only malformed ones remain.
	c.command(3, 0xfe)
	c.wantErr(1835)
	c.query("select 1")
}

func TestColumnDefinitions(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	mustExec(t, db, "create table cd (id int primary key, b tinyint(1), u bigint unsigned not null, v varchar(10), x text, y varbinary(7), z blob, d decimal(8,3), dt datetime(3), ts timestamp(6), f float, j json, e enum('a','b'), c char(4))")
	c := rawDial(t, s.addr, rawOptions{})
	c.command(3, []byte("select id, b, u, v, x, y, z, d, dt, ts, f, j, e, c, v as w, 1 as one, v = x as truth from cd as k")...)
	defs, _ := c.columns()
	c.rows()
	type def struct {
		name, org, table, orgTable string
		charset                    uint16
		length                     uint32
		typ                        byte
		flags                      uint16
		decimals                   byte
	}
	want := []def{
		{"id", "id", "k", "cd", 63, 11, 3, 1 | 2 | 16384, 0},
		{"b", "b", "k", "cd", 63, 1, 1, 0, 0},
		{"u", "u", "k", "cd", 63, 20, 8, 1 | 32, 0},
		{"v", "v", "k", "cd", 255, 40, 253, 0, 0},
		{"x", "x", "k", "cd", 255, 65535, 252, 16, 0},
		{"y", "y", "k", "cd", 63, 7, 253, 128, 0},
		{"z", "z", "k", "cd", 63, 65535, 252, 16 | 128, 0},
		{"d", "d", "k", "cd", 63, 10, 246, 0, 3},
		{"dt", "dt", "k", "cd", 63, 23, 12, 128, 3},
		{"ts", "ts", "k", "cd", 63, 26, 7, 128 | 1024, 6},
		{"f", "f", "k", "cd", 63, 12, 4, 0, 31},
		{"j", "j", "k", "cd", 63, 4294967295, 245, 16 | 128, 0},
		{"e", "e", "k", "cd", 255, 4, 254, 256, 0},
		{"c", "c", "k", "cd", 255, 16, 254, 0, 0},
		{"w", "v", "k", "cd", 255, 40, 253, 0, 0},
		{"one", "", "", "", 63, 4, 8, 1 | 128, 0},
		{"truth", "", "", "", 63, 1, 8, 128, 0},
	}
	for i, p := range defs {
		var f []string
		for range 6 {
			n := int(p[0])
			f = append(f, string(p[1:1+n]))
			p = p[1+n:]
		}
		got := def{f[4], f[5], f[2], f[3], binary.LittleEndian.Uint16(p[1:]), binary.LittleEndian.Uint32(p[3:]), p[7], binary.LittleEndian.Uint16(p[8:]), p[10]}
		if got != want[i] {
			t.Errorf("column %d:\n got %+v\nwant %+v", i, got, want[i])
		}
		if got.orgTable != "" && f[1] != "test" {
			t.Errorf("column %d: database %q", i, f[1])
		}
	}
}

func TestFieldList(t *testing.T) {
	s := start(t, options{})
	mustExec(t, s.root(), "create table fl (alpha int, beta varchar(3), alef int)")
	c := rawDial(t, s.addr, rawOptions{})
	for wild, want := range map[string]int{"": 3, "al%": 2, "b_ta": 1, "x": 0} {
		c.command(4, []byte("fl\x00"+wild)...)
		rows, _ := c.rows()
		if len(rows) != want {
			t.Errorf("%q: %d columns, want %d", wild, len(rows), want)
		}
	}
	c.command(4, []byte("nosuch\x00")...)
	c.wantErr(1146)
}

func TestSessionTrack(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{caps: capSessionTrack})
	exec := func(q string) (uint16, []byte) {
		c.command(3, []byte(q)...)
		return c.ok()
	}
	status, rest := exec("use other")
	// Empty info, then the changes: type 1, length 6, length 5, the name.
	if want := []byte("\x00\x08\x01\x06\x05other"); status&statusStateTrack == 0 || !bytes.Equal(rest, want) {
		t.Errorf("USE: status %x, rest %q, want %q", status, rest, want)
	}
	status, rest = exec("set autocommit = 0")
	if want := "\x00\x11\x00\x0f\x0aautocommit\x03OFF"; status&statusStateTrack == 0 || string(rest) != want {
		t.Errorf("SET autocommit: status %x, rest %q, want %q", status, rest, want)
	}
	if status&2 != 0 {
		t.Errorf("autocommit flag is still set: %x", status)
	}
	status, rest = exec("set @a = 1")
	if status&statusStateTrack != 0 || len(rest) != 0 {
		t.Errorf("SET @a: status %x, rest %q", status, rest)
	}
	c.command(2, []byte("test")...)
	if status, rest = c.ok(); status&statusStateTrack == 0 || !bytes.HasSuffix(rest, []byte("\x04test")) {
		t.Errorf("COM_INIT_DB: status %x, rest %q", status, rest)
	}
	exec("begin")
	if status, _ = exec("set @a = 2"); status&1 == 0 {
		t.Errorf("in a transaction: status %x", status)
	}
}

func TestResetAndChangeUser(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	c.command(3, []byte("set @x = 5")...)
	c.ok()
	id, _, _ := c.prepare("select 1")
	c.command(0x1f)
	c.ok()
	if rows := c.query("select @x, database()"); string(rows[0]) != "\xfb\x04test" {
		t.Errorf("after reset: %q", rows[0])
	}
	c.execute(id, 0)
	c.wantErr(1243)
	change := func(user, password, plugin, db string) error {
		auth := c.scramble(plugin, password, c.salt)
		body := append([]byte(user), 0, byte(len(auth)))
		body = append(append(body, auth...), db...)
		body = append(body, 0, 255, 0)
		c.command(0x11, append(append(body, plugin...), 0)...)
		return c.finishAuth(password, false)
	}
	for _, plugin := range []string{"mysql_native_password", "caching_sha2_password", "odd"} {
		if err := change("u", "secret", plugin, "other"); err != nil {
			t.Fatalf("%s: %v", plugin, err)
		}
		if rows := c.query("select database()"); string(rows[0]) != "\x05other" {
			t.Errorf("%s: database %q", plugin, rows[0])
		}
	}
	if err := change("u", "wrong", "mysql_native_password", "other"); err == nil {
		t.Error("a wrong password got in")
	}
	if _, err := c.tryRead(); err == nil {
		t.Error("the connection survives a refused COM_CHANGE_USER")
	}
}

func TestBigPackets(t *testing.T) {
	s := start(t, options{})
	db := s.open("root", "", "maxAllowedPacket=0")
	mustExec(t, db, "set global max_allowed_packet = 67108864")
	db = s.open("root", "", "maxAllowedPacket=100000000")
	mustExec(t, db, "set max_allowed_packet = 67108864")
	for _, n := range []int{1<<24 - 50, 1<<24 - 40, 1<<24 - 1, 1 << 24, 40 << 20} {
		q := "select '" + strings.Repeat("x", n) + "', 5"
		var text string
		var five int
		if err := db.QueryRow(q).Scan(&text, &five); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		if len(text) != n || five != 5 {
			t.Errorf("%d: got %d bytes and %d", n, len(text), five)
		}
	}
	// A row of every length around the packet border.
	c := rawDial(t, s.addr, rawOptions{})
	c.command(3, []byte("set max_allowed_packet = 67108864")...)
	c.ok()
	for n := 1<<24 - 1 - 5; n <= 1<<24+1; n++ {
		rows := c.query("select repeat('x', " + itoa(n-4) + ")")
		if len(rows) != 1 || len(rows[0]) != n {
			t.Errorf("row of %d bytes: got %d", n, len(rows[0]))
		}
	}
	var sum int
	rows, err := db.Query("select * from fake_source('big', 3)")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var b sql.RawBytes
		if err := rows.Scan(&b); err != nil {
			t.Fatal(err)
		}
		sum += len(b)
	}
	if err := rows.Err(); err != nil || sum != 3*17<<20 {
		t.Errorf("got %d bytes, %v", sum, err)
	}
}

func TestMaxAllowedPacket(t *testing.T) {
	s := start(t, options{})
	c := rawDial(t, s.addr, rawOptions{})
	c.command(3, []byte("set max_allowed_packet = 1048576")...)
	c.ok()
	c.command(3, []byte("select '"+strings.Repeat("x", 1<<20-100)+"'")...)
	c.columns()
	c.rows()
	c.command(3, []byte("select '"+strings.Repeat("x", 20<<20)+"'")...)
	c.seq = 2
	c.wantErr(1153)
	if _, err := c.tryRead(); err == nil {
		t.Error("the connection survives")
	}
}

func TestCompression(t *testing.T) {
	s := start(t, options{})
	db := s.open("u", "secret", "compress=true&multiStatements=true&maxAllowedPacket=0")
	if got := query(t, db, "select 1; select 2"); got != "1\n2" {
		t.Errorf("got %q", got)
	}
	if got := query(t, db, "select count(*), max(length(x)) from (select repeat('ab', 1000000) as x union all select 'c') as q"); got != "2|2000000" {
		t.Errorf("got %q", got)
	}
	if got := query(t, db, "select repeat('ab', 1000000), ?", 7); len(got) != 2000002 {
		t.Errorf("got %d bytes", len(got))
	}
	if got := query(t, db, "select length('"+strings.Repeat("y", 3<<20)+"')"); got != itoa(3<<20) {
		t.Errorf("got %q", got)
	}
	n := 0
	rows, err := db.Query("select * from fake_source('four', 100000)")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil || n != 100000 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestLoadDataLocal(t *testing.T) {
	s := start(t, options{})
	db := s.root()
	mustExec(t, db, "create table ld (a int, b varchar(10))")
	var big strings.Builder
	for i := range 3000 {
		big.WriteString(itoa(i) + "\tabcdefghij\n")
	}
	driver.RegisterReaderHandler("big", func() io.Reader { return strings.NewReader(big.String()) })
	_, err := db.Exec("load data local infile 'Reader::big' into table ld")
	wantError(t, err, 3948, "42000")
	mustExec(t, db, "set global local_infile = 1")
	db = s.root()
	mustExec(t, db, "load data local infile 'Reader::big' into table ld")
	if got := query(t, db, "select count(*), max(a) from ld"); got != "3000|2999" {
		t.Errorf("got %q", got)
	}
	if _, err := db.Exec("load data local infile 'Reader::nosuch' into table ld"); err == nil {
		t.Error("a file that the client has not: no error")
	}
	if got := query(t, db, "select 1"); got != "1" {
		t.Errorf("got %q", got)
	}
	mustExec(t, db, "set global local_infile = 0")
}

func TestCompressionOverTLS(t *testing.T) {
	s := start(t, selfSigned(t))
	db := s.open("u", "secret", "compress=true&tls=skip-verify")
	if got := query(t, db, "select repeat('ab', 100000), ?", 7); len(got) != 200002 {
		t.Errorf("got %d bytes", len(got))
	}
	if got := s.srv.Stats(); got.BytesOut < 200000 || got.Statements == 0 {
		t.Errorf("stats %+v", got)
	}
}

// BenchmarkLatency runs the shortest statements.
func BenchmarkLatency(b *testing.B) {
	s := start(b, options{})
	db := s.root()
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			query(b, db, "select 1")
		}
	})
	b.Run("prepared", func(b *testing.B) {
		st, err := db.Prepare("select ?")
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			var n int
			if err := st.QueryRow(1).Scan(&n); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ping", func(b *testing.B) {
		for b.Loop() {
			if err := db.Ping(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("connect", func(b *testing.B) {
		for b.Loop() {
			c := s.open("u", "secret", "")
			if err := c.Ping(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
