package figures

import (
	"fmt"
	"math/big"
	"slices"

	"accordion/traces/paper/delegated"
)

// w2s returns the points of W2 on n clusters, by their shares of cem applications.
func (d *Data) w2s(n int) []point {
	return along(cemShares, func(cem int) point { return d.experiment.w2(n, cem) })
}

// complex returns all points of Figure 9 except those of W0.
func (d *Data) complex() []point {
	var all []point
	for _, n := range clusters {
		all = append(append(all, d.experiment.w1(n, place)), d.w2s(n)...)
	}
	return all
}

// modeled returns the points of each other interpretation of the cem application, in groups.
func (d *Data) modeled() [][]point {
	var groups [][]point
	for _, m := range models {
		var g []point
		for _, p := range d.w2s(delegated.MaxClusters) {
			g = append(g, d.experiment.modeled(m, p))
		}
		groups = append(groups, g)
	}
	return groups
}

// peaks returns, as text, the shares of cem applications at which the other interpretations have the most
// unique configurations on 8 clusters. It returns "" if they were not run.
func (d *Data) peaks() string {
	var at []int
	for _, g := range d.modeled() {
		var values []float64
		for _, p := range g {
			values = append(values, d.read(p, unique))
		}
		if most := slices.Max(values); most > 0 {
			at = append(at, cemShares[slices.Index(values, most)])
		}
	}
	if len(at) == 0 {
		return ""
	}
	slices.Sort(at)
	return fmt.Sprintf("; over %d readings (%s) peaks at %v %%", len(at), counted(d.experiment.Readings, "seed"), at)
}

// claims9 are the claims on cem applications.
var claims9 = []claim{
	{
		id: "9a", figure: "fig9", printed: "unique configurations scale: at most 12,000 on 8 clusters", expected: "order; far below 129^3", depends: true, rule: nearRule,
		find: func(d *Data) finding {
			at := d.w2s(delegated.MaxClusters)
			ours := d.means(at, unique)
			low, high := d.spread(at[slices.Index(ours, slices.Max(ours)):][:1], unique)
			return finding{fmt.Sprintf("%s (%s to %s) with a cache an application, %s with one over all%s", digits(slices.Max(ours)), digits(low), digits(high),
				digits(slices.Max(d.means(at, together))), d.spanned(d.modeled(), unique)), near(slices.Max(ours), 12_000), ""}
		},
	},
	{
		id: "9p", figure: "fig9", printed: "they rise up to 80 % cem, and are few at 100 %", expected: "partly: the end holds, the peak does not", depends: true,
		rule: "on 8 clusters the peak is at 80 %; at 100 % at most 10 % of it",
		find: func(d *Data) finding {
			ours := d.means(d.w2s(delegated.MaxClusters), unique)
			peak := cemShares[slices.Index(ours, slices.Max(ours))]
			verdict, where := parts(map[string]bool{"the peak": peak == 80, "the end": ours[len(ours)-1] <= 0.1*slices.Max(ours)}, "the peak", "the end")
			return finding{fmt.Sprintf("%s at %v %%: a peak at %d %%%s", list(ours), cemShares, peak, d.peaks()), verdict, where}
		},
	},
	{
		id: "9n", figure: "fig9", printed: "all configurations: 2,146,689 on 3 clusters, 613,490 TB on 8", expected: "holds", rule: "129^3, and 129^8 of 8 bytes, by arithmetic",
		find: func(*Data) finding {
			three := new(big.Int).Exp(big.NewInt(129), big.NewInt(3), nil)
			eight := new(big.Int).Exp(big.NewInt(129), big.NewInt(8), nil)
			tb := eight.Div(eight.Mul(eight, big.NewInt(8)), big.NewInt(1e12))
			verdict, where := parts(map[string]bool{"3": three.Int64() == 2_146_689, "8": tb.Int64() == 613_490}, "3", "8")
			return finding{fmt.Sprintf("%d and %d TB", three, tb), verdict, where}
		},
	},
	{
		id: "9w", figure: "fig9", printed: "with one cem application (W1) slightly more operations than without (W0)", expected: "partly: from 3 clusters on",
		rule: "in all 0 to 25 % more on each number of clusters",
		find: func(d *Data) finding {
			w0 := d.means(along(clusters, d.experiment.w0), allOps)
			w1 := d.means(along(clusters, func(n int) point { return d.experiment.w1(n, place) }), allOps)
			var right []bool
			for _, r := range ratios(w1, w0) {
				right = append(right, r >= 1 && r <= 1.25)
			}
			verdict, where := everywhere(clusters, " clusters", right)
			return finding{fmt.Sprintf("%s million with it, %s without", list(w1), list(w0)), verdict, where}
		},
	},
	{
		id: "9d", figure: "fig9", printed: "operations in all fall with more cem applications", expected: "partly: from 20 % on", depends: true,
		rule: "on 8 clusters each is below the one before, from W1 on; partly from 20 % on",
		find: func(d *Data) finding {
			totals := append([]float64{d.mean(d.experiment.w1(delegated.MaxClusters, place), allOps)}, d.means(d.w2s(delegated.MaxClusters), allOps)...)
			f := finding{ours: "W1, then W2: " + list(totals) + " million", verdict: Fails}
			if others := d.spanned(d.modeled(), allOps); others != "" {
				f.ours += others + " at most in W2"
			}
			switch falls := func(v []float64) bool { return slices.IsSorted(negated(v)) }; {
			case falls(totals):
				f.verdict = Holds
			case falls(totals[1:]):
				f.verdict, f.where = Partly, "it does from 20 % on"
			}
			return f
		},
	},
	{
		id: "9c", figure: "fig9", printed: "operations of the RMS do not grow with the applications' complexity", expected: "fails at 8", depends: true,
		rule: "on 8 clusters, where choices are the most complex, W2's at most 10 % above W0's",
		find: func(d *Data) finding {
			one, eight := d.means(append([]point{d.experiment.w0(1)}, d.w2s(1)...), rmsOps), d.means(append([]point{d.experiment.w0(8)}, d.w2s(8)...), rmsOps)
			f := finding{ours: fmt.Sprintf("W0, then W2: on 8 clusters %s million, on 1 %s", list(eight), list(one)), verdict: Holds}
			if others := d.spanned(d.modeled(), rmsOps); others != "" {
				f.ours += others + " on 8"
			}
			if slices.Max(eight) > (1+steady)*eight[0] {
				f.verdict = Fails
			}
			return f
		},
	},
	{
		id: "9b", figure: "fig9", printed: "at most 45 MB, 230 kB an application", expected: "partly: for a work of 10 h and more", depends: true,
		rule: nearRule + "; partly where other readings of the cem application are not within 25 %",
		find: func(d *Data) finding {
			all := d.complex()
			ours := d.means(all, bytes)
			most := slices.Max(ours)
			at := all[slices.Index(ours, most)]
			_, high := d.spread([]point{at}, bytes)
			f := finding{verdict: near(most, 45)}
			f.ours = fmt.Sprintf("%s MB (%d clusters, seeds to %s)%s", digits(most), at.clusters, digits(high), d.spanned(d.modeled(), bytes))
			if f.verdict != Holds {
				return f
			}
			if d.experiment.Readings == 0 {
				f.verdict, f.where = Open, "with this reading it holds; the others, which \"claims\" makes, were not made"
			}
			for i, g := range d.modeled() {
				for _, p := range g {
					if d.read(p, bytes) > 45*1.25 {
						f.verdict, f.where = Partly, fmt.Sprintf("not, for one, with a work of %g h and %g iterations", models[i].Hours, models[i].Iterations)
					}
				}
			}
			return f
		},
	},
	{
		id: "9f", figure: "fig9", printed: "simulation time at most 150 s", expected: "holds", rule: "the bound",
		find: func(d *Data) finding {
			most := slices.Max(d.means(d.complex(), took))
			f := finding{fmt.Sprintf("at most %s s", digits(most)), Holds, ""}
			if most > 150 {
				f.verdict = Fails
			}
			return f
		},
	},
}

