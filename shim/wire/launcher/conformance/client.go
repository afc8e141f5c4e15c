package conformance

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// patience is how long the server waits for each message of a client.
const patience = 10 * time.Second

// Client acts as the server for one launcher, and checks the launcher against docs/protocol.md. The launcher should subscribe to the
// embedded clusters a and b of 8 hosts, make one request at its first view, keep that request, and report the end after its start. If
// `packs` is set, Client packs frames if the launcher can read packed frames.
func Client(conn net.Conn, packs bool) error {
	defer conn.Close()
	g := &game{conn: conn, packs: packs}
	for _, act := range []func() error{g.greet, g.subscribe, g.views, g.start} {
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

// game is the state of a session with a launcher that Client checks.
type game struct {
	conn        net.Conn
	sent, heard int64
	pinged      bool // a ping was sent and not answered yet
	asked       message
	packs       bool
	out, in     *past // nil if nothing is packed
}

// The numbers of the clusters in the session.
const numberA, numberB = 3, 900

// second is a time of the server's clock, far from the client's.
const second = 1_000_000

func (g *game) send(kind string, more ...any) error {
	g.sent++
	all := append(fields{"x-later", fields{"y", list{1.5, raw("\xc0"), raw("\xd5\x07ab")}}, "s", wide(g.sent), "t", kind}, more...)
	body := pack(nil, all)
	if g.out != nil && g.sent%5 != 0 { // frames that are not packed may come at any time
		body = g.out.pack(body)
	} else if g.out != nil {
		g.out.add(body)
	}
	g.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := g.conn.Write(frame(body)); err != nil {
		return fmt.Errorf("the client does not take %s: %w", kind, err)
	}
	return nil
}

// hear returns the client's next message. It answers pings.
func (g *game) hear() (message, error) {
	g.conn.SetReadDeadline(time.Now().Add(patience))
	m, err := read(g.conn, 64<<10, g.in)
	if err != nil {
		return nil, fmt.Errorf("after %d messages: %w", g.heard, err)
	}
	g.heard++
	if m.int("s") != g.heard {
		return nil, fmt.Errorf("message %d (%s) says s %v", g.heard, m.kind(), m["s"])
	}
	switch m.kind() {
	case "ping":
		err = g.send("pong")
	case "pong":
		g.pinged = false
	}
	return m, err
}

// next returns the client's next message other than pings and pongs.
func (g *game) next() (message, error) {
	for {
		if m, err := g.hear(); err != nil || m.kind() != "ping" && m.kind() != "pong" {
			return m, err
		}
	}
}

func (g *game) want(kind string) (message, error) {
	m, err := g.next()
	if err == nil && m.kind() != kind {
		err = fmt.Errorf("message %d is %s, not %s", g.heard, m.kind(), kind)
	}
	return m, err
}

func (g *game) greet() error {
	m, err := g.want("hello")
	if err != nil {
		return err
	}
	speaks, _ := m["speaks"].([]any)
	name, _ := m["name"].(string)
	if m.int("v") != 2 || len(speaks) == 0 || len(name) > 64 || m["app"] != nil && m.int("app") != 0 || m["part"] != nil {
		return fmt.Errorf("the hello of a new application is %v", m)
	}
	welcome := fields{"v", 2, "app", wide(7), "state", "submitted", "now", second, "pace", 1, "tag", -1,
		"grace", 60, "timer", 1, "fair", big(5), "answer", 30}
	g.packs = g.packs && m.int("deflate") > 0
	if g.packs {
		welcome = append(welcome, "deflate", 1)
	}
	if err := g.send("welcome", welcome...); err != nil {
		return err
	}
	if g.packs {
		g.out, g.in = newPast(), newPast()
	}
	return g.ping()
}

func (g *game) ping() error {
	g.pinged = true
	return g.send("ping")
}

func (g *game) subscribe() error {
	m, err := g.want("subscribe")
	if err != nil {
		return err
	}
	if jobs, ok := m["jobs"].([]any); m["jobs"] != nil && (!ok || len(jobs) > 0) || m.int("most") < 0 {
		return fmt.Errorf("subscribed to embedded clusters by %v", m)
	}
	cluster := func(c int, name string) fields {
		return fields{"c", c, "name", name, "hosts", wide(8), "speed", 1.5, "site", "lyon", "attrs", fields{"fabric", "ib"}}
	}
	return errors.Join(
		g.send("okay", "to", m.int("s")),
		g.send("weather", "rain", true1), // a type of a later version
		g.send("clusters", "all", list{cluster(numberA, "a"), cluster(numberB, "b")},
			"links", list{fields{"a", numberA, "b", numberB, "latency", 5000, "bandwidth", 0}}),
		g.send("change", "view", 1, "base", 0, "now", second, "est", 0, "all", list{
			occupied(numberA, second, 0, second, 8, second+100, 2, second+200, 0),
			occupied(numberB, second, 0, second, 0)}))
}

const true1 = raw("\xc3")

func occupied(c int, from, to int, steps ...any) fields {
	return fields{"c", c, "kind", 4, "from", from, "to", to, "steps", list(steps)}
}

// views sends views. The client should answer the first view with a request, and each later view with the request or an Ack.
func (g *game) views() error {
	m, err := g.want("request")
	if err != nil {
		return err
	}
	if err := possible(m); err != nil {
		return err
	}
	g.asked = m
	for view := 2; view < 5; view++ {
		err := g.send("change", "view", view, "base", view-1, "now", second+view, "est", big(second+100), "all", list{
			occupied(numberA, second+100, second+150, second+100, view)})
		if err != nil {
			return err
		}
		m, err := g.want("ack")
		if err != nil {
			return err
		}
		if m.int("view") != int64(view) {
			return fmt.Errorf("view %d is acknowledged as %v", view, m["view"])
		}
	}
	for g.pinged { // the pong may come after other messages
		if m, err := g.hear(); err != nil || m.kind() != "ping" && m.kind() != "pong" {
			return fmt.Errorf("a ping was not answered, but by %v: %w", m, err)
		}
	}
	return nil
}

// possible returns an error if a request is impossible.
func possible(m message) error {
	hosts, _ := m["hosts"].([]any)
	seen := map[int64]bool{}
	for _, one := range hosts {
		pair, _ := one.([]any)
		if len(pair) != 2 {
			return fmt.Errorf("hosts %v", m["hosts"])
		}
		c, _ := pair[0].(int64)
		n, _ := pair[1].(int64)
		if c != numberA && c != numberB || n < 1 || n > 8 || seen[c] {
			return fmt.Errorf("hosts %v", m["hosts"])
		}
		seen[c] = true
	}
	if len(hosts) == 0 || m.int("view") != 1 || m.int("walltime") < 1 || m.int("tag") < 0 || m["tag"] == nil {
		return fmt.Errorf("the request %v", m)
	}
	return nil
}

// start starts the application, and waits for its launcher's report of the end.
func (g *game) start() error {
	tag, walltime := g.asked.int("tag"), g.asked.int("walltime")
	hosts := list{list{numberA, list{"n1", "n2"}}}
	err := errors.Join(
		g.send("start", "tag", tag, "at", second+10, "by", second+10+walltime, "hosts", hosts),
		g.send("go", "at", second+10, "hosts", hosts, "names", list{"a"}))
	if err != nil {
		return err
	}
	m, err := g.want("done")
	if err != nil {
		return err
	}
	if m["code"] == nil {
		return fmt.Errorf("done says %v", m)
	}
	if err := g.send("okay", "to", m.int("s")); err != nil {
		return err
	}
	// A pipe that the client has closed already accepts no deadline.
	if m, err := g.next(); !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
		return fmt.Errorf("after okay to done the client says %v, %w", m, err)
	}
	return nil
}
