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
)

// FromSlurm is the chart of Slurm's accounting, with the promises of a journal's entries beside it. An expander that was
// merged is not shown: its nodes are its job's from then on, which is when the job can use them. A companion's are its job's.
func FromSlurm(jobs []sacct.Job, entries iter.Seq2[journal.Entry, error]) (Gantt, error) {
	c := New()
	latest := map[core.JobID]adapter.Key{}
	for _, j := range slices.SortedStableFunc(slices.Values(jobs), func(a, b sacct.Job) int { return cmp.Compare(a.Submitted, b.Submitted) }) {
		if j.Merged() {
			continue
		}
		if parent, known := latest[j.Expands]; known && j.Stays {
			c.hold(parent, j.Holds)
			continue
		}
		latest[j.ID] = j.Key
		c.Job(j.Key, Job{Name: j.Name, User: j.User, Submit: time.Unix(j.Submitted, 0), Outcome: j.State})
		c.hold(j.Key, j.Holds)
	}
	for e, err := range entries {
		if err != nil {
			return Gantt{}, err
		}
		c.Note(e)
	}
	return c.Gantt(), nil
}

// hold draws what the accounting says was held for the job.
func (c *Chart) hold(job adapter.Key, holds []sacct.Hold) {
	for _, h := range holds {
		for _, n := range h.Nodes {
			c.Hold(job, Hold{Node: n, From: time.Unix(h.From, 0), To: time.Unix(h.To, 0)})
		}
	}
}
