package figures

import (
	"context"
	"fmt"
	"slices"

	"accordion/core/moldable"
	"accordion/traces/paper"
	"accordion/traces/paper/delegated"
	"accordion/traces/swf"
)

// Names are the figures, in the order of the paper. Fig10 takes minutes, the others seconds.
var Names = []string{"fig7", "fig8", "fig9", "fig10", "fig11"}

// Quick are the figures that are made by default.
var Quick = []string{"fig7", "fig8", "fig9", "fig11"}

// Experiment describes what to make.
type Experiment struct {
	Usable []swf.Record // the log's jobs
	Seeds  int          // number of seeds
	Seed   uint64       // the first seed
	Sizes  delegated.Sizes
	All    bool // also run W1 with its cem application in each place from 1 to 200, and not only in place 40
	Draws  int  // number of draws of Figure 10

	// Readings is the number of seeds for the runs that show how much the figures depend on our interpretation
	// of the paper.
	Readings int

	// Done, unless nil, is called with the finished part of Work. Only one goroutine calls it at a time.
	Done func(work int)
}

// Settings of the figures.
const (
	fairStart    = 5
	timer        = 1
	place        = 40 // position of the cem application in W1
	moldableJobs = 20 // percentage of moldable jobs in figures in which it does not vary
)

// point is one point of a figure: the workload and the system that are run with each seed.
type point struct {
	workload  delegated.Workload // without its seed
	clusters  int
	fairStart int64
	rms       string
}

// result is the result of one run.
type result struct {
	delegated.Counters
	seconds float64 // processor time on the indexed board
	several int     // cem applications that ran on several clusters; only for other interpretations of the paper
}

// Data has the results of the runs.
type Data struct {
	experiment Experiment
	names      []string
	results    map[point][]result // by seed
	readings   map[point][]result // by seed
	delays     []delays           // of Figure 10
}

// Work returns how many runs these figures need.
func (e Experiment) Work(names ...string) int {
	p := e.plan(names)
	work := (len(p.counted)+len(p.light))*e.Seeds + len(p.readings)*e.Readings
	if slices.Contains(names, "fig10") {
		work += e.Draws * drawRuns
	}
	return work
}

// Run makes all runs that these figures need, on all cores. The figures depend only on the experiment, except for times.
func (e Experiment) Run(ctx context.Context, names ...string) (*Data, error) {
	if e.Seeds < 1 {
		return nil, fmt.Errorf("the figures need at least 1 seed, not %d", e.Seeds)
	}
	d := &Data{experiment: e, names: names, results: map[point][]result{}, readings: map[point][]result{}}
	plan := e.plan(names)
	bar := &counter{told: e.Done}
	err := seeds(ctx, plan.counted, e.Seeds, bar, d.results, e.run)
	if err == nil {
		err = seeds(ctx, plan.light, e.Seeds, bar, d.results, e.light)
	}
	if err == nil {
		err = seeds(ctx, plan.readings, e.Readings, bar, d.readings, e.reading)
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(names, "fig10") {
		d.delays, err = e.delay(ctx, bar)
	}
	return d, err
}

// seeds runs points, each with n seeds.
func seeds(ctx context.Context, points []point, n int, bar *counter, into map[point][]result, run func(p point, seed int) (result, error)) error {
	all := make([]result, len(points)*n)
	err := bar.each(ctx, len(all), func(i int) (err error) {
		all[i], err = run(points[i/n], i%n)
		return err
	})
	for i, p := range points {
		into[p] = all[i*n : (i+1)*n]
	}
	return err
}

// prepare returns the jobs and the setup of a run.
func (e Experiment) prepare(p point, seed int) ([]delegated.Job, delegated.Setup, error) {
	p.workload.Seed = e.Seed + uint64(seed)
	jobs, err := p.workload.Jobs(e.Usable)
	return jobs, delegated.Setup{RMS: p.rms, Clusters: p.clusters, FairStart: p.fairStart, Timer: timer}, err
}

// light makes a run without operations and times.
func (e Experiment) light(p point, seed int) (r result, err error) {
	jobs, setup, err := e.prepare(p, seed)
	if err == nil {
		r.Counters, err = setup.Run(jobs)
	}
	return r, err
}

// reading makes a run of another interpretation of the paper. It counts operations, and cem applications that
// ran on several clusters.
func (e Experiment) reading(p point, seed int) (r result, err error) {
	jobs, setup, err := e.prepare(p, seed)
	if err != nil {
		return r, err
	}
	setup.Plain = true
	setup.Started = func(job int, parts []moldable.Part) {
		if jobs[job].Kind == delegated.CEM && len(parts) > 1 {
			r.several++
		}
	}
	r.Counters, err = setup.Run(jobs)
	return r, err
}

// run makes a run twice: on plain lists, for the basic operations, and on the indexed board, for the time and its own steps. All other
// results must be equal.
func (e Experiment) run(p point, seed int) (result, error) {
	jobs, setup, err := e.prepare(p, seed)
	if err != nil {
		return result{}, err
	}
	setup.Plain = true
	counters, err := setup.Run(jobs)
	if err != nil {
		return result{}, err
	}
	setup.Plain = false
	var again delegated.Counters
	seconds := paper.ProcessorTime(func() { again, err = setup.Run(jobs) })
	if err != nil {
		return result{}, err
	}
	if counters, err = counters.Beside(again); err != nil {
		err = fmt.Errorf("seed %d, %+v: %w", seed, p, err)
	}
	return result{Counters: counters, seconds: seconds}, err
}

// counter reports progress over several turns of parallel work.
type counter struct {
	before int // number of runs done in earlier turns
	told   func(int)
}

// each calls part for 0 to n−1 on all cores.
func (b *counter) each(ctx context.Context, n int, part func(i int) error) error {
	err := paper.Each(ctx, n, func(done int) {
		if b.told != nil {
			b.told(b.before + done)
		}
	}, part)
	b.before += n
	return err
}
