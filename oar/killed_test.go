package oar_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter/actions"
	"accordion/adapter/config"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/session"
	"accordion/adapter/sidecar"
	"accordion/core"
	"accordion/core/sched"
	"accordion/internal/lab"
	"accordion/oar"
	"accordion/oar/conf"
	"accordion/shim/seal"
)

// killAt is an environment variable of the process that runs as a sidecar inside the lab. It says when the process is ended by kill -9.
// "before 2" means between the intent of the second action and the action; "after 1" means between the first action and its outcome.
const killAt = "ACCORDION_TEST_DEATH"

// stopFile is a file in the lab. When it exists, these sidecars, and the loop that starts them, end.
const stopFile = "/run/enough"

// dyingJournal is a journal that ends its process at a given action.
type dyingJournal struct {
	actions.Journal
	after bool
	mu    sync.Mutex
	left  int              // number of actions until the process ends
	verbs map[int64]string // verbs of the actions under way
}

func (m *dyingJournal) Begin(i journal.Intent) (int64, error) {
	id, err := m.Journal.Begin(i)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verbs[id] = i.Verb
	if err == nil && !m.after {
		m.pass("before", id)
	}
	return id, err
}

func (m *dyingJournal) Finish(id int64, at time.Time, failure error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.after {
		m.pass("after", id)
	}
	return m.Journal.Finish(id, at, failure)
}

func (m *dyingJournal) pass(when string, action int64) {
	if m.left--; m.left == 0 {
		fmt.Fprintln(os.Stderr, "dies", when, m.verbs[action])
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // waits until the kernel has ended the process
	}
}

