package live

import (
	"context"

	"accordion/core"
	"accordion/traces/paper"
	"accordion/traces/paper/delegated"
	"accordion/traces/swf"
)

// mostArea is that of the log's jobs that are run, in processor-seconds: longer ones would make it an experiment of hours.
const mostArea = 7200

// Jobs draws the workload of a point, W2 with so many per cent of cem applications, from a log's usable jobs. A cem application has the work
// of the job that it replaces, in 100 iterations.
func Jobs(usable []swf.Record, seed uint64, cem int) ([]delegated.Job, error) {
	var small []swf.Record
	for _, r := range usable {
		if int64(r.Run)*int64(r.Processors) <= mostArea {
			small = append(small, r)
		}
	}
	w := delegated.Workload{Seed: seed, Moldable: 20, CEM: cem, Model: delegated.Model{Iterations: 100}}
	return w.Jobs(small)
}

// Simulated is what the simulation of a run's jobs came to.
type Simulated struct {
	Bytes    int64     `json:"bytes"`
	Seconds  float64   `json:"seconds"` // of processor time
	Makespan core.Time `json:"makespan"`
}

// Point is a run beside the simulation of the same jobs.
type Point struct {
	CEM       int       `json:"cem"` // per cent of the jobs
	Simulated Simulated `json:"simulated"`
	Live      Counted   `json:"live"`
}

// Traffic and Time are the run's over the simulation's.
func (p Point) Traffic() float64 { return float64(p.Live.Bytes) / float64(max(1, p.Simulated.Bytes)) }

// Time is that of processors, of all launchers and the sidecar.
func (p Point) Time() float64 {
	return (p.Live.Sidecar + p.Live.Launchers) / max(1e-6, p.Simulated.Seconds)
}

// simulations is how often the jobs are simulated, for the mean of its processor time.
const simulations = 5

// Point runs the jobs, and simulates them.
func (l Live) Point(ctx context.Context, cem int, jobs []delegated.Job) (Point, error) {
	p := Point{CEM: cem}
	for range simulations {
		var c delegated.Counters
		var err error
		p.Simulated.Seconds += paper.ProcessorTime(func() { c, err = l.setup().Run(jobs) }) / simulations
		if err != nil {
			return p, err
		}
		p.Simulated.Bytes, p.Simulated.Makespan = c.Bytes(), c.Makespan
	}
	var err error
	p.Live, err = l.Run(ctx, jobs)
	return p, err
}
