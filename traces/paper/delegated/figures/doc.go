// Package figures makes Figures 7 to 11 of RR-7389 from runs of package delegated, and checks each claim of the paper.
//
//	e := figures.Experiment{Usable: delegated.Usable(log), Seeds: 5, Seed: 1}
//	data, err := e.Run(ctx, figures.Names...)
//	fmt.Print(data.Text())
//
// Each claim has a rule that computes its verdict from the means over the seeds.
package figures
