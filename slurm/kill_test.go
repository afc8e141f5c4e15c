package slurm_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/slurm/growth"
)

// quickLab returns a Slurm that schedules without delays and has no plug-in. Its users submit with
// sbatch -H --comment=ep=….
func quickLab(t *testing.T) *lab.SlurmLab {
	t.Helper()
	return lab.TakeSlurm(t, 24, lab.Users("alice", "bob"), lab.Fast(), lab.NoPlugin())
}

// A resizedJob is a job that starts, grows and shrinks, with steps of `seconds` seconds. A silent job does not call
// `accordion step`. The sidecar resizes it at the planned times and informs it.
type resizedJob struct {
	seconds int
	silent  bool
	growth  growth.Kind // the configured way to grow; "" means the lab's default, growth by overlap
}

func (v resizedJob) submit(t *testing.T, lab *lab.SlurmLab) (job, submitted string) {
	t.Helper()
	phase := fmt.Sprintf("tell\nsleep %d\n", v.seconds-1)
	boundary := "eval \"$(accordion step)\" || exit\n"
	script := reportScript + phase + boundary + phase + boundary + phase
	if v.growth == growth.Companions {
		script = strings.NewReplacer("srun printenv", "accordion run -- printenv", "$SLURM_JOB_NODELIST", "${ACCORDION_NODELIST:-$SLURM_JOB_NODELIST}").Replace(script)
	}
	if v.silent {
		script = fmt.Sprintf("trap : URG\nend=$((SECONDS + %d))\nwhile ((SECONDS < end)); do sleep 1; done\n", 3*v.seconds+4)
	}
	job = lab.Submit(t, "alice", script, "-H", "-N2", "-n2", "-t5", fmt.Sprintf("--comment=ep=2x%[1]ds,4x%[1]ds,1x%[1]ds", v.seconds))
	return job, runClient(t, lab, "squeue", "-h", "-j", job, "-O", "SubmitTime")
}

// assertSurvived checks a job that has ended. Its own output and Slurm's accounting must show that it ran on 2, 4
// and 1 nodes, and the job must leave nothing behind.
func (v resizedJob) assertSurvived(t *testing.T, p *process, job, submitted string) {
	t.Helper()
	said := parseStepReports(t, outputOf(p.lab, "alice", job))
	for step, size := range map[int]int{1: 2, 2: 4, 3: 1} {
		if v.silent {
			break
		}
		if got := said[step]; got.nodes() != size || len(nodeNames(t, got.list)) != size {
			t.Errorf("step %d: SLURM_JOB_NODELIST is %s and srun ran on %d nodes, want %d\n%s", step, got.list, got.nodes(), size, outputOf(p.lab, "alice", job))
		}
	}
	sizes := ""
	for _, list := range accountedSizes(t, p.lab, job, submitted) {
		sizes += fmt.Sprintf("%d ", len(nodeNames(t, list)))
	}
	// Accounting may have further sizes for a moment. One is the size of a growth that was undone because the
	// sidecar died during it. Another is the size of a job whose companion ended before the job itself shrank.
	pattern := `^2 ([24] )*4 1 $`
	if v.growth == growth.Companions {
		pattern = `^2 ([24] )*4 (2 )?1 $`
	}
	if !regexp.MustCompile(pattern).MatchString(sizes) {
		t.Errorf("sacct -D has the sizes %s, want 2 4 1", sizes)
	}
	assertClean(t, p)
}

// surviveDeaths runs a job under one sidecar after the other. The n-th sidecar, counted from 0, is killed at
// fate(n), or is not killed if fate(n) is nil. surviveDeaths returns how many sidecars were killed. The last
// sidecar is still alive.
func surviveDeaths(t *testing.T, lab *lab.SlurmLab, v resizedJob, fate func(life int) *killPoint) int {
	t.Helper()
	mortal := newClients(t)
	arm := func(life int) {
		mortal.hook(":")
		if d := fate(life); d != nil {
			mortal.killAt(*d)
		}
	}
	arm(0)
	// Repeated deaths make a job late, which this test does not check.
	p := serving(t, lab, fmt.Sprintf("%s\ngrowth = %q\n[overrun]\nleast = \"10m\"", mortal.setting(), cmp.Or(v.growth, growth.Auto)))
	job, submitted := v.submit(t, lab)
	lives := 1
	lab.Await(t, 4*time.Minute, "the job has ended", func() bool {
		select {
		case <-p.ended:
			arm(lives)
			lives++
			p.start()
		default:
		}
		return !slices.Contains([]string{"PENDING", "RUNNING"}, runClient(t, lab, "squeue", "-h", "-j", job, "-t", "all", "-o", "%T"))
	})
	mortal.hook(":")
	select {
	case <-p.ended: // the sidecar was killed after its last act for the job
		p.start()
	default:
	}
	died := mortal.deaths()
	t.Logf("%d deaths:\n%s", len(died), strings.Join(died, "\n"))
	v.assertSurvived(t, p, job, submitted)
	return len(died)
}

func nodeNames(t *testing.T, list string) []string {
	t.Helper()
	all, err := hostlist.Expand(list)
	if err != nil {
		t.Fatalf("host list %q: %v", list, err)
	}
	return all
}

// callsUntilDeath returns at which call the n-th sidecar, counted from 0, is killed. A start takes at least six
// calls, and a growth by overlap at least nine. After a death the next sidecar begins the start or growth again. So
// the first sidecars die during the start or soon after it, and later ones mostly after it. One sidecar in five
// lives long, and each of these lives longer than the one before. So different leftovers must be cleaned up.
func callsUntilDeath(life int) int {
	if in := []int{2, 4, 3, 1}; life < len(in) {
		return in[life]
	}
	round := (life - 4) / 5
	return []int{3, 5, 8, 1, 14 + 4*round}[(life-4)%5]
}

