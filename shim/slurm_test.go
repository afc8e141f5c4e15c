package shim_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/adapter/session"
	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/shim/wire"
)

// boundaries prints on which nodes an srun without options runs its tasks, and which variables the programs of the job
// get.
const boundaries = `
export TMPDIR=$PWD
look() {
	echo "$1: $(srun printenv SLURMD_NODENAME | sort | uniq -c | awk '{printf "%s*%s ", $2, $1}')of $SLURM_JOB_NODELIST"
}
look first
eval "$(accordion step)" || echo "status $?"
look grown
echo "hosts: $(tr '\n' ' ' <"$ACCORDION_HOSTFILE")"
echo "two: $(srun -N2 -n2 printenv SLURMD_NODENAME | sort | tr '\n' ' ')"
until [ -e shrunk ]; do sleep 0.1; done
eval "$(accordion step --timeout 2s)" || echo "status $?"
look alone
echo over
`

// The test takes the place of the sidecar. It resizes the job, and the shim has to export the new size.
func TestSrunUsesTheNodesThatTheShimExports(t *testing.T) {
	lab := lab.Slurm(t, 6, lab.Plain(), lab.Fast(), lab.NoPlugin()) // plain, because with core binding no step runs on merged nodes
	root := func(command ...string) string { t.Helper(); return lab.Run(t, "root", command...) }

	server, err := session.Listen(session.Options{Path: filepath.Join(lab.Dir, "run", "accordion.sock")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	end := func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		ended <- nil // so that a second receive also returns
	}
	defer end()

	id := lab.Submit(t, "alice", boundaries, "-N2", "-n8", "-t", "3")
	var call session.Call
	select {
	case call = <-server.Calls():
	case <-time.After(time.Minute):
		t.Fatalf("the job does not ask; its output: %s", lab.File("alice", "slurm-"+id+".out"))
	}
	if uid := root("squeue", "-h", "-j", id, "-o", "%U"); fmt.Sprint(call.UID) != uid || fmt.Sprint(call.Request.Job) != id {
		t.Fatalf("user %d asks for job %d, want user %s, job %s", call.UID, call.Request.Job, uid, id)
	}
	gid := root("id", "-g", "alice")
	lab.Await(t, time.Minute, "three nodes are free", func() bool { // on a busy machine Slurm calls idle nodes busy for a moment
		_, _, err := lab.Exec("root", "", "salloc", "-Q", "-I", "--no-shell", "--uid=alice", "--gid="+gid, "-N3", "-t", "3",
			"--dependency=expand:"+id, "-J", "expander-"+id)
		return err == nil
	})
	root("scontrol", "update", "JobId="+root("squeue", "-h", "-n", "expander-"+id, "-o", "%A"), "NumNodes=0")
	held := root("squeue", "-h", "-j", id, "-o", "%N")
	names, err := hostlist.Expand(held)
	if err != nil || len(names) != 5 {
		t.Fatalf("the grown job holds %q", held)
	}
	call.Answer(wire.Reply{Status: wire.Resized, Nodes: held, Count: 5, Step: 2, Steps: 3})
	select {
	case <-call.Gone:
	case <-time.After(time.Minute):
		t.Fatal("the answer is not taken")
	}

	// The job shrinks while no sidecar runs, so the shim asks Slurm about the nodes.
	lab.Await(t, time.Minute, "the grown job ran", func() bool {
		return strings.Contains(lab.File("alice", "slurm-"+id+".out"), "two:")
	})
	keep := []string{names[0], names[2], names[4]}
	root("scontrol", "update", "JobId="+id, "NodeList="+strings.Join(keep, ","))
	end()
	lab.Run(t, "alice", "touch", "shrunk")
	lab.Await(t, time.Minute, "the job ends", func() bool {
		return strings.Contains(lab.File("alice", "slurm-"+id+".out"), "over\n")
	})

	each := func(nodes []string) string { return strings.Join(nodes, "*4 ") + "*4 of " + hostlist.Compact(nodes) }
	out := lab.File("alice", "slurm-"+id+".out")
	for _, want := range []string{
		"first: " + each(names[:2]),
		"step 2 of 3 begins: 5 nodes, " + held,
		"grown: " + each(names),
		"hosts: " + strings.Join(names, " "),
		"two: " + names[0] + " " + names[1],
		"status 4",
		"alone: " + each(keep),
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the job's output has no %q", want)
		}
	}
	if t.Failed() {
		t.Logf("the job's output:\n%s", out)
	}
}
