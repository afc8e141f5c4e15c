package managed

import (
	"errors"
	"fmt"
	"slices"

	"accordion/core"
)

// latest is the upper bound for times in a record. It is far larger than any real time, because a
// clock that is wrong by decades does not mean that the journal is damaged.
const latest core.Time = core.Forever

// check returns an error if the job's record has values that no sidecar writes. Errors use the
// record's JSON keys.
func (r *Job) check() error {
	switch {
	case r.ID <= 0 || r.Submitted < 0:
		return fmt.Errorf("job %d submitted at %d", r.ID, r.Submitted)
	case !slices.Contains([]Phase{Waiting, Starting, Running, Ending}, r.Phase):
		return fmt.Errorf("unknown Phase %.20q", r.Phase)
	case !slices.Contains([]StepCalls{StepCallsUnknown, StepCallsMade, StepCallsNever}, r.StepCalls):
		return fmt.Errorf("unknown Voice %.20q", r.StepCalls)
	case r.Choice < 0 || r.Choice >= len(r.Choices):
		return fmt.Errorf("field Choice is %d of %d", r.Choice, len(r.Choices))
	}
	if err := r.checkCut(); err != nil {
		return err
	}
	steps := len(r.EP())
	switch {
	case r.Step < 0 || r.Step >= steps:
		return fmt.Errorf("field Step is %d of %d", r.Step, steps)
	case r.Target < r.Step || r.Target > r.Step+1 || r.Target >= steps:
		return fmt.Errorf("fields are Step %d and Target %d of %d steps", r.Step, r.Target, steps)
	case r.Promise != nil && len(r.Promise) != steps:
		return fmt.Errorf("field Promise has %d ends for %d steps", len(r.Promise), steps)
	case r.Promise == nil && (r.Phase == Starting || r.Phase == Running):
		return errors.New("field Promise is missing")
	case r.Generation < 0 || r.HostsWritten < 0:
		return fmt.Errorf("fields are Resizes %d, Told %d", r.Generation, r.HostsWritten)
	}
	return r.checkTimes()
}

// checkCut returns an error if the cut profile does not fit the chosen profile.
func (r *Job) checkCut() error {
	whole := r.Choices[r.Choice]
	if r.CutProfile == nil {
		return nil
	}
	if len(r.CutProfile) == 0 || len(r.CutProfile) > len(whole) || len(r.WholePromise) != len(whole) {
		return fmt.Errorf("field Cut has %d steps and Whole %d ends for %d steps", len(r.CutProfile), len(r.WholePromise), len(whole))
	}
	for i, s := range r.CutProfile {
		if s.Nodes != whole[i].Nodes || s.Duration < 1 || s.Duration > whole[i].Duration {
			return fmt.Errorf("field Cut has step %d with %d nodes for %d s", i+1, s.Nodes, s.Duration)
		}
	}
	return nil
}

// checkTimes returns an error if a time or a number of seconds is out of range.
func (r *Job) checkTimes() error {
	for _, all := range [][]core.Time{r.Promise, r.WholePromise} {
		for i, at := range all {
			if at <= 0 || at > latest || i > 0 && at < all[i-1] {
				return fmt.Errorf("step %d ends at %d", i+1, at)
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
