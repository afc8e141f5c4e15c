package oar

import (
	"context"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// What OAR's server understands, in the order in which it is told. After Qdel it schedules by itself.
const (
	ends   = "Qdel"       // end the jobs that were asked to end
	starts = "Scheduling" // plan, and start what is due
)

// pokeEvery is the least time between two pokes: OAR's clock goes ahead by a second with each pass, and a pass that finds
// it too far ahead sleeps.
const pokeEvery = time.Second

// poker tells OAR's server that there is something to do. What is asked for within a second is told once. Nobody hears
// whether it was of use: who asks, looks at the database.
type poker struct {
	address string
	log     hclog.Logger
	stop    context.CancelFunc
	stopped sync.WaitGroup
	kick    chan struct{}

	mu     sync.Mutex
	wanted []string
}

func newPoker(host string, port int, log hclog.Logger) *poker {
	ctx, cancel := context.WithCancel(context.Background())
	p := &poker{address: net.JoinHostPort(host, strconv.Itoa(port)), log: log, stop: cancel, kick: make(chan struct{}, 1)}
	p.stopped.Go(func() { p.run(ctx) })
	return p
}

func (p *poker) close() {
	p.stop()
	p.stopped.Wait()
}

// poke asks for a word to be told soon.
func (p *poker) poke(word string) {
	p.mu.Lock()
	if !slices.Contains(p.wanted, word) {
		p.wanted = append(p.wanted, word)
	}
	p.mu.Unlock()
	select {
	case p.kick <- struct{}{}:
	default: // it will look anyway
	}
}

// run tells what is wanted, at most once a second.
func (p *poker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.kick:
		}
		if word := p.next(); word != "" {
			if err := p.tell(ctx, word); err != nil && ctx.Err() == nil {
				p.log.Warn("OAR's server cannot be told that there is something to do", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pokeEvery):
			}
		}
	}
}

// next is the one word that does for all that are wanted.
func (p *poker) next() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	word := ""
	switch {
	case slices.Contains(p.wanted, ends):
		word = ends
	case len(p.wanted) > 0:
		word = p.wanted[0]
	}
	p.wanted = nil
	return word
}

func (p *poker) tell(ctx context.Context, word string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if by, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(by); err != nil {
			return err
		}
	}
	_, err = conn.Write([]byte(word + "\n"))
	return err
}
