package slurm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// granted is salloc's line about the job it made.
var granted = regexp.MustCompile(`(?m)^salloc: Granted job allocation (\d+)$`)

// Expand makes an expander of a running job: an allocation without steps, made at once or not at all, which Merge then
// moves into the job. It is root's, in the name of the job's owner; it gets the nodes' whole memory, as the nodes are
// its alone. Queueing it instead would make it seconds late, and a restart of slurmctld would make it useless. Its
// priority is the highest there is: Slurm makes no immediate allocation in a reservation while a job of higher priority
// is about to start in any other (`Immediate execution impossible, insufficient priority`), and that can last seconds.
func (s *System) Expand(ctx context.Context, job *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	doing := fmt.Sprintf("expanding job %d by %s", job.ID, hostlist.Compact(nodes))
	if len(nodes) == 0 {
		return adapter.Key{}, fmt.Errorf("%s: no nodes", doing)
	}
	if err := s.trapped(ctx); err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	parent, err := s.running(ctx, job.Key)
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	out, err := s.run.run(ctx, call{program: "salloc", args: expandArgs(parent, nodes, reservation)})
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, s.whyNotExpanded(ctx, job.Key, err))
	}
	m := granted.FindStringSubmatch(out.stderr)
	if m == nil {
		return adapter.Key{}, fmt.Errorf("%s: salloc does not say which job it made: %q: %w", doing, out.stderr, errForm)
	}
	id, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	expander, err := s.job(ctx, core.JobID(id))
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: expander %d was made, but cannot be read: %w", doing, id, err)
	}
	return expander.Key, nil
}

// expandArgs is salloc's command line. Everything in it is a separate argument and none begins with what a user chose.
func expandArgs(parent *record, nodes []string, reservation string) []string {
	args := []string{
		"--immediate", "--no-shell", "--no-bell", "--chdir=/", "--priority=TOP",
		fmt.Sprintf("--uid=%d", parent.UID), fmt.Sprintf("--gid=%d", parent.GID),
		"--partition=" + parent.Partition,
		fmt.Sprintf("--nodes=%d", len(nodes)), "--nodelist=" + hostlist.Compact(nodes), "--mem=0",
		fmt.Sprintf("--job-name=%s%d", GrowPrefix, parent.ID), fmt.Sprintf("--dependency=expand:%d", parent.ID),
	}
	if parent.QOS != "" {
		args = append(args, "--qos="+parent.QOS)
	}
	if parent.account != "" {
		args = append(args, "--account="+parent.account)
	}
	if reservation != "" {
		args = append(args, "--reservation="+reservation)
	}
	return args
}

// whyNotExpanded reads salloc's refusal.
func (s *System) whyNotExpanded(ctx context.Context, job adapter.Key, err error) error {
	switch {
	case says(err, "busy", "not available", "requested reservation", "access denied to requested reservation", "insufficient priority"):
		return fmt.Errorf("%w (%w)", adapter.ErrBusy, err)
	case says(err, "dependency problem"):
		if _, gone := s.running(ctx, job); gone != nil {
			return fmt.Errorf("%w (%w)", gone, err)
		}
		return fmt.Errorf("%w; is permit_job_expansion in SchedulerParameters? `accordion preflight` tells", err)
	}
	return err
}

