package advise

import "accordion/traces/advise/whatif"

// whatIf is what --json writes of --what-if.
type whatIf struct {
	Nodes      int      `json:"nodes"`
	InUse      bool     `json:"nodes_are_most_in_use"`
	Jobs       int      `json:"jobs"`
	Evolving   int      `json:"evolving"`
	Moldable   int      `json:"moldable"`
	Fewer      int      `json:"fewer_nodes"`
	Late       int      `json:"late"`
	Limits     bool     `json:"limits_known"`
	Weeks      int      `json:"weeks"`
	Seed       uint64   `json:"seed"`
	NeverBegan int      `json:"never_began"`
	OthersLose []loss   `json:"others_lose"`
	TellLose   []loss   `json:"tell_lose"`
	Cases      []inCase `json:"cases"`
}

// loss is what is worse with the lines.
type loss struct {
	Policy  string              `json:"policy"`
	Against string              `json:"against"`
	By      map[string]estimate `json:"by"` // by whatif.KindNames
	Sure    bool                `json:"sure"`

	BetterOff bool `json:"better_off,omitempty"` // no worse than the site as it was: a gain that is smaller
}

// inCase is one replay.
type inCase struct {
	Policy string `json:"policy"`
	Lines  bool   `json:"lines"`
	Tell   row    `json:"tell"`
	Others row    `json:"others"`
}

// row is some of the jobs in it.
type row struct {
	Jobs    int               `json:"jobs"`
	Figures map[string]figure `json:"figures"` // by whatif.KindNames
}

// figure is a value, and its differences.
type figure struct {
	Value float64 `json:"value"`
	Now   change  `json:"from_now"`
	Alone *change `json:"from_same_policy_without_lines,omitempty"`
}

// change is a difference, in the unit of its value and as a share.
type change struct {
	By    estimate `json:"by"`
	Share estimate `json:"share"`
}

// estimate has a 95 % interval, where there is one.
type estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

func estimateOf(e whatif.Estimate) estimate {
	if !e.Known {
		return estimate{Value: e.Value}
	}
	return estimate{e.Value, &e.Low, &e.High}
}

func changeOf(c whatif.Change) change { return change{estimateOf(c.By), estimateOf(c.Share)} }

func figureOf(f whatif.Figure) figure {
	out := figure{Value: f.Value, Now: changeOf(f.Now)}
	if f.Alone != nil {
		alone := changeOf(*f.Alone)
		out.Alone = &alone
	}
	return out
}

func rowOf(g *whatif.Group, k int) row {
	out := row{g.Jobs, map[string]figure{}}
	for kind, f := range g.Rows[k].Of {
		out.Figures[whatif.KindNames[kind]] = figureOf(f)
	}
	return out
}

func lossesOf(g *whatif.Group) []loss {
	all := []loss{}
	for _, l := range g.Losses() {
		out := loss{Policy: l.Policy, Against: "now", By: map[string]estimate{}, Sure: l.Sure()}
		for _, w := range l.Of {
			out.By[whatif.KindNames[w.Kind]] = estimateOf(w.Estimate)
		}
		if l.Without {
			out.Against, out.BetterOff = "same_policy_without_lines", l.BetterOff()
		}
		all = append(all, out)
	}
	return all
}

// json is nil where nothing was asked for.
func (s *supposed) json() *whatIf {
	if s == nil {
		return nil
	}
	out := &whatIf{InUse: s.inUse, Evolving: s.with.Evolving, Moldable: s.with.Moldable, Fewer: s.with.Fewer, Late: s.with.Late, Limits: s.limits, Weeks: s.result.Weeks, Seed: s.seed,
		NeverBegan: s.result.NeverBegan, OthersLose: lossesOf(&s.result.Others), TellLose: lossesOf(&s.result.Tell), Cases: []inCase{}}
	if s.site != nil {
		out.Nodes, out.Jobs = s.site.Machine.Nodes, len(s.site.Jobs)
	}
	for k := range s.result.Tell.Rows {
		r := &s.result.Tell.Rows[k]
		out.Cases = append(out.Cases, inCase{r.Policy, r.Lines, rowOf(&s.result.Tell, k), rowOf(&s.result.Others, k)})
	}
	return out
}
