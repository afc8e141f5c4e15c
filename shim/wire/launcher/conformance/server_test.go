package conformance_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/conformance"
	"accordion/shim/wire/launcher/packed"
)

// small is a simple server that grants everything immediately. It conforms to the protocol, so every line of the table must succeed on it.
type small struct {
	mu   sync.Mutex
	apps int64
}

// talk is one connection of a small server.
type talk struct {
	*small
	conn   net.Conn
	seq    int64
	sees   map[int]bool
	most   int64
	view   int64
	begun  bool
	closed bool
	unpack *packed.Unpacker // nil if nothing is packed
	pack   packed.Packer
}

func (s *small) serve(conn net.Conn) {
	defer conn.Close()
	frame, err := wire.ReadFrame(conn)
	if err != nil {
		return
	}
	if !bytes.Contains(frame, []byte("\x00\x01v\x02")) && !bytes.Contains(frame, []byte("\x00\x01v\xd3\x00\x00\x00\x00\x00\x00\x00\x02")) {
		wire.WriteReply(conn, wire.Reply{Status: wire.Refused, Why: "another version"})
		return
	}
	t := &talk{small: s, conn: conn}
	for !t.closed {
		m, seq, err := launcher.Decode(frame)
		if err == nil && !launcher.ToServer(m) {
			err = &launcher.TypeError{Seq: seq, Type: m.Type()}
		}
		if err == nil {
			if p := launcher.Check(m); p != nil {
				t.refuse(p.Refuse(seq))
			} else if t.seq == 0 && m.Type() != "hello" {
				t.refuse(&launcher.Refuse{To: seq, Code: launcher.CodeFrame, Text: "no hello"})
			} else {
				t.answer(m, seq)
			}
		} else {
			t.refuse(launcher.Refusal(err))
		}
		if t.closed {
			return
		}
		if frame, err = wire.ReadUpTo(conn, launcher.MostToServer); err == nil && t.unpack != nil {
			frame, err = t.unpack.Unpack(frame, launcher.MostToServer)
		}
		if err != nil {
			if r := launcher.Refusal(err); r != nil {
				t.refuse(r)
			}
			return
		}
	}
}

func (t *talk) send(m launcher.Message) {
	t.seq++
	frame, err := launcher.Append(nil, t.seq, m)
	if err != nil {
		panic(err)
	}
	if t.unpack != nil && m.Type() != "welcome" {
		frame = t.pack.Pack(frame)
	}
	t.conn.Write(frame)
}

func (t *talk) refuse(r *launcher.Refuse) {
	t.send(r)
	t.closed = launcher.Final(r.Code)
}

func (t *talk) answer(m launcher.Message, seq int64) {
	switch m := m.(type) {
	case *launcher.Ping:
		t.send(&launcher.Pong{})
	case *launcher.Hello:
		t.hello(m, seq)
	case *launcher.List:
		t.send(t.clusters(nil))
	case *launcher.Subscribe:
		t.most = m.Most
		t.send(&launcher.Okay{To: seq})
		t.send(t.clusters(m.Filter.Clusters))
		t.look()
	case *launcher.Done:
		t.send(&launcher.Okay{To: seq})
	case *launcher.Ack:
		if m.View > t.view {
			t.refuse(&launcher.Refuse{To: seq, Code: launcher.CodeView, Text: "never sent"})
		}
	case *launcher.Request:
		t.request(m, seq)
	}
}

func (t *talk) hello(m *launcher.Hello, seq int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	back := m.App != 0
	switch {
	case m.App > t.apps || m.Part != nil:
		t.refuse(&launcher.Refuse{To: seq, Code: launcher.CodeUnknown, Text: "not yours"})
		return
	case m.App == 0:
		t.apps++
		m.App = t.apps
	}
	welcome := &launcher.Welcome{Version: 2, App: m.App, Tag: -1}
	if m.Deflate > 0 {
		welcome.Deflate, t.unpack = packed.Version, new(packed.Unpacker)
	}
	t.send(welcome)
	if back {
		t.look()
	}
}

func (t *talk) clusters(names []string) *launcher.Clusters {
	out := &launcher.Clusters{}
	t.sees = map[int]bool{}
	for c, name := range []string{"a", "b"} {
		if len(names) == 0 || names[0] == name {
			out.All = append(out.All, launcher.Cluster{C: c, Name: name, Hosts: 8})
			t.sees[c] = true
		}
	}
	return out
}

func (t *talk) look() {
	t.view++
	t.send(&launcher.Change{View: t.view, All: []launcher.ClusterChange{{Kind: launcher.KindOccupation, Steps: []int64{0, 0}}}})
}

func (t *talk) request(m *launcher.Request, seq int64) {
	code := ""
	for _, h := range m.Hosts {
		if !t.sees[h.C] {
			code = launcher.CodeCluster
		} else if h.N > 8 {
			code = launcher.CodeHosts
		}
	}
	switch {
	case code != "":
	case m.View > t.view:
		code = launcher.CodeView
	case m.Walltime > t.most:
		code = launcher.CodeWalltime
	case t.begun:
		code = launcher.CodeState
	}
	if code != "" {
		t.refuse(&launcher.Refuse{To: seq, Code: code, Text: "no", Field: code})
		return
	}
	t.begun = true
	t.send(&launcher.Start{Tag: m.Tag, At: 1, By: 1 + m.Walltime})
}

func TestASmallServerConforms(t *testing.T) {
	conformance.Server(t, new(small).serve)
}

// The table finds errors in servers that do not answer, or that accept everything.
func TestBadServersDoNotConform(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"deaf":   func(conn net.Conn) { io.Copy(io.Discard, conn); conn.Close() },
		"closed": func(conn net.Conn) { conn.Close() },
		"welcomes everything": func(conn net.Conn) {
			defer conn.Close()
			for n := int64(1); ; n++ {
				var head [4]byte
				if _, err := io.ReadFull(conn, head[:]); err != nil {
					return
				}
				io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[:])))
				if launcher.Write(conn, n, &launcher.Welcome{Version: 2, App: 1}) != nil {
					return
				}
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			bad := 0
			for name, err := range conformance.Judge(serve) {
				if err != nil {
					bad++
				} else if name != "hello" {
					t.Logf("passed: %s", name)
				}
			}
			if bad < 40 {
				t.Errorf("%s: %d lines of the table fail", name, bad)
			}
		})
	}
}
