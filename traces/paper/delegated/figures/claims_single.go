package figures

import (
	"fmt"
	"slices"
)

// Two values are similar if they differ by at most steady.
const steady = 0.10

func similar(ratio float64) bool { return ratio >= 1-steady && ratio <= 1+steady }

// claims7 are the claims on rigid and moldable applications on one cluster.
var claims7 = []claim{
	{
		id: "7a", figure: "fig7", printed: "unique configurations below OAR's, the more so the more jobs are moldable", expected: "holds",
		rule: "OAR's over ours grows with the share of moldable jobs, and is above 1 from 20 % on",
		find: func(d *Data) finding {
			times := ratios(d.means(d.fig7().oar, unique), d.means(d.fig7().ours, unique))
			grows := slices.IsSorted(times)
			above := !slices.ContainsFunc(times[1:], func(x float64) bool { return x <= 1 })
			verdict, where := parts(map[string]bool{"grows": grows, "above 1": above}, "grows", "above 1")
			return finding{"OAR's over ours " + list(times), verdict, where}
		},
	},
	{
		id: "7b", figure: "fig7", printed: "more bytes than OAR; at most 25 MB, 125 kB an application", expected: "order", depends: true,
		rule: nearRule + "; more than OAR's everywhere",
		find: func(d *Data) finding {
			p := d.fig7()
			ours := d.means(p.ours, bytes)
			_, high := d.spread(p.ours, bytes)
			verdict := near(slices.Max(ours), 25)
			if slices.Min(d.ratio(p, bytes)) <= 1 {
				verdict = Fails
			}
			var groups [][]point
			for _, r := range fitted {
				groups = append(groups, []point{d.experiment.sized(r, 60, 1), d.experiment.sized(r, 80, 1), d.experiment.sized(r, 100, 1)})
			}
			return finding{fmt.Sprintf("%s MB (seeds to %s), %s kB an application at most%s", list(ours), digits(high), digits(slices.Max(ours)*5), d.spanned(groups, bytes)), verdict, ""}
		},
	},
	{
		id: "7c", figure: "fig7", printed: "fewer operations of the RMS than OAR", expected: "partly: from 20 % on",
		rule: "ours over OAR's below 1 at each share",
		find: func(d *Data) finding { return d.fewer(d.fig7(), rmsOps, shares, " %") },
	},
	{
		id: "7d", figure: "fig7", printed: "more operations of the applications than with OAR, where they have none", expected: "holds",
		rule: "above 0 at each share",
		find: func(d *Data) finding {
			ours := d.means(d.fig7().ours, appOps)
			verdict, where := everywhere(shares, " %", below(negated(ours), 0))
			return finding{list(ours) + " million", verdict, where}
		},
	},
	{
		id: "7e", figure: "fig7", printed: "fewer operations in all than OAR", expected: "partly: from 20 % on",
		rule: "ours over OAR's below 1 at each share",
		find: func(d *Data) finding { return d.fewer(d.fig7(), allOps, shares, " %") },
	},
	{
		id: "7f", figure: "fig7", printed: "simulation time below OAR's, as the operations; at most 100 s", expected: "partly: the bound holds, the order does not",
		rule: "ours over OAR's below 1 at each share; the bound",
		find: func(d *Data) finding {
			r, most := d.ratio(d.fig7(), took), slices.Max(d.means(d.fig7().ours, took))
			verdict, where := parts(map[string]bool{"below OAR's": slices.Max(r) < 1, "the bound": most <= 100}, "below OAR's", "the bound")
			return finding{fmt.Sprintf("%s times OAR's; at most %s s", list(r), digits(most)), verdict, where}
		},
	},
	{
		id: "7g", figure: "fig7", printed: "with rigid jobs only, all but bytes and operations of applications is similar", expected: "partly",
		rule: "at 0 % unique configurations, operations of the RMS and passes within 10 %, the mean end within 3 % of OAR's",
		find: func(d *Data) finding {
			first := pair{d.fig7().ours[:1], d.fig7().oar[:1]}
			u, o, p := d.ratio(first, unique)[0], d.ratio(first, rmsOps)[0], d.ratio(first, passes)[0]
			end, _ := d.late(first)
			verdict, where := parts(map[string]bool{"unique": similar(u), "operations": similar(o), "passes": similar(p), "mean end": end[0] <= 3 && end[0] >= -3},
				"unique", "operations", "passes", "mean end")
			return finding{fmt.Sprintf("unique × %s, operations of the RMS × %s, passes × %s (ghosts' ends want passes, too), mean end %+.1f %%", digits(u), digits(o), digits(p), end[0]), verdict, where}
		},
	},
	{
		id: "7h", figure: "fig8", printed: "delegation does not degrade performance", expected: "holds",
		rule: "the mean end over all points of figures 7 and 8 at most 3 % later than OAR's; partly to 10 %",
		find: func(d *Data) finding {
			m7, s7 := d.late(d.fig7())
			m8, s8 := d.late(d.fig8())
			all, seeds := slices.Concat(m7, m8), slices.Concat(s7, s8)
			if len(s7) == 0 {
				all, seeds = m8, s8
			}
			verdict := Fails
			switch m := mean(all); {
			case m <= 3:
				verdict = Holds
			case m <= 10:
				verdict = Partly
			}
			return finding{fmt.Sprintf("%+.1f %% in the mean, points %+.1f to %+.1f %%, single seeds %+.1f to %+.1f %%", mean(all), slices.Min(all), slices.Max(all), slices.Min(seeds), slices.Max(seeds)), verdict, ""}
		},
	},
}

