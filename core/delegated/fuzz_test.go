package delegated_test

import (
	"math/rand/v2"
	"testing"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
)

// checker follows the messages of an RMS, and checks what must always hold.
type checker struct {
	*twins
	now     core.Time
	hosts   []int
	running map[core.JobID]moldable.Request // requests that have started and whose hosts are not free yet
}

func (c *checker) hear(messages []delegated.Message) {
	for id := range c.running {
		if c.linear.State(id) == delegated.Finished {
			delete(c.running, id)
		}
	}
	for _, m := range messages {
		if m.Kind != delegated.Start {
			continue
		}
		if _, twice := c.running[m.To]; twice {
			c.Fatalf("application %d starts twice", m.To)
		}
		m.Request.Parts = append([]moldable.Part(nil), m.Request.Parts...)
		c.running[m.To] = m.Request
		for _, p := range m.Request.Parts {
			if used := c.used(p.Cluster); used > c.hosts[p.Cluster] {
				c.Fatalf("at %d application %d starts on cluster %d, where %d of %d hosts are then taken", c.now, m.To, p.Cluster, used, c.hosts[p.Cluster])
			}
		}
	}
}

func (c *checker) used(cluster int) int {
	n := 0
	for _, q := range c.running {
		for _, p := range q.Parts {
			if p.Cluster == cluster {
				n += p.Hosts
			}
		}
	}
	return n
}

// play turns bytes into events, in any state.
func (c *checker) play(script []byte) {
	next := func() int {
		if len(script) == 0 {
			return 0
		}
		b := script[0]
		script = script[1:]
		return int(b)
	}
	for len(script) > 0 {
		what, id := next(), core.JobID(next()%8)
		switch what % 12 {
		case 0, 1:
			messages, _ := c.Subscribe(c.now, id)
			c.hear(messages)
		case 2, 3, 4:
			q := moldable.Request{Walltime: core.Time(next()%60) - 1}
			for k := next() % 4; k > 0; k-- {
				q.Parts = append(q.Parts, moldable.Part{Cluster: next()%5 - 1, Hosts: next()%12 - 1})
			}
			_ = c.Request(c.now, id, q) // wrong requests are refused
		case 5:
			_ = c.Done(c.now, id)
		case 6:
			messages, _ := c.Withdraw(c.now, id)
			c.hear(messages)
		case 7:
			hosts := []int{next() % 12, next() % 12, next() % 12}
			if c.Resize(c.now, hosts) == nil {
				c.hosts = hosts // new starts must fit the new number of hosts, even if the applications that run exceed it
			}
		case 8:
			s := []delegated.Stretch{{Cluster: next() % 4, From: c.now, To: c.now + core.Time(next()%40), Hosts: next() % 6}}
			_ = c.Occupy(c.now, s)
		case 9:
			_, err := c.Wake(c.now - core.Time(next()%3)) // seconds in the past are refused
			_ = err
			c.hear(nil)
		default:
			c.now += core.Time(next() % 40)
			for c.linear.Next() <= c.now {
				c.wakeNext()
			}
		}
	}
}

func (c *checker) wakeNext() {
	messages, err := c.Wake(c.linear.Next())
	must(c, err)
	c.hear(messages)
}

// finish ends every application: running ones are done, and the others are withdrawn.
func (c *checker) finish() {
	for id := range core.JobID(8) {
		switch state := c.linear.State(id); {
		case state == delegated.Started || state == delegated.FinishSent:
			_ = c.Done(c.now, id) // an error means that it was done already
		case state < delegated.Started:
			_, err := c.Withdraw(c.now, id)
			must(c, err)
		}
	}
	for n := 0; c.linear.Next() < core.Forever; n++ {
		if n > 100 {
			c.Fatalf("it does not end: the next thing is at %d", c.linear.Next())
		}
		c.now = c.linear.Next()
		c.wakeNext()
	}
	for id := range core.JobID(8) {
		if state := c.linear.State(id); state != delegated.Finished {
			c.Fatalf("application %d is %v for ever", id, state)
		}
	}
}

func script(t testing.TB, o delegated.Options, bytes []byte) {
	hosts := []int{10, 7, 3}
	c := &checker{twins: newTwins(t, hosts, o), hosts: hosts, running: map[core.JobID]moldable.Request{}}
	c.play(bytes)
	c.finish()
}

func TestRandomEventsInRandomStates(t *testing.T) {
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(5, seed))
		bytes := make([]byte, random.IntN(400))
		for i := range bytes {
			bytes[i] = byte(random.Uint32())
		}
		script(t, delegated.Options{FairStart: core.Time(seed % 6), Timer: core.Time(seed / 6 % 3), Limit: int(seed / 18 % 3), TellEstimates: seed%2 == 0, EarlyGhosts: seed%5 == 0}, bytes)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte{0, 1, 2, 1, 20, 1, 1, 5, 10, 0, 1, 5, 1, 10, 0, 39})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		script(t, delegated.Options{FairStart: 5, Timer: 1, Limit: 3, TellEstimates: true}, bytes)
	})
}
