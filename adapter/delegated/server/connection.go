package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/shim/seal"
	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/packed"
)

// connection implements Session. The goroutine that calls serve reads from the peer, and a second goroutine writes to it.
type connection struct {
	number uint64
	user   User
	uid    string // key under which the log limits warnings about the peer
	server *Server
	log    hclog.Logger
	conn   net.Conn
	sealed *seal.Conn       // verifies the first frame; nil on the socket, where the kernel tells the peer's user
	in     *bufio.Reader    // reads everything after the first frame
	stream *seal.Stream     // reads frames from `in`; over TCP it is nil until both keys are known
	unpack *packed.Unpacker // nil if the peer does not pack frames
	out    *outgoing
	pack   packed.Packer // used only by the writing goroutine
	wrote  chan struct{} // closed when the writer has returned
	may    allowance
}

var _ Session = (*connection)(nil)

// readBuffer is the size in bytes of a connection's read buffer. It is small, because there may be thousands of connections, but has room
// for several of a launcher's usual frames.
const readBuffer = 512

func newConnection(s *Server, conn net.Conn, log hclog.Logger) *connection {
	l := &connection{number: s.last.Add(1), server: s, log: log, conn: conn, out: newOutgoing(conn), wrote: make(chan struct{})}
	if t, is := conn.(interface{ Sealed() *seal.Conn }); is {
		l.sealed = t.Sealed()
		l.in = bufio.NewReaderSize(l.sealed.Conn, readBuffer)
		l.sealed.Conn = buffered{l.sealed.Conn, l.in}
		return l
	}
	l.in = bufio.NewReaderSize(conn, readBuffer)
	l.stream = seal.Plain(buffered{conn, l.in})
	return l
}

// buffered is a connection whose reader can see that a frame has begun.
type buffered struct {
	net.Conn
	in *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.in.Read(p) }

// setCluster fills in the name of the cluster to whose sidecar a part has connected, because the part does not know that name. The
// welcome will also contain the name.
func (l *connection) setCluster(hello *launcher.Hello, cluster string) {
	if hello.Part == nil {
		return
	}
	if hello.Part.Cluster == "" {
		hello.Part.Cluster = cluster
	}
	l.out.part = hello.Part.Cluster
}

// agreePacking makes the session use packed frames if the peer supports them.
func (l *connection) agreePacking(hello *launcher.Hello) {
	if hello.Deflate >= packed.Version {
		l.unpack, l.out.pack = new(packed.Unpacker), packed.Version
	}
}

// seal opens the stream for the frames after the hello. Over TCP it also exchanges keys. seq is the number of the hello.
func (l *connection) seal(hello *launcher.Hello, seq int64) *launcher.Refuse {
	if l.sealed == nil {
		return nil
	}
	mine, err := seal.NewKey()
	if err == nil {
		l.stream, err = l.sealed.Stream(mine, hello.Key)
	}
	if err != nil {
		return &launcher.Refuse{To: seq, Code: launcher.CodeAuth, Field: "key", Text: err.Error()}
	}
	l.out.key = mine.PublicKey().Bytes()
	return nil
}

// Number implements Session.
func (l *connection) Number() uint64 { return l.number }

// User implements Session.
func (l *connection) User() User { return l.user }

// Send implements Session.
func (l *connection) Send(m launcher.Message) { l.out.put(m, false) }

// Close implements Session.
func (l *connection) Close(last launcher.Message) { l.out.put(last, true) }

// refuse sends a refusal. It reports whether the session ends with this refusal, according to the protocol.
func (l *connection) refuse(r *launcher.Refuse) (ends bool) {
	ends = launcher.Final(r.Code) || r.Code == launcher.CodeFlood // CodeFlood is sent only when the peer has exceeded its allowance, and ends the session
	if ends {
		l.server.warnings.Warn(l.log, l.uid, "launcher's session refused", "code", r.Code, "why", r.Text)
	} else {
		l.log.Debug("launcher's message refused", "code", r.Code, "field", r.Field, "why", r.Text)
	}
	l.out.put(r, ends)
	return ends
}

