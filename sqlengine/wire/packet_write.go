package wire

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// streamFlush is how long a row may wait in the buffer while its statement runs.
const streamFlush = 50 * time.Millisecond

var bufferPool = sync.Pool{New: func() any {
	b := make([]byte, 0, writeBuffer)
	return &b
}}

// packetWriter gathers packets in one buffer. Its methods without a lock are
// for the holder of mu only: the connection's goroutine takes mu around every
// run of writes, so that the flush timer sees whole packets.
type packetWriter struct {
	mu   sync.Mutex
	conn net.Conn
	// buf holds whole packets, and from open on the one being made.
	buf  []byte
	box  *[]byte
	open int
	seq  uint8
	// err is the first failure of a write; everything after it is dropped.
	err error
	// timeout is net_write_timeout.
	timeout  time.Duration
	timer    *time.Timer
	armed    bool
	bytesOut *atomic.Uint64
}

func newPacketWriter(conn net.Conn, timeout time.Duration, bytesOut *atomic.Uint64) *packetWriter {
	return &packetWriter{conn: conn, timeout: timeout, open: -1, bytesOut: bytesOut}
}

// begin starts a packet.
func (w *packetWriter) begin() {
	if w.box == nil {
		w.box = bufferPool.Get().(*[]byte)
		w.buf = (*w.box)[:0]
	}
	w.open = len(w.buf)
	w.buf = append(w.buf, 0, 0, 0, 0)
}

// end finishes the packet, splitting it where it is long, and writes the buffer when it is full.
func (w *packetWriter) end() {
	n := len(w.buf) - w.open - 4
	if n >= maxPayload {
		w.split(n)
	} else {
		h := w.buf[w.open:]
		h[0], h[1], h[2], h[3] = byte(n), byte(n>>8), byte(n>>16), w.seq
		w.seq++
	}
	w.open = -1
	if len(w.buf) >= flushBytes {
		w.flush()
	}
}

// split puts headers into an open packet of n >= maxPayload bytes.
func (w *packetWriter) split(n int) {
	parts := n/maxPayload + 1
	w.buf = append(w.buf, make([]byte, 4*(parts-1))...)
	for k := parts - 1; k >= 0; k-- {
		size := maxPayload
		if k == parts-1 {
			size = n - k*maxPayload
		}
		from := w.open + 4 + k*maxPayload
		to := w.open + k*(maxPayload+4)
		copy(w.buf[to+4:to+4+size], w.buf[from:from+size])
		h := w.buf[to:]
		h[0], h[1], h[2], h[3] = byte(size), byte(size>>8), byte(size>>16), w.seq+uint8(k)
	}
	w.seq += uint8(parts)
}

// abort drops the open packet.
func (w *packetWriter) abort() {
	if w.open >= 0 {
		w.buf = w.buf[:w.open]
		w.open = -1
	}
}

// packet writes one whole packet.
func (w *packetWriter) packet(p []byte) {
	w.begin()
	w.buf = append(w.buf, p...)
	w.end()
}

// flush writes the whole packets of the buffer. It blocks while the client does not read.
func (w *packetWriter) flush() {
	done := len(w.buf)
	if w.open >= 0 {
		done = w.open
	}
	if done == 0 {
		return
	}
	if w.err == nil {
		if w.timeout > 0 {
			w.err = w.conn.SetWriteDeadline(time.Now().Add(w.timeout))
		}
		if w.err == nil {
			_, w.err = w.conn.Write(w.buf[:done])
			w.bytesOut.Add(uint64(done))
		}
	}
	rest := copy(w.buf, w.buf[done:])
	w.buf = w.buf[:rest]
	if w.open >= 0 {
		w.open = 0
	}
	if cap(w.buf) > maxPooledBuffer && rest == 0 {
		w.buf = (*w.box)[:0]
	}
}

// finish flushes and gives the buffer back; a command ends with it.
func (w *packetWriter) finish() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil && w.armed {
		w.timer.Stop()
		w.armed = false
	}
	w.abort()
	w.flush()
	if w.box != nil && len(w.buf) == 0 {
		bufferPool.Put(w.box)
		w.box, w.buf = nil, nil
	}
	return w.err
}

// armFlush sees to it that what is in the buffer leaves within streamFlush.
func (w *packetWriter) armFlush() {
	if !w.armed && len(w.buf) > 0 {
		w.flushIn(streamFlush)
	}
}

// flushSoon sends what is in the buffer without making the caller wait for the client.
func (w *packetWriter) flushSoon() {
	if len(w.buf) > 0 {
		w.flushIn(0)
	}
}

func (w *packetWriter) flushIn(d time.Duration) {
	w.armed = true
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.flushLate)
		return
	}
	w.timer.Reset(d)
}

func (w *packetWriter) flushLate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed && w.open < 0 {
		w.flush()
	}
	w.armed = false
}
