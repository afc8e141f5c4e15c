// Package adaptive makes the experiments of Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive Job Resource
// Allocation" (JSSPP 2006), with the policies of core/policy, and holds what the paper claims against them.
//
//	e := adaptive.Experiment{Seeds: 20, Seed: 1}
//	data, err := e.Run(ctx, adaptive.Claims)
//	fmt.Print(data.ClaimsText())
//
// A verdict on a claim is computed by the rule that stands beside it.
//
// Files: setting.go is the workloads, approach.go the policies under each reading, measure.go what is measured of one run,
// experiment.go runs them; estimate.go makes means and intervals of seeds; claims.go and the files of that name are the paper's
// claims; readings.go is what moves them; logs.go the same policies on real logs; figures.go and draw.go the figures.
package adaptive
