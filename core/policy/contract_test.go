package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
)

// This test checks the part of sched.State's contract that is the same for every policy. Rigid jobs are
// submitted, end on time or early, or are canceled. Each job that fits starts once, with its size and when the
// plan predicts it. Jobs never hold more nodes than the machine has. The test covers a new policy as soon as it
// is in the table.
func TestEveryPolicyKeepsTheContractOfState(t *testing.T) {
	for _, name := range policy.Words() {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Named(name, sched.FirstCome)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(20) {
				c := contract{T: t, seed: seed, state: p.New(core.Machine{Nodes: machine}), waits: map[core.JobID]int{}, runs: map[core.JobID]run{}}
				c.play(rand.New(rand.NewPCG(seed, 11)))
			}
		})
	}
}

const machine = 8

// run is a running job.
type run struct {
	nodes int
	end   core.Time
}

// contract checks one history of one policy.
type contract struct {
	*testing.T
	seed  uint64
	state sched.State
	now   core.Time
	waits map[core.JobID]int // nodes
	runs  map[core.JobID]run
	lasts map[core.JobID]core.Time
}

// play submits 30 jobs, and advances time until all have ended.
func (c *contract) play(r *rand.Rand) {
	c.lasts = map[core.JobID]core.Time{}
	for id := core.JobID(1); id <= 30; id++ {
		nodes, lasts := 1+r.IntN(machine), 1+r.Int64N(100)
		c.waits[id], c.lasts[id] = nodes, lasts
		c.state.Submit(c.now, core.Job{ID: id, Submit: c.now, Choices: []core.EP{{{Duration: lasts, Nodes: nodes}}}})
		c.ask()
		if r.IntN(8) == 0 { // it waits, runs, or has ended
			c.end(1 + core.JobID(r.Int64N(int64(id))))
			c.ask()
		}
		c.pass(c.now + r.Int64N(60))
	}
	for len(c.runs) > 0 || c.state.Next(c.now) < core.Forever {
		c.pass(core.Forever)
	}
	for id, nodes := range c.waits {
		c.Errorf("seed %d: job %d on %d nodes of %d never starts", c.seed, id, nodes, machine)
	}
}

// pass advances time until a job ends, until the time that Next returned, or until an earlier second.
func (c *contract) pass(until core.Time) {
	until = min(until, c.state.Next(c.now))
	for id := core.JobID(1); id <= 30; id++ {
		if j, is := c.runs[id]; is {
			until = min(until, j.end)
		}
	}
	c.now = until
	for id := core.JobID(1); id <= 30; id++ {
		if j, is := c.runs[id]; is && j.end <= c.now {
			c.end(id)
		}
	}
	c.ask()
}

func (c *contract) end(id core.JobID) {
	c.state.End(c.now, id)
	delete(c.runs, id)
	delete(c.waits, id)
}

// ask calls Starts, compares the result with the previous plan and with the result of a clone, and applies it.
func (c *contract) ask() {
	clone := c.state.Clone()
	plan := c.state.Plan(c.now)
	starts := c.state.Starts(c.now, nil)
	if again := clone.Starts(c.now, nil); !slices.Equal(again, starts) {
		c.Fatalf("seed %d, second %d: %v start, and %v of a clone", c.seed, c.now, starts, again)
	}
	for _, s := range starts {
		nodes, waits := c.waits[s.Job]
		if !waits || !s.Begins || s.Nodes != nodes {
			c.Fatalf("seed %d, second %d: %+v, of a job that waits: %v, for %d nodes", c.seed, c.now, s, waits, nodes)
		}
		planned := func(p core.Planned) bool { return p.Job == s.Job && p.Start == c.now }
		if !slices.ContainsFunc(plan.Jobs, planned) {
			c.Fatalf("seed %d, second %d: job %d starts, and the plan was %+v", c.seed, c.now, s.Job, plan.Jobs)
		}
		delete(c.waits, s.Job)
		c.runs[s.Job] = run{nodes: nodes, end: c.now + c.lasts[s.Job]}
	}
	held := 0
	for _, j := range c.runs {
		held += j.nodes
	}
	if held > machine {
		c.Fatalf("seed %d, second %d: %d nodes of %d are held", c.seed, c.now, held, machine)
	}
	if more := c.state.Starts(c.now, nil); len(more) > 0 {
		c.Fatalf("seed %d, second %d: %v start when asked again", c.seed, c.now, more)
	}
}
