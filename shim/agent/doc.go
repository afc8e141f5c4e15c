// Package agent implements `accordion agent`, which an MPI launcher starts in place of ssh. It runs a command on a node
// of the job, in a step of the allocation that has the node.
//
// The launcher starts one daemon of its own on each host, and the daemon starts the ranks. So the step gets all cores, memory and devices
// that the job has on the node. The launcher binds its ranks to parts of them. The step may overlap with other steps.
//
//	call, err := agent.Parse([]string{"-x", "n3", "orted", "--daemonize"})
//	status := agent.Run(ctx, call, agent.World{…})      // 255 where the host cannot be reached, as of ssh
package agent
