package web

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"accordion/internal/browser"
)

// When the sidecar ends, the page shows that, and keeps its contents. It continues when another sidecar serves at the same address. It
// also shows if the batch system has not answered for a long time.
func TestPageContinuesWhenTheSidecarIsBack(t *testing.T) {
	browser.Need(t)
	serve := func(at string) (*Server, string, func()) {
		t.Helper()
		var l net.Listener
		var err error
		for began := time.Now(); ; time.Sleep(20 * time.Millisecond) { // the previous server may not have closed its listener yet
			if l, err = Listen(at); err == nil {
				break
			}
			if time.Since(began) > browser.Patience {
				t.Fatal(err)
			}
		}
		h := New(Options{})
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- h.Serve(ctx, l) }()
		return h, l.Addr().String(), func() {
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	first, address, stop := serve("127.0.0.1:0")
	shows(t, first, clusterOf(8, 2, 3))
	p := visit(t, "http://"+address, "/", desk)
	stop()
	p.Await(`document.getElementById("live").classList.contains("bad")`)
	if says := browser.Ask[string](p, `document.getElementById("live").textContent + document.querySelectorAll("#body tr[data-id]").length`); !strings.Contains(says, "connection is lost") || !strings.HasSuffix(says, "5") {
		t.Errorf("without a sidecar the page says %q", says)
	}
	second, _, stop := serve(address)
	defer stop()
	s := later(clusterOf(8, 2, 6), 1000)
	s.Read = s.Now - 300
	shows(t, second, s)
	p.Await(`document.querySelectorAll("#body tr[data-id]").length === 8`)
	if says := browser.Ask[string](p, `document.getElementById("live").textContent`); !strings.Contains(says, "The batch system has not answered since") {
		t.Errorf("of an old reading the page says %q", says)
	}
	shows(t, second, later(clusterOf(8, 2, 6), 1001))
	p.Await(`document.getElementById("live").textContent === "live"`)
	p.Close()
}
