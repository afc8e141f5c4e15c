package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Every second one of 500 readers never reads. Even so, the loop does not wait, and the other readers receive the last version.
func TestSlowReadersBlockNoOther(t *testing.T) {
	h, root := open(t, Options{})
	const readers = 500
	s := clusterOf(200, 20, 500)
	shows(t, h, s)
	began := time.Now()
	dead := make([]net.Conn, 0, readers/2)
	defer func() {
		for _, c := range dead {
			c.Close()
		}
	}()
	var live []*follower
	for i := range readers {
		if i%2 == 0 {
			c, err := net.Dial("tcp", strings.TrimPrefix(root, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			c.(*net.TCPConn).SetReadBuffer(4096)
			fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
			dead = append(dead, c)
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		live = append(live, follow(t, get(t, root+"/events", func(r *http.Request) {
			*r = *r.WithContext(ctx)
			r.Header.Set("Accept-Encoding", "gzip")
		})))
	}
	var reading sync.WaitGroup
	const versions = 4
	for _, f := range live {
		reading.Go(func() {
			for seen := uint64(0); seen < versions; {
				line, err := f.lines.ReadSlice('\n')
				for errors.Is(err, bufio.ErrBufferFull) {
					_, err = f.lines.ReadSlice('\n')
				}
				if err != nil {
					t.Error(err)
					return
				}
				if rest, is := bytes.CutPrefix(line, []byte(`data: {"number":`)); is {
					number, _, _ := bytes.Cut(rest, []byte(","))
					seen, _ = strconv.ParseUint(string(number), 10, 64)
				}
			}
		})
	}
	longest := time.Duration(0)
	for range versions - 1 {
		s = later(s, 1)
		for !h.WantsSnapshot() {
			time.Sleep(time.Millisecond) // the composer pauses, and the loop would not wait for it
		}
		begun := time.Now()
		h.Receive(s)
		longest = max(longest, time.Since(begun))
		for e := h.newest(); e.snapshot.Now < s.Now; e = h.newest() {
			time.Sleep(time.Millisecond)
		}
	}
	reading.Wait()
	t.Logf("%d readers, %d editions: %v; handing over took %v at most", readers, versions, time.Since(began).Round(time.Millisecond), longest)
	if got := h.newest(); got.number != versions {
		t.Errorf("%d editions were made, want %d", got.number, versions)
	}
	f := follow(t, get(t, root+"/events", nil))
	if err := f.next(); err != nil {
		t.Fatal(err)
	}
	f.sees(t, h.newest())
	// Receive only puts a pointer into a channel. That takes nanoseconds, or some milliseconds if the
	// scheduler runs other goroutines.
	if longest > time.Second {
		t.Errorf("handing over took %v", longest)
	}
}