func negated(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = -v
	}
	return all
}

// fewer returns the finding for a claim that ours is below OAR's.
func (d *Data) fewer(p pair, m metric, places []int, of string) finding {
	r := d.ratio(p, m)
	verdict, where := everywhere(places, of, below(r, 1))
	return finding{"ours over OAR's " + list(r), verdict, where}
}

// claims8 are the claims on several clusters.
var claims8 = []claim{
	{
		id: "8a", figure: "fig8", printed: "unique configurations: OAR's linear in the clusters, ours with a smaller slope", expected: "holds",
		rule: "OAR's within 1 % of a line through 0; each further cluster adds less to ours than to OAR's",
		find: func(d *Data) finding {
			ours, oar := d.means(d.fig8().ours, unique), d.means(d.fig8().oar, unique)
			linear, smaller := true, ours[0] < oar[0]
			for i := range oar {
				r := oar[i] / (oar[0] * float64(i+1))
				linear = linear && r > 0.99 && r < 1.01
				smaller = smaller && (i == 0 || ours[i]-ours[i-1] < oar[i]-oar[i-1])
			}
			verdict, where := parts(map[string]bool{"linear": linear, "smaller": smaller}, "linear", "smaller")
			return finding{fmt.Sprintf("OAR's %s a cluster; ours %s", digits(oar[0]), list(ours)), verdict, where}
		},
	},
	{
		id: "8b", figure: "fig8", printed: "at most 40 MB, 200 kB an application", expected: "holds", depends: true, rule: nearRule,
		find: func(d *Data) finding {
			ours := d.means(d.fig8().ours, bytes)
			most, at := slices.Max(ours), slices.Index(ours, slices.Max(ours))
			_, high := d.spread(d.fig8().ours, bytes)
			var groups [][]point
			for _, r := range fitted {
				var g []point
				for n := 2; n <= 5; n++ {
					g = append(g, d.experiment.sized(r, moldableJobs, n))
				}
				groups = append(groups, g)
			}
			return finding{fmt.Sprintf("at most %s MB (%d clusters; seeds to %s), %s kB an application%s", digits(most), clusters[at], digits(high), digits(5*most), d.spanned(groups, bytes)), near(most, 40), ""}
		},
	},
	{
		id: "8c", figure: "fig8", printed: "fewer operations of the RMS than OAR", expected: "holds", rule: "ours over OAR's below 1 on each number of clusters",
		find: func(d *Data) finding { return d.fewer(d.fig8(), rmsOps, clusters, " clusters") },
	},
	{
		id: "8e", figure: "fig8", printed: "fewer operations in all than OAR", expected: "holds", rule: "ours over OAR's below 1 on each number of clusters, in the mean",
		find: func(d *Data) finding {
			f := d.fewer(d.fig8(), allOps, clusters, " clusters")
			worst := 0.0
			for i, p := range d.fig8().ours {
				oar := d.values(d.fig8().oar[i], allOps)
				for k, v := range d.values(p, allOps) {
					worst = max(worst, v/oar[k])
				}
			}
			f.ours += fmt.Sprintf("; a single seed to %s", digits(worst))
			f.where += "only while max() begins at its step: walked from the beginning of the list, applications need 2 to 6 times as many"
			return f
		},
	},
	{
		id: "8f", figure: "fig8", printed: "simulation times similar; at most 150 s", expected: "partly: the bound holds",
		rule: "ours half to twice OAR's on each number of clusters; the bound",
		find: func(d *Data) finding {
			r, most := d.ratio(d.fig8(), took), slices.Max(d.means(d.fig8().ours, took))
			verdict, where := parts(map[string]bool{"similar": slices.Min(r) >= .5 && slices.Max(r) <= 2, "the bound": most <= 150}, "similar", "the bound")
			return finding{fmt.Sprintf("%s times OAR's; at most %s s", list(r), digits(most)), verdict, where}
		},
	},
	{
		id: "8g", figure: "fig8", printed: "operations and bytes grow up to a point, and then stay", expected: "fails",
		rule: "operations in all, and bytes, on eight clusters at least 90 % of their peak",
		find: func(d *Data) finding {
			o, b := d.means(d.fig8().ours, allOps), d.means(d.fig8().ours, bytes)
			verdict, where := parts(map[string]bool{"operations": o[len(o)-1] >= (1-steady)*slices.Max(o), "bytes": b[len(b)-1] >= (1-steady)*slices.Max(b)}, "operations", "bytes")
			return finding{fmt.Sprintf("a peak, then a fall: %s million operations, %s MB", list(o), list(b)), verdict, where}
		},
	},
}
