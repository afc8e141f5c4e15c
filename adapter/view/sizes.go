package view

import (
	"math"
	"slices"
	"strconv"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// Sizing is what decides how many nodes the moldable jobs of a machine may get now: a rule of package sizing, and what it looks
// at.
type Sizing struct {
	Rule    string `json:"rule"`
	Machine int    `json:"machine"` // nodes in service that no reservation of others keeps
	Held    int64  `json:"held"`    // of these, by jobs
	Wanted  int64  `json:"wanted"`  // by the references of those that wait, ordinary ones too
	Waiting int    `json:"waiting"` // these are so many
	Mean    Number `json:"mean"`    // nodes of the references of all that run and wait
}

// Number is a number for people: with two places behind the point.
type Number float64

// String writes it without zeros behind the point.
func (n Number) String() string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }

// rounded is a number for people, and never −0.
func rounded(x float64) Number { return Number(math.Round(100*x)/100 + 0) }

// Sized is what a moldable job may get now by that.
type Sized struct {
	Reference int       `json:"reference"`       // nodes of the size with the least nodes x time^2
	Seconds   core.Time `json:"seconds"`         // that it lasts
	Part      Number    `json:"part"`            // nodes that the rule gives it, before they are rounded to a size that it listed
	Least     int       `json:"least"`           // sizes that it listed, from its floor…
	Most      int       `json:"most"`            // …to its target: one of these it gets
	Limit     int       `json:"limit"`           // nodes that the site allows it at most; 0: no limit
	Parts     Parts     `json:"load,omitzero"`   // by the rule load
	Tried     []Tried   `json:"tried,omitempty"` // by it, too
}

// Parts is what the machine's load over the job's run time is made of, at its part.
type Parts struct {
	Own     Number `json:"own"`
	Running Number `json:"running"`
	Waiting Number `json:"waiting"`
	Future  Number `json:"future"`
}

// Tried is a factor of all references, and the load with it.
type Tried struct {
	Factor Number `json:"factor"`
	Load   Number `json:"load"`
	Better bool   `json:"better"` // than all before: the last of these is the one that is taken
}

// SizingOf tells what a rule looks at.
func SizingOf(rule string, w *sizing.World) Sizing {
	return Sizing{
		Rule: rule, Machine: w.Machine, Held: w.Held, Wanted: w.Wanted, Waiting: len(w.Waiting),
		Mean: rounded(float64(w.References) / float64(max(1, w.Jobs))),
	}
}

// SizedOf tells what a rule gives a job on a machine of so many nodes; nil: none of its sizes is to be had there.
func SizedOf(rule sizing.Sizing, g sched.SizeBasis, machine int) *Sized {
	w, s := g.World, g.Sizes
	factor := 0.
	one := &Sized{Reference: s.Nodes, Seconds: s.Seconds}
	if load, by := rule.(sizing.Load); by {
		load.Search(w, g.HeadSizes, func(t sizing.Trial) {
			one.Tried = append(one.Tried, Tried{rounded(t.Factor), rounded(t.Load), t.Better})
			if t.Better {
				factor = t.Factor
			}
		})
		p := load.Parts(w, g.HeadSizes, factor)
		one.Parts = Parts{rounded(p.Own), rounded(p.Running), rounded(p.Waiting), rounded(p.Future)}
	} else {
		factor = rule.Factor(w, g.HeadSizes)
	}
	lo, hi, ok := g.Range(factor, machine)
	if !ok {
		return nil
	}
	one.Least, one.Most = s.Steps[lo].Nodes, s.Steps[hi].Nodes
	one.Part = rounded(min(factor, core.MaxNodes) * float64(s.Nodes))
	if factor == 0 { // the floor, whatever that is
		one.Part = Number(one.Least)
	}
	return one
}

// Same compares every field.
func (s *Sized) Same(o *Sized) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.Reference == o.Reference && s.Seconds == o.Seconds && s.Part == o.Part && s.Least == o.Least && s.Most == o.Most && s.Limit == o.Limit &&
		s.Parts == o.Parts && slices.Equal(s.Tried, o.Tried)
}
