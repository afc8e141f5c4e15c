package link

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"accordion/shim/seal"
	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/packed"
)

// Session is a connection after its welcome.
type Session struct {
	conn   net.Conn
	stream *seal.Stream

	packs  bool            // in both directions
	unpack packed.Unpacker // used by the reader

	mu   sync.Mutex // guards the sending of the caller's and the link's messages
	pack packed.Packer
	seq  int64 // number of the last message
	over bool
}

// Send sends a message and returns its number, by which an Okay or a Refuse refers to it. It takes at most 5 s.
// ErrAway, or an error of the connection, means that the connection has ended, and that an event reports its end. In
// that case the message may or may not have arrived.
func (s *Session) Send(m launcher.Message) (seq int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return 0, ErrAway
	}
	frame, err := launcher.Append(nil, s.seq+1, m)
	if err == nil && len(frame)-4 > launcher.MostToServer {
		err = fmt.Errorf("a message %s: %w", m.Type(), &wire.TooLongError{Length: uint64(len(frame) - 4), Most: launcher.MostToServer})
	}
	if err != nil {
		return 0, err // nothing was sent, and the connection goes on
	}
	if s.packs {
		frame = s.pack.Pack(frame)
	}
	s.conn.SetWriteDeadline(time.Now().Add(writing))
	if err := s.stream.WriteFrame(frame); err != nil {
		s.over = true
		s.conn.Close()
		return 0, fmt.Errorf("send %s: %w", m.Type(), err)
	}
	s.seq++
	return s.seq, nil
}

// read returns the next frame, unpacked. Only one goroutine may read.
func (s *Session) read() ([]byte, error) {
	frame, err := s.stream.ReadFrame(launcher.MostToClient)
	if err != nil || !s.packs {
		return frame, err
	}
	return s.unpack.Unpack(frame, launcher.MostToClient)
}

// Close ends this connection, and the link opens another one. It is for a caller that cannot interpret a message.
func (s *Session) Close() {
	s.conn.Close() // first, because it ends a write
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// arrival is a message, or the error that ended the connection.
type arrival[M any] struct {
	message M
	seq     int64
	err     error
}

// greet connects and sends the hello. Over TCP both ends exchange keys.
func (l *Link) greet(ctx context.Context) (*Session, arrival[*launcher.Welcome], error) {
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	none := arrival[*launcher.Welcome]{}
	conn, err := l.options.Dial(ctx)
	if err != nil {
		return nil, none, fmt.Errorf("connect: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	s, welcome, err := l.hello(conn)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, none, err
	}
	return s, welcome, nil
}

func (l *Link) hello(conn net.Conn) (*Session, arrival[*launcher.Welcome], error) {
	hello := l.options.Hello
	hello.Version, hello.Speaks, hello.Key, hello.Deflate = launcher.Version, []int{launcher.Version}, nil, packed.Version
	if hello.Part == nil {
		hello.App, hello.Have = l.app, l.has.Load()
	}
	sealed, proved := conn.(*seal.Conn)
	var key *ecdh.PrivateKey
	none := arrival[*launcher.Welcome]{}
	if proved {
		var err error
		if key, err = seal.NewKey(); err != nil {
			return nil, none, err
		}
		hello.Key = key.PublicKey().Bytes()
	}
	sent := launcher.Write(conn, 1, &hello)
	// A sidecar that refuses immediately may have closed the connection before it read the hello. Its answer can still be read.
	frame, err := wire.ReadUpTo(conn, mostHello)
	switch {
	case err != nil && sent != nil:
		return nil, none, fmt.Errorf("say hello: %w", sent)
	case err != nil:
		return nil, none, fmt.Errorf("wait for the welcome: %w", err)
	}
	welcome, err := welcomed(frame)
	if err != nil {
		return nil, none, err
	}
	s := &Session{conn: conn, stream: seal.Plain(conn), seq: 1, packs: welcome.message.Deflate != 0}
	if proved {
		if s.stream, err = sealed.Stream(key, welcome.message.Key); err != nil {
			return nil, none, err
		}
	}
	return s, welcome, nil
}

// welcomed parses the first frame from the sidecar.
func welcomed(frame []byte) (arrival[*launcher.Welcome], error) {
	none := arrival[*launcher.Welcome]{}
	m, seq, err := launcher.Decode(frame)
	if err != nil {
		var noMessage *launcher.FrameError
		if errors.As(err, &noMessage) {
			// A sidecar of version 1 answers in its own format.
			reply, older := wire.ReadReply(bytes.NewReader(frame))
			switch {
			case older == nil && reply.Status == wire.Busy:
				return none, errors.New(reply.Why)
			case older == nil:
				return none, &VersionError{Says: reply.Why}
			}
		}
		return none, fmt.Errorf("the first frame from the sidecar: %w", err)
	}
	switch m := m.(type) {
	case *launcher.Welcome:
		if m.Version != launcher.Version {
			return none, &VersionError{Says: fmt.Sprintf("version %d", m.Version)}
		}
		if m.Deflate < 0 || m.Deflate > packed.Version {
			return none, fmt.Errorf("the sidecar packs frames by way %d, and was told of %d", m.Deflate, packed.Version)
		}
		return arrival[*launcher.Welcome]{message: m, seq: seq}, nil
	case *launcher.Refuse:
		if m.Code == launcher.CodeVersion {
			return none, &VersionError{Says: m.Text}
		}
		return none, &RefusedError{Refuse: *m}
	}
	return none, fmt.Errorf("the sidecar answers hello with %s", m.Type())
}
