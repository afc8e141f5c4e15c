package adaptive

import (
	"math"
	"slices"

	"accordion/core"
	"accordion/core/sizing"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// Indexes of all jobs, and of the jobs of each class.
const (
	all = iota
	short
	medium
	long
	classes
)

var classNames = [classes]string{"all", "short", "medium", "long"}

// result is what is measured in one run, over the jobs from 5 % to 95 % in order of submission.
type result struct {
	of          [classes]figures
	utilisation float64 // percentage of the machine between the first and the last submission of these jobs
	longest     float64 // longest wait of all jobs, in hours
	nodeHours   float64 // node-hours of all jobs
	seconds     float64 // processor time
}

// figures are the means over the jobs of one class.
type figures struct {
	jobs      float64
	response  float64 // hours
	wait      float64 // hours
	slowdown  float64 // response / run time on the reference size, which counts as at least 30 s; at least 1
	nodes     float64 // reference size
	factor    float64 // size / reference
	submitted float64 // size / size in the workload
	least     float64 // smallest listed size / reference
	shrunk    float64 // number of jobs below their reference
	grown     float64 // number of jobs above their reference
	histogram [categories]float64
}

// categories are the categories of Figure 7: up to 1 s, and then three per decade up to 10^6 s. The last one includes longer responses.
const categories = 19

// category returns the category of a response. A category reaches from above the limit of the previous category up to its own limit.
func category(seconds core.Time) int {
	return min(max(int(math.Ceil(3*math.Log10(float64(seconds))-1e-9)), 0), categories-1)
}

// references returns the sizes of each job of a workload.
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

// kept returns the range of jobs that count, in order of submission: from 5 % to 95 %. During the first jobs the machine fills up, and
// during the last jobs it runs empty.
func kept(jobs int) (from, to int) { return jobs * 5 / 100, jobs * 95 / 100 }

// measure returns the result of a run. w has the jobs that ran. `refs` has the references of these jobs, which may come from longer lists of
// sizes.
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

// add adds a job to the sums, from which divide makes means.
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

// offered returns the load of a workload from its first to its last submission, with the jobs on their references, as a share of the machine.
func offered(w workload.Workload, refs []*sizing.Sizes) float64 {
	work := 0.0
	for _, s := range refs {
		work += float64(s.Nodes) * float64(s.Seconds)
	}
	first, last := w.Jobs[0].Submit, slices.MaxFunc(w.Jobs, func(a, b workload.Job) int { return int(a.Submit - b.Submit) }).Submit
	return work / (float64(w.Machine.Nodes) * float64(last-first))
}
