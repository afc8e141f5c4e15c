package server

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"accordion/shim/wire/launcher"
)

// outgoing is the queue of frames to a peer. Putting a message into the queue never blocks; only the writer of the connection blocks.
type outgoing struct {
	conn net.Conn
	key  []byte // our key, which is sent in the welcome; nil if there is none
	part string // name of the part's cluster, which is sent in the welcome; "" if the peer is a launcher
	pack int    // version of packing, which is sent in the welcome and used after it; 0 if frames are not packed

	mu       sync.Mutex
	queue    []written
	bytes    int
	sent     int64 // number of messages so far
	welcomed bool
	closing  bool      // no more messages are accepted
	by       time.Time // deadline for writing the remaining frames after closing is set
	cut      error     // why the connection was closed before all frames were written; nil if it was not
	wake     chan struct{}
	over     chan struct{} // closed when closing is set
}

// written is a queued frame.
type written struct {
	typ   string
	frame []byte
	packs bool // the frame will be packed
}

func newOutgoing(conn net.Conn) *outgoing {
	return &outgoing{conn: conn, wake: make(chan struct{}, 1), over: make(chan struct{})}
}

var errReadsNothing = errors.New("it reads too slowly")

// put queues a message, unless `m` is nil. If `last` is true, no further messages are accepted.
func (o *outgoing) put(m launcher.Message, last bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing {
		return
	}
	if m != nil {
		if err := o.add(m); err != nil {
			o.cutOff(err)
			return
		}
	}
	if last {
		o.by = time.Now().Add(writeTime)
		o.close()
	}
	o.wakeWriter()
}

func (o *outgoing) add(m launcher.Message) error {
	packs := o.welcomed && o.pack != 0
	if w, is := m.(*launcher.Welcome); is {
		o.welcomed = true
		full := *w
		full.Key, full.Cluster, full.Deflate = o.key, o.part, o.pack
		m = &full
	}
	frame, err := launcher.Append(nil, o.sent+1, m)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", m.Type(), err)
	}
	if len(o.queue) >= maxQueue || o.bytes+len(frame) > maxQueueBytes {
		return errReadsNothing
	}
	o.sent++
	o.queue = append(o.queue, written{typ: m.Type(), frame: frame, packs: packs})
	o.bytes += len(frame)
	return nil
}

// next waits for the next frame. ok is false if no further frame will come.
func (o *outgoing) next() (w written, ok bool) {
	for {
		if w, ok, closing := o.take(); ok || closing {
			return w, ok
		}
		<-o.wake
	}
}

func (o *outgoing) take() (w written, ok, closing bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue = nil // frees the memory
		return w, false, o.closing
	}
	w = o.queue[0]
	o.queue[0] = written{}
	o.queue = o.queue[1:]
	o.bytes -= len(w.frame)
	return w, true, false
}

// writeBy sets the deadline for writing the next frame. It is called when the frame is packed, so that the time for packing does not count.
func (o *outgoing) writeBy() {
	o.mu.Lock()
	defer o.mu.Unlock()
	by := time.Now().Add(writeTime)
	if o.closing && o.by.Before(by) {
		by = o.by
	}
	o.conn.SetWriteDeadline(by)
}

// stop closes the connection immediately.
func (o *outgoing) stop(why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cutOff(why)
}

func (o *outgoing) cutOff(why error) {
	if o.cut == nil {
		o.cut = why
	}
	o.queue, o.bytes = nil, 0
	o.close()
	o.conn.Close()
	o.wakeWriter()
}

func (o *outgoing) close() {
	if !o.closing {
		o.closing = true
		close(o.over)
	}
}

func (o *outgoing) wakeWriter() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// readBy sets the deadline for reading. If the session is closing, it sets a deadline in the past, so that nothing more is read.
func (o *outgoing) readBy(t time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing {
		t = time.Unix(1, 0)
	}
	o.conn.SetReadDeadline(t)
}

// stopReading ends a pending read.
func (o *outgoing) stopReading() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.conn.SetReadDeadline(time.Unix(1, 0))
}

// ping sends a ping if the welcome has been sent. It returns false if the session is closing.
func (o *outgoing) ping() bool {
	o.mu.Lock()
	welcomed, closing := o.welcomed, o.closing
	o.mu.Unlock()
	if welcomed {
		o.put(&launcher.Ping{}, false)
	}
	return !closing
}

// cutError returns why the connection was closed before all frames were written, or nil if it was not.
func (o *outgoing) cutError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cut
}
