package view

import (
	"math"
	"slices"
	"strconv"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// Sizing is the load of a machine. A sizing rule (package sizing) uses it to compute how many nodes
// moldable jobs may get now.
type Sizing struct {
	Rule    string `json:"rule"`
	Machine int    `json:"machine"` // number of the machine's nodes that are in service and not in a reservation of others
	Held    int64  `json:"held"`    // number of these nodes that jobs hold
	Wanted  int64  `json:"wanted"`  // sum of the reference sizes of all waiting jobs, including ordinary jobs
	Waiting int    `json:"waiting"` // number of waiting jobs, including ordinary jobs
	Mean    Number `json:"mean"`    // mean reference size of running and waiting jobs, in nodes
}

// Number is a number that is rounded to two decimal places.
type Number float64

// String formats the number without trailing zeros.
func (n Number) String() string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }

// rounded rounds x to two decimal places, and turns −0 into 0.
func rounded(x float64) Number { return Number(math.Round(100*x)/100 + 0) }

// AllowedSizes is the range of sizes that a sizing rule allows a moldable job now, with the numbers
// from which the rule computed the range.
type AllowedSizes struct {
	Reference int         `json:"reference"`       // reference size: number of nodes of the requested size for which nodes × time² is smallest
	Seconds   core.Time   `json:"seconds"`         // duration with the reference size
	Part      Number      `json:"part"`            // number of nodes that the rule gives the job, before rounding to a requested size
	Least     int         `json:"least"`           // smallest requested size that the job may get now
	Most      int         `json:"most"`            // largest requested size that the job may get now
	Limit     int         `json:"limit"`           // number of nodes that the site allows the job; 0 means no limit
	Parts     LoadParts   `json:"load,omitzero"`   // only for the rule "load"
	Tried     []LoadTrial `json:"tried,omitempty"` // only for the rule "load"
}

// LoadParts are the parts that add up to the machine's load over the job's run time, for the size that the job gets.
type LoadParts struct {
	Own     Number `json:"own"`
	Running Number `json:"running"`
	Waiting Number `json:"waiting"`
	Future  Number `json:"future"`
}

// LoadTrial is one factor by which the rule "load" multiplied all reference sizes, and the resulting load of the machine.
type LoadTrial struct {
	Factor Number `json:"factor"`
	Load   Number `json:"load"`
	Better bool   `json:"better"` // whether the load is better than in all earlier trials; the rule uses the last trial with Better set
}

// NewSizing returns the load from which the given rule computes sizes.
func NewSizing(rule string, w *sizing.World) Sizing {
	return Sizing{
		Rule: rule, Machine: w.Machine, Held: w.Held, Wanted: w.Wanted, Waiting: len(w.Waiting),
		Mean: rounded(float64(w.References) / float64(max(1, w.Jobs))),
	}
}

// NewAllowedSizes returns the sizes that a rule allows a job on a machine with the given number of
// nodes. It returns nil if the machine is too small for all of the job's sizes.
func NewAllowedSizes(rule sizing.Sizing, g sched.SizeBasis, machine int) *AllowedSizes {
	w, s := g.World, g.Sizes
	factor := 0.
	one := &AllowedSizes{Reference: s.Nodes, Seconds: s.Seconds}
	if load, by := rule.(sizing.Load); by {
		load.Search(w, g.HeadSizes, func(t sizing.Trial) {
			one.Tried = append(one.Tried, LoadTrial{rounded(t.Factor), rounded(t.Load), t.Better})
			if t.Better {
				factor = t.Factor
			}
		})
		p := load.Parts(w, g.HeadSizes, factor)
		one.Parts = LoadParts{rounded(p.Own), rounded(p.Running), rounded(p.Waiting), rounded(p.Future)}
	} else {
		factor = rule.Factor(w, g.HeadSizes)
	}
	lo, hi, ok := g.Range(factor, machine)
	if !ok {
		return nil
	}
	one.Least, one.Most = s.Steps[lo].Nodes, s.Steps[hi].Nodes
	one.Part = rounded(min(factor, core.MaxNodes) * float64(s.Nodes))
	if factor == 0 { // the rule allows only the smallest size, whatever the reference size is
		one.Part = Number(one.Least)
	}
	return one
}

// Same reports whether all fields are equal.
func (s *AllowedSizes) Same(o *AllowedSizes) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.Reference == o.Reference && s.Seconds == o.Seconds && s.Part == o.Part && s.Least == o.Least && s.Most == o.Most && s.Limit == o.Limit &&
		s.Parts == o.Parts && slices.Equal(s.Tried, o.Tried)
}
