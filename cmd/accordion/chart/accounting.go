package chart

import (
	"iter"
	"time"

	"accordion/adapter/journal"
	"accordion/slurm/sacct"
	"accordion/traces/report"
)

// FromSlurm is the chart of Slurm's accounting, with the promises of a journal's entries beside it. An expander that was
// merged is not shown: its nodes are its job's from then on, which is when the job can use them.
func FromSlurm(jobs []sacct.Job, entries iter.Seq2[journal.Entry, error]) (report.Gantt, error) {
	c := New()
	for _, j := range jobs {
		if j.Expands != 0 && j.Merged() {
			continue
		}
		c.Job(j.Key, report.Job{Name: j.Name, User: j.User, Submit: time.Unix(j.Submitted, 0), Outcome: j.State})
		for _, h := range j.Holds {
			for _, n := range h.Nodes {
				c.Hold(j.Key, report.Hold{Node: n, From: time.Unix(h.From, 0), To: time.Unix(h.To, 0)})
			}
		}
	}
	for e, err := range entries {
		if err != nil {
			return report.Gantt{}, err
		}
		c.Note(e)
	}
	return c.Gantt(), nil
}
