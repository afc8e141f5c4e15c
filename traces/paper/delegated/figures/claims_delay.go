package figures

import "fmt"

// claims10 are the claims on slow launchers.
var claims10 = []claim{
	{
		id: "10a", figure: "fig10", printed: "a fair-start delay below the adaptation delay D is much worse, on the average and at worst", expected: "partly: the share of those that are late doubles at least",
		rule: "of the draws with a fair-start delay of 5 s and more, those below D are later than D at least twice as often as those above; holds where their mean and maximum are twice as large, too",
		find: func(d *Data) finding {
			f := finding{verdict: Partly}
			for _, hours := range works {
				small, same, large := d.draws(hours, -1), d.draws(hours, 0), d.draws(hours, 1)
				f.ours += fmt.Sprintf("work %g h: later than D %.1f %% where D is below the fair-start delay, %.1f %% where it is the same, %.1f %% above; means %.0f, %.0f and %.0f s, maxima %.0f, %.0f and %.0f s. ",
					hours, small.late, same.late, large.late, small.mean, same.mean, large.mean, small.most, same.most, large.most)
				if large.late < 2*small.late {
					f.verdict = Fails
				}
			}
			one := works[0]
			small, large := d.draws(one, -1), d.draws(one, 1)
			if f.verdict == Partly && large.mean >= 2*small.mean && large.most >= 2*small.most && small.mean > 0 {
				f.verdict = Holds
			}
			return f
		},
	},
	{
		id: "10b", figure: "fig10", printed: "it is enough that all applications have time to adapt", expected: "fails",
		rule: "no draw is later than D where D is below the fair-start delay",
		find: func(d *Data) finding {
			f := finding{verdict: Holds}
			for _, hours := range works {
				small := d.draws(hours, -1)
				f.ours += fmt.Sprintf("work %g h: %.1f %% of the draws are later, by up to %.0f s. ", hours, small.late, small.most)
				if small.late > 0 {
					f.verdict, f.where = Fails, "the exchange goes on for tens of passes: the fair-start delay must exceed D and the whole chain"
				}
			}
			return f
		},
	},
}

// drawn is the result of several draws of Figure 10.
type drawn struct{ late, mean, most float64 }

// draws returns the result of the draws with a fair-start delay of 5 s or more. `sign` selects adaptation delays below (−1), equal to (0) or
// above (1) the fair-start delay.
func (d *Data) draws(hours float64, sign int) drawn {
	var all drawn
	n := 0.0
	for _, w := range d.delays {
		here := 0
		switch {
		case w.adaptation < w.fair:
			here = -1
		case w.adaptation > w.fair:
			here = 1
		}
		if w.hours != hours || w.fair < 5 || here != sign {
			continue
		}
		n++
		all.late, all.mean, all.most = all.late+w.late(), all.mean+w.mean(), max(all.most, summary(w.seconds).Max)
	}
	if n > 0 {
		all.late, all.mean = all.late/n, all.mean/n
	}
	return all
}
