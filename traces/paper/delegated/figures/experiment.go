package figures

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"accordion/traces/paper/delegated"
	"accordion/traces/swf"
)

// Names are the figures, in the order of the paper. Fig10 takes minutes; the others seconds.
var Names = []string{"fig7", "fig8", "fig9", "fig10", "fig11"}

// Quick are the figures that are made where none is named.
var Quick = []string{"fig7", "fig8", "fig9", "fig11"}

// Experiment is what to make.
type Experiment struct {
	Usable []swf.Record // the log's jobs
	Seeds  int          // how many
	Seed   uint64       // the first of them
	Sizes  delegated.Sizes
	All    bool // the cem application of W1 in each place from 1 to 200, not only in place 40
	Draws  int  // of Figure 10

	// Readings also makes the runs that show how much the figures depend on the readings that were chosen for their fit:
	// once, with the first seed.
	Readings bool

	// Done is told how much of Work is done, from one goroutine at a time. It may be nil.
	Done func(work int)
}

// the settings of the figures
const (
	fairStart = 5
	timer     = 1
	place     = 40 // of the cem application in W1
	moldable  = 20 // per cent, where it is not what varies
)

// point is one place of a figure: what is run there, with each seed.
type point struct {
	workload  delegated.Workload // without its seed
	clusters  int
	fairStart int64
	rms       string
}

// result is one run.
type result struct {
	delegated.Counters
	seconds float64 // of processor time, on the indexed board
}

// Data is what the runs came to.
type Data struct {
	experiment Experiment
	names      []string
	results    map[point][]result // a seed
	readings   map[point]result   // with the first seed
	delays     []delays           // Figure 10
}

// Work is how many runs these figures need.
func (e Experiment) Work(names ...string) int {
	points, readings := e.points(names)
	work := len(points)*e.Seeds + len(readings)
	if slices.Contains(names, "fig10") {
		work += e.Draws * drawRuns
	}
	return work
}

// Run makes all runs that these figures need, on all cores. The figures are a function of the experiment, except for those
// of time.
func (e Experiment) Run(ctx context.Context, names ...string) (*Data, error) {
	if e.Seeds < 1 {
		return nil, fmt.Errorf("the figures need at least 1 seed, not %d", e.Seeds)
	}
	d := &Data{experiment: e, names: names, results: map[point][]result{}, readings: map[point]result{}}
	points, readings := e.points(names)
	all := make([]result, len(points)*e.Seeds)
	bar := &counter{told: e.Done}
	err := each(ctx, len(all), bar, func(i int) (err error) {
		all[i], err = e.run(points[i/e.Seeds], e.Seed+uint64(i%e.Seeds), true)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, p := range points {
		d.results[p] = all[i*e.Seeds : (i+1)*e.Seeds]
	}
	further := make([]result, len(readings))
	if err := each(ctx, len(further), bar, func(i int) (err error) {
		further[i], err = e.run(readings[i], e.Seed, false)
		return err
	}); err != nil {
		return nil, err
	}
	for i, p := range readings {
		d.readings[p] = further[i]
	}
	if slices.Contains(names, "fig10") {
		d.delays, err = e.delay(ctx, bar)
	}
	return d, err
}

// run makes a run twice: on plain lists, which count the basic operations, and on the indexed board, for the time. Both come
// to the same.
func (e Experiment) run(p point, seed uint64, timed bool) (result, error) {
	p.workload.Seed = seed
	jobs, err := p.workload.Jobs(e.Usable)
	if err != nil {
		return result{}, err
	}
	setup := delegated.Setup{RMS: p.rms, Clusters: p.clusters, FairStart: p.fairStart, Timer: timer, Plain: true}
	counters, err := setup.Run(jobs)
	if err != nil || !timed {
		return result{Counters: counters}, err
	}
	setup.Plain = false
	var again delegated.Counters
	seconds := processorTime(func() { again, err = setup.Run(jobs) })
	again.OperationsRMS = counters.OperationsRMS
	if err == nil && again != counters {
		err = fmt.Errorf("seed %d, %+v: the two boards differ: %+v on plain lists, %+v on the indexed board", seed, p, counters, again)
	}
	return result{counters, seconds}, err
}

// processorTime is how many seconds of a processor something takes.
func processorTime(something func()) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := used()
	something()
	return used() - before
}

func used() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return 0 // time is the one figure that nothing depends on
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// counter tells how much is done.
type counter struct {
	done int
	told func(int)
}

// each does parts on all cores, in any order, and counts those that are done.
func each(ctx context.Context, n int, bar *counter, part func(i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	next, over := make(chan int), make(chan struct{})
	group.Go(func() error {
		defer close(next)
		for i := range n {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() error {
			for i := range next {
				if err := part(i); err != nil {
					return err
				}
				select {
				case over <- struct{}{}:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		for range n {
			select {
			case <-over:
				if bar.done++; bar.told != nil {
					bar.told(bar.done)
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}