// write sends queued frames until the session ends.
func (l *connection) write() {
	defer close(l.wrote)
	defer l.out.stopReading()
	write := l.writeNext
	if l.sealed != nil {
		write = l.writeFirst
	}
	for {
		w, ok := l.out.next()
		if !ok {
			return
		}
		if w.packs {
			w.frame = l.pack.Pack(w.frame)
		}
		l.out.writeBy()
		if err := write(w.frame); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = errReadsNothing
			}
			l.out.stop(err)
			return
		}
		write = l.writeNext
		l.server.meter.Frame(Out, w.typ, len(w.frame))
	}
}

// writeFirst sends the first frame over TCP, with a proof of its sender.
func (l *connection) writeFirst(frame []byte) error {
	_, err := l.sealed.Write(frame)
	return err
}

func (l *connection) writeNext(frame []byte) error { return l.stream.WriteFrame(frame) }

// serve hands all messages of the session to the loop, beginning with the hello, and finally the end of the session. It delays neither
// the loop if the peer is slow, nor the peer's other traffic if the loop is slow.
func (l *connection) serve(hello numbered) {
	if l.handOver(hello) {
		if err := l.listen(); err != nil {
			l.out.stop(err)
		}
	}
	var ending sync.WaitGroup
	ending.Go(l.end)
	defer ending.Wait()
	select {
	case l.server.events <- Event{Session: l}:
	case <-l.server.life.Done():
	}
}

// handOver hands a message to the loop. It returns false if the session is ending, so that no more messages should be handed over.
func (l *connection) handOver(m numbered) bool {
	select {
	case l.server.events <- Event{Session: l, Seq: m.seq, Message: m.Message}:
		return true
	case <-l.out.over:
	case <-l.server.life.Done():
		l.out.stop(errOver)
	}
	return false
}

// listen reads messages and hands them to the loop, until the peer or the session ends.
func (l *connection) listen() error {
	for {
		frame, err := l.next()
		if err != nil {
			return l.refuseUnread(err)
		}
		if !l.may.take(time.Now()) {
			l.refuse(&launcher.Refuse{Code: launcher.CodeFlood, Text: fmt.Sprintf("more than %d messages a second", sustained)})
			return nil
		}
		m, r := l.parseNext(frame)
		switch {
		case r != nil && l.refuse(r):
			return nil
		case r != nil:
			continue
		}
		switch m.Message.(type) {
		case *launcher.Ping:
			l.Send(&launcher.Pong{})
		case *launcher.Pong:
		default:
			if !l.handOver(m) {
				return nil
			}
		}
	}
}

var errOver = errors.New("the session was closed here")

var errDead = fmt.Errorf("no frame for %v", pings*quiet)

// next returns the peer's next frame. While no frame comes, it sends pings.
func (l *connection) next() ([]byte, error) {
	heard := time.Now()
	for asked := 1; ; asked++ {
		l.out.readBy(heard.Add(time.Duration(asked) * quiet))
		_, err := l.in.Peek(1)
		switch {
		case err == nil:
			l.out.readBy(time.Now().Add(frameTime))
			return l.stream.ReadFrame(launcher.MostToServer)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		case asked == pings:
			return nil, errDead
		case !l.out.ping():
			return nil, errOver
		}
	}
}

// refuseUnread refuses a frame that could not be read. It returns err if the connection has ended.
func (l *connection) refuseUnread(err error) error {
	r := launcher.Refusal(err)
	switch {
	case errors.Is(err, errOver):
		return nil
	case errors.Is(err, errDead):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		r = &launcher.Refuse{Code: launcher.CodeFrame, Text: fmt.Sprintf("a frame was not whole within %v", frameTime)}
	case errors.Is(err, seal.ErrForged):
		r = &launcher.Refuse{Code: launcher.CodeAuth, Text: err.Error()}
	case errors.Is(err, wire.ErrTruncated):
		r = &launcher.Refuse{Code: launcher.CodeFrame, Text: err.Error()}
	}
	if r == nil {
		return err
	}
	l.server.meter.Frame(In, "", 0)
	l.refuse(r)
	return nil
}

