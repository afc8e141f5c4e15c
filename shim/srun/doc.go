// Package srun knows srun from outside: its command line, as releases 20.11 to 26.05 read it, which of its environment speaks of a
// job's own allocation, and what it says when it could not start a step.
//
//	line, err := srun.Parse([]string{"-lN2", "--mem", "1G", "./solve", "-n", "9"}, srun.Help)
//	line.Options                               // --label --nodes=2 --mem=1G
//	line.Program                               // ./solve -n 9
//
// What the options mean for a program on several allocations is not its business (shim/launch).
package srun
