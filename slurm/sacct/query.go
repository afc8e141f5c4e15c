package sacct

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"accordion/core"
)

// Slice is the length in seconds of the period that one call of sacct covers.
const Slice core.Time = 24 * 60 * 60

// maxFailures is the number of consecutive failures after which a query ends, so that it does not add load to a
// failing database.
const maxFailures = 3

// A Query runs sacct for the jobs that ended in a period. It divides the period into slices and queries one slice
// after the other.
type Query struct {
	// Sacct runs sacct with these arguments, in UTC and with times in Unix seconds. It must return within a limited
	// time.
	Sacct func(ctx context.Context, arguments []string) (string, error)
	// Progress, if not nil, is called before each slice with the number of completed slices and the number of all
	// slices.
	Progress func(done, of int)

	User        string    // the user whose jobs are read; "" means all jobs that the caller may see
	From, Until core.Time // in Unix seconds
}

// A Gap is a period whose jobs could not be read.
type Gap struct {
	From, Until core.Time
	Why         error
}

// ReadInto reads all slices. Between two slices it waits as long as the last one took, so that it loads the
// database at most half of the time. A slice that fails becomes a gap. After maxFailures consecutive failures all
// remaining slices become one gap. If the context ended, ReadInto returns the context's error. If nothing at all
// was read, it returns the error of the first gap.
func (a *Query) ReadInto(ctx context.Context, runs *Runs) ([]Gap, error) {
	if a.Until <= a.From {
		return nil, errors.New("asking sacct: the end of the time is not after its beginning")
	}
	var gaps []Gap
	of := int((a.Until - a.From + Slice - 1) / Slice)
	failures := 0
	for i := range of {
		from := a.From + core.Time(i)*Slice
		until := min(from+Slice, a.Until)
		if a.Progress != nil {
			a.Progress(i, of)
		}
		begun := time.Now()
		err := a.slice(ctx, runs, from, until)
		if ctx.Err() != nil {
			return gaps, ctx.Err()
		}
		if err == nil {
			failures = 0
		} else {
			failures++
			gaps = append(gaps, Gap{from, until, err})
			if failures == maxFailures && i+1 < of {
				gaps = append(gaps, Gap{until, a.Until, fmt.Errorf("not requested after %d failures in a row", maxFailures)})
				break
			}
		}
		if i+1 < of {
			pause(ctx, time.Since(begun))
		}
	}
	if failures > 0 && len(runs.All) == 0 && len(gaps) >= min(of, maxFailures) {
		return gaps, gaps[0].Why
	}
	return gaps, nil
}

func (a *Query) slice(ctx context.Context, runs *Runs, from, until core.Time) error {
	who := "--allusers"
	if a.User != "" {
		who = "--user=" + a.User
	}
	text, err := a.Sacct(ctx, []string{who, "--duplicates", "--parsable2", "--noconvert",
		"--starttime=" + timeArgument(from), "--endtime=" + timeArgument(until), "--format=" + StepColumns})
	if err != nil {
		return err
	}
	return runs.Read(strings.NewReader(text), "sacct of "+timeArgument(from), time.UTC, from, until)
}

// timeArgument formats a second for sacct's options.
func timeArgument(at core.Time) string { return time.Unix(at, 0).UTC().Format("2006-01-02T15:04:05") }

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
