package slurm_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/internal/lab"
)

// seed selects the workload of the tests on a busy cluster; every run prints it.
var seed = flag.Uint64("accordion.seed", 1, "seed of the generated workloads, and of random texts of requests")

// A submission is one job of a generated workload.
type submission struct {
	at       time.Duration // after the start of the workload
	user     string
	kind     string // evolving, moldable, ordinary
	script   string
	options  []string // options of sbatch
	steps    core.EP  // the profile of an evolving job
	overruns bool     // Slurm ends this ordinary job at its limit
	gpus     bool     // two GPUs on each node

	id        string    // set at submission
	submitted time.Time // set at submission
}

// A mix holds the number of jobs of each kind in a workload, and the time in which they are submitted.
type mix struct {
	evolving, moldable, ordinary int
	gpus                         bool // every third evolving job requests two GPUs on each node
	twins                        int  // number of evolving jobs that have the same profile at the same second
	overruns                     int  // number of ordinary jobs that overrun their limits
	short                        bool // whether evolving jobs are short
	over                         time.Duration
	after                        time.Duration // delay between the ordinary jobs and the first other jobs
}

// ordinaryOf returns the ordinary jobs of a workload.
func ordinaryOf(all []*submission) []*submission {
	return slices.DeleteFunc(slices.Clone(all), func(s *submission) bool { return s.kind != "ordinary" })
}

var workloadUsers = []string{"alice", "bob", "carol"}

// submissions returns the workload of a seed, in the order of submission. Its ordinary jobs do not depend on the rest
// of the mix.
func (m mix) submissions(seed uint64) []*submission {
	var all []*submission
	ordinary := rand.New(rand.NewPCG(seed, 1))
	for i := range m.ordinary {
		s := ordinaryJob(ordinary, i < m.overruns)
		s.at = time.Duration(ordinary.Float64() * float64(m.over))
		if s.overruns {
			s.at /= 3 // otherwise the job would outlive the others
		}
		all = append(all, s)
	}
	managed := rand.New(rand.NewPCG(seed, 2))
	for i := range m.evolving {
		gpus := m.gpus && i >= m.twins && (i+m.twins)%3 == 1 // every third job; twins must be alike, so they get none
		s := evolvingJob(managed, m.short, gpus, m.after+m.over*time.Duration(i)/time.Duration(m.evolving))
		if i > 0 && i < m.twins {
			s.steps, s.at, s.script = all[m.ordinary].steps, all[m.ordinary].at, all[m.ordinary].script
		}
		all = append(all, s)
	}
	for i := range m.moldable {
		all = append(all, moldableJob(managed, m.after+m.over*time.Duration(2*i+1)/time.Duration(2*m.moldable)))
	}
	slices.SortStableFunc(all, func(a, b *submission) int { return cmp.Compare(a.at, b.at) })
	return all
}

// ordinaryJob returns a job that runs for 5 to 40 s, mostly less than 15 s, with a limit of 1 or 2 minutes. It runs
// on 1 to 6 whole nodes of partition main, mostly 1 or 2, or on some CPUs of partition shared.
func ordinaryJob(r *rand.Rand, overruns bool) *submission {
	s := &submission{kind: "ordinary", user: workloadUsers[r.IntN(len(workloadUsers))], overruns: overruns}
	length, limit := min(5+r.ExpFloat64()*7, 40), 1+r.IntN(2)
	if overruns {
		length, limit = 300, 1 // so that Slurm ends it
	}
	nodes := min(1+int(r.ExpFloat64()*0.9), 6)
	where := []string{"--partition=main", "--exclusive", fmt.Sprintf("--nodes=%d", nodes)}
	if r.IntN(4) == 0 {
		where = []string{"--partition=shared", "--nodes=1", fmt.Sprintf("--ntasks=%d", 1+r.IntN(2))}
	}
	s.script = fmt.Sprintf("sleep %.1f", length)
	s.options = append(where, fmt.Sprintf("--time=%d", limit))
	return s
}

// evolvingJob returns a job that grows at least once, with 2 to 4 steps of 15 to 40 s on up to 12 nodes. A short
// job has 2 or 3 steps of 15 to 20 s. Four of five applications are some seconds early at each boundary, and the
// fifth is late. A job with GPUs takes up to 6 nodes, because half of the nodes have GPUs.
func evolvingJob(r *rand.Rand, short, gpus bool, at time.Duration) *submission {
	s := &submission{kind: "evolving", user: workloadUsers[r.IntN(len(workloadUsers))], at: at, gpus: gpus}
	steps, lengths, most := 2+r.IntN(3), int64(26), 12
	if gpus {
		most = 6
	}
	if short {
		steps, lengths = min(steps, 3), 6
	}
	nodes := 1 + r.IntN(3)
	for i := range steps {
		if i > 0 {
			before := nodes
			for nodes == before || i == 1 && nodes < before {
				nodes = min(1+int(r.ExpFloat64()*4), most)
			}
		}
		s.steps = append(s.steps, core.Step{Duration: 15 + r.Int64N(lengths), Nodes: nodes})
	}
	early := time.Duration(1+r.IntN(4)) * time.Second
	if r.IntN(5) == 0 {
		early = -time.Duration(1+r.IntN(3)) * time.Second
	}
	s.script = application(s.steps, early)
	if gpus {
		s.options = []string{"--gpus-per-node=2"}
		s.script = strings.Replace(s.script, "srun --quiet true", `accordion run --quiet -- sh -c 'echo "gpus of $SLURMD_NODENAME: $CUDA_VISIBLE_DEVICES"'`, 1)
	}
	return s
}

