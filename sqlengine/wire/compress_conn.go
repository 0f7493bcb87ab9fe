package wire

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net"
)

const (
	// compressHeader is the length of a compressed packet's header.
	compressHeader = 7
	// minCompress is the least payload that is worth compressing, as in MySQL.
	minCompress = 50
)

// compressedConn is the zlib protocol on a connection: packets of the classic
// protocol travel in compressed packets, whose borders mean nothing.
type compressedConn struct {
	net.Conn
	r *bufio.Reader
	// in is what remains of the last compressed packet; readSeq is its number.
	in      []byte
	readSeq uint8
	inflate io.ReadCloser
	// writeSeq is the number of the next packet; the writer's goroutine sets it for each command.
	writeSeq uint8
	out      bytes.Buffer
	deflate  *zlib.Writer
}

// startCompression switches to the zlib protocol, where it was agreed on, after the handshake's OK.
func (c *conn) startCompression() {
	if c.caps&capCompress == 0 {
		return
	}
	cc := &compressedConn{Conn: c.nc, r: c.reader.r}
	c.compressed = cc
	c.reader.r = bufio.NewReaderSize(cc, readerSize)
	c.reader.number = func() uint8 { return cc.readSeq }
	c.w.conn = cc
}

// Read reads uncompressed bytes.
func (c *compressedConn) Read(p []byte) (int, error) {
	for len(c.in) == 0 {
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.in)
	c.in = c.in[n:]
	return n, nil
}

// fill reads one compressed packet.
func (c *compressedConn) fill() error {
	var h [compressHeader]byte
	if _, err := io.ReadFull(c.r, h[:]); err != nil {
		return err
	}
	size := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	plain := int(h[4]) | int(h[5])<<8 | int(h[6])<<16
	c.readSeq = h[3]
	body, err := readInto(c.r, nil, size)
	if err != nil {
		return err
	}
	if plain == 0 {
		c.in = body
		return nil
	}
	if c.inflate == nil {
		c.inflate, err = zlib.NewReader(bytes.NewReader(body))
	} else {
		err = c.inflate.(zlib.Resetter).Reset(bytes.NewReader(body), nil)
	}
	if err != nil {
		return fmt.Errorf("compressed packet: %w", err)
	}
	if c.in, err = readInto(c.inflate, nil, plain); err != nil {
		return fmt.Errorf("compressed packet: %w", err)
	}
	var more [1]byte
	if n, err := c.inflate.Read(more[:]); n != 0 || err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("compressed packet: more than the %d bytes it announces: %w", plain, errMalformed)
	}
	return nil
}

// Write sends bytes in as many compressed packets as they need.
func (c *compressedConn) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n := min(len(p), maxPayload)
		if err := c.writePacket(p[:n]); err != nil {
			return written, err
		}
		written += n
		p = p[n:]
	}
	return written, nil
}

func (c *compressedConn) writePacket(p []byte) error {
	c.out.Reset()
	c.out.Write(make([]byte, compressHeader))
	plain := 0
	if len(p) >= minCompress {
		if c.deflate == nil {
			var err error
			if c.deflate, err = zlib.NewWriterLevel(&c.out, zlib.BestSpeed); err != nil {
				return fmt.Errorf("compression: %w", err)
			}
		} else {
			c.deflate.Reset(&c.out)
		}
		if _, err := c.deflate.Write(p); err != nil {
			return fmt.Errorf("compression: %w", err)
		}
		if err := c.deflate.Close(); err != nil {
			return fmt.Errorf("compression: %w", err)
		}
		plain = len(p)
	}
	if plain == 0 || c.out.Len()-compressHeader >= len(p) {
		c.out.Truncate(compressHeader)
		c.out.Write(p)
		plain = 0
	}
	b := c.out.Bytes()
	n := len(b) - compressHeader
	b[0], b[1], b[2], b[3] = byte(n), byte(n>>8), byte(n>>16), c.writeSeq
	b[4], b[5], b[6] = byte(plain), byte(plain>>8), byte(plain>>16)
	c.writeSeq++
	_, err := c.Conn.Write(b)
	return err
}
