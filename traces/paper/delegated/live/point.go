package live

import (
	"context"

	"accordion/core"
	"accordion/traces/paper"
	"accordion/traces/paper/delegated"
	"accordion/traces/swf"
)

// mostArea is the area of the largest job of the log that is run, in processor-seconds. With larger jobs the experiment would take hours.
const mostArea = 7200

// Jobs draws the workload of a point from a log's usable jobs: W2, in which `cem` per cent are cem
// applications. A cem application has the work of the job that it replaces, in 100 iterations.
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

// Simulated is the result of simulating a run's jobs.
type Simulated struct {
	Bytes    int64     `json:"bytes"`
	Seconds  float64   `json:"seconds"` // processor time
	Makespan core.Time `json:"makespan"`
}

// Point is a run with the simulation of the same jobs.
type Point struct {
	CEM       int       `json:"cem"` // percentage of the jobs
	Simulated Simulated `json:"simulated"`
	Live      Counted   `json:"live"`
}

// Traffic returns the run's traffic relative to the simulation's.
func (p Point) Traffic() float64 { return float64(p.Live.Bytes) / float64(max(1, p.Simulated.Bytes)) }

// Time returns the processor time of all launchers and the sidecar, relative to the simulation's.
func (p Point) Time() float64 {
	return (p.Live.Sidecar + p.Live.Launchers) / max(1e-6, p.Simulated.Seconds)
}

// simulations is the number of times that the jobs are simulated, to compute the mean processor time.
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
