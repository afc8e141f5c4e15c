package slurm

import (
	"context"
	"errors"
	"fmt"
	osuser "os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/client"
	"accordion/slurm/growth"
	"accordion/slurm/output"
	"accordion/slurm/resize"
)

// A Trial is the result of trying one way to grow with a job on this cluster.
type Trial struct {
	Way    growth.Kind
	Works  bool
	Why    string        // why the way does not work: Slurm's own message if Slurm refused it, otherwise what the trial observed
	Start  time.Duration // time from the decision to start the job until the job ran
	Growth time.Duration // time from the request until the new node was usable
	Shrink time.Duration
}

// trialPatience is how long a trial waits for changes that Slurm usually makes immediately.
const trialPatience = 15 * time.Second

// trialNodes is how many nodes a trial needs, because its job grows from one node to two.
const trialNodes = 2

// Try tries each possible way to grow. For each way it starts a job of the user, grows it, runs a bound step on
// each node, and shrinks it. A trial takes some twenty seconds. Try calls `tell` with each way before it tries the
// way. No sidecar may serve the cluster meanwhile. Try leaves nothing behind.
func (s *System) Try(ctx context.Context, name string, tell func(string)) ([]Trial, error) {
	who, err := lookupUser(name)
	if err != nil {
		return nil, err
	}
	var all []Trial
	for _, way := range []growth.Kind{growth.Merge, growth.Overlap, growth.Companions} {
		c := s.config
		c.Growth, c.Limits = way, ""
		one := systemOf(c, s.Run)
		t := Trial{Way: way}
		tell(fmt.Sprintf("growth by %s: a job of %s", way, name))
		if err := one.try(ctx, who, name, &t); err != nil {
			t.Why = err.Error()
		} else {
			t.Works = true
		}
		all = append(all, t)
	}
	return all, nil
}

func lookupUser(name string) (*client.User, error) {
	known, err := osuser.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("user %q: %w: name a user who may submit jobs here", name, err)
	}
	uid, err1 := strconv.ParseUint(known.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(known.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("user %q: %w", name, err)
	}
	return &client.User{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// try tries one way with a job of its own.
func (s *System) try(ctx context.Context, who *client.User, name string, t *Trial) (err error) {
	if _, err := s.Observe(ctx); err != nil {
		return err
	}
	c, err := s.Recent(ctx)
	if err != nil {
		return err
	}
	in, err := s.Ground(ctx)
	if err != nil {
		return err
	}
	p := in.Partition(s.Pool[0], s.Pool)
	if p == nil {
		return fmt.Errorf("there is no partition %q", s.Pool[0])
	}
	if _, err := growth.SiteOf(c).WayOf(t.Way, p.Sharing(), false); err != nil {
		return err
	}
	nodes, err := s.awaitFree(ctx)
	if err != nil {
		return err
	}
	job, err := s.submitTrial(ctx, who)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.endTrial(context.WithoutCancel(ctx), job)) }()
	if err := s.startTrial(ctx, name, job, nodes[:1], t); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if err := s.growTrial(ctx, name, job, nodes, t); err != nil {
		return fmt.Errorf("growth: %w", err)
	}
	if t.Why, err = s.stepTrial(ctx, who, job, growth.SiteOf(c)); err != nil {
		return fmt.Errorf("a step on the new node: %w", err)
	}
	begin := time.Now()
	if err := s.Shrink(ctx, job, nodes[:1]); err != nil {
		return fmt.Errorf("shrink: %w", err)
	}
	t.Shrink = time.Since(begin)
	return nil
}

// awaitFree waits for the nodes of a trial. Slurm may still be cleaning up after the previous trial.
func (s *System) awaitFree(ctx context.Context) ([]string, error) {
	for end := time.Now().Add(trialPatience); ; {
		snapshot, err := s.Observe(ctx)
		if err != nil {
			return nil, err
		}
		if nodes := freeOfOneKind(snapshot); nodes != nil {
			return nodes, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%d idle, unreserved nodes of one kind are needed: try again when there are some", trialNodes)
		}
		if err := resize.Pause(ctx, 10*resize.PollInterval); err != nil {
			return nil, err
		}
	}
}

// freeOfOneKind returns trialNodes nodes of one kind that are idle and not reserved. It returns nil if no kind has
// that many.
func freeOfOneKind(s *adapter.Snapshot) []string {
	reserved := map[string]bool{}
	for _, r := range s.Reservations {
		for _, n := range r.Nodes {
			reserved[n] = true
		}
	}
	byKind := map[string][]string{}
	for _, n := range s.Nodes {
		if n.Usable && n.Idle && !n.Asleep && !reserved[n.Name] {
			if byKind[n.Kind] = append(byKind[n.Kind], n.Name); len(byKind[n.Kind]) == trialNodes {
				return byKind[n.Kind]
			}
		}
	}
	return nil
}

// submitTrial submits a held job of the user.
func (s *System) submitTrial(ctx context.Context, who *client.User) (adapter.Key, error) {
	out, err := s.Run.Run(ctx, client.Call{Program: "sbatch", As: who, Args: []string{
		"--parsable", "--hold", "--partition=" + s.Pool[0], "--nodes=1", "--ntasks=1", "--time=3", "--output=/dev/null",
		"--job-name=accordion-try", "--wrap=sleep 150"}})
	if err != nil {
		return adapter.Key{}, err
	}
	number, _, _ := strings.Cut(strings.TrimSpace(out.Stdout), ";")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return adapter.Key{}, fmt.Errorf("sbatch did not print the job it created: %q", out.Stdout)
	}
	r, err := s.Jobs.Job(ctx, core.JobID(id))
	if err != nil {
		return adapter.Key{}, err
	}
	return r.Key, nil
}

