package sched_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// record is what an unsorted list knows of a job.
type record struct {
	id        core.JobID
	job       core.Job
	runs      bool
	allocated core.Allocation
	listed    bool // the job's sizes are known
	tocome    bool // the job had not begun when it was reported
}

// loadWorld computes the demand again from a list of all jobs.
func loadWorld(all []record, now core.Time, machine int) sizing.Demand {
	var d sizing.Demand
	for _, r := range all {
		reference := 0
		if r.listed {
			reference = r.job.Choices[0][0].Nodes
		}
		switch {
		case r.runs && (len(r.allocated.EP) > 1 || r.tocome):
			n := r.allocated.EP.At(now - r.allocated.Start)
			if n > 0 {
				d.Held, d.Jobs, d.References = d.Held+int64(n), d.Jobs+1, d.References+int64(n)
			}
		case r.runs:
			n := int64(r.allocated.EP[0].Nodes)
			if !r.listed {
				reference = int(n)
			}
			d.Held, d.Jobs, d.References = d.Held+n, d.Jobs+1, d.References+int64(reference)
		case r.listed && r.job.Begin <= now && reference <= machine:
			d.Wanted, d.Jobs, d.References = d.Wanted+int64(reference), d.Jobs+1, d.References+int64(reference)
		}
	}
	return d
}

func TestWorldHasRunningAndWaitingJobs(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		var (
			machine = 10
			c       = sched.NewSystemLoad(core.Machine{Nodes: machine}, sizing.Share{}, sizing.HalfReference)
			all     []record
			now     core.Time
		)
		for id := core.JobID(1); id < 60; id++ {
			switch r.IntN(6) {
			case 0, 1:
				j := core.Job{ID: id, Choices: []core.EP{{{Duration: 10, Nodes: 1 + r.IntN(11)}}}}
				if r.IntN(4) == 0 {
					j.Begin = now + r.Int64N(8)
				}
				c.Submit(now, j)
				all = append(all, record{id: id, job: j, listed: true})
			case 2:
				i := slices.IndexFunc(all, func(r record) bool { return !r.runs })
				if i >= 0 {
					n := 1 + r.IntN(5)
					c.Begin(now, all[i].id, n, now+10)
					all[i].runs = true
					all[i].allocated = core.Allocation{Job: all[i].id, Start: now, EP: core.EP{{Duration: 10, Nodes: n}}}
				}
			case 3:
				if len(all) > 0 {
					i := r.IntN(len(all))
					c.End(now, all[i].id)
					all = slices.Delete(all, i, i+1)
				}
			case 4:
				a := core.Allocation{Job: -id, Start: now, EP: core.EP{{Duration: 1 + r.Int64N(9), Nodes: 1 + r.IntN(3)}}}
				tocome := false
				switch r.IntN(3) {
				case 0:
					a.Start, tocome = now+1+r.Int64N(9), true
				case 1:
					a.EP = append(a.EP, core.Step{Duration: 4, Nodes: 5})
				}
				c.Running(now, a)
				all = append(all, record{id: -id, runs: true, allocated: a, tocome: tocome})
			case 5:
				machine = 5 + r.IntN(6)
				c.Nodes(core.Machine{Nodes: machine})
			}
			now += r.Int64N(3)
			if r.IntN(5) == 0 {
				c = c.Clone()
			}
			got := c.World(now)
			if d := cmp.Diff(loadWorld(all, now, machine), got.Demand); d != "" || got.Machine != machine {
				t.Fatalf("seed %d, second %d (-list +crowd):\n%s", seed, now, d)
			}
		}
	}
}

// The sizes of waiting jobs are in order of submission, whichever jobs start or become ineligible in between.
func TestWhatWaitsIsInTheOrderOfSubmission(t *testing.T) {
	c := sched.NewSystemLoad(core.Machine{Nodes: 8}, sizing.Scojo(), sizing.AsListed)
	var sizes []*sizing.Sizes
	for id := range core.JobID(4) {
		sizes = append(sizes, c.Submit(0, core.Job{ID: id, Begin: 5 * core.Time(id%2), Choices: []core.EP{{{Duration: 10, Nodes: int(id) + 1}}}}))
	}
	check := func(now core.Time, want ...*sizing.Sizes) {
		t.Helper()
		if got := c.World(now).Waiting; !slices.Equal(got, want) {
			t.Errorf("second %d: %v wait, want %v", now, got, want)
		}
	}
	check(0, sizes[0], sizes[2])
	check(5, sizes[0], sizes[1], sizes[2], sizes[3])
	c.Nodes(core.Machine{Nodes: 3})
	check(5, sizes[0], sizes[1], sizes[2])
	c.Nodes(core.Machine{Nodes: 8})
	c.Begin(5, 1, 2, 15)
	check(5, sizes[0], sizes[2], sizes[3])
	if d := cmp.Diff([]sizing.Holding{{Nodes: 2, End: 15}}, c.World(6).Running, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// A job arrives in each half hour for a day and a half. The forecast is one job in each half hour that lasts half of
// its requested time.
func TestSystemLoadLearnsFromSubmissionsAndEnds(t *testing.T) {
	c := sched.NewSystemLoad(core.Machine{Nodes: 8}, sizing.Scojo(), sizing.AsListed)
	var j core.Job
	for h := range core.Time(72) {
		now := h * sizing.HalfHour
		j = core.Job{ID: core.JobID(h), Choices: []core.EP{{{Duration: 1000, Nodes: 4}}}}
		c.Submit(now, j)
		if learned := c.World(now).Learned; (learned != nil) != (h >= 48) {
			t.Fatalf("half hour %d: learned %v", h, learned)
		}
		c.Begin(now, j.ID, 4, now+1000)
		c.End(now+500, j.ID)
	}
	s := sizing.Statistics{}
	for h := range s.Arrivals {
		s.Arrivals[h][sizing.Medium] = 1
	}
	s.Nodes[sizing.Medium], s.Seconds[sizing.Medium] = 4, 500
	load := func(l sizing.Load, now core.Time) (first float64) {
		w := c.World(now)
		l.Bad = 1
		l.Search(w, sizing.New(j, sizing.AsListed), func(trial sizing.Trial) {
			if trial.Factor == 1 {
				first = trial.Load
			}
		})
		return first
	}
	known := sizing.Scojo()
	known.Known = s.Forecast()
	now := 72 * sizing.HalfHour
	if got, want := load(sizing.Scojo(), now), load(known, now); got != want {
		t.Errorf("the load is %v by what was learned, %v by what there was", got, want)
	}
}

// A job whose Begin is core.Forever never counts: neither while it waits nor if it starts after all.
func TestAJobThatBeginsNeverIsNotCounted(t *testing.T) {
	c := sched.NewSystemLoad(core.Machine{Nodes: 10}, sizing.Share{}, sizing.HalfReference)
	j := core.Job{ID: 1, Choices: []core.EP{{{Duration: 100, Nodes: 4}}}}
	c.Enter(0, core.Job{ID: 1, Begin: core.Forever}, sizing.New(j, sizing.HalfReference))
	if d := c.World(0).Demand; d != (sizing.Demand{}) {
		t.Errorf("while it waits it counts: %+v", d)
	}
	c.Begin(5, 1, 4, 105)
	if d := c.World(5).Demand; d != (sizing.Demand{}) {
		t.Errorf("while it runs it counts: %+v", d)
	}
}
