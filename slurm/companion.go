package slurm

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	osuser "os/user"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
)

// A companion is a job of its own beside the one that it makes larger: never merged into it, shown to the sidecar as part of
// it. That it counts as such is in its administrator's comment, which only root can write.

// companionMark begins that comment; the job follows as ID@SUBMITTED.
const companionMark = adapter.Prefix + "with="

func markCompanion(of adapter.Key) string {
	return fmt.Sprintf("%s%d@%d", companionMark, of.ID, of.Submitted)
}

// companionOf reads a companion's mark; the zero key of every other job.
func companionOf(mark string) adapter.Key {
	text, ok := strings.CutPrefix(mark, companionMark)
	id, submitted, both := strings.Cut(text, "@")
	n, err1 := strconv.ParseInt(id, 10, 64)
	at, err2 := strconv.ParseInt(submitted, 10, 64)
	if !ok || !both || err1 != nil || err2 != nil {
		return adapter.Key{}
	}
	return adapter.Key{ID: core.JobID(n), Submitted: at}
}

// made is the companions that were made for a job in one growth and are not yet its own.
func (s *System) made(ctx context.Context, parent core.JobID, reservation string) ([]*record, error) {
	jobs, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	var all []*record
	for i := range jobs {
		if r := &jobs[i]; r.role() == companion && r.parent() == parent && r.Reservation == reservation && reservation != "" && r.State == adapter.Running {
			all = append(all, r)
		}
	}
	return all, nil
}

// endBeside ends what was made of a growth that could not be made whole.
func (s *System) endBeside(ctx context.Context, parent *record, reservation string) error {
	all, err := s.made(ctx, parent.ID, reservation)
	for _, r := range all {
		err = errors.Join(err, s.cancel(ctx, r.Key))
	}
	return err
}

// joinAll makes an allocation, and those that were made with it, the job's companions. It may be repeated.
func (s *System) joinAll(ctx context.Context, job adapter.Key, e *record) error {
	with, err := s.made(ctx, job.ID, e.Reservation)
	if err != nil {
		return err
	}
	for _, r := range with {
		if r.Key != e.Key {
			if err := s.join(ctx, job, r); err != nil {
				return err
			}
		}
	}
	return s.join(ctx, job, e)
}

// join makes an allocation the job's companion: Slurm is told to end it when the job ends, whatever happens to the sidecar; it is
// marked, and untied from its reservation, whose end would end it. It may be repeated; Observe takes up what was left undone.
func (s *System) join(ctx context.Context, job adapter.Key, e *record) error {
	if _, err := s.running(ctx, job); err != nil {
		return err
	}
	if e.State != adapter.Running {
		return fmt.Errorf("the companion is %s: %w", e.Why, adapter.ErrGone)
	}
	if e.Mark != markCompanion(job) {
		if err := s.endWith(ctx, job, e.Key); err != nil {
			return err
		}
		if err := s.update(ctx, e.Key, "AdminComment="+markCompanion(job)); err != nil {
			return err
		}
	}
	if e.Reservation != "" {
		if err := s.update(ctx, e.Key, "ReservationName="); err != nil {
			return err
		}
	}
	// A list that was read since the allocation knows it without the mark, and squeue is not asked again at once for a text that is
	// new. It is asked here; from now on every list has the mark.
	marked, err := byNumber(ctx, e.Key, s.sworn)
	if err == nil && !marked.joins(job) {
		err = fmt.Errorf("job %d: Slurm said yes, yet it does not bear the mark %q: %w", e.ID, markCompanion(job), adapter.ErrGone)
	}
	return err
}

// triggers is the release from which on slurmctld may be given triggers. That of 20.11 does not start again once one's job has
// ended: "Incomplete trigger data checkpoint file". There only the companion's own limit ends it while we are dead.
const triggers = 2205

// endWith has slurmctld end the companion when the job ends (strigger): it looks every 15 seconds. Only SlurmUser may ask it to.
func (s *System) endWith(ctx context.Context, job, companion adapter.Key) error {
	c, err := s.recent(ctx)
	if err != nil {
		return err
	}
	if release, _ := c.version(); release < triggers {
		return nil
	}
	as, err := c.slurmUser()
	if err != nil {
		return err
	}
	scancel, err := exec.LookPath(s.run.Path("scancel"))
	if err != nil {
		return fmt.Errorf("looking for scancel: %w", err)
	}
	_, err = s.run.Run(ctx, client.Call{Program: "strigger", As: as, Args: []string{
		"--set", fmt.Sprintf("--jobid=%d", job.ID), "--fini", fmt.Sprintf("--program=%s %d", scancel, companion.ID)}})
	if over(err) {
		return fmt.Errorf("%w (%w)", adapter.ErrGone, err)
	}
	if err != nil {
		return fmt.Errorf("having slurmctld end companion %d with job %d: %w", companion.ID, job.ID, err)
	}
	return nil
}

