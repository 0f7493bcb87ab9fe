package wire

import (
	"fmt"
	"io"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// loadInfile asks the client for a file of LOAD DATA LOCAL INFILE and returns its content.
func (c *conn) loadInfile(name string) (io.ReadCloser, error) {
	if c.caps&capLocalFiles == 0 || c.intVariable("local_infile", 0) == 0 {
		return nil, errmap.New(3948, "42000", "Loading local data is disabled; this must be enabled on both the client and server sides")
	}
	if err := c.send(append([]byte{headerLocalInfile}, name...)); err != nil {
		return nil, fmt.Errorf("asking the client for file %s: %w", name, err)
	}
	return &infile{c: c}, nil
}

// infile reads the packets of a client's file; an empty one ends it.
type infile struct {
	c    *conn
	rest []byte
	err  error
}

// Read implements io.Reader.
func (f *infile) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		pkt, err := f.c.nextPacket()
		switch {
		case err != nil:
			f.err = fmt.Errorf("reading the client's file: %w", err)
		case len(pkt.data) == 0:
			f.err = io.EOF
		}
		f.rest = pkt.data
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Close takes what the client still sends, so that the answer comes in its turn.
func (f *infile) Close() error {
	for f.err == nil {
		f.rest = nil
		var drop [1]byte
		if _, err := f.Read(drop[:]); err != nil {
			break
		}
	}
	if f.err == io.EOF {
		return nil
	}
	return f.err
}
