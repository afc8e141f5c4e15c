// Package shim is the job's side of Accordion: it runs inside a job script, as the job's user.
//
// Step ends the job's present step and waits until the job has the nodes of the next step. It asks the sidecar over a Unix socket, or over
// TCP with munge if the sidecar is on another host (packages wire and seal). It turns the answer into text for the shell that called it:
//
//	outcome := shim.Step(ctx, shim.Options{Getenv: os.LookupEnv, Timeout: time.Hour})
//	fmt.Print(outcome.Text)                   // export SLURM_NNODES='5' …, for eval
//	fmt.Fprintln(os.Stderr, outcome.Message)  // one line for the user
//	os.Exit(outcome.Status)
//
// A restart of the sidecar does not disturb a job. The shim notices that its connection broke, and asks again until a sidecar answers or
// the timeout passes. A request contains the number of the step that it ends. So if the sidecar has ended that step but the answer was
// lost, the sidecar answers the repeated request without delay.
//
// The shim plans nothing and changes nothing in the batch system. The files that it writes are lists of the job's nodes
// for the job's own programs, such as ACCORDION_HOSTFILE.
package shim
