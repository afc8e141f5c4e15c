package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/policy"
)

// scenario is everything that is decided before a simulation begins. Jobs, events and faults can be removed to make a smaller scenario.
type scenario struct {
	seed     uint64
	nodes    int
	sweep    time.Duration // time between sweeps that enforce limits
	epilog   time.Duration
	think    time.Duration // delay of the batch system's scheduling passes
	interval time.Duration // the sidecar's rescheduling timer
	rest     time.Duration // time between the sidecar's readings while nothing is due; 0 means the same as interval
	paired   bool          // ordinary jobs are submitted first and run to their limits, so that their starts can be compared with those in the scenario without managed jobs
	sqlite   bool          // the journal is a file, as in production; otherwise it is in memory
	advance  bool          // an application that ends a step early may begin its next step early
	rate     int           // number of calls in 1,000 that have a fault
	deaths   int           // number of writes to the journal in 10,000 at which the sidecar is killed
	calm     time.Duration // time after which no fault begins
	brief    bool          // fewer jobs in less time, and more faults
	stranger bool          // whether there is a hostile user
	sizes    []string      // rules for the sizes of moldable jobs; successive processes of the sidecar use them in turn
	policy   string        // policy in the section [plan]

	apps     []app
	events   []event
	sabotage func(adapter.BatchSystem) adapter.BatchSystem // makes the batch system wrong, to test that the checks notice it; nil if there is no sabotage
	ordinary map[string]bool                               // names of managed jobs that became ordinary ones, and so are also in the simulation without managed jobs
	without  map[string]bool                               // names of faults that are left out of a smaller scenario
}

// app describes one job and how it will behave.
type app struct {
	name    string
	at      time.Duration // when the job is submitted
	request string        // ep=…, mold=…; "" means an ordinary job
	nodes   int
	limit   core.Time
	runs    core.Time // run time of an ordinary job; if it is more than limit, the job overruns
	held    bool      // submitted with a comment and held by its user, as if the submission plug-in did not exist
	manner  stepBehavior
	work    []time.Duration // how long the application works in each step
	cancel  time.Duration   // time after its submission at which the user cancels the job; 0 if never
	free    time.Duration   // time after its submission at which the user releases the job; 0 if never
}

// stepBehavior is how an application behaves at the ends of its steps.
type stepBehavior string

const (
	punctual  stepBehavior = "punctual"
	silent    stepBehavior = "silent"    // never calls step
	impatient stepBehavior = "impatient" // gives up after some seconds, continues, and asks again
	choosy    stepBehavior = "choosy"    // chooses which nodes it keeps
	confused  stepBehavior = "confused"  // asks for steps and nodes that do not exist
	failing   stepBehavior = "failing"   // fails in one of its steps
)

// event is something that happens at a fixed time of the scenario.
type event struct {
	at     time.Duration
	what   string // "lost", "back", "drained" or "undrained" (of `node`); "restart" (of the batch system, which loses the last `lasts`); "kill" (of the sidecar, for `lasts`); "shrink" (of job `who`)
	node   string
	who    string
	lasts  time.Duration
	number int
}

func (e event) String() string {
	text := fmt.Sprintf("%7.3f %s", e.at.Seconds(), e.what)
	if e.node != "" {
		text += " " + e.node
	}
	if e.who != "" {
		text += " " + e.who
	}
	if e.lasts > 0 {
		text += fmt.Sprintf(" %.3f s", e.lasts.Seconds())
	}
	return text
}

func (a app) String() string {
	what := fmt.Sprintf("%d nodes, limit %d s, runs %d s", a.nodes, a.limit, a.runs)
	if a.request != "" {
		what = fmt.Sprintf("%s, %s, works %v", a.request, a.manner, a.work)
	}
	if a.held {
		what += ", held by its user"
	}
	if a.free > 0 {
		what += fmt.Sprintf(", released by its user after %v", a.free)
	}
	if a.cancel > 0 {
		what += fmt.Sprintf(", cancelled after %v", a.cancel)
	}
	return fmt.Sprintf("%7.3f %s: %s", a.at.Seconds(), a.name, what)
}

