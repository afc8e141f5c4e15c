// Package agent is what an MPI launcher starts in place of ssh: `accordion agent`. It runs a command on a node of the job, whichever
// of the job's allocations has it, in a step of that allocation.
//
// The launcher starts a daemon of its own on each host, and that starts the ranks. So the step has everything of the node that is the
// job's: all its cores, memory and devices; the launcher binds its ranks to parts of them. It may overlap other steps.
//
//	call, err := agent.Parse([]string{"-x", "n3", "orted", "--daemonize"})
//	status := agent.Run(ctx, call, agent.World{…})      // 255 where the host cannot be reached, as of ssh
package agent
