// Package ep schedules evolving jobs: those whose node count changes at times known in advance.
//
// A job describes its need as an evolution profile (Klein & Pérez, CoreGRID 2011, section 3.1):
//
//	requested, err := ep.Parse("5x500s,10x1h") // 5 nodes for 500 s, then 10 for an hour
//
// Fit finds the place with the earliest completion for a profile on a machine that is partly occupied. A step
// may wait for the nodes of the next step, up to a limit. Among all schedules with this completion, Compact
// returns the one that starts latest. LeastWaste returns the one that wastes least. An Algorithm is a
// combination of these functions with a name. Schedule places one job after another:
//
//	a, err := ep.ParseAlgorithm("2X+opt")
//	plan, err := ep.Schedule(profile.New(100), []core.EP{requested}, nil, a)
//
// The package handles one profile at a time, and only counts nodes. core/sched decides which job comes first, and
// core/place which nodes it gets. Every result depends only on the arguments. Times are whole seconds.
package ep