// TestSidecarInsideTheLab runs the sidecar inside the lab. The sidecar differs from `accordion serve` only in how it ends.
func TestSidecarInsideTheLab(t *testing.T) {
	var when string
	var number int
	if _, err := fmt.Sscanf(os.Getenv(killAt), "%s %d", &when, &number); err != nil {
		t.Skip("needs lab: this is the part inside it; TestASidecarThatIsKilledAtAnyActionLosesNothing starts it there")
	}
	c, err := config.Load(config.DefaultPath) // the lab's configuration
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(c.Journal.Path)
	if err != nil {
		t.Fatal(err)
	}
	conf, err := conf.Read(conf.DefaultFile)
	if err != nil {
		t.Fatal(err)
	}
	log := hclog.New(&hclog.LoggerOptions{Name: "mortal", Output: os.Stderr})
	system, err := oar.Open(t.Context(), conf, oar.Options{Queue: "evolve", Timeout: c.OAR.Timeout, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	guard, err1 := system.Guard(t.Context())
	round, err2 := system.Round(t.Context())
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	server, err := session.Listen(session.Options{Path: c.Session.Socket, MaxSessions: c.Session.MaxSessions, Authority: seal.NewMunge(""), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	m := &dyingJournal{Journal: j, after: when == "after", left: number, verbs: map[int64]string{}}
	fit := c.Plan.Fit()
	sidecar := sidecar.New(sidecar.Options{System: system, Journal: m, Calls: server.Calls(), Log: log, Settings: managed.Settings{
		Cluster: "lab", Interval: c.Plan.Interval, Rest: c.Plan.Rest, StartLead: 1, Protect: c.Plan.Protect, Guard: guard, Round: round,
		Policy:  sched.Repeated{Limit: fit.Limit, Compact: fit.Compact, LeastWaste: fit.LeastWaste},
		Overrun: managed.Overrun{Share: c.Overrun.Share, Least: 120, Grace: core.Time(c.Overrun.Grace / time.Second), Signal: c.Overrun.Signal},
		Silent:  managed.Silent{Notice: core.Time(c.Silent.Notice / time.Second), Signal: c.Silent.Signal}, Deadline: 2 * c.OAR.Timeout,
	}})
	ctx, stop := context.WithCancel(t.Context())
	var parts sync.WaitGroup
	parts.Go(func() { _ = server.Serve(ctx) })
	parts.Go(func() {
		for _, err := os.Stat(stopFile); err != nil; _, err = os.Stat(stopFile) {
			time.Sleep(200 * time.Millisecond) // polls a file, because a sidecar that starts later would miss a signal
		}
		stop()
	})
	if err := sidecar.Run(ctx); err != nil {
		t.Error(err)
	}
	parts.Wait()
}

// While jobs grow and shrink, sidecars are killed (kill -9) one after another. The first sidecar is killed after its
// first action, before the outcome is written. The second one is killed between the intent of its second action and
// the action. This continues up to eight actions, and then from the beginning. (The start of a job takes four actions.
// If the sidecar is killed meanwhile, the next sidecar begins the start again.) With -accordion.long, each action gets
// a run of its own, in which the sidecar is killed only at that action.
func TestASidecarThatIsKilledAtAnyActionLosesNothing(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 12)
	lab.Do(t, "serve") // creates the sidecar's configuration
	lab.Do(t, "serve-stop")
	all := []string{"2x20s,5x20s,3x20s", "3x20s,1x20s,2x20s"}
	const deaths = 10
	var died []string
	for round := 0; len(died) < deaths && round < 3 && !t.Failed(); round++ { // on a busy machine the jobs end after fewer actions
		died = append(died, killed(t, lab, all, fmt.Sprintf(`n=%d; while [ ! -e %s ]; do n=$((n %% 8 + 1)); if ((n %% 2)); then when=after; else when=before; fi; sidecar "$when $n"; done`,
			len(died)%8, stopFile))...)
	}
	t.Logf("%d deaths: %s", len(died), strings.Join(died, ", "))
	if len(died) < deaths {
		t.Errorf("want %d deaths at least", deaths)
	}
	for _, when := range []string{"before", "after"} {
		for n := 1; *everything; n++ {
			died := killed(t, lab, all[:1], fmt.Sprintf(`sidecar "%s %d"; sidecar "after 1000000"`, when, n))
			t.Logf("death %s action %d: %s", when, n, strings.Join(died, ", "))
			if len(died) == 0 {
				break // the run had fewer actions
			}
		}
	}
}

// killed runs jobs with the given profiles. First sidecars that are killed serve the jobs; the shell script starts these sidecars. Then a
// sidecar that is not killed serves them. It returns the actions at which the sidecars were killed.
func killed(t *testing.T, lab *lab.OARLab, profiles []string, script string) []string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lab.Run(t, "root", "rm", "-f", stopFile)
	says := ""
	var lives sync.WaitGroup
	lives.Go(func() {
		_, says, _ = lab.ExecWithin(3*long, "root", "bash", "-c", `sidecar() { `+killAt+`=$1 "$0" -test.run='^TestSidecarInsideTheLab$' -test.timeout=9m; }; `+script, program)
	})
	// On a busy machine a sidecar may be killed before it has served anything, so that `accordion step` finds no sidecar for ten seconds
	// and exits with status 4. The script then repeats it.
	const work = `where() { sort -u "$OAR_NODEFILE" | wc -l >>sizes.$OAR_JOB_ID; }; where; for n in 1 2; do sleep 3; until eval "$(accordion step)"; do [ $? = 4 ] || exit 1; done; where; done; sleep 3`
	jobs := make([]string, len(profiles))
	for i, ep := range profiles {
		jobs[i] = lab.Submit(t, "alice", work, "-q", "evolve", "-t", "ep="+ep)
	}
	for i, job := range jobs {
		lab.Await(t, long, "job "+job+" has ended", func() bool { return lab.State(t, job) == "Terminated" || lab.State(t, job) == "Error" })
		var want []string
		for step := range strings.SplitSeq(profiles[i], ",") {
			n, _, _ := strings.Cut(step, "x")
			want = append(want, n)
		}
		if got := strings.Fields(lab.Run(t, "alice", "cat", "sizes."+job)); !slices.Equal(got, want) {
			t.Errorf("job %s had from inside %v nodes in turn, want %v", job, got, want)
		}
	}
	lab.Run(t, "root", "touch", stopFile)
	lives.Wait()
	defer func() {
		if t.Failed() {
			t.Log(says[max(0, len(says)-20000):])
		}
	}()
	lab.Do(t, "serve")
	awaitNothingLeft(t, lab)
	nodesAreClean(t, lab)
	checkNoOverlap(t, lab)
	lab.Do(t, "serve-stop")
	var died []string
	for line := range strings.Lines(says) {
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "dies "); ok {
			died = append(died, at)
		}
	}
	return died
}