// endTrial ends the job and removes what the trial created for it.
func (s *System) endTrial(ctx context.Context, job adapter.Key) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	jobs, err := s.Jobs.List(ctx)
	for i := range jobs {
		if r := &jobs[i]; r.Parent() == job.ID && r.Role() != output.Ordinary {
			err = errors.Join(err, s.CancelCompanion(ctx, r.Key))
		}
	}
	err = errors.Join(err, s.Cancel(ctx, job))
	for step := range 2 {
		err = errors.Join(err, s.Unreserve(ctx, trialReservation(job, step)))
	}
	return err
}

func trialReservation(job adapter.Key, step int) string {
	return fmt.Sprintf("%s%d-%d", adapter.Prefix, job.ID, step)
}

func (s *System) startTrial(ctx context.Context, name string, job adapter.Key, nodes []string, t *Trial) error {
	begin := time.Now()
	r := adapter.Reservation{Name: trialReservation(job, 0), Nodes: nodes, Start: begin.Unix(), End: begin.Unix() + 300, User: name, Idle: 60}
	for _, act := range []func() error{
		func() error { return s.Reserve(ctx, r) },
		func() error { return s.Shape(ctx, job, adapter.Shape{Nodes: 1, On: nodes, Limit: 180}) },
		func() error { return s.Attach(ctx, job, r.Name) },
		func() error { return s.Release(ctx, job) },
	} {
		if err := act(); err != nil {
			return err
		}
	}
	for {
		j, err := s.Jobs.Job(ctx, job.ID)
		switch {
		case err != nil:
			return err
		case j.State == adapter.Running && !j.Configuring:
			t.Start = time.Since(begin)
			return errors.Join(s.Detach(ctx, job), s.Unreserve(ctx, r.Name))
		case j.State != adapter.Pending && j.State != adapter.Running:
			return fmt.Errorf("the job is %s (%s)", j.State, j.Why)
		case time.Since(begin) > time.Minute:
			return fmt.Errorf("the job did not start within a minute (%s)", j.Why)
		}
		if err := resize.Pause(ctx, resize.PollInterval); err != nil {
			return err
		}
	}
}

func (s *System) growTrial(ctx context.Context, name string, job adapter.Key, nodes []string, t *Trial) error {
	begin := time.Now()
	r := adapter.Reservation{Name: trialReservation(job, 1), Nodes: nodes[1:], Start: begin.Unix(), End: begin.Unix() + 120, User: name}
	if err := s.Reserve(ctx, r); err != nil {
		return err
	}
	j, err := s.Jobs.Running(ctx, job)
	if err != nil {
		return err
	}
	e, err := s.Expand(ctx, &j.Job, nodes[1:], r.Name)
	for errors.Is(err, adapter.ErrBusy) && time.Since(begin) < trialPatience { // the sidecar retries, too
		if resize.Pause(ctx, 10*resize.PollInterval) != nil {
			break
		}
		e, err = s.Expand(ctx, &j.Job, nodes[1:], r.Name)
	}
	if err == nil {
		err = s.Merge(ctx, job, e)
	}
	t.Growth = time.Since(begin)
	return err
}

// stepTrial runs a task on each CPU of each node of the job in ordinary steps, and returns what the tasks printed.
// If tasks are bound, each must have a CPU of its own.
func (s *System) stepTrial(ctx context.Context, who *client.User, job adapter.Key, site growth.Site) (string, error) {
	r, joined, err := s.Together(ctx, job)
	if err != nil {
		return "", err
	}
	in, err := s.Ground(ctx)
	if err != nil {
		return "", err
	}
	seen := map[string][]string{} // CPUs of the tasks on each node
	tasks := 0
	for _, part := range append([]*output.Record{r}, joined...) {
		each := in.Least(part.Nodes).EffectiveCPUs
		tasks += each * len(part.Nodes)
		out, err := s.Run.Run(ctx, client.Call{Program: "srun", As: who, Args: []string{
			"--quiet", fmt.Sprintf("--jobid=%d", part.ID), "--overlap", fmt.Sprintf("--nodes=%d", len(part.Nodes)), fmt.Sprintf("--ntasks=%d", each*len(part.Nodes)),
			"--mpi=none", "--chdir=/", "sh", "-c", `echo "$SLURMD_NODENAME $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"`}})
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(out.Stdout) {
			if node, cpus, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				seen[node] = append(seen[node], cpus)
			}
		}
	}
	ran := 0
	for node, cpus := range seen {
		ran += len(cpus)
		slices.Sort(cpus)
		if site.Binds != "" && len(slices.Compact(slices.Clone(cpus))) < len(cpus) {
			return "", fmt.Errorf("tasks on %s share CPUs: %s", node, strings.Join(cpus, " "))
		}
	}
	if ran != tasks || len(seen) != trialNodes {
		return "", fmt.Errorf("%d of %d tasks ran, on %d of %d nodes", ran, tasks, len(seen), trialNodes)
	}
	nodes := hostlist.Compact(output.NodesWithCompanions(r, joined))
	if site.Binds == "" {
		return fmt.Sprintf("%d tasks ran on %s", ran, nodes), nil
	}
	return fmt.Sprintf("%d tasks ran on %s, each on its own CPU", ran, nodes), nil
}
