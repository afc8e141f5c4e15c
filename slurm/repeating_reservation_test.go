package slurm_test

import (
	"strings"
	"testing"
	"time"
)

// SDSC Expanse reserves nodes for a course with flags=DAILY
// (https://github.com/sdsc/sdsc-summer-institute-2022). The test uses HOURLY, which repeats sooner.
func TestNoJobBeginsAcrossTheNextOccurrenceOfARepeatingReservation(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	p := serving(t, lab, "")
	lab.Run(t, "root", "scontrol", "create", "reservation", "ReservationName=class", "Flags=HOURLY,IGNORE_JOBS", "StartTime=now", "Duration=1", "Nodes=n[23-24]", "Users=alice")
	t.Cleanup(func() { tryClient(lab, "scontrol", "delete", "ReservationName=class") })
	long := lab.Submit(t, "alice", "sleep 60", "-H", "-N24", "-t90", "--comment=ep=24x70m")
	p.awaitQueueExplanation(long, "It has no place in the plan", "reservation class", "HOURLY")

	// The current occurrence ends in a few seconds, and the next one begins within the hour.
	ends := time.Now().Add(6 * time.Second)
	lab.Run(t, "root", "scontrol", "update", "ReservationName=class", "EndTime="+ends.Format("2006-01-02T15:04:05"))
	time.Sleep(time.Until(ends.Add(10 * time.Second)))
	if got := runClient(t, lab, "squeue", "-h", "-j", long, "-o", "%T"); got != "PENDING" {
		t.Errorf("job %s of 70 minutes is %s, and the nodes are reserved again within the hour", long, got)
	}
	short := lab.Submit(t, "alice", "sleep 5", "-H", "-N24", "-t5", "--comment=ep=24x1m")
	awaitEvent(t, p, short, "started", time.Minute)
	lab.Run(t, "root", "scancel", long, short)
	if n := p.events(long, "starting"); len(n) > 0 {
		t.Errorf("job %s was told to start %d times", long, len(n))
	}
	lab.Run(t, "root", "scontrol", "delete", "ReservationName=class")
	maintenanceAhead(t, p)
	assertClean(t, p)
}

// maintenanceAhead submits a job that starts before another reservation if only its profile counts, but whose time
// limit reaches into that reservation. The job waits with a reason, and the sidecar does not attempt to start it
// repeatedly.
func maintenanceAhead(t *testing.T, p *process) {
	t.Helper()
	lab := p.lab
	begun := time.Now()
	from := begun.Add(2*time.Minute + 30*time.Second)
	lab.Run(t, "root", "scontrol", "create", "reservation", "ReservationName=repair", "Flags=MAINT", "StartTime="+from.Format("2006-01-02T15:04:05"), "Duration=1", "Nodes=n24", "Users=root")
	t.Cleanup(func() { tryClient(lab, "scontrol", "delete", "ReservationName=repair") })
	job := lab.Submit(t, "alice", "sleep 5", "-H", "-N24", "-t5", "--comment=ep=24x2m")
	p.awaitQueueExplanation(job, "reservation repair")
	time.Sleep(5 * time.Second)
	if starts := len(p.events(job, "starting")); starts > 1 {
		t.Errorf("job %s was told to start %d times", job, starts)
	}
	if tries := refusals(p, begun); tries > 2 {
		t.Errorf("%d calls for reservations were refused", tries)
	}
	if v := p.view(job); v == nil || !strings.Contains(v.Why, "repair") {
		t.Errorf("status shows %+v, want a line about the reservation", v)
	}
	lab.Run(t, "root", "scancel", job)
	lab.Run(t, "root", "scontrol", "delete", "ReservationName=repair")
}

// refusals returns the number of failed calls of Reserve since an instant.
func refusals(p *process, since time.Time) (n int) {
	for _, e := range p.journalSince(since) {
		if e.Verb == "reserve" && strings.HasPrefix(e.Outcome, "failed") {
			n++
			p.t.Logf("%s: %s", e.At.Format(time.TimeOnly), e.Outcome)
		}
	}
	return n
}
