package status

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

// heartbeat is the longest time between two writes of the status, even while nothing changes.
const heartbeat = 15 * time.Second

// Store stores the published documents. adapter/journal implements it.
type Store interface {
	PutView(status []byte) error
	PutQueue(queue []byte) error
}

// PromiseMeter counts what CheckPromises finds. adapter/metrics implements it.
type PromiseMeter interface {
	// Spared counts node-seconds that evolving jobs left to others.
	Spared(nodeSeconds int64)
	// Broke counts a promise that could not be kept, by cause.
	Broke(cause string)
}

// Publisher writes to the journal what `accordion status`, `accordion queue` and `accordion explain`
// show of one cluster. It also writes events that tell users why a planned start moved, and why a
// promise was broken. A Publisher remembers what it published last. It makes no decisions about jobs.
//
//	err := publisher.CheckPromises(world)  // events for promises that were broken
//	err = publisher.AnnounceStarts(world)  // events for starts that moved
//	err = publisher.Publish(world)         // status and queue, if they changed
type Publisher struct {
	Journal  Store
	Meter    PromiseMeter
	Clock    adapter.Clock
	Settings managed.Settings
	// Event records what happened to a job.
	Event func(job *managed.Job, kind, text string, fields map[string]any) error
	// LastLogged returns what was last logged about a job, or "".
	LastLogged func(adapter.Key) string
	// Subscriber receives snapshots for browsers. It is nil if there is no server for browsers.
	Subscriber Subscriber
	// Usage returns the node-seconds that users' jobs used and left unused. The function is nil if
	// nothing is counted.
	Usage func() view.Usage
	// Outages returns the outages of the batch system, and the second in which the batch system's
	// controller started. The function is nil if outages are not known.
	Outages func() (known []view.Outage, booted core.Time)
	// GoneSince reports whether any node that is away now became away at the given second or later.
	GoneSince func(second core.Time) bool

	published   view.Status // the status as last written
	publishedAt time.Time
	past        past
}

// Publish writes the documents that `accordion status`, `accordion queue` and `accordion explain` show, if they have changed.
func (p *Publisher) Publish(v *plan.World) error {
	status := view.Status{Cluster: p.Settings.Cluster, Soft: v.Snapshot.Soft, Jobs: make([]view.Job, 0, len(v.Jobs)+len(v.Parts))}
	if p.Settings.All {
		status.Manage = "all"
	}
	if p.Outages != nil {
		status.Outages, status.Booted = p.Outages()
	}
	for _, r := range slices.Concat(v.Jobs, v.Parts) {
		if r.Part != nil && r.Part.Unmade {
			continue
		}
		j := JobOf(r)
		j.Unreserved = v.Unreserved(r) && managed.Grows(profileRunOrPlanned(r), r.Step)
		status.Jobs = append(status.Jobs, j)
	}
	if err := p.PublishQueue(v, status.Jobs); err != nil {
		return err
	}
	if err := p.publishStatus(v, status); err != nil {
		return err
	}
	p.publishSnapshot(v, &status)
	return nil
}

// profileRunOrPlanned returns the planned profile of a waiting job that has a place in the plan, and
// otherwise the job's own profile.
func profileRunOrPlanned(r *managed.Job) core.EP {
	if r.Phase == managed.Waiting && r.Course != nil {
		return r.Course.EP
	}
	return r.EP()
}

func (p *Publisher) publishStatus(v *plan.World, status view.Status) error {
	now := p.Clock.Now()
	if status.Same(&p.published) && now.Before(p.publishedAt.Add(heartbeat)) {
		return nil
	}
	status.At = v.Now
	data, err := json.Marshal(status)
	if err != nil {
		return fmt.Errorf("write the status to the journal: %w", err)
	}
	p.published, p.publishedAt = status, now
	return p.Journal.PutView(data)
}

// JobOf returns a managed job as `accordion status` shows it.
func JobOf(r *managed.Job) view.Job {
	j := view.Job{
		ID: r.ID, Submitted: r.Submitted, User: r.User, Name: r.Name, Kind: r.Kind(), Phase: r.PhaseText(), Request: r.Request,
		Steps: len(r.EP()), Nodes: hostlist.Compact(r.Nodes), Size: len(r.Nodes), Why: r.WaitReason,
	}
	if r.EndReason != "" {
		j.Why = r.EndReason
	}
	if r.Seen != nil {
		j.Grows, j.Limit = r.Seen.Grows, r.Limited()
		if r.Phase == managed.Waiting {
			j.Priority, j.Rank = r.Seen.Priority, r.Seen.Rank
			if r.Seen.Latest > 0 {
				j.Deadline, j.Latest = r.Seen.Deadline, r.Seen.Latest
			}
		}
	}
	switch {
	case r.Phase != managed.Waiting:
		j.Start, j.Promised, j.Plan = r.Planned, r.End(), r.Scheduled()
		if r.Began > 0 {
			j.Start, j.Step = r.Began, r.Step+1
		}
	case r.Course != nil:
		j.Start, j.Plan = r.Course.Start, r.Course.EP
	}
	return j
}
