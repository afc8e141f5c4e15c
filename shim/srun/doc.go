// Package srun parses the command line of srun as releases 20.11 to 26.05 do. It knows which environment variables describe a job's own
// allocation, and which messages srun prints when it could not start a step. A Writer passes a stream on line by line, so that several
// sruns can share one output.
//
//	line, err := srun.Parse([]string{"-lN2", "--mem", "1G", "./solve", "-n", "9"}, srun.Help)
//	line.Options                               // --label --nodes=2 --mem=1G
//	line.Program                               // ./solve -n 9
//
// shim/launch decides what the options mean for a program on several allocations.
package srun
