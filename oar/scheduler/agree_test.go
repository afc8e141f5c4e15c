package scheduler_test

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/oar/observe"
	"accordion/oar/scheduler"
	"accordion/oar/tables"
)

// spy is the sizing rule share. It records the load that it gets.
type spy struct {
	sizing.Share
	seen sizing.World
}

func (s *spy) Factor(w *sizing.World, one *sizing.Sizes) float64 {
	s.seen = *w
	return s.Share.Factor(w, one)
}

// counts describes the load that the rule got. `one` is how many resources count as one host.
func (s *spy) counts(one int) string {
	n := int64(one)
	return fmt.Sprintf("of %d hosts %d are held, %d are wanted; %d jobs have references of %d in all",
		s.seen.Machine/one, s.seen.Held/n, s.seen.Wanted/n, s.seen.Jobs, s.seen.References/n)
}

const forgedNow core.Time = 1000

// mixture is a random queue with all kinds of jobs, on hosts with several cores each.
type mixture struct {
	*forged
	draws *rapid.T
	cores int
	free  []int64                // resources of the hosts that no job has
	began map[core.JobID]core.EP // evolving jobs that run, with the profile in which they started
	mixed bool                   // a pass plans resource by resource

	narrowed bool // waiting jobs may have only a part of the hosts, by their properties
}

func (m *mixture) pick(name string, least, most int) int {
	return rapid.IntRange(least, most).Draw(m.draws, name)
}
func (m *mixture) chance(name string) bool { return rapid.Bool().Draw(m.draws, name) }

// take returns the resources of n free hosts, or nil if fewer than n hosts are free.
func (m *mixture) take(n int) (resources []int64) {
	if n > len(m.free) {
		return nil
	}
	for _, host := range m.free[:n] {
		for c := range m.cores {
			resources = append(resources, host*10+int64(c))
		}
	}
	m.free = m.free[n:]
	return resources
}

// list draws the sizes of a moldable job. Each size is larger than the one before, and mostly has a shorter walltime.
func (m *mixture) list() []size {
	var all []size
	hosts, walltime := m.pick("hosts", 1, 4), m.pick("walltime", 100, 900)
	for range m.pick("sizes", 2, 4) {
		all = append(all, size{hosts, core.Time(walltime)})
		hosts, walltime = hosts+m.pick("more", 1, 4), max(1, walltime*m.pick("percent", 45, 105)/100)
	}
	return all
}

func draw(t *rapid.T) *mixture {
	m := &mixture{forged: forge(t), draws: t, began: map[core.JobID]core.EP{}}
	m.cores = m.pick("cores", 1, 3)
	for host := int64(1); host <= int64(m.pick("machine", 8, 24)); host++ {
		state := rapid.SampledFrom([]string{"Alive", "Alive", "Alive", "Alive", "Alive", "Absent", "Suspected"}).Draw(t, "state")
		for c := range m.cores {
			m.do("INSERT INTO resources (resource_id, network_address, state) VALUES (?, ?, ?)", host*10+int64(c), fmt.Sprintf("n%02d", host), state)
		}
		if state == "Alive" {
			m.free = append(m.free, host)
		}
	}
	for range m.pick("running", 0, 4) {
		m.run()
	}
	for range m.pick("waiting", 1, 6) {
		m.wait()
	}
	if m.chance("a queue above") {
		if has := m.take(m.pick("planned", 1, 3)); has != nil {
			_, configurations := m.submit("admin", "Waiting", nil, size{len(has) / m.cores, 300})
			m.planned(configurations[0], forgedNow+50, has, false)
			m.planned(configurations[0], forgedNow+50, has, true)
		}
	}
	if m.chance("a reservation") {
		m.reserve()
	}
	if m.chance("-p") {
		m.narrow()
	}
	return m
}

