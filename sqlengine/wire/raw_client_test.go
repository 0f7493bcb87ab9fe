package wire_test

import (
	"bufio"
	"bytes"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	crand "crypto/rand"
)

// Capabilities that the raw client uses.
const (
	capFoundRows     = 1 << 1
	capWithDB        = 1 << 3
	capProtocol41    = 1 << 9
	capTLS           = 1 << 11
	capSecure        = 1 << 15
	capMulti         = 1 << 16
	capMultiResults  = 1 << 17
	capPluginAuth    = 1 << 19
	capAttrs         = 1 << 20
	capSessionTrack  = 1 << 23
	capDeprecateEOF  = 1 << 24
	capOptionalMeta  = 1 << 25
	capAttributes    = 1 << 27
	defaultRawCaps   = capProtocol41 | capSecure | capPluginAuth | capWithDB | capMulti | capMultiResults
	rawTimeout       = 10 * time.Second
	statusCursor     = 1 << 6
	statusLastRow    = 1 << 7
	statusStateTrack = 1 << 14
)

// raw is a client that speaks packets.
type raw struct {
	t    testing.TB
	nc   net.Conn
	r    *bufio.Reader
	seq  uint8
	caps uint32
	salt []byte
	id   uint32
	// offered are the server's capabilities.
	offered uint32
}

type rawOptions struct {
	caps           uint32
	user, password string
	plugin         string
	db             string
	useTLS         bool
	// old is a client that does not know plugins.
	old bool
}