func TestAJobSurvivesASidecarThatDiesAfterOneOfItsCallsInEveryLife(t *testing.T) {
	t.Parallel()
	died := surviveDeaths(t, quickLab(t), resizedJob{seconds: 6}, func(life int) *killPoint { return &killPoint{when: "after", at: callsUntilDeath(life)} })
	if died < 4 {
		t.Errorf("only %d sidecars died", died)
	}
}

func TestAJobSurvivesASidecarThatDiesBeforeOrDuringOneOfItsCallsInEveryLife(t *testing.T) {
	t.Parallel()
	died := surviveDeaths(t, quickLab(t), resizedJob{seconds: 6}, func(life int) *killPoint {
		return &killPoint{when: []string{"before", "during"}[life%2], at: callsUntilDeath(life) + 1}
	})
	if died < 4 {
		t.Errorf("only %d sidecars died", died)
	}
}

func TestAJobSurvivesASidecarThatDiesInEachActOfAGrowthAndAShrink(t *testing.T) {
	t.Parallel()
	for growth, deaths := range map[growth.Kind][]killPoint{
		growth.Overlap: {
			{when: "during", at: 1, call: "'salloc '*accordion-grow-*"}, {when: "before", at: 1, call: "*Flags+=IGNORE_JOBS*"}, {when: "before", at: 1, call: "'salloc '*accordion-over-*"},
			{when: "during", at: 1, call: "'salloc '*accordion-over-*"}, {when: "before", at: 1, call: "*' NumNodes=0'"}, {when: "after", at: 1, call: "*' NumNodes=0'"},
			{when: "before", at: 2, call: "*' NumNodes=0'"}, {when: "after", at: 2, call: "*' NumNodes=0'"}, {when: "during", at: 1, call: "*' NodeList=n'*"},
		},
		growth.Companions: {
			{when: "before", at: 1, call: "'salloc '*accordion-with-*"}, {when: "during", at: 1, call: "'salloc '*accordion-with-*"}, {when: "before", at: 1, call: "*AdminComment=accordion-with=*"},
			{when: "after", at: 1, call: "*AdminComment=accordion-with=*"}, {when: "before", at: 1, call: "'scancel '*"}, {when: "during", at: 1, call: "'scancel '*"},
		},
	} {
		t.Run(string(growth), func(t *testing.T) {
			died := surviveDeaths(t, quickLab(t), resizedJob{seconds: 6, growth: growth}, func(life int) *killPoint {
				if life >= len(deaths) {
					return nil
				}
				return &deaths[life]
			})
			if died != len(deaths) {
				t.Errorf("%d sidecars died, want %d", died, len(deaths))
			}
		})
	}
}

func TestAJobSurvivesADeathOfTheSidecarAtAnySingleCall(t *testing.T) {
	t.Parallel()
	if !*long {
		t.Skip("walks through every call of a start, a growth and a shrink, of two kinds of jobs, for half an hour: -args -accordion.long")
	}
	lab := quickLab(t)
	for _, v := range []resizedJob{{seconds: 4}, {seconds: 4, growth: growth.Companions}, {seconds: 6, silent: true}} {
		for _, when := range []string{"before", "during", "after"} {
			for at, last := 1, false; !last; at++ {
				t.Run(fmt.Sprintf("%+v %s call %d", v, when, at), func(t *testing.T) {
					lab.Clear(t)
					died := surviveDeaths(t, lab, v, func(life int) *killPoint {
						if life > 0 {
							return nil
						}
						return &killPoint{when: when, at: at}
					})
					last = died == 0 // the whole job took fewer calls than this life
					if last && at < 10 {
						t.Errorf("a start, a growth and a shrink were only %d calls", at-1)
					}
				})
				last = last || t.Failed()
			}
		}
	}
}

func TestWithTheSidecarDeadNoReservationHoldsNodesForLong(t *testing.T) {
	t.Parallel()
	if !*long {
		t.Skip("waits some minutes for Slurm to delete reservations: -args -accordion.long")
	}
	lab := quickLab(t)
	for what, when := range map[string]string{
		"nothing but the reservation": `"scontrol create reservation ReservationName=accordion-"*-0" "*`,
		"a job that is tied to it":    `"scontrol update JobId="*" ReservationName=accordion-"*-0`,
	} {
		t.Run(what, func(t *testing.T) {
			lab.Clear(t)
			calls := newClients(t)
			calls.hook(`case "$name $*" in ` + when + `) "$real" "$@"; kill -9 "$PPID"; exit ;; esac`)
			p := serving(t, lab, calls.setting())
			lab.Submit(t, "alice", "sleep 10", "-H", "-N2", "-n2", "-t5", "--comment=ep=2x1h,4x1h")
			select {
			case <-p.ended:
			case <-time.After(2 * time.Minute):
				t.Fatal("the sidecar was not killed")
			}
			died := time.Now()
			// The growth was an hour ahead, so its reservation is not active yet. The active reservation ends
			// within two minutes.
			lab.Await(t, 4*time.Minute, "no reservation holds nodes", func() bool {
				return !strings.Contains(reservations(t, lab), "State=ACTIVE")
			})
			t.Logf("the last one went %v after the sidecar", time.Since(died).Round(time.Second))
		})
	}
}