// narrow sets properties so that waiting jobs may have only a part of the hosts. Either all jobs may have the same part, or each job may
// have one of two parts.
func (m *mixture) narrow() {
	hosts := []int64{int64(m.pick("last host", 1, 24))}
	if m.chance("of two kinds") {
		hosts = append(hosts, int64(m.pick("of others", 1, 24)))
		m.mixed = true
	}
	m.narrowed = true
	_, err := m.Sql.Exec("UPDATE jobs SET properties = CASE job_id % ? WHEN 0 THEN ? ELSE ? END WHERE state = 'Waiting' AND queue_name = 'evolve'",
		len(hosts), upTo(hosts[0]), upTo(hosts[len(hosts)-1]))
	if err != nil {
		m.t.Fatal(err)
	}
}

// hopeless reports whether a moldable job has no place in the pass's plan because none of its sizes can be placed. The pass's load still
// includes such a job.
func (m *mixture) hopeless(planned map[core.JobID]int) bool {
	return slices.ContainsFunc(m.read().Jobs, func(j adapter.Job) bool {
		_, has := planned[j.ID]
		return j.State == adapter.Pending && len(j.Choices) > 1 && !has
	})
}

// upTo returns properties that match the hosts up to the given host.
func upTo(host int64) string { return fmt.Sprintf("resource_id < %d", host*10+10) }

// run adds a running job.
func (m *mixture) run() {
	listed := m.list()
	at := m.pick("in", 0, len(listed)-1)
	has := m.take(listed[at].hosts)
	if has == nil {
		return
	}
	since := forgedNow - int64(m.pick("since", 1, 90))
	switch kind := rapid.SampledFrom([]string{"rigid", "moldable", "elsewhere", "ending", "resumed", "suspended", "besteffort", "alternatives", "steps"}).Draw(m.draws, "kind"); kind {
	case "rigid":
		job, configurations := m.submit("evolve", "Running", nil, listed[at])
		m.runs(job, configurations[0], since, has)
	case "moldable", "elsewhere", "ending":
		queue := map[string]string{"elsewhere": "default"}[kind]
		if queue == "" {
			queue = "evolve"
		}
		job, configurations := m.submit(queue, map[bool]string{true: "Finishing", false: "Running"}[kind == "ending"], nil, listed...)
		m.runs(job, configurations[at], since, has)
	case "resumed":
		job, configurations := m.submit("evolve", "Running", nil, listed...)
		m.wasSuspended(job, since, core.Time(m.pick("suspended", 1, int(forgedNow-since))))
		m.runs(job, configurations[at], since, has)
	case "suspended": // other jobs may use its hosts
		job, configurations := m.submit("evolve", "Suspended", nil, listed...)
		m.do("UPDATE jobs SET suspended = 'YES' WHERE job_id = ?", job)
		m.runs(job, configurations[at], since, has)
	case "besteffort":
		job, configurations := m.submit("evolve", "Running", []string{"besteffort"}, listed...)
		m.runs(job, configurations[at], since, has)
	case "alternatives":
		m.evolves(since, has, profiles(listed), core.EP{{Duration: listed[at].walltime, Nodes: listed[at].hosts}})
	case "steps":
		profile := []size{listed[at], {listed[at].hosts + 1, 100}}
		profile[0].walltime = 500
		m.evolves(since, has, steps(profile), core.EP{{Duration: 500, Nodes: listed[at].hosts}, {Duration: 100, Nodes: listed[at].hosts + 1}})
	}
}

// evolves adds an evolving job that runs on one host, and a companion with the other hosts.
func (m *mixture) evolves(since core.Time, has []int64, types []string, ep core.EP) {
	job, configurations := m.submit("evolve", "Running", types, size{1, ep.Total()})
	m.do("INSERT INTO accordion_jobs (job_id, mark) VALUES (?, 'accordion:')", job)
	m.runs(job, configurations[0], since, has[:m.cores])
	m.began[core.JobID(job)] = ep
	if rest := has[m.cores:]; len(rest) > 0 {
		companion, its := m.submit("evolve", "Running", []string{"noop", fmt.Sprint("inner=", job)}, size{len(rest) / m.cores, ep.Total()})
		m.do("INSERT INTO accordion_jobs (job_id, mark, base, released) VALUES (?, 'first', ?, 1)", companion, job)
		m.runs(companion, its[0], since, rest)
	}
}

