package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// JobSpec describes a job that a user submits, and how the job will behave.
type JobSpec struct {
	Name     string
	User     string // required
	UID, GID uint32
	Nodes    int       // required; for an evolving job, the number of nodes of its first step
	Tasks    int       // number of tasks in total; 0 means one per node
	Limit    core.Time // required; in seconds, or core.Forever for no limit
	Begin    core.Time // Unix second before which the job does not start; 0 if there is none
	Comment  string    // for example "ep=2x20s,5x20s" or "mold=4x2h|8x70m"
	Priority int64     // jobs with a higher priority come first; jobs with equal priority are in the order of submission
	Hold     bool      // the user holds the job, as with sbatch -H
	// Managed means that Submit does what the submission plug-in does: it makes the comment the job's mark, and holds the job as root.
	Managed bool
	// Unfit is the reason why the job cannot be resized, for example that it is an array job in
	// Slurm. It is "" if the job can be resized.
	Unfit string
	// Base means that the job can never release its first Base nodes, as in OAR. 0 means that it can
	// never release its first node.
	Base int
	// Requeue means that a job that loses a node returns to the queue, instead of ending.
	Requeue bool
	// NoKill means that a job that loses a node continues without the node, unless its script runs on that node (sbatch --no-kill).
	NoKill bool

	// Runs is how many seconds the job runs; 0 means that it runs until it is ended. Runs is
	// ignored if there is a Script.
	Runs core.Time
	// Script is called when the job starts. The job ends when the script returns.
	Script Script
	// Silent means that the script never calls `accordion step`, so that Speaks returns false.
	Silent bool
	// Elsewhere is the path of the job's hosts file if the file cannot be in the usual folder in /tmp, because another user owns that
	// folder. Otherwise it is "".
	Elsewhere string
}

// job is one job, with the state that changes between its submission and its end.
type job struct {
	key       adapter.Key
	spec      JobSpec
	submitted time.Time
	state     adapter.State
	why       string
	held      bool
	byUser    bool // held by the job's user
	stopped   bool // also held by an operator
	requeue   bool
	mark      string

	want          int
	limit         core.Time
	begin         time.Time
	waitsForBegin bool
	reservation   string
	expands       *job
	mergedInto    *job
	stale         bool // the job is an expander that a restart restored, so that it cannot be merged

	nodes    []int // ascending
	host     int   // the batch host, which a shrink always keeps
	base     []int // the nodes that the job can never release, the batch host first
	started  time.Time
	endsAt   time.Time // when a job without a script ends by itself; zero if it never does
	orphaned time.Time // when the reservation in which the job runs ended
	over     time.Time // when the job stopped running
	freeAt   time.Time // when the job's epilog ends
	kill     context.CancelFunc
	run      int // number of times that the job was started
	spans    []Span
	output   []string
	hosts    string      // the job's hosts file
	signals  chan string // signals to the job's script
}

func (j *job) managed() bool {
	if j.expands != nil {
		return j.expands.managed()
	}
	return strings.HasPrefix(j.mark, adapter.MarkPrefix)
}

// limitEnd returns when the job's time limit ends. As in Slurm, the limit counts from the job's start,
// rounded down to a whole second. limitEnd returns the zero time if the job has no limit or does not
// run.
func (j *job) limitEnd() time.Time {
	if j.started.IsZero() || j.limit >= core.Forever {
		return time.Time{}
	}
	return time.Unix(j.started.Unix(), 0).Add(seconds(j.limit))
}

// Submit puts a job into the queue.
func (s *System) Submit(spec JobSpec) (adapter.Key, error) {
	if err := spec.check(len(s.nodes)); err != nil {
		return adapter.Key{}, fmt.Errorf("submit job %q: %w", spec.Name, err)
	}
	if spec.Tasks == 0 {
		spec.Tasks = spec.Nodes
	}
	s.enter()
	defer s.leave()
	j := s.add(spec)
	s.callForPass()
	return j.key, nil
}

// add appends a job to the queue.
func (s *System) add(spec JobSpec) *job {
	s.last++
	j := &job{
		key: adapter.Key{ID: s.last, Submitted: s.now.Unix()}, submitted: s.now, spec: spec, state: adapter.Pending,
		held: spec.Hold || spec.Managed, byUser: spec.Hold && !spec.Managed, requeue: spec.Requeue,
		want: spec.Nodes, limit: spec.Limit,
	}
	if spec.Managed {
		j.mark = adapter.MarkPrefix + spec.Comment
	}
	if spec.Begin > 0 {
		j.begin = time.Unix(spec.Begin, 0)
		j.waitsForBegin = j.begin.After(s.now)
	}
	s.jobs = append(s.jobs, j)
	return j
}

// longest is the longest permitted duration in seconds, so that a time plus a duration does not overflow.
const longest core.Time = 100 * 366 * 86400

func (spec JobSpec) check(nodes int) error {
	switch {
	case spec.User == "":
		return errors.New("no user; give the name of its owner")
	case spec.Nodes < 1 || spec.Nodes > nodes:
		return fmt.Errorf("%d nodes on a machine of %d", spec.Nodes, nodes)
	case spec.Limit < 1 || spec.Limit > longest && spec.Limit != core.Forever:
		return fmt.Errorf("limit of %d seconds; give a positive one, or core.Forever", spec.Limit)
	case spec.Runs < 0 || spec.Runs > longest || spec.Begin < 0 || spec.Tasks < 0:
		return errors.New("negative or endless times or tasks")
	case spec.Managed && spec.Comment == "":
		return errors.New("managed, but without a request in its comment (ep=… or mold=…)")
	}
	return nil
}

