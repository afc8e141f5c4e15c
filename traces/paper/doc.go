// Package paper runs the experiments of the papers that Accordion follows, each next to its published figures.
//
//	rows, err := paper.Evolving{Tests: 1000, Seed: paper.Seed}.Run(ctx) // Klein & Pérez, CoreGRID 2011, Tables 1 and 2
//	fmt.Print(paper.Text(rows))
//
// The workloads are the papers' own, drawn anew from a seed; the schedulers are those of the product (core/ep,
// core/order), not copies. What the papers printed stands here as they printed it, and nothing is computed from it.
package paper