// rawDial connects and logs in.
func rawDial(t testing.TB, addr string, o rawOptions) *raw {
	t.Helper()
	c, err := rawConnect(t, addr, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rawConnect(t testing.TB, addr string, o rawOptions) (*raw, error) {
	t.Helper()
	network := "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	nc, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if o.user == "" {
		o.user = "root"
	}
	if o.plugin == "" {
		o.plugin = "caching_sha2_password"
	}
	c := &raw{t: t, nc: nc, r: bufio.NewReader(nc), caps: defaultRawCaps | o.caps}
	if o.old {
		c.caps &^= capPluginAuth
		o.plugin = "mysql_native_password"
	}
	g := c.read()
	if g[0] != 10 {
		return nil, c.err(g)
	}
	i := bytes.IndexByte(g, 0) + 1
	c.id = binary.LittleEndian.Uint32(g[i:])
	c.salt = append([]byte{}, g[i+4:i+12]...)
	c.salt = append(c.salt, g[i+31:i+43]...)
	c.offered = uint32(binary.LittleEndian.Uint16(g[i+13:])) | uint32(binary.LittleEndian.Uint16(g[i+18:]))<<16
	head := binary.LittleEndian.AppendUint32(nil, c.caps)
	if o.useTLS {
		binary.LittleEndian.PutUint32(head, c.caps|capTLS)
	}
	head = binary.LittleEndian.AppendUint32(head, 1<<24)
	head = append(append(head, 255), make([]byte, 23)...)
	if o.useTLS {
		c.write(head)
		tc := tls.Client(nc, &tls.Config{InsecureSkipVerify: true})
		if err := tc.Handshake(); err != nil {
			return nil, err
		}
		c.nc, c.r = tc, bufio.NewReader(tc)
	}
	head = append(append(head, o.user...), 0)
	auth := c.scramble(o.plugin, o.password, c.salt)
	head = append(append(head, byte(len(auth))), auth...)
	db := o.db
	if db == "" {
		db = "test"
	}
	head = append(append(head, db...), 0)
	if !o.old {
		head = append(append(head, o.plugin...), 0)
	}
	if c.caps&capAttrs != 0 {
		head = append(head, 10, 4, 'n', 'a', 'm', 'e', 4, 't', 'e', 's', 't')
	}
	c.write(head)
	return c, c.finishAuth(o.password, o.useTLS || network == "unix")
}

// finishAuth plays the client's part until OK or an error.
func (c *raw) finishAuth(password string, secure bool) error {
	salt := c.salt
	for {
		p := c.read()
		switch p[0] {
		case 0:
			return nil
		case 0xff:
			return c.err(p)
		case 0xfe:
			i := bytes.IndexByte(p, 0)
			plugin := string(p[1:i])
			salt = bytes.TrimSuffix(p[i+1:], []byte{0})
			c.write(c.scramble(plugin, password, salt))
		case 1:
			switch {
			case p[1] == 3:
			case p[1] == 4 && secure:
				c.write(append([]byte(password), 0))
			case p[1] == 4:
				c.write([]byte{2})
				key := c.read()
				blk, _ := pem.Decode(key[1:])
				pub, err := x509.ParsePKIXPublicKey(blk.Bytes)
				if err != nil {
					return err
				}
				plain := append([]byte(password), 0)
				for i := range plain {
					plain[i] ^= salt[i%len(salt)]
				}
				enc, err := rsa.EncryptOAEP(sha1.New(), crand.Reader, pub.(*rsa.PublicKey), plain, nil)
				if err != nil {
					return err
				}
				c.write(enc)
			}
		}
	}
}

func (c *raw) scramble(plugin, password string, salt []byte) []byte {
	if password == "" {
		return nil
	}
	if plugin == "mysql_native_password" {
		a := sha1.Sum([]byte(password))
		b := sha1.Sum(a[:])
		m := sha1.Sum(append(append([]byte{}, salt...), b[:]...))
		for i := range m {
			m[i] ^= a[i]
		}
		return m[:]
	}
	a := sha256.Sum256([]byte(password))
	b := sha256.Sum256(a[:])
	m := sha256.Sum256(append(b[:], salt...))
	for i := range m {
		m[i] ^= a[i]
	}
	return m[:]
}

type rawError struct {
	code  uint16
	state string
	msg   string
}

func (e rawError) Error() string { return fmt.Sprintf("%d (%s) %s", e.code, e.state, e.msg) }

func (c *raw) err(p []byte) error {
	if p[0] != 0xff {
		return fmt.Errorf("not an error packet: %x", p)
	}
	return rawError{binary.LittleEndian.Uint16(p[1:]), string(p[4:9]), string(p[9:])}
}

// read reads one packet.
func (c *raw) read() []byte {
	c.t.Helper()
	p, err := c.tryRead()
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

func (c *raw) tryRead() ([]byte, error) {
	if err := c.nc.SetReadDeadline(time.Now().Add(rawTimeout)); err != nil {
		return nil, err
	}
	var out []byte
	for {
		var h [4]byte
		if _, err := io.ReadFull(c.r, h[:]); err != nil {
			return nil, err
		}
		n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		if h[3] != c.seq {
			return nil, fmt.Errorf("packet number %d, want %d", h[3], c.seq)
		}
		c.seq++
		at := len(out)
		out = append(out, make([]byte, n)...)
		if _, err := io.ReadFull(c.r, out[at:]); err != nil {
			return nil, err
		}
		if n < 1<<24-1 {
			return out, nil
		}
	}
}

func (c *raw) write(p []byte) {
	c.t.Helper()
	for {
		n := min(len(p), 1<<24-1)
		h := []byte{byte(n), byte(n >> 8), byte(n >> 16), c.seq}
		c.seq++
		if _, err := c.nc.Write(append(h, p[:n]...)); err != nil {
			c.t.Fatal(err)
		}
		p = p[n:]
		if n < 1<<24-1 {
			return
		}
	}
}

// command sends a command.
func (c *raw) command(code byte, body ...byte) {
	c.t.Helper()
	c.seq = 0
	c.write(append([]byte{code}, body...))
}

// ok reads an OK packet and returns its status and what follows the warnings.
func (c *raw) ok() (status uint16, rest []byte) {
	c.t.Helper()
	p := c.read()
	if p[0] != 0 {
		if p[0] == 0xff {
			c.t.Fatal(c.err(p))
		}
		c.t.Fatalf("not an OK packet: %x", p)
	}
	return binary.LittleEndian.Uint16(p[3:]), p[7:]
}

// wantErr reads an ERR packet.
func (c *raw) wantErr(code uint16) {
	c.t.Helper()
	p := c.read()
	if p[0] != 0xff {
		c.t.Fatalf("got packet %x, want error %d", p, code)
	}
	if e := c.err(p).(rawError); e.code != code {
		c.t.Fatalf("got error %v, want %d", e, code)
	}
}

// columns reads a column count and its definitions, with the EOF after them, and returns that status.
func (c *raw) columns() (defs [][]byte, status uint16) {
	c.t.Helper()
	p := c.read()
	if p[0] == 0xff {
		c.t.Fatal(c.err(p))
	}
	if c.caps&capOptionalMeta != 0 {
		if p[0] != 1 {
			c.t.Fatalf("metadata_follows is %d", p[0])
		}
		p = p[1:]
	}
	for range p[0] {
		defs = append(defs, c.read())
	}
	if c.caps&capDeprecateEOF == 0 {
		status = c.eof(c.read())
	}
	return defs, status
}

// eof checks the packet that ends rows or definitions.
func (c *raw) eof(p []byte) uint16 {
	c.t.Helper()
	if p[0] != 0xfe {
		c.t.Fatalf("not the end of rows: %x", p)
	}
	if c.caps&capDeprecateEOF != 0 && len(p) != 5 {
		return binary.LittleEndian.Uint16(p[3:])
	}
	if len(p) != 5 {
		c.t.Fatalf("EOF packet of %d bytes", len(p))
	}
	return binary.LittleEndian.Uint16(p[3:])
}

// rows reads rows up to their end.
func (c *raw) rows() (rows [][]byte, status uint16) {
	c.t.Helper()
	for {
		p := c.read()
		if p[0] == 0xfe && len(p) < 1<<24-1 {
			return rows, c.eof(p)
		}
		if p[0] == 0xff {
			c.t.Fatal(c.err(p))
		}
		rows = append(rows, p)
	}
}

// query runs a text query without parameters and returns its rows' packets.
func (c *raw) query(q string) [][]byte {
	c.t.Helper()
	body := []byte(q)
	if c.caps&capAttributes != 0 {
		body = append([]byte{0, 1}, body...)
	}
	c.command(3, body...)
	c.columns()
	rows, _ := c.rows()
	return rows
}

// prepare prepares a statement and returns its id and the numbers of columns and parameters.
func (c *raw) prepare(q string) (id uint32, cols, params int) {
	c.t.Helper()
	c.command(0x16, []byte(q)...)
	p := c.read()
	if p[0] != 0 {
		c.t.Fatal(c.err(p))
	}
	id, cols, params = binary.LittleEndian.Uint32(p[1:]), int(binary.LittleEndian.Uint16(p[5:])), int(binary.LittleEndian.Uint16(p[7:]))
	for _, n := range []int{params, cols} {
		for range n {
			c.read()
		}
		if n > 0 && c.caps&capDeprecateEOF == 0 {
			c.eof(c.read())
		}
	}
	return id, cols, params
}

// execute sends COM_STMT_EXECUTE; rest follows the iteration count.
func (c *raw) execute(id uint32, flags byte, rest ...byte) {
	c.t.Helper()
	body := binary.LittleEndian.AppendUint32(nil, id)
	body = append(body, flags, 1, 0, 0, 0)
	c.command(0x17, append(body, rest...)...)
}

func u32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
