package slurm_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/internal/lab"
)

// A cancelPoint is the moment at which the owner cancels a job. It is the duration `after` later than the beginning
// of one of the sidecar's calls for the job. If `after` is negative, it is just before that call.
type cancelPoint struct {
	call  string // attach, release, detach, expand, merge, shrink
	after time.Duration
}

func (f cancelPoint) String() string {
	if f.after < 0 {
		return "before " + f.call
	}
	return fmt.Sprintf("%v into %s", f.after, f.call)
}

// cancelling is a hook that runs at each call of the sidecar. At the call of a job's cancelPoint it cancels the job
// and all jobs that share the cancelPoint. A merge names only the expander, whose name ends with its parent's id.
const cancelling = `job= call=
case "$name $*" in
"scontrol release "*) call=release job=$2 ;;
"scontrol update JobId="*" ReservationName=") call=detach job=${2#JobId=} ;;
"scontrol update JobId="*" ReservationName="*) call=attach job=${2#JobId=} ;;
"scontrol update JobId="*" NodeList="*) call=shrink job=${2#JobId=} ;;
"scontrol update JobId="*" NumNodes=0") call=merge job=$("${real%/*}/squeue" -h -j "${2#JobId=}" -o %j) job=${job##*-} ;;
salloc*) for word; do case $word in --dependency=expand:*) call=expand job=${word##*:} ;; esac; done ;;
esac
if [ -n "$job" ] && [ -f "$here/$job.$call" ]; then
	read -r after all <"$here/$job.$call"
	mv "$here/$job.$call" "$here/$job.cancelled"
	if [ "$after" = before ]; then
		"${real%/*}/scancel" $all
	else
		setsid sh -c 'sleep "$0"; exec "$@"' "$after" "${real%/*}/scancel" $all </dev/null >/dev/null 2>&1 & # the call's own group ends with it
	fi
fi`

func TestAJobCancelledWhileItWaitsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	p := serving(t, lab, "")
	all := lab.Submit(t, "bob", "sleep 100", fmt.Sprintf("-N%d", lab.Nodes), "-t2")
	reserved := lab.Submit(t, "alice", "true", "-H", "-N2", "-t5", "--comment=ep=2x10s,4x10s")
	blocked := lab.Submit(t, "alice", "true", "-H", "-N2", "-t5", "--comment=ep=2x10s,4x10s", "--dependency=afterok:"+all)
	after := lab.Submit(t, "alice", "sleep 3", "-H", "-N2", "-t5", "--comment=ep=2x10s,4x10s", "--dependency=afterany:"+all)
	reservations := func() string { return reservations(t, lab) }
	lab.Await(t, time.Minute, "the job that waits for nodes has its reservations", func() bool {
		return strings.Contains(reservations(), "="+adapter.Prefix+reserved+"-0 ") && strings.Contains(reservations(), "="+adapter.Prefix+reserved+"-1 ")
	})
	lab.Await(t, time.Minute, "the other waits without", func() bool {
		v := p.view(blocked)
		return v != nil && v.Phase == "waiting" && v.Why == "Dependency" && !strings.Contains(reservations(), adapter.Prefix+blocked+"-")
	})
	for _, job := range []string{reserved, blocked} {
		lab.Run(t, "alice", "scancel", job)
	}
	lab.Await(t, time.Minute, "the reservations are gone", func() bool { return !strings.Contains(reservations(), adapter.Prefix) })
	for _, job := range []string{reserved, blocked} {
		lab.Await(t, time.Minute, "the sidecar forgot the job", func() bool { return len(p.events(job, "ended")) == 1 })
	}
	if v := p.view(after); v == nil || v.Phase != "waiting" {
		t.Errorf("a job that depends on a running one is not waiting: %+v", v)
	}
	lab.Run(t, "bob", "scancel", all)
	if !*long { // Slurm checks the dependencies of a held job once a minute
		lab.Run(t, "alice", "scancel", after)
	} else {
		lab.Await(t, 3*time.Minute, "the job that depends on it runs and ends", func() bool { return len(p.events(after, "started", "ended")) == 2 })
	}
	assertClean(t, p)
}

func TestAJobCancelledAtAnyCallOfTheSidecarLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	const never = -1
	fates := []cancelPoint{
		// Jobs that live longest come first. They get the first nodes, and grow by nodes with higher names
		// than the node of their script.
		{call: "shrink", after: never}, {call: "shrink", after: 50 * time.Millisecond},
		{call: "attach", after: never}, {call: "release", after: never}, {call: "release", after: 0}, {call: "detach", after: never}, {call: "detach", after: 0},
		{call: "expand", after: never}, {call: "expand", after: 0},
		// A merge takes 0.3 to 0.5 s. A job that is cancelled during a merge may end with an empty node list,
		// and then no job owns its nodes.
		{call: "merge", after: never}, {call: "merge", after: 0}, {call: "merge", after: 30 * time.Millisecond}, {call: "merge", after: 100 * time.Millisecond}, {call: "merge", after: 300 * time.Millisecond},
	}
	t.Run("each call", func(t *testing.T) { cancelAt(t, fates) })
	if !*long {
		return
	}
	random := rand.New(rand.NewPCG(1, 2)) // the seed is fixed, but Slurm's own timing still differs between runs
	for round := range 10 {
		fates = fates[:0]
		for range 12 {
			fates = append(fates, cancelPoint{call: "merge", after: time.Duration(random.IntN(600)) * time.Millisecond})
		}
		t.Run(fmt.Sprintf("merges, round %d", round+1), func(t *testing.T) { cancelAt(t, fates) })
	}
}

