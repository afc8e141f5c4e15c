// Package mutants has faults that tests without a lab must find. Each mutant is a small change of one file. The
// mutant has the row of docs/reliability.md with the guarantee that it breaks, and the test that must fail with it.
//
//	go test ./scripts/mutants                                      looks that the mutants fit the files that they change
//	go test ./scripts/mutants -accordion.mutants -timeout 1h       builds each of them and expects its test to be red
//	go test ./scripts/mutants -accordion.mutants -run 'Dies/lease' only those whose names match
//
// Random mutants change an element of a package's syntax tree: an operator, a condition, a constant, a statement, or
// the first line of a function. The test prints the seed and each survivor.
//
//	go test ./scripts/mutants -run MostRandom -v -timeout 1h -accordion.random=slurm/resize,adapter/sidecar
//	… -accordion.seed=47 -accordion.count=100 -accordion.judges=./adapter/sidecar,./adapter/sim
//
// The tree does not change: a mutant is built with `go test -overlay`.
package mutants
