package slurm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/client"
)

// An allocation is what Slurm is asked for beside a running job, in the name of its owner: nodes without steps.
type allocation struct {
	parent      *record
	name        string
	nodes       []string
	cpus        int      // of each node: all that it has; 0: the partition gives whole nodes
	memory      int64    // MB of each node; 0: all of it
	gres        []string // options of salloc
	limit       string   // in Slurm's words; "": what remains of the parent's, which an expander gets
	expands     bool     // it is to be merged into the parent
	reservation string
}

// arguments is salloc's command line. Everything in it is a separate argument and none begins with what a user chose.
func (a allocation) arguments() []string {
	args := []string{
		"--no-shell", "--no-bell", "--chdir=/", "--partition=" + a.parent.Partition, "--job-name=" + a.name,
		fmt.Sprintf("--nodes=%d", len(a.nodes)), "--nodelist=" + hostlist.Compact(a.nodes), fmt.Sprintf("--mem=%d", a.memory),
	}
	if a.cpus > 0 {
		args = append(args, fmt.Sprintf("--mincpus=%d", a.cpus))
	}
	if a.expands {
		args = append(args, fmt.Sprintf("--dependency=expand:%d", a.parent.ID))
	}
	for _, option := range [][2]string{{"--time=", a.limit}, {"--qos=", a.parent.QOS}, {"--account=", a.parent.account}, {"--reservation=", a.reservation}} {
		if option[1] != "" {
			args = append(args, option[0]+option[1])
		}
	}
	return append(args, a.gres...)
}

// owned is the release from which on salloc and srun do not let root act for others by --uid.
const owned = 2302

// allocateNow makes the allocation at once or not at all: nothing of it is left after an error. It is the owner's from the
// beginning, so that limits, account and QOS are his.
//
// Slurm makes no immediate allocation in a reservation while a job of higher priority is about to start in any other
// (`Immediate execution impossible, insufficient priority`), and that can last seconds. So this one's is the highest there is:
// root may say so where he allocates in the name of the owner, and job_submit.lua where the owner does.
//
// salloc itself waits until the nodes are ready, seconds after the allocation; it is ended before. Where allocations wait for
// Slurm's next pass (defer), it must be the owner's own: the word that a job was granted can be read by its owner only, and a salloc of
// root's that cannot read it gives the job up.
func (s *System) allocateNow(ctx context.Context, site site, a allocation) (*record, error) {
	c := client.Call{Program: "salloc", Args: a.arguments(), Until: granted.MatchString}
	if site.release < owned && !site.deferred {
		c.Args = append(c.Args, "--priority=TOP", fmt.Sprintf("--uid=%d", a.parent.UID), fmt.Sprintf("--gid=%d", a.parent.GID))
	} else {
		c.As = &client.User{Uid: a.parent.UID, Gid: a.parent.GID}
	}
	if !site.deferred {
		c.Args = append(c.Args, "--immediate")
	}
	out, err := s.run.Run(ctx, c)
	if err != nil {
		return nil, errors.Join(s.notAllocated(ctx, a, err), s.unqueue(ctx, out.Stderr))
	}
	m := granted.FindStringSubmatch(out.Stderr)
	if m == nil {
		return nil, fmt.Errorf("salloc does not say which job it made: %q: %w", out.Stderr, errForm)
	}
	id, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return nil, err
	}
	r, err := s.job(ctx, core.JobID(id))
	if err != nil {
		return nil, fmt.Errorf("job %d was made, but cannot be read: %w", id, err)
	}
	return r, nil
}

// granted is salloc's line about the job it made.
var granted = regexp.MustCompile(`(?m)^salloc: Granted job allocation (\d+)$`)

// queued is what salloc says of a job that was not allocated at once.
var queued = regexp.MustCompile(`(?m)^salloc: Pending job allocation (\d+)$`)

// unqueue cancels what a salloc that has failed, or was ended at its deadline, may have left waiting.
func (s *System) unqueue(ctx context.Context, said string) error {
	m := queued.FindStringSubmatch(said)
	if m == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.run.Timeout)
	defer cancel()
	_, err := s.run.Run(ctx, client.Call{Program: "scancel", Args: []string{m[1]}})
	if err != nil && !over(err) {
		return fmt.Errorf("allocation %s, which waits: %w", m[1], err)
	}
	return nil
}

// notAllocated reads salloc's refusal.
func (s *System) notAllocated(ctx context.Context, a allocation, err error) error {
	switch {
	case client.Says(err, "busy", "not available", "requested reservation", "access denied to requested reservation", "insufficient priority", "queued and waiting"):
		return fmt.Errorf("%w (%w)", adapter.ErrBusy, err)
	case client.Says(err, "dependency problem"):
		if _, gone := s.running(ctx, a.parent.Key); gone != nil {
			return fmt.Errorf("%w (%w)", gone, err)
		}
		return fmt.Errorf("%w; is permit_job_expansion in SchedulerParameters? `accordion preflight` tells", err)
	case client.Says(err, "accounting/qos policy"):
		s.mu.Lock()
		s.rulesAt = time.Time{} // the next reading says which limit it is
		s.mu.Unlock()
		return fmt.Errorf("%w (%w)", adapter.ErrLimit, err)
	case client.Says(err, "is not for users"):
		return fmt.Errorf("%w: slurmctld has a job_submit.lua of an older Accordion: put this one's beside slurm.conf", err)
	}
	return err
}

// wantsGres says whether the job asks for generic resources.
func (r *record) wantsGres() bool {
	return r.tresPerNode != "" || r.tresPerTask != "" || r.tresPerJob != "" || strings.Contains(r.tres, "gres/")
}

// perNodeOptions repeats for salloc what a job asks of each of its nodes: what it asks for each task, for as many tasks as
// it has on a node.
func (r *record) perNodeOptions() []string {
	each := ceil(r.Tasks, r.Want)
	var options []string
	for _, list := range []struct {
		text  string
		times int
	}{{r.tresPerNode, 1}, {r.tresPerTask, each}} {
		for item := range strings.SplitSeq(list.text, ",") {
			if name, count := gres(item); name != "" {
				options = append(options, fmt.Sprintf("%s:%d", name, count*list.times))
			}
		}
	}
	if len(options) == 0 {
		return nil
	}
	return []string{"--gres=" + strings.Join(options, ",")}
}

// otherTRES are the kinds of trackable resources that are not generic ones.
var otherTRES = []string{"bb", "billing", "cpu", "energy", "fs", "ic", "license", "mem", "node", "pages", "vmem"}

// gres reads gres:gpu:2, gres/gpu:a100:2, gres/gpu=2 or, as 20.11 writes it, gpu:2: the name, with its type, and the count.
func gres(item string) (name string, count int) {
	item = strings.NewReplacer("/", ":", "=", ":").Replace(item)
	kind, rest, _ := strings.Cut(item, ":")
	switch {
	case kind == "gres":
		item = rest
	case slices.Contains(otherTRES, kind):
		return "", 0
	}
	at := strings.LastIndexByte(item, ':')
	if n, err := strconv.Atoi(item[at+1:]); err == nil && at > 0 {
		return item[:at], n
	}
	return item, min(1, len(item))
}

// remains is what is left of a running job's limit, as salloc takes it.
func (r *record) remains() string {
	if r.ends() == core.Forever {
		return "UNLIMITED"
	}
	return minutes(r.ends() - time.Now().Unix())
}

func ceil(a, b int) int { return max(1, (a+max(b, 1)-1)/max(b, 1)) }