// String describes the scenario.
func (s *scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d nodes, sweep %v, epilog %v, think %v, interval %v, faults %d ‰, deaths %d in 10,000 writes, calm at %v, policy %s, sizes %s\n",
		s.seed, s.nodes, s.sweep, s.epilog, s.think, s.interval, s.rate, s.deaths, s.calm, s.policy, strings.Join(s.sizes, ", then "))
	for _, a := range s.apps {
		fmt.Fprintln(&b, a)
	}
	for _, e := range s.events {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// generator makes scenarios.
type generator struct {
	*rand.Rand
	brief bool // whether scenarios have fewer jobs in less time, and proportionally more faults of calls and writes
}

func (r generator) between(lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// long draws a number of seconds between two bounds. It is about half as large if the scenario is brief.
func (r generator) long(lo, hi int) int {
	n := r.between(lo, hi)
	if r.brief {
		n = max(1, n/2)
	}
	return n
}

// rate draws one of the rates. It is larger if the scenario is brief.
func (r generator) rate(all ...int) int {
	n := all[r.IntN(len(all))]
	if r.brief {
		n = n * 5 / 2
	}
	return n
}

func (r generator) in(outOf int) bool { return r.IntN(outOf) == 0 }

// when draws a time between two seconds, in nanoseconds. It is half as large if the scenario is brief.
func (r generator) when(lo, hi int) time.Duration {
	at := time.Duration(lo)*time.Second + time.Duration(r.Int64N(int64(hi-lo)*int64(time.Second)))
	if r.brief {
		at /= 2
	}
	return at
}

// newGenerator returns the generator of a seed for one subject. Generators for different subjects are independent.
func newGenerator(seed, subject uint64) generator {
	return generator{Rand: rand.New(rand.NewPCG(seed, subject))}
}

// generate makes the seed's scenario.
func generate(seed uint64) *scenario {
	s := newGenerator(seed, 0xacc0).tell(seed)
	if s.policy = *policyFlag; s.policy == "" {
		s.policy = policies[newGenerator(seed, 0x90c1).IntN(len(policies))]
	}
	return s
}

// policies are the policies from which a seed chooses one, most often the default. The policies that
// begin with "patient" have short waits, so that jobs receive a reservation within a scenario.
var policies = []string{policy.Default, policy.Default, "easy-evolving", "patient", "patient:20s:x1", "patient:20s:x1:r2"}

func (r generator) tell(seed uint64) *scenario {
	most, calm := [2]int{3, 4}, 90*time.Second
	if r.brief {
		most, calm = [2]int{2, 2}, 40*time.Second
	}
	s := &scenario{
		seed: seed, brief: r.brief, nodes: r.between(3, 8), calm: calm, sizes: []string{*sizesFlag}, policy: policy.Default,
		interval: []time.Duration{time.Second, 2 * time.Second, 5 * time.Second}[r.IntN(3)],
		sweep:    []time.Duration{0, 30 * time.Second}[r.IntN(2)],
		epilog:   r.when(0, 2), think: r.when(0, 3),
		sqlite: r.in(100), advance: r.in(2),
		rate:   r.rate(0, 10, 30, 100),
		deaths: r.rate(0, 20, 50, 200),
	}
	if s.paired = r.in(4); s.paired {
		s.sweep = 0
	}
	for i := range r.between(1, most[0]) {
		s.apps = append(s.apps, s.managed(r, i))
	}
	for i := range r.between(0, most[1]) {
		s.apps = append(s.apps, s.ordinaryJob(r, i))
	}
	if !s.paired && r.in(2) {
		s.trouble(r)
	}
	if r.in(4) {
		s.events = append(s.events, event{at: r.when(2, 80), what: "kill", lasts: r.when(1, 40)})
	}
	s.arrange()
	return s
}

// arrange sorts the jobs and the events by time.
func (s *scenario) arrange() {
	slices.SortStableFunc(s.apps, func(a, b app) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for i := range s.events {
		s.events[i].number = i
	}
}

// trouble adds events: failures of nodes and of the batch system, and what users do to their jobs
// without the sidecar.
func (s *scenario) trouble(r generator) {
	add := func(e event) { s.events = append(s.events, e) }
	for range r.between(0, 2) {
		node := fmt.Sprintf("n%d", r.between(1, s.nodes))
		at := r.when(3, 70)
		back := at + r.when(1, 60)
		if r.in(3) {
			add(event{at: at, what: "drained", node: node})
		} else {
			add(event{at: at, what: "lost", node: node})
		}
		add(event{at: min(back, s.calm), what: "back", node: node})
	}
	if r.in(2) {
		add(event{at: r.when(6, 80), what: "restart", lasts: r.when(0, 5)})
	}
	if r.in(4) {
		add(event{at: r.when(5, 70), what: "shrink", who: s.apps[0].name})
	}
}

// ordinaryJob returns the ith ordinary job.
func (s *scenario) ordinaryJob(r generator, i int) app {
	a := app{
		name: fmt.Sprintf("o%d", i+1), at: r.when(0, 60), nodes: r.between(1, s.nodes), limit: core.Time(r.long(5, 50)),
	}
	switch a.runs = a.limit; {
	case s.paired:
		a.at = r.when(0, 10)
		return a
	case r.in(3):
		a.runs = core.Time(r.between(1, int(a.limit)))
	case r.in(3):
		a.runs += core.Time(r.long(1, 60))
	}
	if r.in(8) {
		a.cancel = r.when(1, 60)
	}
	return a
}

// managed returns the ith managed job.
func (s *scenario) managed(r generator, i int) app {
	a := app{name: fmt.Sprintf("m%d", i+1), at: r.when(0, 40), held: r.in(6), manner: punctual, limit: 3600}
	if s.paired {
		a.at = r.when(10, 40)
	}
	var ep core.EP
	if r.in(4) {
		a.request, ep = s.moldable(r)
	} else {
		ep = s.profile(r)
		a.request = "ep=" + ep.String()
	}
	a.nodes = ep[0].Nodes
	for _, step := range ep {
		a.work = append(a.work, time.Duration(step.Duration)*time.Second-r.when(0, 2))
	}
	if r.in(3) {
		a.manner = []stepBehavior{silent, impatient, choosy, confused, failing}[r.IntN(5)]
	}
	for k := range a.work {
		switch r.IntN(8) {
		case 0:
			a.work[k] = a.work[k] * time.Duration(r.between(0, 9)) / 10
		case 1:
			a.work[k] += r.when(1, 20)
		case 2:
			if r.in(3) {
				a.work[k] += r.when(20, 90)
			}
		}
	}
	if r.in(5) {
		a.cancel = r.when(0, 80)
	}
	if a.held && r.in(3) { // the plug-in would refuse this request
		a.free = r.when(0, 10)
	}
	return a
}

func (s *scenario) profile(r generator) core.EP {
	var ep core.EP
	for range r.between(1, 4) {
		n := r.between(1, s.nodes)
		if len(ep) > 0 && ep[len(ep)-1].Nodes == n {
			continue
		}
		ep = append(ep, core.Step{Duration: core.Time(r.long(8, 30)), Nodes: n})
	}
	return ep
}

func (s *scenario) moldable(r generator) (request string, longest core.EP) {
	var forms []string
	nodes, length := r.between(1, s.nodes), r.long(20, 60)
	longest = core.EP{{Duration: core.Time(length), Nodes: nodes}}
	for {
		forms = append(forms, fmt.Sprintf("%dx%ds", nodes, length))
		nodes, length = nodes+r.between(1, 3), length*3/4
		if nodes > s.nodes || len(forms) == 3 {
			break
		}
	}
	// The job always works for as long as its fastest configuration lasts.
	longest[0].Duration = core.Time(length * 4 / 3)
	return "mold=" + strings.Join(forms, "|"), longest
}
