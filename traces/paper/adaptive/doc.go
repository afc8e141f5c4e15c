// Package adaptive runs the experiments of Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive Job Resource Allocation" (JSSPP 2006),
// with the policies of core/policy, and compares the results with the claims of the paper.
//
//	e := adaptive.Experiment{Seeds: 20, Seed: 1}
//	data, err := e.Run(ctx, adaptive.Claims)
//	fmt.Print(data.ClaimsText())
//
// Each claim has a rule that computes its verdict.
//
// Files: setting.go has the workloads, approach.go the policies under each interpretation of the paper,
// measure.go what is measured in a run, and experiment.go the runs. estimate.go computes means and intervals
// over seeds. claims.go and claims_paper.go have the paper's claims, readings.go the interpretations that
// change the results, logs.go the same policies on real logs, and figures.go and draw.go the figures.
package adaptive
