package slurm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/growth"
	"accordion/slurm/limits"
	"accordion/slurm/number"
	"accordion/slurm/output"
)

// policiesValid is how long a reading of associations and QOS is used. For a site with ten thousand users Slurm's
// output has some megabytes.
const policiesValid = 15 * time.Second

// policies returns the associations and QOS. It reads them again if the last reading is too old.
func (s *System) policies(ctx context.Context) (limits.Policies, error) {
	s.mu.Lock()
	known, read, took := s.rules, s.rulesAt, s.rulesTook
	s.mu.Unlock()
	if !read.IsZero() && time.Since(read) < max(policiesValid, 20*took) {
		return known, nil
	}
	begin := time.Now()
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "assoc_mgr", "flags=assoc,qos"}, Kind: client.Listing})
	if err != nil {
		return limits.Policies{}, err
	}
	p := limits.Parse(out.Stdout)
	p.SetEach(s.qualities(ctx))
	s.mu.Lock()
	s.rules, s.rulesAt, s.rulesTook = p, begin, time.Since(begin)
	s.mu.Unlock()
	return p, nil
}

// qualitiesValid is how long a reading of each QOS's per-user limits is used. A reading starts sacctmgr, which
// queries slurmdbd.
const qualitiesValid = 10 * time.Minute

// qualities returns the limits of each QOS per user and per account. While slurmdbd does not answer, it returns the
// last reading.
func (s *System) qualities(ctx context.Context) map[string][]limits.Set {
	s.mu.Lock()
	known, at := s.lastQualities, s.qualitiesAt
	s.mu.Unlock()
	if time.Since(at) < qualitiesValid {
		return known
	}
	out, err := s.Run.Run(ctx, client.Call{Program: "sacctmgr", Args: []string{"--noheader", "--parsable2", "--readonly", "show", "qos", "format=Name,MaxTRESPU,MaxTRESPA"}})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.qualitiesAt = time.Now(); err == nil {
		s.lastQualities = limits.ParseEach(out.Stdout)
	}
	return s.lastQualities
}

// needs returns how much of each limited resource a job takes on each node of the job's kind.
func needs(t growth.Terms, r *output.Record) limits.Need {
	n := limits.Need{Each: map[string]int64{"node": 1, "cpu": int64(t.Node.EffectiveCPUs)}, Extra: map[string]int64{}}
	if t.Site.Memory {
		n.Each["mem"] = t.Node.JobMemory()
		if t.Way.Growth == growth.Overlap {
			n.Each["mem"] -= growth.Spare(r)
		}
	}
	for _, list := range []struct {
		text  string
		times int
	}{{r.TRESPerNode, 1}, {r.TRESPerTask, r.TasksPerNode()}} {
		for r := range number.Resources(list.text) {
			if r.Kind == number.Device {
				generic, _, typed := strings.Cut(r.Name, ":")
				n.Each["gres/"+generic] += r.Count * int64(list.times)
				if typed {
					n.Each["gres/"+r.Name] += r.Count * int64(list.times)
				}
			}
		}
	}
	if t.Way.Growth == growth.Overlap { // during a growth by overlap the job's own nodes count twice
		n.Extra["cpu"] = int64(t.Node.EffectiveCPUs * len(r.Nodes))
	}
	return n
}

// rulesValidUnmanaged is the pause between two readings of associations and QOS for job_submit.lua while there is no
// managed job.
const rulesValidUnmanaged = 30 * time.Second

// rulesFor returns the associations and QOS if the cluster uses them, and writes them for job_submit.lua.
func (s *System) rulesFor(ctx context.Context, c output.Configuration, in output.Inventory, managed bool) (limits.Policies, error) {
	s.mu.Lock()
	known, at := s.rules, s.rulesAt
	s.mu.Unlock()
	wanted := c.EnforcesLimits() && s.config.Limits != "" && time.Since(at) > rulesValidUnmanaged
	if managed {
		wanted = c.EnforcesLimits() || c["PriorityType"] == "priority/multifactor"
	}
	if !wanted {
		return known, nil
	}
	rules, err := s.policies(ctx)
	if err != nil || !c.EnforcesLimits() {
		return rules, err
	}
	pool, err := output.PoolNodes(in, s.Pool)
	if err != nil {
		return rules, err
	}
	each := in.Least(slices.Collect(maps.Keys(pool)))
	s.writeLimits(rules, limits.Need{Each: map[string]int64{"node": 1, "cpu": int64(max(each.EffectiveCPUs, 1))}})
	return rules, nil
}

