package adaptive

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"accordion/core/policy"
	"accordion/core/sizing"
	"accordion/traces/paper"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// Claims is the name of the claims in Names.
const Claims = "claims"

// Names are what an experiment can compute: the figures in the order of the paper, and the claims.
var Names = []string{"fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12", "fig13", "fig14", Claims}

// Experiment has the parameters of a run.
type Experiment struct {
	Seeds    int    // number of workloads of each kind
	Seed     uint64 // seed of the first workload
	Readings bool   // also compute other interpretations of the paper, to show which of them change the claims
	Logs     []Log  // real logs, for our own claims

	jobs int // number of jobs per workload; 0 means the number of the paper

	// Done is called with the finished part of Work, from one goroutine at a time. It may be nil.
	Done func(work int)
}

// MostSeed is the largest seed of a workload. Larger seeds are used for statistics of arrivals.
const MostSeed = 1 << 31

// point is a combination that runs with each seed.
type point struct {
	setting
	approach
}

// drawn is what is known about a workload without a run.
type drawn struct {
	shares  [classes]float64 // percentage of jobs
	nodes   [classes]float64 // mean references
	offered float64          // offered load
}

// Data is the results of the runs.
type Data struct {
	experiment Experiment
	names      []string
	results    map[point][]result // one per seed
	drawn      map[setting][]drawn
	modified   map[point][]modified // how scojo-p sizes jobs, one per seed
	logs       []logRun
}

// Work returns the number of units of work for these figures and claims.
func (e Experiment) Work(names ...string) int {
	_, settings := e.plan(names)
	work := len(settings) * e.Seeds
	if slices.Contains(names, Claims) {
		work += len(e.logUnits())
	}
	return work
}

// each returns the number of jobs per workload.
func (e Experiment) each() int { return cmp.Or(e.jobs, jobsEach) }

// plan returns which approaches run on which workloads.
func (e Experiment) plan(names []string) (map[setting][]approach, []setting) {
	var (
		needs = map[setting][]approach{}
		order []setting
	)
	need := func(s setting, some ...approach) {
		if _, known := needs[s]; !known {
			order = append(order, s)
		}
		for _, a := range some {
			if !slices.Contains(needs[s], a) {
				needs[s] = append(needs[s], a)
			}
		}
	}
	for _, name := range names {
		if f, is := figureOf(name); is {
			need(f.setting, shown...)
		}
	}
	if slices.Contains(names, Claims) {
		ours := []approach{share, "sizes", "least", "earliest"}
		for _, s := range []setting{w1, w2, w1Some, w2Some} {
			for _, a := range shown {
				need(s, a, fitted.of(a))
			}
			need(s, ours...)
		}
		need(w1, "ideal .7", "ideal .8", "ideal 1")
		need(downey, traditional, submitted, scojo, blind, cirne, share)
		need(floors, scojo)
		if e.Readings {
			for _, m := range moves {
				need(w1, m.approach, m.of)
				need(w2, m.approach, m.of)
			}
		}
	}
	return needs, order
}

// Run runs everything that these figures and claims need, on all cores. Except for times, the results depend only on the experiment.
func (e Experiment) Run(ctx context.Context, names ...string) (*Data, error) {
	if e.Seeds < 1 || e.Seed > MostSeed {
		return nil, fmt.Errorf("the experiments need at least 1 seed, up to %d; there are %d from %d", uint64(MostSeed), e.Seeds, e.Seed)
	}
	d := &Data{experiment: e, names: names, results: map[point][]result{}, drawn: map[setting][]drawn{}, modified: map[point][]modified{}}
	needs, settings := e.plan(names)
	done := make([]runs, len(settings)*e.Seeds)
	statistics, err := e.statistics(ctx, settings)
	if err != nil {
		return nil, err
	}
	if err := paper.Each(ctx, len(done), e.Done, func(i int) (err error) {
		s := settings[i/e.Seeds]
		done[i], err = s.run(e.each(), e.Seed+uint64(i%e.Seeds), needs[s], statistics[i/e.Seeds])
		return err
	}); err != nil {
		return nil, err
	}
	for i, r := range done {
		s := settings[i/e.Seeds]
		d.drawn[s] = append(d.drawn[s], r.drawn)
		for a, m := range r.modified {
			d.modified[point{s, a}] = append(d.modified[point{s, a}], m)
		}
		for k, a := range needs[s] {
			d.results[point{s, a}] = append(d.results[point{s, a}], r.results[k])
		}
	}
	if slices.Contains(names, Claims) {
		d.logs, err = e.runLogs(ctx, func(n int) {
			if e.Done != nil {
				e.Done(len(done) + n)
			}
		})
	}
	return d, err
}

// statistics returns the statistics of arrivals for each setting.
func (e Experiment) statistics(ctx context.Context, settings []setting) ([]*sizing.Statistics, error) {
	all := make([]*sizing.Statistics, len(settings))
	err := paper.Each(ctx, len(settings), nil, func(i int) (err error) {
		all[i], err = settings[i].statistics(e.each(), e.Seed)
		return err
	})
	return all, err
}

// runs is the results of one unit of work.
type runs struct {
	results  []result // one per approach
	drawn    drawn
	modified map[approach]modified
}

// run runs the approaches on one workload.
func (s setting) run(jobs int, seed uint64, some []approach, others *sizing.Statistics) (runs, error) {
	plain, err := s.plain(jobs, seed)
	if err != nil {
		return runs{}, err
	}
	w := s.mold(plain, seed)
	refs := references(w)
	all := runs{drawn: s.look(plain, seed), modified: map[approach]modified{}}
	for _, a := range some {
		statistics, err := a.knows(others, &w)
		if err != nil {
			return runs{}, fmt.Errorf("count arrivals of %s with seed %d: %w", s.load, seed, err)
		}
		p, err := a.policy(statistics)
		if err != nil {
			return runs{}, err
		}
		on := w
		if a == submitted {
			on = plain
		}
		var replayed replay.Result
		seconds := paper.ProcessorTime(func() { replayed = replay.Run(on, p) })
		r := measure(on, refs, replayed.Outcomes)
		r.seconds = seconds
		all.results = append(all.results, r)
		if a == scojo || a == unbounded {
			all.modified[a] = modify(w, refs, replayed.Outcomes, policy.SizingOf(p).(sizing.Load))
		}
	}
	return all, nil
}

// look returns what is known about a workload before it runs. It computes references from the exact speed-ups, not from run times in whole
// seconds. Otherwise the reference of a short job with Downey's speed-up would be too small, because the job lasts one second on all sizes
// from some size on.
func (s setting) look(plain workload.Workload, seed uint64) drawn {
	const ticks = 10_000 // per second
	fine := plain
	fine.Jobs = slices.Clone(plain.Jobs)
	for i := range fine.Jobs {
		j := &fine.Jobs[i]
		j.Submit, j.Run, j.Request = ticks*j.Submit, ticks*j.Run, ticks*j.Request
	}
	fine = s.mold(fine, seed)
	refs := references(fine)
	d := drawn{offered: offered(fine, refs)}
	var count [classes]float64
	for _, s := range refs {
		for _, c := range []int{all, short + int(sizing.ClassOf(s.Seconds/ticks))} {
			count[c]++
			d.nodes[c] += float64(s.Nodes)
		}
	}
	for c := range count {
		d.shares[c] = 100 * count[c] / count[all]
		d.nodes[c] /= max(count[c], 1)
	}
	return d
}
