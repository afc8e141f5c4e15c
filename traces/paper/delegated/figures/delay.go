package figures

import (
	"context"
	"math/rand/v2"
	"slices"

	"accordion/core"
	"accordion/traces/paper/delegated"
)

// Variables of Figure 10.
var (
	adaptations = []core.Time{2, 5, 10, 20, 30} // seconds until the cem application answers
	fairs       = []core.Time{0, 5, 10, 20, 30} // fair-start delays
	works       = []float64{1, 10}              // work of the cem application, in hours of a cluster
)

// drawRuns is the number of runs that a draw needs: each fair-start delay with each adaptation delay, and without adaptation delay.
var drawRuns = len(works) * len(fairs) * (1 + len(adaptations))

// delays is how much later the cem application of each draw ends than if it answered immediately.
type delays struct {
	hours            float64
	adaptation, fair core.Time
	seconds          []float64 // by draw
}

// delay makes the runs of Figure 10.
func (e Experiment) delay(ctx context.Context, bar *counter) ([]delays, error) {
	ends := make([]core.Time, e.Draws*drawRuns)
	err := bar.each(ctx, len(ends), func(i int) (err error) {
		ends[i], err = e.end(i/drawRuns, i%drawRuns)
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []delays
	for h, hours := range works {
		for k, adaptation := range adaptations {
			for f, fair := range fairs {
				d := delays{hours: hours, adaptation: adaptation, fair: fair}
				at := (h*len(fairs) + f) * (1 + len(adaptations))
				for draw := range e.Draws {
					of := ends[draw*drawRuns:]
					d.seconds = append(d.seconds, float64(of[at+1+k]-of[at]))
				}
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// end returns when the cem application of a draw ends in one of its runs.
func (e Experiment) end(draw, number int) (end core.Time, err error) {
	random := rand.New(rand.NewPCG(e.Seed, uint64(draw)+1_000_000))
	w := delegated.Workload{Seed: random.Uint64(), Moldable: moldableJobs, Sizes: e.Sizes}
	clusters := 1 + random.IntN(delegated.MaxClusters)
	w.From = random.IntN(max(1, len(e.Usable)-4*delegated.Jobs)) // enough jobs follow, also if some are left out
	w.At = 1 + random.IntN(delegated.Jobs)
	adaptation := number % (1 + len(adaptations))
	rest := number / (1 + len(adaptations))
	if adaptation > 0 {
		w.Delay = adaptations[adaptation-1]
	}
	w.Model = delegated.Model{Hours: works[rest/len(fairs)], Iterations: delegated.Standard.Iterations}
	jobs, err := w.Jobs(e.Usable)
	if err != nil {
		return 0, err
	}
	setup := delegated.Setup{Clusters: clusters, FairStart: fairs[rest%len(fairs)], Timer: timer}
	setup.Ended = func(job int, now core.Time) {
		if job == w.At-1 {
			end = now
		}
	}
	_, err = setup.Run(jobs)
	return end, err
}

// late returns the percentage of the draws that end later than the adaptation delay.
func (d delays) late() float64 {
	n := 0
	for _, s := range d.seconds {
		if s > float64(d.adaptation) {
			n++
		}
	}
	return 100 * float64(n) / float64(max(1, len(d.seconds)))
}

func (d delays) mean() float64 { return mean(d.seconds) }

// interval returns a bootstrap interval of the mean: it contains 95 % of the means of resampled draws.
func (d delays) interval() (low, high float64) {
	const times = 1000
	random := rand.New(rand.NewPCG(7389, uint64(len(d.seconds))))
	means := make([]float64, times)
	for i := range means {
		for range d.seconds {
			means[i] += d.seconds[random.IntN(len(d.seconds))] / float64(len(d.seconds))
		}
	}
	slices.Sort(means)
	return means[times/40], means[times-1-times/40]
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}
