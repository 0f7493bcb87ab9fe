package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"
)

// handshakeSeeds are responses as clients send them: go-sql-driver 1.10, the
// MariaDB command line client and PyMySQL forms, and an SSLRequest.
func handshakeSeeds() [][]byte {
	base := func(caps uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, caps)
		b = append(b, 0, 0, 0, 1, collationUTF8M4)
		return append(b, make([]byte, 23)...)
	}
	auth := bytes.Repeat([]byte{7}, 20)
	goDriver := base(capProtocol41 | capSecureConnection | capLongPassword | capTransactions | capLocalFiles | capPluginAuth | capMultiResults | capConnectWithDB | capConnectAttrs | capPluginAuthLenenc)
	goDriver = append(append(goDriver, "root\x00\x14"...), auth...)
	goDriver = append(goDriver, "test\x00mysql_native_password\x00"...)
	goDriver = append(goDriver, 14, 12, '_', 'c', 'l', 'i', 'e', 'n', 't', '_', 'n', 'a', 'm', 'e', 0)
	old := append(base(capProtocol41), "root\x00\x00"...)
	cut := append(base(capProtocol41|capSecureConnection|capConnectWithDB|capPluginAuth), "root\x00\x00"...)
	return [][]byte{goDriver, old, cut, base(capProtocol41 | capSSL)}
}

func TestParseHandshakeResponse(t *testing.T) {
	s := handshakeSeeds()
	r, err := parseHandshakeResponse(s[0], serverCapabilities)
	if err != nil || r.user != "root" || r.db != "test" || r.plugin != pluginNative || len(r.auth) != 20 || len(r.attrs) != 1 {
		t.Errorf("go-sql-driver: %+v, %v", r, err)
	}
	if r, err = parseHandshakeResponse(s[1], serverCapabilities); err != nil || r.user != "root" || len(r.auth) != 0 {
		t.Errorf("old: %+v, %v", r, err)
	}
	if r, err = parseHandshakeResponse(s[2], serverCapabilities); err != nil || r.db != "" || r.plugin != "" {
		t.Errorf("cut short: %+v, %v", r, err)
	}
	if r, err = parseHandshakeResponse(s[3], serverCapabilities|capSSL); err != nil || !r.sslRequest {
		t.Errorf("SSLRequest: %+v, %v", r, err)
	}
	if r, err = parseHandshakeResponse(s[0], serverCapabilities&^capConnectAttrs); err != nil || r.caps&capConnectAttrs != 0 {
		t.Errorf("a capability that was not offered stays: %+v, %v", r, err)
	}
	for n := range s[0] {
		if _, err := parseHandshakeResponse(s[0][:n], serverCapabilities); err == nil && n < 58 {
			t.Errorf("%d bytes of the response are accepted", n)
		}
	}
}

func FuzzHandshakeResponse(f *testing.F) {
	for _, s := range handshakeSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseHandshakeResponse(data, serverCapabilities|capSSL)
		if err == nil && len(r.user)+len(r.auth)+len(r.db)+len(r.plugin) > len(data) {
			t.Errorf("more content than bytes: %+v", r)
		}
		if _, err := parseChangeUser(data, serverCapabilities); err != nil && err != errMalformed {
			t.Error(err)
		}
	})
}

// executeSeeds are parameters of COM_STMT_EXECUTE: flags, iteration count, bitmap, types, values.
func executeSeeds() [][]byte {
	return [][]byte{
		{0, 1, 0, 0, 0, 0, 1, typeLongLong, 0, 5, 0, 0, 0, 0, 0, 0, 0},
		{1, 1, 0, 0, 0, 0, 1, typeVarString, 0, 3, 'a', 'b', 'c'},
		{0, 1, 0, 0, 0, 0, 1, typeDatetime, 0, 11, 0xe8, 7, 2, 29, 1, 2, 3, 0x40, 0xe2, 1, 0},
		{0, 1, 0, 0, 0, 0, 1, typeTime, 0, 12, 1, 1, 0, 0, 0, 2, 3, 4, 0x40, 0xe2, 1, 0},
		{0, 1, 0, 0, 0, 0, 1, typeNewDecimal, 0, 6, '-', '1', '2', '.', '5', '0'},
		{0, 1, 0, 0, 0, 1, 1, typeNull, 0},
		{0, 1, 0, 0, 0, 0, 0, 7},
		{8, 1, 0, 0, 0, 2, 0, 1, typeLong, 0, 0, typeVarString, 0, 1, 'a', 41, 0, 0, 0, 1, 'v'},
	}
}

func FuzzExecute(f *testing.F) {
	for i, s := range executeSeeds() {
		f.Add(s, uint8(1), i == 7)
	}
	f.Fuzz(func(t *testing.T, data []byte, params uint8, attributes bool) {
		var caps uint32
		if attributes {
			caps = capQueryAttributes
		}
		n := int(params % 20)
		types := make([]paramType, n)
		for i := range types {
			types[i].typ = typeLong
		}
		r, err := parseExecute(data, caps, n, types, map[int][]byte{1: []byte("long")})
		if err == nil {
			if len(r.values) != n {
				t.Fatalf("%d values of %d parameters", len(r.values), n)
			}
			for i := range r.values {
				if _, err := r.values[i].expression(); err != nil {
					continue
				}
			}
		}
		if text, err := skipAttributes(data); err == nil && len(text) > len(data) {
			t.Fatal("text longer than the packet")
		}
	})
}

// FuzzPackets feeds bytes to the packet reader, plain and in the zlib protocol.
func FuzzPackets(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, comPing}, false)
	f.Add([]byte{2, 0, 0, 0, comQuery, 'x', 1, 0, 0, 1, comQuit}, false)
	var out bytes.Buffer
	cc := &compressedConn{Conn: bufferConn{out: &out}}
	if _, err := cc.Write(append([]byte{101, 0, 0, 0}, bytes.Repeat([]byte{'a'}, 101)...)); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes(), true)
	f.Fuzz(func(t *testing.T, data []byte, compressed bool) {
		var limit atomic.Uint32
		limit.Store(1 << 16)
		var in atomic.Uint64
		r := bufio.NewReader(bytes.NewReader(data))
		if compressed {
			r = bufio.NewReader(&compressedConn{r: r})
		}
		pr := &packetReader{r: r, limit: &limit, bytesIn: &in}
		for range 100 {
			p, err := pr.read()
			if len(p.data) > 1<<16 {
				t.Fatalf("a packet of %d bytes", len(p.data))
			}
			if err != nil {
				return
			}
		}
	})
}

// bufferConn is a connection that writes to a buffer.
type bufferConn struct {
	net.Conn
	out *bytes.Buffer
}

// Write writes to the buffer.
func (b bufferConn) Write(p []byte) (int, error) { return b.out.Write(p) }
