// Package mutants defines faults that tests without a lab must find. Each mutant is a small change of one file. It
// names the row of docs/reliability.md with the guarantee that it breaks, and the test that must fail.
//
//	go test ./scripts/mutants                                      checks that the mutants fit the files that they change
//	go test ./scripts/mutants -accordion.mutants -timeout 1h       builds each mutant and expects its test to fail
//	go test ./scripts/mutants -accordion.mutants -run 'Dies/lease' runs only the mutants whose names match
//
// Random mutants change an element of a package's syntax tree: an operator, a condition, a constant, a statement, or
// the first line of a function. The test prints the seed and each survivor.
//
//	go test ./scripts/mutants -run MostRandom -v -timeout 1h -accordion.random=slurm/resize,adapter/sidecar
//	… -accordion.seed=47 -accordion.count=100 -accordion.judges=./adapter/sidecar,./adapter/sim
//
// The source tree does not change, because a mutant is built with `go test -overlay`.
package mutants
