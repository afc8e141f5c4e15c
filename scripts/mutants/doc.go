// Package mutants holds faults that tests without a lab must find. Each mutant is a small change of
// one file. It names a row of docs/reliability.md whose guarantee it breaks, and the test that must
// fail with it.
//
//	go test ./scripts/mutants                                      looks that the mutants fit the files that they change
//	go test ./scripts/mutants -accordion.mutants -timeout 1h       builds each of them and expects its test to be red
//	go test ./scripts/mutants -accordion.mutants -run 'Dies/lease' only those whose names match
//
// Random mutants change what the syntax tree of a package has: an operator, a condition, a constant,
// a statement, the first line of a function. The seed is printed, and each survivor listed.
//
//	go test ./scripts/mutants -run MostRandom -v -timeout 1h -accordion.random=slurm/resize,adapter/sidecar
//	… -accordion.seed=47 -accordion.count=100 -accordion.judges=./adapter/sidecar,./adapter/sim
//
// The tree is not touched: a mutant is built with `go test -overlay`.
package mutants
