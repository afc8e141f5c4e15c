// Package ep schedules evolving jobs: those whose node count changes at times known in advance.
//
// A job says what it needs as an evolution profile (Klein & Pérez, CoreGRID 2011, section 3.1):
//
//	requested, err := ep.Parse("5x500s,10x1h") // 5 nodes for 500 s, then 10 for an hour
//
// Fit finds the place of a profile with the earliest completion next to what occupies a machine. Steps may wait for the nodes of the
// next step within a limit. Several schedules can have this completion: Compact takes the one that starts latest, and LeastWaste the
// one that wastes least. An Algorithm is a choice of these by its name. Schedule places one job after another:
//
//	a, err := ep.ParseAlgorithm("2X+opt")
//	plan, err := ep.Schedule(profile.New(100), []core.EP{requested}, nil, a)
//
// The package knows one profile at a time, and only counts of nodes. core/sched decides which job comes first, and core/place which
// nodes it gets. Everything here is a pure function of its arguments. Times are whole seconds.
package ep
