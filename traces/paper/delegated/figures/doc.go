// Package figures makes Figures 7 to 11 of RR-7389 out of runs of package delegated, and holds each claim that the paper
// prints against them.
//
//	e := figures.Experiment{Usable: delegated.Usable(log), Seeds: 5, Seed: 1}
//	data, err := e.Run(ctx, figures.Names...)
//	fmt.Print(figures.Text(data))
//
// A verdict on a claim is computed by the rule that stands beside it, from the means over the seeds.
package figures
