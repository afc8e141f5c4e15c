package actions

import (
	"context"
	"fmt"

	"accordion/adapter"
	"accordion/core"
)

// A Call is one call of the batch system about one job, as plain data. It holds only copies, so
// that two calls can be compared. (*Caller).Do makes the call. All types of calls are in this file.
type Call interface{ call() }

// Calls for a job that waits.
type (
	// Adopt marks a pending job as the sidecar's and holds it.
	Adopt struct{ Job adapter.Key }

	// Refuse ends a pending job that can never run, for a reason that its user can read.
	Refuse struct {
		Job adapter.Key
		Why string
	}

	// Prepare reserves nodes for a job and gives the job its size and limit. It does not attach the
	// job to the reservation.
	Prepare struct {
		Job         adapter.Key
		Reservation adapter.Reservation
		Shape       adapter.Shape
	}

	// Launch attaches a prepared job to its reservation and releases the job, which then starts.
	Launch struct {
		Job         adapter.Key
		Reservation string
	}

	// Hold puts a hold on a released job that has not started yet.
	Hold struct{ Job adapter.Key }

	// LetIn moves a rigid job into the batch system's queue. The plan starts the job Ahead seconds
	// from now.
	LetIn struct {
		Job   adapter.Key
		Ahead core.Time
	}

	// KeepOut removes a rigid job from the batch system's queue.
	KeepOut struct{ Job adapter.Key }
)

// Calls for a job that runs.
type (
	// Detach detaches a running job from the reservation of its start.
	Detach struct{ Job adapter.Key }

	// Lengthen asks for a longer limit, in seconds. Do returns no error if the batch system
	// refuses.
	Lengthen struct {
		Job   adapter.Key
		Limit core.Time
	}

	// Reserve makes or changes a reservation for the job.
	Reserve struct {
		Job         adapter.Key
		Reservation adapter.Reservation
	}

	// Grow allocates Add inside the reservation and merges these nodes into the job.
	Grow struct {
		Job         adapter.Job // the job as last read, with the nodes that it holds now
		Add         []string
		Reservation string
	}

	// Shrink releases all of the job's nodes except the nodes to keep.
	Shrink struct {
		Job  adapter.Key
		Keep []string
	}

	// End ends a job for a reason that its user can read, and that may be "".
	End struct {
		Job adapter.Key
		Why string
	}
)

// Calls that change nothing in the batch system. They send something to a job, or read something
// about the job.
type (
	// Tell writes a line into the job's output. Do returns no error if that fails.
	Tell struct {
		Job  adapter.Key
		Text string
	}

	// Signal sends the job's batch script a signal.
	Signal struct {
		Job    adapter.Key
		Signal string
	}

	// Publish writes the job's hosts file. Then it writes Says into the job's output and sends
	// Signal, unless they are "". If the file cannot be written, Do returns no error but sets
	// Result.Unwritten. The field Unwritten determines whether Says and Signal are then still sent.
	Publish struct {
		Job        adapter.Job // the job as last read, but with the nodes that the file lists
		Text       string
		Generation int
		Says       string
		Signal     string
		Unwritten  IfUnwritten
	}

	// ReadVoice finds out whether the job's script itself calls `accordion step`.
	ReadVoice struct{ Job adapter.Key }

	// ReadPrograms finds out which programs of the job run.
	ReadPrograms struct{ Job adapter.Key }
)

// IfUnwritten is what Publish does when the hosts file cannot be written.
type IfUnwritten string

// The values of IfUnwritten.
const (
	StopThere  IfUnwritten = ""              // Publish does nothing else, and the sidecar tries again later
	TellAndGo  IfUnwritten = "tell, go on"   // Publish informs the user, and then continues
	GoOnAnyway IfUnwritten = "go on without" // Publish continues, because the user was already informed
)

