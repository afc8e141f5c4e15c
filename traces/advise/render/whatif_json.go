package render

import "accordion/traces/advise/whatif"

// whatIfJSON is the JSON of a what-if study.
type whatIfJSON struct {
	Nodes      int        `json:"nodes"`
	InUse      bool       `json:"nodes_are_most_in_use"`
	Jobs       int        `json:"jobs"`
	Evolving   int        `json:"evolving"`
	Moldable   int        `json:"moldable"`
	Fewer      int        `json:"fewer_nodes"`
	Late       int        `json:"late"`
	Limits     bool       `json:"limits_known"`
	Weeks      int        `json:"weeks"`
	Seed       uint64     `json:"seed"`
	NeverBegan int        `json:"never_began"`
	OthersLose []lossJSON `json:"others_lose"`
	TellLose   []lossJSON `json:"tell_lose"`
	Cases      []caseJSON `json:"cases"`
}

// lossJSON is one case in which a group loses with the lines.
type lossJSON struct {
	Policy  string                  `json:"policy"`
	Against string                  `json:"against"`
	By      map[string]estimateJSON `json:"by"` // key: whatif.KindNames
	Sure    bool                    `json:"sure"`

	BetterOff bool `json:"better_off,omitempty"` // not worse than under the site's policy without lines; the lines only make the gain smaller
}

// caseJSON is one replay.
type caseJSON struct {
	Policy string  `json:"policy"`
	Lines  bool    `json:"lines"`
	Tell   rowJSON `json:"tell"`
	Others rowJSON `json:"others"`
}

// rowJSON is one group of jobs in a replay.
type rowJSON struct {
	Jobs    int                   `json:"jobs"`
	Figures map[string]figureJSON `json:"figures"` // key: whatif.KindNames
}

// figureJSON is a value with its differences.
type figureJSON struct {
	Value float64     `json:"value"`
	Now   changeJSON  `json:"from_now"`
	Alone *changeJSON `json:"from_same_policy_without_lines,omitempty"`
}

// changeJSON is a difference, in the unit of the value and as a share.
type changeJSON struct {
	By    estimateJSON `json:"by"`
	Share estimateJSON `json:"share"`
}

// estimateJSON is a value with its 95 % interval, if it is known.
type estimateJSON struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

func estimateOf(e whatif.Estimate) estimateJSON {
	if !e.Known {
		return estimateJSON{Value: e.Value}
	}
	return estimateJSON{e.Value, &e.Low, &e.High}
}

func changeOf(c whatif.Change) changeJSON { return changeJSON{estimateOf(c.By), estimateOf(c.Share)} }

func figureOf(f whatif.Figure) figureJSON {
	out := figureJSON{Value: f.Value, Now: changeOf(f.Now)}
	if f.Alone != nil {
		alone := changeOf(*f.Alone)
		out.Alone = &alone
	}
	return out
}

func rowJSONOf(g *whatif.Group, k int) rowJSON {
	out := rowJSON{g.Jobs, map[string]figureJSON{}}
	for kind, f := range g.Rows[k].Of {
		out.Figures[whatif.KindNames[kind]] = figureOf(f)
	}
	return out
}

func lossesOf(g *whatif.Group) []lossJSON {
	all := []lossJSON{}
	for _, l := range g.Losses() {
		out := lossJSON{Policy: l.Policy, Against: "now", By: map[string]estimateJSON{}, Sure: l.Sure()}
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

// studyJSON returns nil if there is no study.
func studyJSON(s *whatif.Study) *whatIfJSON {
	if s == nil {
		return nil
	}
	out := &whatIfJSON{InUse: s.NodesInUse, Evolving: s.With.Evolving, Moldable: s.With.Moldable, Fewer: s.With.Fewer, Late: s.With.Late, Limits: s.LimitsKnown, Weeks: s.Result.Weeks,
		Seed: s.Seed, NeverBegan: s.Result.NeverBegan, OthersLose: lossesOf(&s.Result.Others), TellLose: lossesOf(&s.Result.Carriers), Cases: []caseJSON{}}
	if s.Site != nil {
		out.Nodes, out.Jobs = s.Site.Machine.Nodes, len(s.Site.Jobs)
	}
	for k := range s.Result.Carriers.Rows {
		r := &s.Result.Carriers.Rows[k]
		out.Cases = append(out.Cases, caseJSON{r.Policy, r.Lines, rowJSONOf(&s.Result.Carriers, k), rowJSONOf(&s.Result.Others, k)})
	}
	return out
}