// claims11 are the claims on waste.
var claims11 = []claim{
	{
		id: "11a", figure: "fig11", printed: "waste is linear in the fair-start delay, and grows with the cem applications", expected: "holds",
		rule: "at each share that of 30 s is six times that of 5 s, within 10 %; each share wastes more than the one before",
		find: func(d *Data) finding {
			var last []float64
			linear := true
			for _, cem := range wasteCEM {
				w := d.mean(d.experiment.waste(cem, 30), wasted)
				last = append(last, w)
				linear = linear && similar(w/d.mean(d.experiment.waste(cem, 5), wasted)/6)
			}
			verdict, where := parts(map[string]bool{"linear": linear, "grows": slices.IsSorted(last)}, "linear", "grows")
			return finding{fmt.Sprintf("at 30 s %s million host-seconds", list(last)), verdict, where}
		},
	},
	{
		id: "11b", figure: "fig11", printed: "at most 3 million host-seconds, 1.5 h a host", expected: "holds when a cem application takes all hosts", depends: true, rule: nearRule,
		find: func(d *Data) finding {
			w := d.mean(d.experiment.waste(100, 30), wasted)
			var groups [][]point
			for _, m := range models {
				groups = append(groups, []point{d.experiment.modeled(m, d.experiment.waste(100, 30))})
			}
			return finding{fmt.Sprintf("%s million, %s h a host%s", digits(w), digits(w*1e6/(wasteClusters*delegated.Hosts)/3600), d.spanned(groups, wasted)), near(w, 3), ""}
		},
	},
	{
		id: "11c", figure: "fig11", printed: "that is 0.5 % where jobs last 1.5 h, and 10 % where they last 5 min", expected: "holds", rule: "30 s of the run time, within a fifth of the printed shares",
		find: func(d *Data) finding {
			var sum float64
			jobs := d.experiment.Usable[:delegated.Jobs]
			for _, j := range jobs {
				sum += float64(j.Run)
			}
			long, short, here := 100*30/(1.5*3600), 100*30/300., 100*30/(sum/delegated.Jobs)
			verdict, where := parts(map[string]bool{"0.5 %": long > .4 && long < .6, "10 %": short > 8 && short < 12}, "0.5 %", "10 %")
			return finding{fmt.Sprintf("%.2f %% and %s %%; of these 200 jobs, which last %.0f s in the mean, %.1f %%", long, digits(short), sum/delegated.Jobs, here), verdict, where}
		},
	},
}