// wait adds a waiting job.
func (m *mixture) wait() {
	listed := m.list()
	switch rapid.SampledFrom([]string{"rigid", "moldable", "moldable", "alternatives", "steps", "held", "postponed", "refused", "dependent", "elsewhere", "besteffort"}).Draw(m.draws, "kind") {
	case "rigid":
		m.submit("evolve", "Waiting", nil, listed[0])
	case "moldable":
		if m.chance("the largest first") {
			slices.Reverse(listed)
		}
		m.submit("evolve", "Waiting", nil, listed...)
	case "alternatives":
		job, _ := m.submit("evolve", "Waiting", profiles(listed), listed[0])
		if m.chance("adopted") {
			m.do("INSERT INTO accordion_jobs (job_id) VALUES (?)", job)
		}
	case "steps":
		m.submit("evolve", "Waiting", steps(listed), listed[0])
	case "held":
		m.submit("evolve", "Hold", nil, listed...)
	case "postponed":
		m.submit("evolve", "Waiting", []string{"postpone=" + time.Unix(forgedNow+600, 0).Format(time.DateTime)}, listed...)
	case "refused":
		job, _ := m.submit("evolve", "Waiting", []string{"timesharing"}, listed...)
		m.do("UPDATE jobs SET message = ? WHERE job_id = ?", "R=1"+scheduler.Said+"…)", job)
	case "dependent":
		m.mixed = true
		first, _ := m.submit("evolve", "Waiting", nil, listed[0])
		second, _ := m.submit("evolve", "Waiting", nil, listed...)
		m.do("INSERT INTO job_dependencies (job_id, job_id_required) VALUES (?, ?)", second, first)
	case "elsewhere":
		m.submit("default", "Waiting", nil, listed...)
	case "besteffort":
		m.submit("evolve", "Waiting", []string{"besteffort"}, listed...)
	}
}

// reserve keeps hosts free for a later evolving job.
func (m *mixture) reserve() {
	has := m.take(m.pick("reserved", 1, 3))
	if has == nil {
		return
	}
	holder, _ := m.submit("evolve", "Waiting", []string{"noop"}, size{len(has) / m.cores, 600})
	m.do("INSERT INTO accordion_reservations (name, start_time, end_time, holder) VALUES (?, ?, ?, ?)", adapter.Prefix+"7", forgedNow-1, forgedNow+600, holder)
	for _, r := range has {
		m.do("INSERT INTO accordion_places VALUES (?, ?)", holder, r)
	}
}

// read returns the sidecar's snapshot of the queue evolve.
func (f *forged) read() *adapter.Snapshot {
	var snapshot *adapter.Snapshot
	read := observe.New(tables.Tables{DB: f.DB}, "evolve")
	err := f.AtOneInstant(f.t.Context(), f.Sql, func(tx *sql.Tx) (err error) {
		snapshot, _, _, err = read.Snapshot(f.t.Context(), tx)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	snapshot.OwnSizing.Eligible = read.EligibleNodes(f.t.Context())
	return snapshot
}

// sidecar plans as the sidecar does, by a sizing rule, while OAR's passes plan by a policy.
func (m *mixture) sidecar(rule sizing.Sizing, passes sched.Policy) *plan.World {
	snapshot := m.read()
	in := plan.Input{Now: forgedNow, Instant: time.Unix(forgedNow, 0), Snapshot: snapshot, Settled: true,
		OutOfService: func(n adapter.Node) bool { return !n.Usable }, Fresh: func(*managed.Job) bool { return true },
		Settings: managed.Settings{Policy: sched.Repeated{Sizing: rule}, Passes: passes, StartLead: 2}}
	for i := range snapshot.Jobs {
		seen := &snapshot.Jobs[i]
		if seen.Comment == "" {
			continue
		}
		choices, err := adapter.ParseRequest(seen.Comment)
		if err != nil {
			m.t.Fatal(err)
		}
		r := managed.New(seen, seen.Comment, choices)
		if ep := m.began[seen.ID]; ep != nil {
			r.Phase, r.Planned, r.Began, r.Nodes, r.Promise = managed.Running, seen.Started, seen.Started, seen.Nodes, make([]core.Time, len(ep))
			r.Choice = slices.IndexFunc(choices, func(one core.EP) bool { return slices.Equal(one, ep) })
			r.SetPromise(seen.Started, ep)
		}
		in.Jobs = append(in.Jobs, r)
	}
	v := plan.Make(in)
	v.Apply()
	return v
}

// To size evolving jobs, the sidecar computes the same load as OAR's pass, although it reads the tables with queries of its own.
func TestPassAndSidecarAgree(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		defer m.Sql.Close()
		passes, sidecar, told := &spy{}, &spy{}, &spy{}
		hosts, err := m.pass(sched.Repeated{Sizing: passes})
		if err != nil {
			t.Fatal(err)
		}
		m.sidecar(sidecar, sched.Repeated{Sizing: told})
		for _, other := range []*spy{sidecar, told} {
			if m.narrowed && (other == sidecar || m.mixed && (m.cores > 1 || m.hopeless(hosts))) {
				continue // such rules divide the whole cluster among evolving jobs, and the pass rounds parts of reference sizes to cores
			}
			if passes.seen.Machine == 0 || other.seen.Machine == 0 {
				continue // no waiting job is sized by both the pass and the sidecar
			}
			compared++
			one := max(1, passes.seen.Machine/other.seen.Machine) // if the pass could not count hosts, it counts cores
			if a, b := passes.counts(one), other.counts(1); a != b || one != 1 && one != m.cores {
				t.Fatalf("the pass finds that %s; the sidecar that %s", a, b)
			}
		}
	})
	if compared == 0 {
		t.Error("no counts were compared")
	}
}

