// Package shim is the job's side of Accordion: what runs inside a job script, as the job's user.
//
// Step ends the job's present step and waits until the next one's nodes are there. It asks the sidecar over a Unix
// socket, or over TCP with munge when that is on another host (packages wire and seal), and turns the answer into text for
// the shell that called it:
//
//	outcome := shim.Step(ctx, shim.Options{Getenv: os.LookupEnv, Timeout: time.Hour})
//	fmt.Print(outcome.Text)                   // export SLURM_NNODES='5' …, for eval
//	fmt.Fprintln(os.Stderr, outcome.Says)     // one line for the user
//	os.Exit(outcome.Status)
//
// A sidecar that is killed and started again does not disturb a job: the shim notices that its connection broke, and
// asks again until somebody answers or its patience ends. Because a request names the step that it ends, one that was
// carried out before the answer was lost is answered at once.
//
// It plans nothing and changes nothing in the batch system. The only file it writes is the list of the job's nodes
// (ACCORDION_HOSTFILE).
package shim
