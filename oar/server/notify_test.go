package server

import (
	"bufio"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestNotificationsWithinASecondAreSentOnce(t *testing.T) {
	p := &Notifier{kick: make(chan struct{}, 1)}
	for _, c := range []struct {
		pokes    string
		schedule bool // set if a second has passed since the last command
		launches string
		word     string
	}{
		{"", true, "", ""},
		{"Scheduling Scheduling", true, "", "Scheduling"},
		{"", true, "", ""},
		{"Scheduling OARRUNJOB_7 Qdel OARRUNJOB_8 OARRUNJOB_7", false, "OARRUNJOB_7 OARRUNJOB_8", ""}, // launches are sent without delay
		{"Scheduling", true, "", "Qdel"}, // OAR runs a pass after Qdel
		{"", true, "", ""},
	} {
		for _, word := range strings.Fields(c.pokes) {
			p.Notify(word)
		}
		launches, word := p.take(c.schedule)
		if !slices.Equal(launches, strings.Fields(c.launches)) || word != c.word {
			t.Errorf("after %q it gets %v and %q, want %q and %q", c.pokes, launches, word, c.launches, c.word)
		}
	}
}

func TestNotificationIsSentAgainWhenThePassIsOfTheStartsSecond(t *testing.T) {
	p := &Notifier{kick: make(chan struct{}, 1)}
	at := func(seconds float64) time.Time { return time.UnixMilli(int64(1000 * seconds)) }
	p.NotifyAt(1000)
	p.NotifyAt(1010) // replaces the request for second 1000
	if left := p.ring(at(1001)); left != 9*time.Second-notifyEarlier {
		t.Errorf("it gets a notification in %s", left)
	}
	if _, word := p.take(true); word != "" {
		t.Errorf("before its second it gets %q", word)
	}
	p.ring(at(1009.9))
	if _, word := p.take(true); word != Starts {
		t.Errorf("in its second it gets %q", word)
	}
	p.ring(at(1011))
	if _, word := p.take(true); word != "" {
		t.Errorf("and once more: %q", word)
	}
	p.NotifyAt(1020)
	p.NotifyAt(0)
	if left := p.ring(at(1030)); left != 0 {
		t.Errorf("nothing starts, but it gets a notification in %s", left)
	}
	if _, word := p.take(true); word != "" {
		t.Errorf("nothing starts, but it gets %q", word)
	}
}

func TestNotificationsAreOneLineEach(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p := NewNotifier("127.0.0.1", server.Addr().(*net.TCPAddr).Port, hclog.NewNullLogger())
	defer p.Close()
	for _, word := range []string{Begins(7), Ends} {
		p.Notify(word)
		conn, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(conn).ReadString('\n'); line != word+"\n" {
			t.Errorf("it got %q (%v), want %s", line, err, word)
		}
		conn.Close()
	}
}

func TestUnreachableServerIsIgnored(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := server.Addr().String()
	server.Close()
	if err := Tell(t.Context(), address, Ends); err == nil {
		t.Error("no server listens, but no error is returned")
	}
	if err := Tell(t.Context(), address, ""); err != nil {
		t.Errorf("telling nothing: %v", err)
	}
}
