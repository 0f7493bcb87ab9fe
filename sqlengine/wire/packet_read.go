package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

var (
	// errPacketTooLarge is a packet beyond max_allowed_packet; its bytes have been skipped.
	errPacketTooLarge = errors.New("packet bigger than max_allowed_packet")
	// errPacketOrder is a continuation with a wrong sequence number.
	errPacketOrder = errors.New("packets out of order")
)

// packet is one logical packet: the payloads of its physical ones joined.
type packet struct {
	data []byte
	// seq is the sequence number of the last physical packet.
	seq uint8
	// number is that of the compressed packet in which it ended.
	number uint8
}

// packetReader splits a byte stream into packets.
type packetReader struct {
	r *bufio.Reader
	// limit is the greatest payload (max_allowed_packet).
	limit *atomic.Uint32
	// number, where set, gives the number of the last compressed packet.
	number  func() uint8
	bytesIn *atomic.Uint64
}

// read reads one packet. With errPacketTooLarge the packet's seq is set and its bytes are skipped.
func (pr *packetReader) read() (packet, error) {
	var p packet
	limit := int(pr.limit.Load())
	tooLarge := false
	for first := true; ; first = false {
		var h [4]byte
		if _, err := io.ReadFull(pr.r, h[:]); err != nil {
			if !first && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return p, err
		}
		n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		if !first && h[3] != p.seq+1 {
			return p, errPacketOrder
		}
		p.seq = h[3]
		pr.bytesIn.Add(uint64(n) + 4)
		if !tooLarge && len(p.data)+n > limit {
			tooLarge = true
			p.data = nil
		}
		if tooLarge {
			if _, err := pr.r.Discard(n); err != nil {
				return p, fmt.Errorf("skipping a packet that is too large: %w", err)
			}
		} else {
			var err error
			if p.data, err = readInto(pr.r, p.data, n); err != nil {
				return p, err
			}
		}
		if n < maxPayload {
			if pr.number != nil {
				p.number = pr.number()
			}
			if tooLarge {
				return p, errPacketTooLarge
			}
			return p, nil
		}
	}
}

// readInto appends n bytes of r to dst; memory grows with the bytes that came.
func readInto(r io.Reader, dst []byte, n int) ([]byte, error) {
	for n > 0 {
		step := min(n, max(readStep, len(dst)))
		at := len(dst)
		if cap(dst)-at < step {
			grown := make([]byte, at, at+step)
			copy(grown, dst)
			dst = grown
		}
		dst = dst[:at+step]
		if _, err := io.ReadFull(r, dst[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return dst[:at], err
		}
		n -= step
	}
	return dst, nil
}

// packetQueue carries packets from the reading goroutine to the commands.
type packetQueue struct {
	ch     chan queued
	queued atomic.Int64
	room   chan struct{}
}

type queued struct {
	packet
	err error
}

func newPacketQueue() *packetQueue {
	return &packetQueue{ch: make(chan queued, queuePackets), room: make(chan struct{}, 1)}
}

// fill reads packets until the stream fails or ctx ends; failed is called
// with the stream's error before it is queued. It is the body of the reading goroutine.
func (q *packetQueue) fill(ctx context.Context, pr *packetReader, failed func(error)) {
	for {
		p, err := pr.read()
		if err != nil && err != errPacketTooLarge {
			failed(err)
		}
		q.queued.Add(int64(len(p.data)))
		select {
		case q.ch <- queued{p, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		for q.queued.Load() > queueBytes {
			select {
			case <-q.room:
			case <-ctx.Done():
				return
			}
		}
	}
}

// next waits for a packet until ctx ends.
func (q *packetQueue) next(ctx context.Context) (packet, error) {
	select {
	case p := <-q.ch:
		return q.took(p)
	case <-ctx.Done():
		return packet{}, ctx.Err()
	}
}

func (q *packetQueue) took(p queued) (packet, error) {
	q.queued.Add(-int64(len(p.data)))
	select {
	case q.room <- struct{}{}:
	default:
	}
	return p.packet, p.err
}
