package delegated

import (
	"fmt"
	"math/rand/v2"

	"accordion/core"
	"accordion/traces/swf"
)

// Workload describes which jobs are drawn. With Seed alone it is W0 without moldable jobs.
type Workload struct {
	Seed     uint64
	Moldable int // percentage of the jobs
	CEM      int // W2: percentage of the jobs that are replaced by cem applications
	At       int // W1: position of an additional cem application; the first position is 1, and 0 means that there is none
	From     int // how many usable jobs of the log to skip at its beginning
	Sizes    Sizes
	Model    Model
	Delay    core.Time // Job.Delay of the cem applications
}

// Jobs is how many jobs of the log a workload uses.
const Jobs = 200

// Sizes is an interpretation of the sizes in the log. It decides what to do with jobs that are larger than a
// cluster.
type Sizes int

// The interpretations.
const (
	Cut       Sizes = iota // the size of a larger job is reduced to 128 hosts; its run time stays
	Skip                   // larger jobs are left out
	Nodes                  // sizes count processors, eight of which are a host; jobs of more than 128 hosts are reduced
	NodesSkip              // sizes count processors as in Nodes; jobs of more than 128 hosts are left out
)

// SizesNames are the names of the interpretations.
var SizesNames = []string{"cut", "skip", "nodes", "nodes-skip"}

func (s Sizes) String() string { return SizesNames[s] }

// processorsOfHost is the number of processors of a node of Atlas.
const processorsOfHost = 8

// of returns a job's size in hosts: as it was, and within a cluster. ok is false if the job is left out.
func (s Sizes) of(processors int) (uncut, hosts int, ok bool) {
	uncut = processors
	if s == Nodes || s == NodesSkip {
		uncut = (processors + processorsOfHost - 1) / processorsOfHost
	}
	if uncut > Hosts && (s == Skip || s == NodesSkip) {
		return 0, 0, false
	}
	return uncut, min(uncut, Hosts), true
}

// Model is an interpretation of the cem application, which RR-7389 takes from another paper.
type Model struct {
	// Hours is the work of each cem application, in hours on one whole cluster of speed 1. 0 means that it has the work of the job that it
	// replaces.
	Hours      float64
	Iterations float64
}

// Standard is the model of the figures. Among the twelve models that were tried, it comes closest to Figures 9
// and 11.
var Standard = Model{Hours: 10, Iterations: 10_000}

// table1 is Table 1 of RR-7389, with its largest sizes cut to a cluster. All rows are equally frequent.
var table1 = []struct {
	p    float64
	most int
}{{0.8, 32}, {0.9, 96}, {0.99, Hosts}, {0.999, Hosts}}

// Usable returns the jobs of a log that a workload may use: those that ran, on a known number of processors.
func Usable(log *swf.Log) []swf.Record {
	var all []swf.Record
	for _, r := range swf.Summaries(log.Records) {
		if r.Run > 0 && r.Processors > 0 {
			all = append(all, r)
		}
	}
	return all
}

// stream returns a separate random generator for each property that is drawn. So a job has the same factor in all workloads, even if its
// kind differs.
func (w Workload) stream(number uint64) *rand.Rand { return rand.New(rand.NewPCG(w.Seed, number)) }

const (
	factors uint64 = 7389 + iota
	kinds
	rows
	cems
	inserted // the factor of the cem application of W1
	draws    // the draws of Figure 10
)

func factor(random *rand.Rand) float64 { return 1.1 + float64(0.9*random.Float64()) }

// Jobs draws a workload from the usable jobs of a log. One job arrives each second.
func (w Workload) Jobs(usable []swf.Record) ([]Job, error) {
	if w.Moldable < 0 || w.Moldable > 100 || w.CEM < 0 || w.CEM > 100 {
		return nil, fmt.Errorf("%d %% moldable and %d %% cem: shares are 0 to 100 %%", w.Moldable, w.CEM)
	}
	if w.At < 0 || w.At > Jobs+1 {
		return nil, fmt.Errorf("the place %d of the cem application is not 1 to %d", w.At, Jobs+1)
	}
	factors, kinds, rows, cems := w.stream(factors), w.stream(kinds), w.stream(rows), w.stream(cems)
	jobs := make([]Job, 0, Jobs+1)
	for i := max(0, w.From); i < len(usable) && len(jobs) < Jobs; i++ {
		uncut, hosts, ok := w.Sizes.of(int(usable[i].Processors))
		if !ok {
			continue
		}
		j := Job{Factor: factor(factors)}
		moldable, row, cem := kinds.Float64() < float64(w.Moldable)/100, table1[rows.IntN(len(table1))], cems.Float64() < float64(w.CEM)/100
		run := float64(usable[i].Run)
		switch {
		case cem:
			j.Kind, j.Delay = CEM, w.Delay
			j.W, j.Iterations = w.Model.work(run*float64(hosts)), w.Model.Iterations
		case moldable:
			j.Kind, j.P, j.Least, j.Most = Moldable, row.p, 1, row.most
			j.D1 = run / (1 - row.p + row.p/float64(uncut))
		default:
			j.Kind, j.P, j.Least, j.Most = Rigid, 1, hosts, hosts
			j.D1 = run * float64(hosts)
		}
		jobs = append(jobs, j)
	}
	if len(jobs) < Jobs {
		return nil, fmt.Errorf("the log has only %d jobs to take from its usable job %d on: %d are needed", len(jobs), w.From+1, Jobs)
	}
	if w.At > 0 {
		cem := Job{Kind: CEM, Factor: factor(w.stream(inserted)), Delay: w.Delay, W: w.Model.work(0), Iterations: w.Model.Iterations}
		jobs = append(jobs[:w.At-1], append([]Job{cem}, jobs[w.At-1:]...)...)
	}
	for i := range jobs {
		jobs[i].Arrive = core.Time(i)
	}
	return jobs, nil
}

// work returns the work of a cem application in host-seconds. If it replaces no job, it is at least an hour of a cluster.
func (m Model) work(replaced float64) float64 {
	switch {
	case m.Hours > 0:
		return Hosts * 3600 * m.Hours
	case replaced > 0:
		return replaced
	}
	return Hosts * 3600
}

// TooLarge returns how many jobs are larger than a cluster, among the jobs of the log from which the workload is drawn.
func (w Workload) TooLarge(usable []swf.Record) int {
	n, taken := 0, 0
	for i := max(0, w.From); i < len(usable) && taken < Jobs; i++ {
		uncut, _, ok := w.Sizes.of(int(usable[i].Processors))
		if ok {
			taken++
		}
		if !ok || uncut > Hosts {
			n++
		}
	}
	return n
}
