package server

import (
	"bufio"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestOARIsToldOnceWhatIsAskedForWithinASecond(t *testing.T) {
	p := &Poker{kick: make(chan struct{}, 1)}
	for _, c := range []struct {
		pokes    string
		schedule bool // a second has passed
		launches string
		word     string
	}{
		{"", true, "", ""},
		{"Scheduling Scheduling", true, "", "Scheduling"},
		{"", true, "", ""},
		{"Scheduling OARRUNJOB_7 Qdel OARRUNJOB_8 OARRUNJOB_7", false, "OARRUNJOB_7 OARRUNJOB_8", ""}, // launches do not wait
		{"Scheduling", true, "", "Qdel"}, // after which it schedules
		{"", true, "", ""},
	} {
		for _, word := range strings.Fields(c.pokes) {
			p.Poke(word)
		}
		launches, word := p.take(c.schedule)
		if !slices.Equal(launches, strings.Fields(c.launches)) || word != c.word {
			t.Errorf("after %q it is told %v and %q, want %q and %q", c.pokes, launches, word, c.launches, c.word)
		}
	}
}

func TestWordsArriveEachOnALine(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p := NewPoker("127.0.0.1", server.Addr().(*net.TCPAddr).Port, hclog.NewNullLogger())
	defer p.Close()
	for _, word := range []string{Begins(7), Ends} {
		p.Poke(word)
		conn, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(conn).ReadString('\n'); line != word+"\n" {
			t.Errorf("it was told %q (%v), want %s", line, err, word)
		}
		conn.Close()
	}
}

func TestAServerThatIsAwayIsNoHarm(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := server.Addr().String()
	server.Close()
	if err := Tell(t.Context(), address, Ends); err == nil {
		t.Error("nobody listens, and nothing is said of it")
	}
	if err := Tell(t.Context(), address, ""); err != nil {
		t.Errorf("telling nothing: %v", err)
	}
}
