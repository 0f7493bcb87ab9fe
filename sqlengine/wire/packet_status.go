package wire

import (
	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// okPacket is the content of an OK packet.
type okPacket struct {
	affected, insertID uint64
	info               string
	warnings           uint16
	// more announces another result; cursor holds statusCursorExists, statusLastRowSent or 0.
	more   bool
	cursor uint16
	// track is the encoded session state change, nil for none.
	track []byte
}

func (c *conn) statusFlags(more bool, cursor uint16) uint16 {
	st := c.status | cursor
	if more {
		st |= statusMoreResults
	}
	return st
}

// writeOK writes an OK packet.
func (c *conn) writeOK(ok okPacket) { c.writeOKAs(headerOK, ok) }

// writeOKAs writes an OK packet with header OK or, at the end of rows, EOF.
func (c *conn) writeOKAs(header byte, ok okPacket) {
	w := c.w
	w.begin()
	w.buf = append(w.buf, header)
	w.buf = appendLenenc(w.buf, ok.affected)
	w.buf = appendLenenc(w.buf, ok.insertID)
	st := c.statusFlags(ok.more, ok.cursor)
	if c.caps&capSessionTrack != 0 && len(ok.track) > 0 {
		st |= statusSessionStateChanged
	}
	w.buf = append(w.buf, byte(st), byte(st>>8), byte(ok.warnings), byte(ok.warnings>>8))
	if c.caps&capSessionTrack != 0 {
		if ok.info != "" || st&statusSessionStateChanged != 0 {
			w.buf = appendLenencString(w.buf, ok.info)
		}
		if st&statusSessionStateChanged != 0 {
			w.buf = appendLenencString(w.buf, ok.track)
		}
	} else {
		w.buf = append(w.buf, ok.info...)
	}
	w.end()
}

// writeDefsEnd ends column definitions for clients that need it.
func (c *conn) writeDefsEnd(cursor uint16) {
	if c.caps&capDeprecateEOF == 0 {
		c.writeEOF(okPacket{cursor: cursor})
	}
}

// writeRowsEnd ends the rows of a result.
func (c *conn) writeRowsEnd(ok okPacket) {
	if c.caps&capDeprecateEOF != 0 {
		c.writeOKAs(headerEOF, ok)
		return
	}
	c.writeEOF(ok)
}

func (c *conn) writeEOF(ok okPacket) {
	st := c.statusFlags(ok.more, ok.cursor)
	c.w.begin()
	c.w.buf = append(c.w.buf, headerEOF, byte(ok.warnings), byte(ok.warnings>>8), byte(st), byte(st>>8))
	c.w.end()
}

// writeError writes an ERR packet.
func (c *conn) writeError(err error) {
	db := ""
	if c.session != nil {
		db = c.session.GetCurrentDatabase()
	}
	code, state, msg := errmap.ConvertIn(db, err)
	w := c.w
	w.begin()
	w.buf = append(w.buf, headerErr, byte(code), byte(code>>8))
	if c.caps&capProtocol41 != 0 {
		w.buf = append(w.buf, '#')
		w.buf = append(w.buf, state...)
	}
	w.buf = append(w.buf, msg...)
	w.end()
}
