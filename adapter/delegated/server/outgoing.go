package server

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"accordion/shim/wire/launcher"
)

// outgoing is what waits to be written to a peer. Whoever puts into it never waits; the writer does.
type outgoing struct {
	conn net.Conn
	key  []byte // goes into the welcome; nil: none
	part string // the cluster of a part, which goes into the welcome; "": a launcher
	pack int    // how frames are packed, which goes into the welcome and begins after it; 0: not at all

	mu       sync.Mutex
	queue    []written
	bytes    int
	sent     int64 // messages numbered
	welcomed bool
	closing  bool      // nothing is taken any more; what is there is written
	by       time.Time // when it must be
	cut      error     // why the connection was closed before that
	wake     chan struct{}
	over     chan struct{} // closed when closing is set
}

// written is a frame that waits.
type written struct {
	typ   string
	frame []byte
	packs bool // it is to be packed
}

func newOutgoing(conn net.Conn) *outgoing {
	return &outgoing{conn: conn, wake: make(chan struct{}, 1), over: make(chan struct{})}
}

var errReadsNothing = errors.New("it takes too little of what it is sent")

// put queues a message, nil for none; with last nothing is taken after it.
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
		o.by = time.Now().Add(writtenIn)
		o.close()
	}
	o.rouse()
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

// next waits for the next frame to write; false when there will be none.
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
		o.queue = nil // what has drained holds no memory
		return w, false, o.closing
	}
	w = o.queue[0]
	o.queue[0] = written{}
	o.queue = o.queue[1:]
	o.bytes -= len(w.frame)
	return w, true, false
}

// writeBy lets what is written from now on take its time. It is asked for when the frame is ready: packing it is not the peer's to answer for.
func (o *outgoing) writeBy() {
	o.mu.Lock()
	defer o.mu.Unlock()
	by := time.Now().Add(writtenIn)
	if o.closing && o.by.Before(by) {
		by = o.by
	}
	o.conn.SetWriteDeadline(by)
}

// stop closes the connection at once: the peer is gone, or is to be.
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
	o.rouse()
}

func (o *outgoing) close() {
	if !o.closing {
		o.closing = true
		close(o.over)
	}
}

func (o *outgoing) rouse() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// readBy lets the reader wait until then; not when nothing is to be read any more.
func (o *outgoing) readBy(t time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing {
		t = time.Unix(1, 0)
	}
	o.conn.SetReadDeadline(t)
}

// hush ends a read that waits.
func (o *outgoing) hush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.conn.SetReadDeadline(time.Unix(1, 0))
}

// ping asks the peer whether it is there; false when nobody wants to know any more. Before the welcome it is not asked: it waits.
func (o *outgoing) ping() bool {
	o.mu.Lock()
	welcomed, closing := o.welcomed, o.closing
	o.mu.Unlock()
	if welcomed {
		o.put(&launcher.Ping{}, false)
	}
	return !closing
}

// cutShort says why the connection was closed before all was written; nil when it was not.
func (o *outgoing) cutShort() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cut
}