// Merge moves an expander's nodes into its parent and checks that they arrived. Slurm says yes to a merge into a
// finished job, and then nobody holds the nodes until it is reconfigured. So the parent must run just before; where it
// ends in the same instant, the nodes are set free here (see Mend).
func (s *System) Merge(ctx context.Context, job, expander adapter.Key) error {
	doing := fmt.Sprintf("merging %d into job %d", expander.ID, job.ID)
	if err := s.trapped(ctx); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	e, err := s.lookup(ctx, expander)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	merged := e.State == adapter.Done && e.Why == "COMPLETED" // one that was cancelled is CANCELLED
	before, err := s.running(ctx, job)
	if merged && errors.Is(err, adapter.ErrGone) {
		return fmt.Errorf("%s: it was merged, and has ended: %w", doing, errors.Join(err, s.Mend(ctx, nil)))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if merged {
		return nil
	}
	if e.State != adapter.Running {
		return fmt.Errorf("%s: the expander is %s: %w", doing, e.Why, adapter.ErrGone)
	}
	if err := s.update(ctx, expander, "NumNodes=0"); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	after, err := s.running(ctx, job)
	if errors.Is(err, adapter.ErrGone) {
		return fmt.Errorf("%s: it ended meanwhile: %w", doing, errors.Join(err, s.Mend(ctx, slices.Concat(before.Nodes, e.Nodes))))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	for _, n := range slices.Concat(before.Nodes, e.Nodes) {
		if !slices.Contains(after.Nodes, n) {
			return fmt.Errorf("%s: the job has %s now, without %s", doing, hostlist.Compact(after.Nodes), n)
		}
	}
	return nil
}

// Shrink leaves a running job with the nodes to keep, and checks it. The node that runs the script must be among them:
// Slurm cannot take it away.
func (s *System) Shrink(ctx context.Context, job adapter.Key, keep []string) error {
	doing := fmt.Sprintf("shrinking job %d to %s", job.ID, hostlist.Compact(keep))
	r, err := s.running(ctx, job)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	for _, n := range keep {
		if !slices.Contains(r.Nodes, n) {
			return fmt.Errorf("%s: it does not hold %s (it holds %s)", doing, n, hostlist.Compact(r.Nodes))
		}
	}
	if !slices.Contains(keep, r.batchHost) && slices.Contains(r.Nodes, r.batchHost) {
		return fmt.Errorf("%s: %s runs its script and must be kept", doing, r.batchHost)
	}
	if same(keep, r.Nodes) {
		return nil
	}
	if err := s.trapped(ctx); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if err := s.update(ctx, job, "NodeList="+hostlist.Compact(keep)); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if r, err = s.running(ctx, job); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if !same(keep, r.Nodes) {
		return fmt.Errorf("%s: Slurm left it %s", doing, hostlist.Compact(r.Nodes))
	}
	return nil
}

// same says whether two lists hold the same nodes.
func same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// Leaked lists nodes that are in use while no job of the snapshot holds them: what a merge that raced with its parent's
// end leaves behind. A single snapshot may show a node like that in passing.
func Leaked(s *adapter.Snapshot) []string {
	held := map[string]bool{}
	for _, j := range s.Jobs {
		for _, n := range j.Nodes {
			held[n] = true
		}
	}
	var leaked []string
	for _, n := range s.Nodes {
		if n.Usable && !n.Idle && !held[n.Name] {
			leaked = append(leaked, n.Name)
		}
	}
	return leaked
}

const (
	mendEvery = 500 * time.Millisecond
	mendAfter = 3 // sightings of a node in use by no job
)

// Mend waits until each of the nodes (nil: of the pool) is free or held by a job. A node that stays in use by nobody is set free by making
// slurmctld read its configuration again, which rebuilds its books from the jobs it has (`scontrol reconfigure`, some
// milliseconds; jobs do not notice).
func (s *System) Mend(ctx context.Context, nodes []string) error {
	for sightings := 0; ; {
		snapshot, err := s.Observe(ctx)
		if err != nil {
			return fmt.Errorf("looking for lost nodes: %w", err)
		}
		lost := Leaked(snapshot)
		if nodes != nil {
			lost = within(lost, toSet(nodes))
		}
		switch sightings++; {
		case len(lost) == 0 && !anyEnding(snapshot, nodes):
			return nil
		case len(lost) == 0:
			sightings = 0
		case sightings == mendAfter:
			if err := s.reconfigure(ctx); err != nil {
				return fmt.Errorf("setting lost nodes %s free: %w", hostlist.Compact(lost), err)
			}
		case sightings > 4*mendAfter:
			return fmt.Errorf("nodes %s are in use by no job, also after `scontrol reconfigure`", hostlist.Compact(lost))
		}
		select {
		case <-time.After(mendEvery):
		case <-ctx.Done():
			return fmt.Errorf("looking for lost nodes: %w", ctx.Err())
		}
	}
}

// reconfigure makes slurmctld rebuild its books, unless it was made to a short time ago: it reads its files again, forgets
// what scontrol changed about partitions, and takes the first node of every job that has grown for the node of its script.
func (s *System) reconfigure(ctx context.Context) error {
	s.mending.Lock()
	defer s.mending.Unlock()
	if wait := s.config.Reconfigure - time.Since(s.reconfigured); !s.reconfigured.IsZero() && wait > 0 {
		return fmt.Errorf("`scontrol reconfigure` was run a short time ago and is run again in %s at the earliest", wait.Round(time.Second))
	}
	if err := s.run.scontrol(ctx, "reconfigure"); err != nil {
		return err
	}
	s.reconfigured = time.Now()
	return nil
}

// anyEnding says whether a job that ends still holds one of the nodes: only after it can they be lost.
func anyEnding(snapshot *adapter.Snapshot, nodes []string) bool {
	wanted := toSet(nodes)
	return slices.ContainsFunc(snapshot.Jobs, func(j adapter.Job) bool {
		return j.State == adapter.Ending && slices.ContainsFunc(j.Nodes, func(n string) bool { return wanted[n] })
	})
}

func toSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// trapped says why a resize would go wrong now. Since 21.08.8 and until 24.05, a resize without slurmdbd leaves the job
// in a state in which every later update of it fails.
func (s *System) trapped(ctx context.Context) error {
	c, err := s.recent(ctx)
	if err != nil {
		return err
	}
	if why := c.trap(ctx); why != "" {
		return fmt.Errorf("%w: %s", adapter.ErrTrap, why)
	}
	return nil
}
