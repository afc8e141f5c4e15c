package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"slices"
	"testing"
	"time"
)

// Server acts as clients, to check a server with embedded clusters. Two of these are a and b, with 8 hosts each, which no other client
// uses. The function `serve` serves one connection until its end, like a connection of the Unix socket. Each line of the table uses its own
// connections.
func Server(t *testing.T, serve func(net.Conn)) {
	for _, e := range exchanges() {
		t.Run(e.name, func(t *testing.T) {
			if err := e.play(serve); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Judge does the same as Server, but yields the error of each line of the table.
func Judge(serve func(net.Conn)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, e := range exchanges() {
			if !yield(e.name, e.play(serve)) {
				return
			}
		}
	}
}

func (e exchange) play(serve func(net.Conn)) error {
	c := &caller{serve: serve}
	c.call()
	defer func() { c.leave() }()
	for i, step := range e.steps {
		switch err := step(c); {
		case errors.Is(err, errPlain):
			return nil
		case err != nil:
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// exchange is one client's sequence of steps.
type exchange struct {
	name  string
	steps []step
}

type step func(*caller) error

// caller is the client of an exchange.
type caller struct {
	serve func(net.Conn)
	conn  net.Conn
	done  chan struct{} // closed at the server's end of the connection
	s     int           // number of the last message sent
	app   int64
	view  int64
	names map[string]int64 // numbers of clusters, by name

	offered bool  // the hello offered to pack
	deflate int64 // value of "deflate" in the welcome
	out, in *past // nil if nothing is packed
	bare    bool  // the next frame is not packed
}

// call opens a connection. It does not close the previous one.
func (c *caller) call() {
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.serve(far)
	}()
	c.conn, c.done, c.s = near, done, 0
	c.offered, c.deflate, c.out, c.in = false, 0, nil, nil
}

func (c *caller) leave() {
	c.conn.Close()
	<-c.done
}

func (c *caller) write(b []byte) error {
	c.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write(b); err != nil && !errors.Is(err, io.ErrClosedPipe) { // the server may refuse before it has read everything
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// say sends a message. Its fields may depend on what was received.
func say(kind string, more func(*caller) fields) step {
	return func(c *caller) error {
		c.s++
		all := fields{"t", kind, "s", c.s}
		if more != nil {
			all = append(all, more(c)...)
		}
		c.offered = c.offered || kind == "hello" && slices.Contains(all, any("deflate"))
		return c.write(c.sent(pack(nil, all)))
	}
}

func with(all ...any) func(*caller) fields { return func(*caller) fields { return all } }

// bytesOf sends bytes unchanged.
func bytesOf(b []byte) step { return func(c *caller) error { return c.write(b) } }

// body sends a frame with a body that counts as a message.
func body(v any) step {
	return func(c *caller) error {
		c.s++
		return c.write(c.sent(pack(nil, v)))
	}
}

// take reads until a message of one of these types comes. It skips "ping", "change" and "go" messages unless they are among these types,
// because they may come at any time.
func (c *caller) take(kinds ...string) (message, error) {
	for {
		c.conn.SetReadDeadline(time.Now().Add(patience))
		m, err := read(c.conn, 4<<20, c.in)
		switch {
		case err != nil:
			return nil, fmt.Errorf("instead of %s: %w", kinds, err)
		case slices.Contains(kinds, m.kind()):
			return m, nil
		case m.kind() == "change":
			c.view = m.int("view")
		case m.kind() != "ping" && m.kind() != "go":
			return nil, fmt.Errorf("instead of %s: %v", kinds, m)
		}
	}
}

// hear returns a step that calls take, and stores the values that later messages need.
func hear(kind string) step {
	return func(c *caller) error {
		m, err := c.take(kind)
		if err != nil {
			return err
		}
		switch kind {
		case "welcome":
			if app := m.int("app"); m.int("v") != 2 || app < 1 || c.app != 0 && app != c.app {
				return fmt.Errorf("the welcome is %v", m)
			}
			if c.app, c.deflate = m.int("app"), m.int("deflate"); c.deflate != 0 && !c.offered {
				return fmt.Errorf("frames are to be packed, and nobody asked for it: %v", m)
			}
		case "clusters":
			return c.know(m)
		case "change":
			if c.view = m.int("view"); c.view < 1 {
				return fmt.Errorf("the change is %v", m)
			}
		case "okay":
			if m.int("to") != int64(c.s) {
				return fmt.Errorf("okay to %v, the last message was %d", m["to"], c.s)
			}
		case "start":
			if m.int("tag") != 5 || m.int("by") <= m.int("at") {
				return fmt.Errorf("the start is %v", m)
			}
		}
		return nil
	}
}

func (c *caller) know(m message) error {
	c.names = map[string]int64{}
	all, _ := m["all"].([]any)
	for _, one := range all {
		cluster := plain(one)
		name, _ := cluster["name"].(string)
		c.names[name] = cluster.int("c")
		if hosts := cluster.int("hosts"); (name == "a" || name == "b") && hosts != 8 {
			return fmt.Errorf("the cluster %s has %d hosts", name, hosts)
		}
	}
	for _, name := range []string{"a", "b"} {
		if _, ok := c.names[name]; !ok {
			return fmt.Errorf("the cluster %s is not among %v", name, m["all"])
		}
	}
	return nil
}

// plain returns a value as a map, or nil.
func plain(v any) message {
	switch v := v.(type) {
	case map[string]any:
		return v
	case map[any]any:
		out := message{}
		for key, one := range v {
			if s, ok := key.(string); ok {
				out[s] = one
			}
		}
		return out
	}
	return nil
}

// refused reads the refusal of the last message. If the server could read that message, the refusal must contain its number.
func refused(code, field string) step {
	return func(c *caller) error {
		m, err := c.take("refuse")
		if err != nil {
			return err
		}
		text, _ := m["text"].(string)
		to := m.int("to")
		if m["code"] != code || text == "" || field != "" && m["field"] != field || to != int64(c.s) && to != 0 {
			return fmt.Errorf("refused %s of field %s is %v", code, field, m)
		}
		return nil
	}
}

// older reads a refusal in the format of version 1.
func older(c *caller) error {
	c.conn.SetReadDeadline(time.Now().Add(patience))
	m, err := read(c.conn, 64<<10, nil)
	if err == nil && (m["status"] != "refused" || m.int("v") != 1 || m["t"] != nil) {
		err = fmt.Errorf("the answer is %v", m)
	}
	return err
}

// closed waits for the end of the connection.
func closed(c *caller) error {
	c.conn.SetReadDeadline(time.Now().Add(patience))
	var rest bytes.Buffer
	if _, err := rest.ReadFrom(c.conn); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return fmt.Errorf("it is not closed: %w", err)
	}
	return nil
}

// again closes the connection and opens another one.
func again(c *caller) error {
	c.leave()
	c.call()
	return nil
}