// arm makes the hook cancel the jobs `all` by one scancel at the cancelPoint of `job`.
func (f cancelPoint) arm(t *testing.T, calls *clients, job string, all ...string) {
	t.Helper()
	after := "before"
	if f.after >= 0 {
		after = fmt.Sprint(f.after.Seconds())
	}
	if err := os.WriteFile(filepath.Join(calls.dir, job+"."+f.call), []byte(after+" "+strings.Join(all, " ")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Jobs that grow in the same second are cancelled by one scancel, at one of the sidecar's calls for the growth of
// whichever job comes first.
func TestTwoJobsCancelledAtOnceInTheirGrowthLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	calls := newClients(t)
	calls.hook(cancelling)
	fates := []cancelPoint{{call: "expand", after: -1}, {call: "expand", after: 0}, {call: "merge", after: -1}, {call: "merge", after: 100 * time.Millisecond}}
	var jobs []string
	for _, f := range fates {
		pair := make([]string, 2)
		for i := range pair {
			pair[i] = lab.Submit(t, "alice", "sleep 7\neval \"$(accordion step)\" || exit\nsleep 60\n", "-H", "-N1", "-n1", "-t5", "--comment=ep=1x8s,2x60s", "-J", "x")
		}
		for _, job := range pair { // the first call for either job cancels both
			f.arm(t, calls, job, pair...)
		}
		jobs = append(jobs, pair...)
	}
	p := serving(t, lab, calls.setting()+"\nclients_per_minute = 0\n[overrun]\nleast = \"10m\"")
	for i, job := range jobs {
		lab.Await(t, 3*time.Minute, fmt.Sprintf("job %s, to be cancelled %v, has ended", job, fates[i/2]), func() bool {
			return strings.HasPrefix(runClient(t, lab, "squeue", "-h", "-j", job, "-t", "all", "-o", "%T"), "C")
		})
		if state := runClient(t, lab, "squeue", "-h", "-j", job, "-t", "all", "-o", "%T"); state == "COMPLETED" {
			t.Errorf("job %s, to be cancelled %v, completed: %s", job, fates[i/2], outputOf(lab, "alice", job))
		}
	}
	assertClean(t, p)
	closeRunaways(t, lab)
}

// cancelAt runs one job for each cancelPoint, all at the same time, and checks that nothing is left behind.
func cancelAt(t *testing.T, fates []cancelPoint) {
	t.Helper()
	lab := quickLab(t)
	calls := newClients(t)
	calls.hook(cancelling)
	jobs := make([]string, len(fates))
	for i, f := range fates {
		phase := "sleep 4\n"
		boundary := "eval \"$(accordion step)\" || exit\n"
		jobs[i] = lab.Submit(t, "alice", phase+boundary+phase+boundary+phase, "-H", "-N1", "-n1", "-t5", "--comment=ep=1x5s,2x5s,1x5s", "-J", "x")
		f.arm(t, calls, jobs[i], jobs[i])
	}
	p := serving(t, lab, calls.setting()+"\nclients_per_minute = 0\n[overrun]\nleast = \"10m\"") // many jobs at the same time are slow
	for i, job := range jobs {
		lab.Await(t, 3*time.Minute, fmt.Sprintf("job %s, to be cancelled %v, has ended", job, fates[i]), func() bool {
			return strings.HasPrefix(runClient(t, lab, "squeue", "-h", "-j", job, "-t", "all", "-o", "%T"), "C") // CANCELLED, COMPLETED or COMPLETING
		})
		if _, err := os.Stat(filepath.Join(calls.dir, job+".cancelled")); err != nil {
			t.Errorf("job %s was to be cancelled %v, but never came to that point: %s", job, fates[i], outputOf(lab, "alice", job))
		}
	}
	assertClean(t, p)
	closeRunaways(t, lab)
	for i, job := range jobs {
		var story []string
		for _, e := range p.events(job, "starting", "started", "grew", "shrank", "ended") {
			story = append(story, e.Verb)
		}
		t.Logf("job %s, cancelled %v: %s", job, fates[i], strings.Join(story, " "))
	}
	t.Logf("nodes were lost, and set free by `scontrol reconfigure`, %d times since this Slurm was booted", reconfigured(t, lab))
}

// A merge into a job that is cancelled at the same moment can lose nodes. In this test the sidecar is
// killed during the merge, so the next sidecar must free the nodes.
func TestNodesLostInAMergeAreSetFreeByTheNextSidecar(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	calls := newClients(t)
	calls.hook(`case "$name $*" in
"scontrol update JobId="*" NumNodes=0")
	job=$("${real%/*}/squeue" -h -j "${2#JobId=}" -o %j)
	"${real%/*}/scancel" "${job##*-}"
	"$real" "$@"
	kill -9 "$PPID"
	exit ;;
esac`)
	before := reconfigured(t, lab)
	p := serving(t, lab, calls.setting())
	lab.Submit(t, "alice", `eval "$(accordion step)"`, "-H", "-N1", "-n1", "-t5", "--comment=ep=1x5s,3x5s")
	select {
	case <-p.ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("the sidecar was not killed in a merge")
	}
	calls.hook(":")
	p.start()
	assertClean(t, p)
	if reconfigured(t, lab) == before {
		t.Log("no nodes were lost this time")
	}
}

// reconfigured returns how often slurmctld read its configuration again, according to its log.
func reconfigured(t *testing.T, lab *lab.SlurmLab) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(lab.Dir, "log", "slurmctld.log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "Processing Reconfiguration Request")
}