// OAR lets a job run longer by the time for which it was suspended.
func TestTheSidecarCountsTheSecondsInWhichAJobWasSuspended(t *testing.T) {
	f := forge(t)
	defer f.Sql.Close()
	f.do("INSERT INTO resources (resource_id, network_address, state) VALUES (10, 'n1', 'Alive')")
	job, configurations := f.submit("evolve", "Running", nil, size{1, 300})
	f.runs(job, configurations[0], forgedNow-100, []int64{10})
	f.wasSuspended(job, forgedNow-90, 20)
	f.wasSuspended(job, forgedNow-50, 30)
	if j := f.read().Jobs[0]; j.Limit != 350 {
		t.Errorf("a job of 300 s that was suspended for 50 s may run for %d s", j.Limit)
	}
}

// pass plans as OAR's pass does, and writes the plan to the tables from which OAR displays it. It returns the number of hosts of each
// planned job.
func (m *mixture) pass(by sched.Policy) (map[core.JobID]int, error) {
	chosen, has, err := scheduler.PlanBy(m.t.Context(), m.DB, "evolve", forgedNow, by)
	hosts := map[core.JobID]int{}
	for job, configuration := range chosen {
		m.planned(configuration, forgedNow+1000, has[job], true)
		hosts[core.JobID(job)] = len(has[job]) / m.cores
	}
	return hosts, err
}

// For a job that OAR's pass sizes, accordion explain shows the size that the pass gives it, for every policy. Under
// some of these policies, all jobs behind the head of the queue get the head's factor. Under others, some jobs start
// before the head.
func TestWhatIsExplainedIsWhatThePassGives(t *testing.T) {
	for _, name := range []string{"repeated+share", "repeated+load", "share", "share:100s", "easy+share", "easy+load", "scojo-p", "scojo-p:nonpredictive", "traditional", "patient:100s+share"} {
		t.Run(name, func(t *testing.T) {
			by, err := policy.Pass(name)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			rapid.Check(t, func(t *rapid.T) {
				m := draw(t)
				defer m.Sql.Close()
				hosts, err := m.pass(by)
				if err != nil {
					t.Fatal(err)
				}
				for id, x := range m.sidecar(policy.SizingOf(by), by).Sizes {
					n, planned := hosts[id]
					if !planned || m.cores > 1 && m.mixed { // the pass rounds parts to cores here
						continue
					}
					compared++
					if n < x.Sized.Least || n > x.Sized.Most {
						t.Fatalf("job %d gets %d hosts, and explain has %+v", id, n, *x.Sized)
					}
				}
			})
			if compared == 0 {
				t.Error("no job was compared")
			}
		})
	}
}