// slurmUser is the account that slurmctld runs under, written as slurm(64030).
func (c configuration) slurmUser() (*client.User, error) {
	_, number, _ := strings.Cut(strings.TrimSuffix(c["SlurmUser"], ")"), "(")
	uid, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("SlurmUser is %q: no number in it", c["SlurmUser"])
	}
	as := &client.User{Uid: uint32(uid), Gid: uint32(uid)}
	if known, err := osuser.LookupId(number); err == nil {
		if gid, err := strconv.ParseUint(known.Gid, 10, 32); err == nil {
			as.Gid = uint32(gid)
		}
	}
	return as, nil
}

// together reads a running job and its companions.
func (s *System) together(ctx context.Context, job adapter.Key) (*record, []*record, error) {
	r, err := s.running(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.terms(ctx, r, r.Nodes)
	if err != nil || t.way.growth != Companions {
		return r, nil, err
	}
	jobs, err := s.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	var joined []*record
	for i := range jobs {
		if jobs[i].joins(job) {
			joined = append(joined, &jobs[i])
		}
	}
	return r, joined, nil
}

// joins says whether the job is a companion of that one, and holds its nodes for it.
func (r *record) joins(job adapter.Key) bool {
	return r.role() == companion && r.State == adapter.Running && companionOf(r.Mark) == job
}

// holdings is the nodes of a job with those of its companions, its own first.
func holdings(r *record, joined []*record) []string {
	all := slices.Clone(r.Nodes)
	for _, c := range joined {
		all = append(all, c.Nodes...)
	}
	return all
}

// fold makes jobs of those with companions: their nodes are the job's, and they are left out. A companion whose job does not
// run is shown as an expander of it, for somebody has to end it.
func fold(jobs []record) []record {
	at := map[adapter.Key]int{} // of running jobs
	for i := range jobs {
		if jobs[i].State == adapter.Running && jobs[i].role() == ordinary {
			at[jobs[i].Key] = i
		}
	}
	kept := jobs[:0:0]
	var joined []*record
	for i := range jobs {
		r := &jobs[i]
		of := companionOf(r.Mark)
		base, runs := at[of]
		switch {
		case r.role() != companion:
		case r.State == adapter.Running && runs:
			joined = append(joined, r)
			jobs[base].parts = append(jobs[base].parts, adapter.Part{Job: r.ID, Nodes: r.Nodes})
		case of.ID != 0:
			r.Expands = of.ID
		}
	}
	if len(joined) == 0 {
		return jobs
	}
	for i := range jobs {
		r := jobs[i]
		if slices.Contains(joined, &jobs[i]) {
			continue
		}
		r.count(r.parts)
		kept = append(kept, r)
	}
	return kept
}

// count makes the nodes of its companions a job's own.
func (r *record) count(companions []adapter.Part) {
	if len(companions) == 0 {
		return
	}
	r.Parts = append([]adapter.Part{{Job: r.ID, Nodes: r.Nodes}}, companions...)
	r.Nodes = nil
	for _, p := range r.Parts {
		r.Nodes = append(r.Nodes, p.Nodes...)
	}
}

// quench ends a companion with all that runs in it, at once: scancel alone lets its steps live for KillWait.
func (s *System) quench(ctx context.Context, job adapter.Key) error {
	out, err := s.run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "step", fmt.Sprint(job.ID)}})
	if err != nil && !over(err) {
		return fmt.Errorf("the steps of companion %d: %w", job.ID, err)
	}
	var steps []string
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		id, number, _ := strings.Cut(field(line, "StepId"), ".")
		if _, err := strconv.Atoi(number); err == nil && id == fmt.Sprint(job.ID) {
			steps = append(steps, id+"."+number)
		}
	}
	if len(steps) > 0 {
		// Those that end by themselves meanwhile make it fail: what is left the next one ends.
		_, _ = s.run.Run(ctx, client.Call{Program: "scancel", Args: append([]string{"--signal=KILL"}, steps...)})
	}
	return s.cancel(ctx, job)
}

// tendCompanions does what a sidecar that died left undone, and lets companions last as long as their job, whose limit somebody
// may have raised.
//
// What fails is done at the next reading: one companion's trouble must not keep the others from being read.
func (s *System) tendCompanions(ctx context.Context, jobs []record) {
	ends := map[adapter.Key]core.Time{}
	for i := range jobs {
		if jobs[i].State == adapter.Running {
			ends[jobs[i].Key] = jobs[i].ends()
		}
	}
	for i := range jobs {
		r := &jobs[i]
		end, runs := ends[companionOf(r.Mark)]
		if r.role() != companion || r.State != adapter.Running || !runs {
			continue
		}
		var change string
		switch {
		case r.Reservation != "":
			change = "ReservationName="
		case r.ends() < end:
			change = "TimeLimit=" + minutes(end-r.Started)
		default:
			continue
		}
		_ = s.update(ctx, r.Key, change)
	}
}