// Cancel ends a job as if its user canceled it. It returns adapter.ErrGone if the job has already ended.
func (s *System) Cancel(key adapter.Key) error {
	s.enter()
	defer s.leave()
	j, err := s.find(key)
	if err != nil {
		return fmt.Errorf("cancel job %d: %w", key.ID, err)
	}
	s.end(j, "CANCELLED")
	return nil
}

// find returns the job with the key, or adapter.ErrGone if there is no such job or it has ended.
func (s *System) find(key adapter.Key) (*job, error) {
	for _, j := range s.jobs {
		if j.key == key {
			return j, nil
		}
	}
	return nil, adapter.ErrGone
}

// end ends a job in any state.
func (s *System) end(j *job, why string) {
	switch j.state {
	case adapter.Pending:
		j.why, j.over, j.freeAt = why, s.now, s.now
		s.remove(j)
	case adapter.Running:
		s.finish(j, why)
	}
}

// start gives a pending job its nodes and starts it.
func (s *System) start(j *job, nodes []int) {
	j.state, j.why, j.started, j.orphaned = adapter.Running, "", s.now, time.Time{}
	j.host, j.base = nodes[0], slices.Clone(nodes[:max(1, min(j.spec.Base, len(nodes)))])
	j.run++
	for _, i := range nodes {
		s.take(j, i)
	}
	switch {
	case j.spec.Script != nil:
		s.launch(j)
	case j.spec.Runs > 0:
		j.endsAt = s.now.Add(seconds(j.spec.Runs))
	}
}

// finish stops a running job. Its nodes become free after the epilog.
func (s *System) finish(j *job, why string) {
	j.state, j.why, j.over = adapter.Ending, why, s.now
	j.endsAt = time.Time{}
	if j.kill != nil {
		j.kill()
	}
	j.freeAt = s.now.Add(s.options.Epilog)
	if s.options.Epilog == 0 {
		s.remove(j)
	}
}

// remove frees the nodes of a job that has ended, and moves the job from s.jobs to s.over.
func (s *System) remove(j *job) {
	for _, i := range slices.Clone(j.nodes) {
		s.free(j, i)
	}
	j.state = adapter.Done
	s.jobs = slices.DeleteFunc(s.jobs, func(other *job) bool { return other == j })
	s.over = append(s.over, j)
	s.callForPass()
}

// take allocates a free node to a job.
func (s *System) take(j *job, i int) {
	s.nodes[i].holder, s.nodes[i].since = j, s.now
	at, _ := slices.BinarySearch(j.nodes, i)
	j.nodes = slices.Insert(j.nodes, at, i)
}

// free takes a node from its job and records how long the job held it.
func (s *System) free(j *job, i int) {
	n := &s.nodes[i]
	if n.since.Before(s.now) {
		j.spans = append(j.spans, Span{Node: n.name, From: n.since, To: s.now})
	}
	n.holder = nil
	at, _ := slices.BinarySearch(j.nodes, i)
	j.nodes = slices.Delete(j.nodes, at, at+1)
}

// queue returns the pending jobs by rank.
func (s *System) queue() []*job {
	var queue []*job
	for _, j := range s.jobs {
		if j.state == adapter.Pending {
			queue = append(queue, j)
		}
	}
	slices.SortStableFunc(queue, func(a, b *job) int { return cmp.Compare(b.spec.Priority, a.spec.Priority) })
	return queue
}

// hostFirst returns the job's nodes: first the batch host, then the rest of the nodes that the job can never release, then the others.
func (j *job) hostFirst() []int {
	if j.state == adapter.Pending {
		return j.nodes
	}
	var first, others []int
	for _, i := range j.base {
		if slices.Contains(j.nodes, i) {
			first = append(first, i)
		}
	}
	for _, i := range j.nodes {
		if !slices.Contains(first, i) {
			others = append(others, i)
		}
	}
	return append(first, others...)
}

// show returns the job as an adapter.Job.
func (s *System) show(j *job) adapter.Job {
	out := adapter.Job{
		Key: j.key, Name: j.spec.Name, User: j.spec.User, UID: j.spec.UID, GID: j.spec.GID,
		Partition: "embedded", QOS: "normal", State: j.state, Why: j.why,
		Nodes: s.names(j.hostFirst()), Base: j.spec.Base, Want: j.want, Limit: j.limit, Begin: j.spec.Begin, Priority: j.spec.Priority,
		Reservation: j.reservation, Comment: j.spec.Comment, Mark: j.mark, Unfit: j.spec.Unfit,
	}
	out.Tasks = j.want * max(1, j.spec.Tasks/j.spec.Nodes)
	out.CPUs = out.Tasks
	if j.expands != nil {
		out.Expands = j.expands.key.ID
	}
	if j.state == adapter.Pending {
		out.Held, out.HeldByUser = j.held || j.stopped, j.held && j.byUser
		out.Adopted = j.held && !j.byUser && j.mark != ""
		if j.stopped {
			out.HeldBy = "an operator"
		}
		out.Blocked = j.waitsForBegin
		out.Why = s.waitsFor(j)
	} else if !j.started.IsZero() {
		out.Started = j.started.Unix()
	}
	return out
}

// waitsFor returns the reason why a pending job waits, in Slurm's words.
func (s *System) waitsFor(j *job) string {
	switch {
	case j.held && j.byUser:
		return "JobHeldUser"
	case j.held || j.stopped:
		return "JobHeldAdmin"
	case j.waitsForBegin:
		return "BeginTime"
	case j.reservation != "":
		return "Reservation"
	case j.why == "":
		return "None"
	}
	return j.why
}

func (s *System) names(nodes []int) []string {
	var names []string
	for _, i := range nodes {
		names = append(names, s.nodes[i].name)
	}
	return names
}

func seconds(t core.Time) time.Duration { return time.Duration(t) * time.Second }
