// Package paper runs the experiments of the papers that Accordion follows, and shows the results next to the published figures.
//
//	rows, err := paper.Evolving{Tests: 1000, Seed: paper.Seed}.Run(ctx) // Klein & Pérez, CoreGRID 2011, Tables 1 and 2
//	fmt.Print(paper.Text(rows))
//
// The workloads are drawn from a seed, as the papers describe them. The experiments use the product's
// schedulers (core/ep, core/order), not copies. Published figures are stored as they were printed, and nothing
// is computed from them.
package paper