// numbered is a message with its number.
type numbered struct {
	seq int64
	launcher.Message
}

// greet parses the first frame, which must be a hello. It returns a refusal if the hello cannot be accepted.
func (l *connection) greet(first []byte) (*launcher.Hello, numbered, *launcher.Refuse) {
	m, r := l.parse(first, len(first))
	if r != nil {
		return nil, m, r
	}
	hello, is := m.Message.(*launcher.Hello)
	if !is {
		return nil, m, &launcher.Refuse{To: m.seq, Code: launcher.CodeFrame, Text: "a session begins with hello, not with " + m.Type()}
	}
	return hello, m, nil
}

// parseNext parses a frame after the first one.
func (l *connection) parseNext(frame []byte) (numbered, *launcher.Refuse) {
	sent := len(frame)
	if l.unpack != nil {
		var err error
		if frame, err = l.unpack.Unpack(frame, launcher.MostToServer); err != nil {
			l.server.meter.Frame(In, "", sent)
			return numbered{}, launcher.Refusal(err)
		}
	}
	m, r := l.parse(frame, sent)
	if _, again := m.Message.(*launcher.Hello); r == nil && again {
		r = &launcher.Refuse{To: m.seq, Code: launcher.CodeState, Text: "hello is only the first message of a session"}
	}
	return m, r
}

// parse parses a frame. The parameter `sent` is the size of the frame as it was sent. parse refuses messages that launchers and parts may
// not send.
func (l *connection) parse(frame []byte, sent int) (numbered, *launcher.Refuse) {
	m, seq, err := launcher.Decode(frame)
	l.server.meter.Frame(In, typeOf(m, err), sent)
	if err != nil {
		return numbered{}, launcher.Refusal(err)
	}
	if !launcher.ToServer(m) {
		return numbered{}, &launcher.Refuse{To: seq, Code: launcher.CodeType, Text: "launchers and parts do not send " + m.Type()}
	}
	if p := launcher.Check(m); p != nil {
		r := p.Refuse(seq)
		if r.Code == launcher.CodeVersion {
			r.Speaks = []int{launcher.Version}
		}
		return numbered{}, r
	}
	return numbered{seq, m}, nil
}

// typeOf returns the type as which a frame is counted (Meter).
func typeOf(m launcher.Message, err error) string {
	var other *launcher.TypeError
	switch {
	case err == nil:
		return m.Type()
	case errors.As(err, &other):
		return unknown
	}
	return ""
}

// end waits until all frames are written, and closes the connection. If possible, it first closes only the direction to the peer, and
// gives the peer a moment to read. If it closed a connection with unread input, frames that the peer has not read yet would be lost.
func (l *connection) end() {
	<-l.wrote
	defer l.conn.Close()
	cut := l.out.cutError()
	var long *wire.TooLongError
	switch {
	case errors.As(cut, &long):
		l.log.Error("launcher's session cut off", "user", l.user.Name, "why", cut)
	case errors.Is(cut, errReadsNothing), errors.Is(cut, errDead):
		l.server.warnings.Warn(l.log, l.uid, "launcher's session cut off", "user", l.user.Name, "why", cut)
	case cut != nil:
		l.log.Debug("launcher's session over", "user", l.user.Name, "why", cut)
	}
	half, can := l.conn.(interface{ CloseWrite() error })
	if cut != nil || !can {
		return
	}
	half.CloseWrite()
	l.conn.SetReadDeadline(time.Now().Add(lastRead))
	io.CopyN(io.Discard, l.conn, mostLeft)
}

const mostLeft = 1 << 20 // largest number of bytes from a peer that are read and discarded at the end
