package slurm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/adapter/audit"
	"accordion/internal/lab"
)

// delays holds durations in seconds: from the submission of jobs to their acceptance, and from the planned seconds
// of growths and shrinks to these events.
type delays struct{ accepted, growths, shrinks []float64 }

func (d *delays) add(o delays) {
	d.accepted, d.growths, d.shrinks = append(d.accepted, o.accepted...), append(d.growths, o.growths...), append(d.shrinks, o.shrinks...)
}

func (d delays) String() string {
	word := func(all []float64) string {
		return fmt.Sprintf("median %.2f s, worst %.2f s of %d", quantile(all, 0.5), quantile(all, 1), len(all))
	}
	return fmt.Sprintf("accepted: %s; growths: %s; shrinks: %s", word(d.accepted), word(d.growths), word(d.shrinks))
}

// Five users have jobs with 600 steps of a second each, with [limits] shortest_step off. Nevertheless the sidecar
// handles the jobs of another user within seconds. With -accordion.long there are thirty such jobs, and five rounds
// with and without them. The median delay may at most double.
func TestHostileUsersDoNotDelayOthersOnARealSlurm(t *testing.T) {
	parallelUnlessLong(t)
	nodes, jobs, turns := 16, 6, 1
	if *long {
		nodes, jobs, turns = 72, 30, 5
	}
	hostile := []string{"eve1", "eve2", "eve3", "eve4", "eve5"}
	lab := lab.Slurm(t, nodes, lab.Users(append([]string{"alice", "bob"}, hostile...)...))
	p := serving(t, lab, "[overrun]\nleast = \"10m\"")
	p.unjudged = []audit.Kind{audit.Sum} // if the limit of a job is extended after a resize, Slurm counts the last size from the job's start
	var alone, beside delays
	for range turns {
		alone.add(measureDelays(t, lab, p, "alice"))
		for i := range jobs {
			lab.Submit(t, hostile[i%len(hostile)], "#EP "+strings.TrimSuffix(strings.Repeat("1x1s,2x1s,", 300), ",")+"\ntrap '' URG\nsleep 3000", "-o", "/dev/null")
		}
		lab.Await(t, time.Minute, "the hostile jobs run", everySecond(func() bool {
			return len(strings.Fields(runClient(t, lab, "squeue", "--noheader", "--states=R", "--user="+strings.Join(hostile, ","), "-o", "%A"))) >= jobs
		}))
		time.Sleep(20 * time.Second)                // the five users use up their shares of the minute's client programs
		beside.add(measureDelays(t, lab, p, "bob")) // measured as bob, because alice's share of the minute is still used up
		for _, user := range hostile {
			runClient(t, lab, "scancel", "--user="+user)
		}
		lab.Await(t, 2*time.Minute, "the hostile jobs have ended", everySecond(func() bool {
			return runClient(t, lab, "squeue", "--noheader", "--all", "-o", "%A") == ""
		}))
		if *long { // deleting these jobs uses up the programs of a minute, which would disturb the next round
			time.Sleep(time.Minute)
		}
	}
	t.Logf("with none:            %v", alone)
	t.Logf("with 5 hostile users: %v", beside)
	for what, two := range map[string][2][]float64{
		"was accepted": {alone.accepted, beside.accepted}, "grew": {alone.growths, beside.growths}, "shrank": {alone.shrinks, beside.shrinks},
	} {
		before, after := quantile(two[0], 0.5), quantile(two[1], 0.5)
		most := sampleBound
		if *long {
			most = 2*max(before, 0) + 1 // plus the time of one reading
		}
		if !(after <= most) {
			t.Errorf("next to hostile users a job %s after %.2f s, without them after %.2f s; want at most %.2f s", what, after, before, most)
		}
	}
}

// sampleBound is the bound, in seconds, on the delay of a single sample taken while other tests run. Before users
// had equal shares, this test's job was accepted after 145 s, and had not ended after four minutes.
const sampleBound = 20.0

// measureDelays runs a job that grows once and shrinks once, and returns its delays. The job needs fewer client
// programs than its user's share of a minute.
func measureDelays(t *testing.T, lab *lab.SlurmLab, p *process, user string) (d delays) {
	t.Helper()
	step := "sleep 5.2\neval \"$(accordion step)\" || exit\n"
	begin := time.Now()
	job := lab.Submit(t, user, "#EP 1x6s,3x6s,1x4s\n"+strings.Repeat(step, 2)+"sleep 3")
	lab.Await(t, 4*time.Minute, "job "+job+" is over", everySecond(func() bool {
		return runClient(t, lab, "squeue", "--noheader", "--all", "--job="+job, "-o", "%A") == ""
	}))
	var accepted time.Time
	for _, e := range p.journal(job) {
		switch late, resized := e.Args["lateness"].(float64); {
		case e.Verb == "accepted" || e.Verb == "adopt":
			accepted = e.At
		case e.Verb == "grew" && resized:
			d.growths = append(d.growths, late)
		case e.Verb == "shrank" && resized:
			d.shrinks = append(d.shrinks, late)
		}
	}
	d.accepted = []float64{accepted.Sub(begin).Seconds()}
	if len(d.growths) != 1 || len(d.shrinks) != 1 {
		t.Errorf("job %s grew %d times and shrank %d times, want 1 and 1", job, len(d.growths), len(d.shrinks))
	}
	return d
}
