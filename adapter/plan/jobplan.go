package plan

import (
	"slices"

	"accordion/adapter/managed"
	"accordion/core"
)

// A JobPlan is the part of a plan that concerns one managed job.
type JobPlan struct {
	Job        *managed.Job
	Course     *managed.Course // the job's place in the plan; nil if it has none
	Promise    []core.Time     // the job's new promise; nil if the promise stays
	TriedEarly core.Time       // second in which the planner last tried to let the job continue early; 0 if it never tried
	Save       bool            // the promise changed so that the record has to be saved
	allowed    []int           // the choices that the site's limits allow a waiting job, as indices into all of the job's choices; nil means all
}

// choice converts the index of a planned choice among the allowed choices into its index among all
// of the job's choices.
func (p *JobPlan) choice(planned int) int {
	if p.allowed == nil {
		return planned
	}
	return p.allowed[planned]
}

// Apply writes the plan into the jobs' records. Make itself changes none of its inputs.
func (v *World) Apply() {
	for _, p := range v.JobPlans {
		p.apply()
	}
}

func (p JobPlan) apply() {
	r := p.Job
	if r.Course = p.Course; p.Course != nil {
		r.NamedBefore = p.Course
	}
	if p.Promise != nil {
		r.Promise = p.Promise
	}
	if p.TriedEarly != 0 {
		r.TriedEarly = p.TriedEarly
	}
	r.Unsaved = r.Unsaved || p.Save
}

// draftsOf copies running jobs, so that the planner can move their promises and courses.
func draftsOf(running []*managed.Job) []*managed.Job {
	copies, drafts := make([]managed.Job, len(running)), make([]*managed.Job, len(running))
	for i, r := range running {
		copies[i] = *r
		copies[i].Promise = slices.Clone(r.Promise)
		drafts[i] = &copies[i]
	}
	return drafts
}

// jobPlans returns the plans of the running jobs, taken from their drafts, and the plans of the
// waiting managed jobs.
func (v *World) jobPlans() []JobPlan {
	all := make([]JobPlan, 0, len(v.Running)+len(v.Queue))
	for i, r := range v.Running {
		d := v.drafts[i]
		p := JobPlan{Job: r, Course: d.Course, TriedEarly: d.TriedEarly, Save: d.Unsaved}
		if !slices.Equal(d.Promise, r.Promise) {
			p.Promise = d.Promise
		}
		all = append(all, p)
	}
	for _, w := range v.Queue {
		if w.plan != nil {
			all = append(all, *w.plan)
		}
	}
	return all
}
