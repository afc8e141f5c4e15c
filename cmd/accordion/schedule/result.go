package schedule

import (
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/order"
	"accordion/core/place"
)

// schedule is the result in JSON form.
type schedule struct {
	Nodes        int                    `json:"nodes"`
	Algorithm    string                 `json:"algorithm"`
	Makespan     core.Time              `json:"makespan"`
	Applications []scheduledApplication `json:"applications"`
	Metrics      scheduleMetrics        `json:"metrics"`
	Order        string                 `json:"order"`
	Evals        int                    `json:"evals"`       // number of orders tried
	Bound        core.Time              `json:"lower_bound"` // lower bound: no schedule can end earlier
}

type scheduledApplication struct {
	ID         string          `json:"id"`
	Start      core.Time       `json:"start"`
	Completion core.Time       `json:"completion"`
	Scheduled  core.EP         `json:"scheduled_ep"` // profile from second 0 on, with a step of 0 nodes until the start
	Steps      []scheduledStep `json:"steps"`
}

type scheduledStep struct {
	Start   core.Time `json:"start"`
	End     core.Time `json:"end"`
	Nodes   int       `json:"nodes"`
	NodeIDs []int     `json:"node_ids,omitempty"`
}

type scheduleMetrics struct {
	Requested   int64            `json:"requested_area"`
	Reserved    int64            `json:"reserved_area"`
	Waste       float64          `json:"waste"`
	Utilisation float64          `json:"utilisation"`
	Completion  float64          `json:"mean_completion"`
	Waiting     float64          `json:"mean_waiting"`
	Expanded    float64          `json:"expanded"`
	Expansion   float64          `json:"expansion"`
	AppWaste    float64          `json:"app_waste"`
	Reservation *float64         `json:"reservation"`
	Makespan    *float64         `json:"makespan"`
	ACT         *float64         `json:"act"`
	AWT         *float64         `json:"awt"`
	Relative    scheduleRelative `json:"relative"`
}

type scheduleRelative struct {
	Reservation *float64 `json:"reservation"`
	Makespan    *float64 `json:"makespan"`
	Completion  *float64 `json:"completion"`
	Waiting     *float64 `json:"waiting"`
}

func scheduled(p *Problem, a ep.Algorithm, found order.Result, rigid []core.Allocation) *schedule {
	m := ep.Measure(p.Nodes, p.Profiles(), found.Plan)
	r := m.RelativeTo(ep.Measure(p.Nodes, p.Profiles(), rigid))
	relative := scheduleRelative{known(r.Reservation), known(r.Makespan), known(r.Completion), known(r.Waiting)}
	result := &schedule{Nodes: p.Nodes, Algorithm: a.String(), Makespan: m.Makespan, Bound: found.Bound, Evals: found.Evals,
		Applications: []scheduledApplication{},
		Metrics: scheduleMetrics{m.Requested, m.Reserved, m.Waste, m.Utilisation, m.Completion, m.Waiting, m.Expanded, m.Expansion, m.AppWaste,
			relative.Reservation, relative.Makespan, relative.Completion, relative.Waiting, relative}}
	for i, placed := range found.Plan {
		app := scheduledApplication{ID: p.Applications[i].ID, Start: placed.Start, Completion: placed.End()}
		if placed.Start > 0 {
			app.Scheduled = core.EP{{Duration: placed.Start}}
		}
		app.Scheduled = append(app.Scheduled, placed.EP...)
		at := placed.Start
		for _, s := range placed.EP {
			app.Steps = append(app.Steps, scheduledStep{Start: at, End: at + s.Duration, Nodes: s.Nodes})
			at += s.Duration
		}
		result.Applications = append(result.Applications, app)
	}
	return result
}

// known returns a pointer to a ratio, or nil if the ratio is undefined.
func known(ratio float64) *float64 {
	if ratio < 0 {
		return nil
	}
	return &ratio
}

// name assigns node IDs to every step. It also assigns nodes to the machine's occupation, so that no application gets occupied nodes.
func (s *schedule) name(p *Problem, plan []core.Allocation) error {
	all := append(plan[:len(plan):len(plan)], core.Allocation{Job: core.JobID(len(plan)), EP: p.Busy})
	named, err := place.Assign(p.Nodes, all, nil)
	if err != nil {
		return err
	}
	for i := range s.Applications {
		for j := range s.Applications[i].Steps {
			s.Applications[i].Steps[j].NodeIDs = named[i][j].Nodes
		}
	}
	return nil
}