// application returns the script of an evolving job. In each step it prints the time and the nodes that it has,
// and runs tasks on them.
func application(steps core.EP, early time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/bash\n#EP %s\n", steps)
	b.WriteString(`
work() { # STEP MILLISECONDS
	local end=$(($(date +%s%3N) + $2)) left
	echo "step $1 at $(date +%s.%N) on ${ACCORDION_NNODES:-$SLURM_JOB_NUM_NODES} nodes: ${ACCORDION_NODELIST:-$SLURM_JOB_NODELIST}"
	srun --quiet true || echo "srun failed in step $1"
	left=$((end - $(date +%s%3N)))
	((left <= 0)) || sleep "$(printf %d.%03d $((left / 1000)) $((left % 1000)))"
}
`)
	for i, step := range steps {
		if i > 0 {
			b.WriteString("eval \"$(accordion step)\" || exit\n")
		}
		length := time.Duration(step.Duration)*time.Second - early
		if i == len(steps)-1 {
			length = time.Duration(step.Duration)*time.Second - 2*time.Second
		}
		fmt.Fprintf(&b, "work %d %d\n", i+1, length.Milliseconds())
	}
	return b.String()
}

// moldableJob returns a job with 2 or 3 configurations. It scales perfectly, and uses four fifths of the walltime
// of each configuration.
func moldableJob(r *rand.Rand, at time.Duration) *submission {
	s := &submission{kind: "moldable", user: workloadUsers[r.IntN(len(workloadUsers))], at: at}
	var offers, cases []string
	nodes, walltime := 1+r.IntN(2), 30+r.IntN(31)
	for range 2 + r.IntN(2) {
		offers = append(offers, fmt.Sprintf("%dx%ds", nodes, walltime))
		cases = append(cases, fmt.Sprintf("%d) sleep %d ;;", nodes, walltime*4/5))
		nodes, walltime = nodes*2, walltime*3/5
	}
	s.script = fmt.Sprintf("#!/bin/bash\n#MOLD %s\necho \"step 1 at $(date +%%s.%%N) on $SLURM_JOB_NUM_NODES nodes: $SLURM_JOB_NODELIST\"\ncase $SLURM_JOB_NUM_NODES in %s esac\n",
		strings.Join(offers, "|"), strings.Join(cases, " "))
	return s
}

// submitAll submits every job at its time, and returns after the last submission.
func submitAll(t *testing.T, lab *lab.SlurmLab, all []*submission) {
	t.Helper()
	begin := time.Now()
	for _, s := range all {
		<-time.After(time.Until(begin.Add(s.at)))
		s.submitted = time.Now()
		s.id = lab.Submit(t, s.user, s.script, s.options...)
	}
	t.Logf("seed %d: %d jobs submitted within %.0f s", *seed, len(all), time.Since(begin).Seconds())
}

// A stage is what an application prints when it begins a step.
type stage struct {
	step  int
	at    float64 // Unix seconds by the job's clock
	nodes int
	list  string
}

// stages parses the output of an application into stages.
func stages(output string) ([]stage, error) {
	var all []stage
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "step ") {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 8 {
			return nil, fmt.Errorf("the application printed %q", line)
		}
		step, err1 := strconv.Atoi(f[1])
		at, err2 := strconv.ParseFloat(f[3], 64)
		nodes, err3 := strconv.Atoi(f[5])
		if err := cmp.Or(err1, err2, err3); err != nil {
			return nil, fmt.Errorf("the application printed %q: %w", line, err)
		}
		all = append(all, stage{step: step, at: at, nodes: nodes, list: f[7]})
	}
	return all, nil
}

func TestAWorkloadFollowsFromItsSeed(t *testing.T) {
	m := mix{evolving: 20, moldable: 10, ordinary: 200, twins: 3, overruns: 4, over: 8 * time.Minute}
	text := func(all []*submission) string {
		var b strings.Builder
		for _, s := range all {
			fmt.Fprintln(&b, *s)
		}
		return b.String()
	}
	one := m.submissions(7)
	if text(one) != text(m.submissions(7)) {
		t.Error("the same seed gives two workloads")
	}
	if text(one) == text(m.submissions(8)) {
		t.Error("two seeds give the same workload")
	}
	if len(one) != 230 {
		t.Errorf("%d jobs, want 230", len(one))
	}
	without := m
	without.evolving, without.moldable, without.twins = 0, 0, 0
	if text(ordinaryOf(one)) != text(without.submissions(7)) {
		t.Error("the ordinary jobs change with the managed ones")
	}
	for _, s := range one {
		if s.kind == "evolving" && (len(growths(s.steps)) == 0 || s.steps.Peak() > 12 || len(s.steps) < 2 || len(s.steps) > 4) {
			t.Errorf("profile %s", s.steps)
		}
	}
}

// growths returns the steps, counted from 1, that begin with a growth.
func growths(ep core.EP) []int {
	var all []int
	for i := 1; i < len(ep); i++ {
		if ep[i].Nodes > ep[i-1].Nodes {
			all = append(all, i+1)
		}
	}
	return all
}
