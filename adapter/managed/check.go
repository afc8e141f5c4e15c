package managed

import (
	"errors"
	"fmt"
	"slices"

	"accordion/core"
)

// latest is later than every second in a plan. It is that large because a clock that is wrong by decades does not mean a damaged journal.
const latest core.Time = core.Forever

// check returns an error where the job's record has values that no sidecar writes: acting on it
// would be wrong, or impossible.
func (r *Job) check() error {
	switch {
	case r.ID <= 0 || r.Submitted < 0:
		return fmt.Errorf("it is of job %d, submitted at %d", r.ID, r.Submitted)
	case !slices.Contains([]Phase{Waiting, Starting, Running, Ending}, r.Phase):
		return fmt.Errorf("%.20q is no phase", r.Phase)
	case !slices.Contains([]StepCalls{StepCallsUnknown, StepCallsMade, StepCallsNever}, r.StepCalls):
		return fmt.Errorf("%.20q is no voice", r.StepCalls)
	case r.Choice < 0 || r.Choice >= len(r.Choices):
		return fmt.Errorf("its choice is %d of %d", r.Choice, len(r.Choices))
	}
	if err := r.checkCut(); err != nil {
		return err
	}
	steps := len(r.EP())
	switch {
	case r.Step < 0 || r.Step >= steps:
		return fmt.Errorf("it is in step %d of %d", r.Step, steps)
	case r.Target < r.Step || r.Target > r.Step+1 || r.Target >= steps:
		return fmt.Errorf("it goes from step %d to %d of %d", r.Step, r.Target, steps)
	case r.Promise != nil && len(r.Promise) != steps:
		return fmt.Errorf("it is promised %d steps of %d", len(r.Promise), steps)
	case r.Promise == nil && (r.Phase == Starting || r.Phase == Running):
		return errors.New("it is promised nothing")
	case r.Generation < 0 || r.HostsWritten < 0:
		return fmt.Errorf("it was resized %d times, and told of %d", r.Generation, r.HostsWritten)
	}
	return r.checkTimes()
}

// checkCut returns an error if the cut profile does not fit the chosen one.
func (r *Job) checkCut() error {
	whole := r.Choices[r.Choice]
	if r.CutProfile == nil {
		return nil
	}
	if len(r.CutProfile) == 0 || len(r.CutProfile) > len(whole) || len(r.WholePromise) != len(whole) {
		return fmt.Errorf("%d steps, with %d promised, are left of %d", len(r.CutProfile), len(r.WholePromise), len(whole))
	}
	for i, s := range r.CutProfile {
		if s.Nodes != whole[i].Nodes || s.Duration < 1 || s.Duration > whole[i].Duration {
			return fmt.Errorf("step %d is cut to %d nodes for %d s", i+1, s.Nodes, s.Duration)
		}
	}
	return nil
}

// checkTimes returns an error if a time or a number of seconds is out of range.
func (r *Job) checkTimes() error {
	for _, all := range [][]core.Time{r.Promise, r.WholePromise} {
		for i, at := range all {
			if at <= 0 || at > latest || i > 0 && at < all[i-1] {
				return fmt.Errorf("step %d is promised to end at %d", i+1, at)
			}
		}
	}
	for name, at := range map[string]core.Time{
		"Planned": r.Planned, "Began": r.Began, "Limit": r.Limit, "Short": r.ShortLimit, "Meant": r.PlannedEnd, "Overran": r.OverrunUsed, "Owed": r.SidecarDelay,
		"Ends": r.EndDecidedAt, "Halted": r.SuspendedFor, "Stalled": r.OutageCost, "Delayed": r.PastOutageCost, "Extended": r.LimitExtended,
		"Warned": r.WarnedAt, "Heeds": r.NoShrinkBefore, "Resized": r.ResizedAt, "Since": r.ForgottenAt, "Let": r.AdmittedAt, "Unpaid": r.UncountedUnused, "Expected": r.StartTold, "Vowed": r.BestEnd, "Slipped": r.SlipLogged,
	} {
		if at < 0 || at > latest {
			return fmt.Errorf("%s is %d", name, at)
		}
	}
	return nil
}