func (Adopt) call()        {}
func (Refuse) call()       {}
func (Prepare) call()      {}
func (Launch) call()       {}
func (Hold) call()         {}
func (LetIn) call()        {}
func (KeepOut) call()      {}
func (Detach) call()       {}
func (Lengthen) call()     {}
func (Reserve) call()      {}
func (Grow) call()         {}
func (Shrink) call()       {}
func (End) call()          {}
func (Tell) call()         {}
func (Signal) call()       {}
func (Publish) call()      {}
func (ReadVoice) call()    {}
func (ReadPrograms) call() {}

// Result is what the calls of one operation returned, besides an error.
type Result struct {
	Parts     []adapter.Part    // from Grow and Shrink: the allocations that hold the job's nodes, if there are several
	Silent    bool              // from ReadVoice: the script does not call `accordion step`. A script that cannot be read is assumed to call it
	Programs  *adapter.Programs // from ReadPrograms: the programs; nil if not known
	Elsewhere string            // from Publish: the path of the hosts file, if it is not the usual path
	Unwritten string            // from Publish: why the hosts file could not be written
	Launched  bool              // Launch was begun, so the batch system may start the job even if the call failed
}

// Do makes the call and adds what it returns to got.
func (a *Caller) Do(ctx context.Context, c Call, got *Result) (err error) {
	switch c := c.(type) {
	case Adopt:
		return a.Adopt(ctx, c.Job)
	case Refuse:
		return a.refuse(ctx, c.Job, c.Why)
	case Prepare:
		return a.Prepare(ctx, c.Job, c.Reservation, c.Shape)
	case Launch:
		got.Launched = true
		return a.Launch(ctx, c.Job, c.Reservation)
	case Hold:
		return a.Hold(ctx, c.Job)
	case LetIn:
		return a.letIn(ctx, c.Job, c.Ahead)
	case KeepOut:
		return a.keepOut(ctx, c.Job)
	case Detach:
		return a.Detach(ctx, c.Job)
	case Lengthen:
		return a.lengthen(ctx, c.Job, c.Limit)
	case Reserve:
		return a.Reserve(ctx, c.Job, c.Reservation)
	case Grow:
		got.Parts, err = a.growBy(ctx, &c.Job, c.Add, c.Reservation)
		return err
	case Shrink:
		got.Parts, err = a.shrinkTo(ctx, c.Job, c.Keep)
		return err
	case End:
		return a.End(ctx, c.Job, c.Why)
	case Tell:
		return a.tell(ctx, c.Job, c.Text)
	case Signal:
		return a.signal(ctx, c.Job, c.Signal)
	case Publish:
		return a.announce(ctx, &c, got)
	case ReadVoice:
		speaks, err := a.speaks(ctx, c.Job)
		got.Silent = err == nil && !speaks
	case ReadPrograms:
		got.Programs = a.programs(ctx, c.Job)
	default:
		return fmt.Errorf("%T is no call", c)
	}
	return nil
}

// announce writes the job's hosts file, and then informs the job's user and signals its batch
// script.
func (a *Caller) announce(ctx context.Context, c *Publish, got *Result) error {
	elsewhere, unwritten := a.publish(ctx, &c.Job, c.Text, c.Generation, c.Job.Nodes)
	if Broken(unwritten) != nil {
		return unwritten
	}
	got.Elsewhere = elsewhere
	var lines []string
	if unwritten != nil {
		got.Unwritten = unwritten.Error()
		switch c.Unwritten {
		case StopThere:
			return nil
		case TellAndGo:
			lines = append(lines, fmt.Sprintf("the hosts file of this job cannot be written: %v", unwritten))
		case GoOnAnyway:
		}
	}
	if elsewhere != "" {
		lines = append(lines, fmt.Sprintf("the hosts file of this job is %s: another user has the usual folder", elsewhere))
	}
	if c.Says != "" {
		lines = append(lines, c.Says)
	}
	for _, line := range lines {
		if err := a.tell(ctx, c.Job.Key, line); err != nil {
			return err
		}
	}
	if c.Signal == "" {
		return nil
	}
	return a.signal(ctx, c.Job.Key, c.Signal)
}