// describeManaged adds to each managed job how it grows, how many nodes the site's limits leave it, and the parts
// of its rank. If data cannot be read now, the next reading adds it. `all` holds the jobs as Slurm lists them. In
// `jobs`, companions are folded into their jobs.
func (s *System) describeManaged(ctx context.Context, in output.Inventory, all, jobs []output.Record) {
	s.noteClosedPartitions(in, jobs)
	c, err := s.Recent(ctx)
	if err != nil {
		return
	}
	managed := slices.ContainsFunc(jobs, func(r output.Record) bool { return adapter.RequestOf(&r.Job) != "" })
	rules, err := s.rulesFor(ctx, c, in, managed || s.miscounting())
	if err != nil {
		return
	}
	s.recount(ctx, rules, all)
	if !managed {
		return
	}
	now := time.Now()
	for i := range jobs {
		r := &jobs[i]
		if r.State == adapter.Pending && r.Priority > 0 && c["PriorityType"] == "priority/multifactor" {
			r.Rank = limits.Rank(c, r, rules, now)
		}
		if adapter.RequestOf(&r.Job) == "" || r.State != adapter.Pending && r.State != adapter.Running {
			continue
		}
		t, err := s.Terms(ctx, r, in.CandidateNodes(r, s.Pool))
		switch grows := growth.Growths(r) > 0; {
		case err != nil && grows:
			r.Unfit = fmt.Sprintf("it cannot grow by %s here: %v", s.Growth, err)
			continue
		case err != nil:
			continue
		case grows:
			r.Grows = t.Way.String()
		}
		if why := t.Rigid(r); why != "" {
			r.Unfit = why
		}
		if err := t.Divided(r); err != nil && r.State == adapter.Pending {
			r.Unfit = err.Error()
		}
		if t.Site.Trap != "" || adapter.Delegated(&r.Job) {
			r.Base = len(r.Nodes)
			if len(r.Parts) > 0 {
				r.Base = len(r.Parts[0].Nodes)
			}
		}
		if c.EnforcesLimits() {
			ever, now := rules.Ceilings(r, len(r.Nodes), needs(t, r))
			r.Most = ever.Most()
			if r.MostNow.Why == "" {
				r.MostNow = now.Most()
			}
		}
	}
}

// noteClosedPartitions adds to managed jobs the reason why Slurm starts no jobs in their partition.
func (s *System) noteClosedPartitions(in output.Inventory, jobs []output.Record) {
	for i := range jobs {
		r := &jobs[i]
		if adapter.RequestOf(&r.Job) == "" {
			continue
		}
		why := in.ClosedReason(r, s.Pool, growth.Growths(r) > 0)
		switch {
		case why == "":
		case r.State == adapter.Pending:
			r.Blocked, r.Why = true, why
		case r.State == adapter.Running:
			r.MostNow = adapter.NodeLimit{Nodes: len(r.Nodes), Why: why}
		}
	}
}

// writeLimits writes the node limits that the site allows to the file that job_submit.lua reads.
func (s *System) writeLimits(p limits.Policies, n limits.Need) { s.write(s.config.Limits, p.Lua(n)) }

// writeNodes writes the nodes that exist to the file that job_submit.lua reads.
func (s *System) writeNodes(in output.Inventory, c output.Configuration) {
	if s.config.Limits == "" {
		return
	}
	s.write(filepath.Join(filepath.Dir(s.config.Limits), limits.NodesFile), limits.NodesLua(in, s.Pool, growth.SiteOf(c).Memory))
}

// renewal is the pause after which an unchanged file for job_submit.lua is written again. The plug-in trusts a file
// for three times this long.
const renewal = 5 * time.Minute

// A writtenFile is the last written state of a file for job_submit.lua.
type writtenFile struct {
	text string
	at   time.Time
}

// write writes a file for job_submit.lua when its text has changed, and every few minutes. It writes a temporary
// file and renames it, so that the plug-in never reads an incomplete file. If the write fails, the next reading
// tries again. Until then the plug-in refuses fewer jobs than it could.
func (s *System) write(path, text string) {
	if path == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, last := time.Now(), s.written[path]
	if text == last.text && now.Sub(last.at) < renewal {
		return
	}
	beside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	err := writeNew(beside, limits.Dated(text, now))
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		s.unwritten = fmt.Sprintf("write %s for job_submit.lua: %v; see [slurm] limits", filepath.Base(path), err)
		return
	}
	if s.written == nil {
		s.written = map[string]writtenFile{}
	}
	s.written[path], s.unwritten = writtenFile{text, now}, ""
}

// unwrittenRemark returns a remark for the log about a file for job_submit.lua that could not be written. It
// returns no remark if all files were written.
func (s *System) unwrittenRemark() []adapter.Remark {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unwritten == "" {
		return nil
	}
	return []adapter.Remark{{Text: s.unwritten}}
}

// writeNew creates a file. It removes an existing file of that name. It follows no link, because the directory may
// belong to SlurmUser.
func writeNew(path, text string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Chmod(0o644), f.Close()) // with the sidecar's umask only root could read the file, and slurmctld does not run as root
}

// rank sets the priority of parked jobs to the priority that they would have if they waited like other jobs.
func (s *System) rank(ctx context.Context, jobs []output.Record) {
	c, err := s.Recent(ctx)
	if err != nil {
		return // the next reading tries again
	}
	now := time.Now()
	s.recordEligible(jobs, now)
	for i := range jobs {
		if r := &jobs[i]; r.State == adapter.Pending && r.Parked() && r.Priority > 0 {
			r.Priority += limits.Age(c, r, now)
		}
	}
}

// recordEligible records the second from which each job that waits for the sidecar could have run. If an array's
// task becomes a job of its own, it takes over the second of the array.
func (s *System) recordEligible(jobs []output.Record, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := make(map[adapter.Key]core.Time, len(s.since))
	for i := range jobs {
		r := &jobs[i]
		if r.State != adapter.Pending || !r.Parked() && !r.Rigid && adapter.RequestOf(&r.Job) == "" {
			continue
		}
		known, told := s.since[r.Key]
		if !told && r.Array != 0 {
			known = s.since[adapter.Key{ID: r.Array, Submitted: r.Submitted}]
		}
		r.CouldRun = limits.EligibleSince(r, known, now)
		since[r.Key] = r.CouldRun
	}
	s.since = since
}

// Recall implements adapter.Ager.
func (s *System) Recall(job adapter.Key, since core.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if since != 0 {
		s.since[job] = since
	}
}
