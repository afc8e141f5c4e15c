package chart

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
	"accordion/slurm/sacct"
	"accordion/traces/gantt"
)

// fromSlurm returns the chart of Slurm's accounting, with the promises of a journal. It leaves out merged expanders,
// because the job itself holds their nodes from the merge on. Nodes of a companion are drawn as nodes of its job.
func fromSlurm(jobs []sacct.Job, entries iter.Seq2[journal.Entry, error]) (gantt.Chart, error) {
	b := New()
	latest := map[core.JobID]adapter.Key{}
	for _, j := range slices.SortedStableFunc(slices.Values(jobs), func(a, b sacct.Job) int { return cmp.Compare(a.Submitted, b.Submitted) }) {
		if j.Merged() {
			continue
		}
		if parent, known := latest[j.Expands]; known && j.Stays {
			b.hold(parent, j.Holds)
			continue
		}
		latest[j.ID] = j.Key
		b.Job(j.Key, gantt.Job{Name: j.Name, User: j.User, Submit: time.Unix(j.Submitted, 0), Outcome: j.State})
		b.hold(j.Key, j.Holds)
	}
	for e, err := range entries {
		if err != nil {
			return gantt.Chart{}, err
		}
		b.Note(e)
	}
	return b.Chart(), nil
}

// hold adds the nodes that a job held according to the accounting.
func (b *Builder) hold(job adapter.Key, holds []sacct.Hold) {
	for _, h := range holds {
		for _, n := range h.Nodes {
			b.Hold(job, gantt.Hold{Node: n, From: time.Unix(h.From, 0), To: time.Unix(h.To, 0)})
		}
	}
}
