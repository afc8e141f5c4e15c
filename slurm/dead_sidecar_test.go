package slurm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// releaseAfterLease runs release-all, as the timer does, until the lease of a dead sidecar has ended. It returns the
// last output.
func releaseAfterLease(t *testing.T, p *process, flags ...string) (said string) {
	t.Helper()
	p.lab.Await(t, time.Minute, "the lease has ended", func() bool {
		if said = releaseAll(p, flags...); strings.Contains(said, "lives: nothing is given back") {
			time.Sleep(time.Second) // Slurm does not report the end of a lease
			return false
		}
		return true
	})
	return said
}

// A sidecar dies, or is stopped, while nodes are reserved for a pending job and for a later step of a running one.
func TestADeadSidecarReservesNothingAheadOfWaitingJobs(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	p := serving(t, lab, "[lease]\nlength = \"20s\"")
	runs := lab.Submit(t, "alice", "sleep 3000", "-H", "-N2", "-n2", "--comment=ep=2x2h,4x1h")
	lab.Await(t, time.Minute, "the first job runs", func() bool {
		return strings.Contains(runClient(t, lab, "squeue", "-h", "-j", runs, "-o", "%T"), "RUNNING")
	})
	busy := lab.Submit(t, "bob", "sleep 3000", fmt.Sprintf("-N%d", lab.Nodes-4), "-t60")
	lab.Await(t, time.Minute, "an ordinary job runs", func() bool {
		return strings.Contains(runClient(t, lab, "squeue", "-h", "-j", busy, "-o", "%T"), "RUNNING")
	})
	waits := lab.Submit(t, "alice", "sleep 3000", "-H", "-N10", "-n10", "--comment=ep=10x1h,12x1h")
	ahead, later := "ReservationName=accordion-"+waits+"-0 ", "ReservationName=accordion-"+runs+"-1 "
	reserved := func() bool {
		all := reservations(t, lab)
		return strings.Contains(all, ahead) && strings.Contains(all, later)
	}
	lab.Await(t, time.Minute, "nodes are reserved ahead", reserved)

	// A sidecar that restarts within the lease finds all reservations, after kill -9 and after SIGTERM.
	for _, end := range []func(){p.kill, p.stop} {
		end()
		if said := releaseAll(p, "--after-lease"); !reserved() {
			t.Errorf("within the lease release-all prints %s\nreservations:\n%s", said, reservations(t, lab))
		}
		p.start()
		lab.Await(t, time.Minute, "the sidecar plans again", func() bool { return p.view(runs) != nil && reserved() })
	}

	// The sidecar stays dead. All jobs may use its nodes, except those promised to the running job.
	p.kill()
	died := time.Now()
	runClient(t, lab, "scancel", busy)
	next := lab.Submit(t, "bob", "sleep 3000", fmt.Sprintf("-N%d", lab.Nodes-4), "-t120")
	said := releaseAfterLease(t, p, "--after-lease")
	if all := reservations(t, lab); strings.Contains(all, "accordion-"+waits+"-") || !strings.Contains(all, later) {
		t.Errorf("release-all prints %s\nreservations:\n%s", said, all)
	}
	lab.Await(t, time.Minute, "an ordinary job has the nodes", func() bool {
		return strings.Contains(runClient(t, lab, "squeue", "-h", "-j", next, "-o", "%T"), "RUNNING")
	})
	t.Logf("an ordinary job had the nodes %v after kill -9", time.Since(died).Round(time.Second))

	// A clean stop has the same result. An administrator can request that the reservations are deleted immediately.
	p.start()
	lab.Await(t, time.Minute, "nodes are reserved ahead again", reserved)
	p.stop()
	if said := releaseAll(p, "--after-lease"); !reserved() {
		t.Errorf("just after SIGTERM the timer's release-all prints %s\nreservations:\n%s", said, reservations(t, lab))
	}
	said = releaseAll(p)
	if all := reservations(t, lab); strings.Contains(all, "accordion-"+waits+"-") || !strings.Contains(all, later) {
		t.Errorf("release-all prints %s\nreservations:\n%s", said, all)
	}

	// The running job ends.
	runClient(t, lab, "scancel", runs)
	lab.Await(t, time.Minute, "it has no reservation", func() bool {
		said = releaseAll(p)
		return !strings.Contains(reservations(t, lab), "accordion-"+runs)
	})
	runClient(t, lab, "scancel", waits, next)
	lab.Await(t, time.Minute, "no job is left", func() bool { return runClient(t, lab, "squeue", "-h", "-a", "-o", "%A") == "" })
}
