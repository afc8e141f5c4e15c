package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// elsewhere is a listener whose connections seem to come from the host whose address is stored in the field `from`.
type elsewhere struct {
	net.Listener
	from *atomic.Value // the address, a string
}

func (l elsewhere) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return hosted{c, &net.TCPAddr{IP: net.ParseIP(l.from.Load().(string)), Port: 1}}, nil
}

type hosted struct {
	net.Conn
	at net.Addr
}

func (h hosted) RemoteAddr() net.Addr { return h.at }

// One client opens as many streams as all clients together may have. Another client can still open one.
func TestClientWithAllStreamsBlocksNoOther(t *testing.T) {
	h := New(Options{Any: true, Clock: func() time.Time { return time.Unix(noon, 0) }})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var from atomic.Value
	from.Store("192.0.2.1")
	serveOn(t, h, bound(elsewhere{inner, &from}))
	shows(t, h, clusterOf(4, 2, 3))
	stream := func() (io.Reader, string) {
		t.Helper()
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(20 * time.Second))
		c.Write([]byte("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Body, answer.Status
	}
	first, _ := stream()
	for i := 1; i < mostStreams; i++ {
		if _, status := stream(); !strings.HasPrefix(status, "200") {
			t.Fatalf("stream %d of the greedy client: %s", i+1, status)
		}
	}
	if _, status := stream(); !strings.HasPrefix(status, "503") {
		t.Errorf("one more of the greedy client: %s, want 503", status)
	}
	from.Store("192.0.2.2")
	for i := range 10 {
		if _, status := stream(); !strings.HasPrefix(status, "200") {
			t.Errorf("stream %d of another client: %s", i+1, status)
		}
	}
	// The greedy client's oldest stream ends.
	if _, err := io.Copy(io.Discard, first); err != nil {
		t.Errorf("the greedy client's oldest stream did not end: %v", err)
	}
}

// Only two pages of jobs are explained at the same time, for all clients together.
func TestClientThatAsksWithoutEndBlocksNoOther(t *testing.T) {
	h, root := open(t, Options{})
	for range mostExplained { // as if both explanations were in progress
		h.explainer <- struct{}{}
	}
	var asked sync.WaitGroup
	defer asked.Wait()
	answers := make(chan string, 100)
	for range cap(answers) {
		asked.Go(func() {
			answer, err := http.Get(root + "/job?id=1")
			if err != nil {
				answers <- err.Error()
				return
			}
			answer.Body.Close()
			answers <- answer.Status
		})
	}
	for range cap(answers) - asking.PerClient { // requests beyond the limit are refused immediately
		if status := <-answers; !strings.HasPrefix(status, "503") {
			t.Errorf("one too many: %s", status)
		}
	}
	if got := h.asking.Open(); got != asking.PerClient {
		t.Errorf("%d of one client wait, want %d", got, asking.PerClient)
	}
	for range mostExplained {
		<-h.explainer
	}
}
