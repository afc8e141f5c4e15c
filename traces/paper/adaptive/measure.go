package adaptive

import (
	"math"
	"slices"

	"accordion/core"
	"accordion/core/sizing"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// classes are all jobs, and those of each class.
const (
	all = iota
	short
	medium
	long
	classes
)

var classNames = [classes]string{"all", "short", "medium", "long"}

// result is what is measured of one run: of the jobs from 5 % to 95 % by their submission.
type result struct {
	of          [classes]figures
	utilisation float64 // per cent of the machine between the first and the last submission of these jobs
	longest     float64 // wait, hours, of all jobs
	nodeHours   float64 // of all jobs
	seconds     float64 // of processor time
}

// figures are those of one class. Means are over its jobs.
type figures struct {
	jobs      float64
	response  float64 // hours
	wait      float64 // hours
	slowdown  float64 // response / run time on the reference, run times below 30 s counted as 30 s; at least 1
	nodes     float64 // of the reference
	factor    float64 // size / reference
	submitted float64 // size / size in the workload
	least     float64 // least listed size / reference
	shrunk    float64 // jobs below their reference
	grown     float64 // jobs above it
	histogram [categories]float64
}

// categories are those of Figure 7: up to 1 s, and then three a decade up to 10^6 s; what is longer is in the last.
const categories = 19

// category is which one a response is in: above the bound of the one before, up to its own.
func category(seconds core.Time) int {
	return min(max(int(math.Ceil(3*math.Log10(float64(seconds))-1e-9)), 0), categories-1)
}

// references are the sizes of the jobs of a workload, beside them.
func references(w workload.Workload) []*sizing.Sizes {
	all := make([]*sizing.Sizes, len(w.Jobs))
	for i := range w.Jobs {
		j := &w.Jobs[i]
		choices := j.Choices
		if len(choices) == 0 {
			choices = []core.EP{{{Duration: j.Request, Nodes: j.Size}}}
		}
		all[i] = sizing.New(core.Job{Choices: choices}, sizing.AsListed)
	}
	return all
}

// kept are the jobs that count, of so many in the order of their submission: those from 5 % to 95 %. Before, the machine fills; behind,
// it runs dry.
func kept(jobs int) (from, to int) { return jobs * 5 / 100, jobs * 95 / 100 }

// measure is what a run came to. The jobs are those that ran; the references may be of the same jobs with more sizes.
func measure(w workload.Workload, refs []*sizing.Sizes, outcomes []replay.Outcome) result {
	var r result
	from, to := kept(len(w.Jobs))
	begin, end := w.Jobs[from].Submit, w.Jobs[to-1].Submit
	held := 0.0
	for i := range outcomes {
		j, o := &w.Jobs[i], &outcomes[i]
		n := float64(o.Nodes(j))
		r.longest = max(r.longest, hours(o.Start-j.Submit))
		r.nodeHours += n * hours(o.End-o.Start)
		held += n * float64(max(0, min(o.End, end)-max(o.Start, begin)))
		if i >= from && i < to {
			r.of[all].add(j, o, refs[i])
			r.of[short+int(refs[i].Class())].add(j, o, refs[i])
		}
	}
	r.utilisation = 100 * held / (float64(w.Machine.Nodes) * float64(end-begin))
	for c := range r.of {
		r.of[c].divide()
	}
	return r
}

func hours(seconds core.Time) float64 { return float64(seconds) / 3600 }

// add adds a job: sums until divide.
func (f *figures) add(j *workload.Job, o *replay.Outcome, ref *sizing.Sizes) {
	const bound = 30
	n, reference := float64(o.Nodes(j)), float64(ref.Nodes)
	response := o.End - j.Submit
	f.jobs++
	f.response += hours(response)
	f.wait += hours(o.Start - j.Submit)
	f.slowdown += max(1, float64(response)/float64(max(ref.Seconds, bound)))
	f.nodes += reference
	f.factor += n / reference
	f.submitted += n / float64(j.Size)
	f.least += float64(ref.Steps[0].Nodes) / reference
	f.histogram[category(response)]++
	switch {
	case n < reference:
		f.shrunk++
	case n > reference:
		f.grown++
	}
}

func (f *figures) divide() {
	n := max(f.jobs, 1)
	for _, sum := range []*float64{&f.response, &f.wait, &f.slowdown, &f.nodes, &f.factor, &f.submitted, &f.least} {
		*sum /= n
	}
}

// offered is the load that a workload offers from its first to its last submission, on the references: a share of the machine.
func offered(w workload.Workload, refs []*sizing.Sizes) float64 {
	work := 0.0
	for _, s := range refs {
		work += float64(s.Nodes) * float64(s.Seconds)
	}
	first, last := w.Jobs[0].Submit, slices.MaxFunc(w.Jobs, func(a, b workload.Job) int { return int(a.Submit - b.Submit) }).Submit
	return work / (float64(w.Machine.Nodes) * float64(last-first))
}
