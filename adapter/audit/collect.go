package audit

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
)

// Journal is the part of the sidecar's journal that Audit reads.
type Journal interface {
	Entries(since int64) iter.Seq2[journal.Entry, error]
	Records() ([]journal.Record, error)
}

// Source describes where and how Audit reads the data.
type Source struct {
	Journal Journal
	System  adapter.Auditor
	Lease   adapter.LeaseReader    // nil if there is no lease; Audit then assumes that a sidecar runs
	Clock   adapter.Clock          // nil means the wall clock
	Watch   time.Duration          // how long Audit watches, before the readings, which jobs hold which nodes
	Settle  time.Duration          // how long Audit repeats the readings while there are findings that may disappear by themselves
	Seen    []adapter.CurrentState // states that were already recorded by an earlier watch
	Prompt  float64                // used as Input.Prompt
}

// Pauses between readings: watchPause during the watch, settlePause after it.
const (
	watchPause  = time.Second
	settlePause = 2 * time.Second
)

// Audit reads the data of a batch system and of its accounting, and judges what happened since the
// Unix second `since`. It reports a finding that may disappear by itself only if all readings show
// the finding. The readings end when no such finding is left, or after Settle. The string says why
// rows of the journal or of accounting could not be read. It is "" if all rows were read.
func Audit(ctx context.Context, s Source, since core.Time) (Report, string, error) {
	if s.Clock == nil {
		s.Clock = adapter.Wall{}
	}
	if err := s.watch(ctx); err != nil {
		return Report{}, "", err
	}
	var last []Finding
	for round, end := 0, s.Clock.Now().Add(s.Settle); ; round++ {
		in, why, err := s.read(ctx, since)
		if err != nil {
			return Report{}, "", err
		}
		s.Seen = append(s.Seen, *in.Current)
		in.Watch = s.Seen
		report := Judge(in)
		report.Findings = slices.DeleteFunc(report.Findings, func(f Finding) bool {
			return round > 0 && f.Settles() && !slices.Contains(last, f)
		})
		last = report.Findings
		if !slices.ContainsFunc(last, Finding.Settles) || !s.Clock.Now().Before(end) {
			return report, why, nil
		}
		if err := s.pause(ctx, settlePause); err != nil {
			return Report{}, "", err
		}
	}
}

// watch records, until Watch has passed, which jobs hold which nodes.
func (s *Source) watch(ctx context.Context) error {
	for end := s.Clock.Now().Add(s.Watch); s.Clock.Now().Before(end); {
		seen, err := s.System.CurrentState(ctx)
		if err != nil {
			return fmt.Errorf("watching: %w", err)
		}
		s.Seen = append(s.Seen, *seen)
		if err := s.pause(ctx, watchPause); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-s.Clock.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read reads all data once. It reads the journal last, so that the journal already contains every
// action whose effect the batch system showed. The result `why` says why rows could not be read.
func (s *Source) read(ctx context.Context, since core.Time) (in Input, why string, err error) {
	in = Input{From: since, Alive: true, Prompt: s.Prompt}
	if in.Current, err = s.System.CurrentState(ctx); err != nil {
		return in, "", err
	}
	if in.Accounting, err = s.System.Accounting(ctx, since); err != nil {
		return in, "", err
	}
	if s.Lease != nil {
		if in.Alive, in.KeptUntil, err = lives(ctx, s.Lease); err != nil {
			return in, "", err
		}
	}
	if in.Records, err = s.Journal.Records(); err != nil {
		return in, "", err
	}
	why = in.Accounting.Why
	for e, err := range s.Journal.Entries(0) {
		if err != nil {
			return in, "", err
		}
		if _, unreadable := e.Args[journal.Unreadable]; unreadable {
			if in.Unread++; why == "" {
				why = fmt.Sprintf("journal, entry %d: its arguments are no JSON", e.ID)
			}
			continue
		}
		in.Entries = append(in.Entries, e)
	}
	in.Now = s.Clock.Now().Unix()
	return in, why, nil
}

// lives reports whether a running sidecar holds the lease. The result `kept` is the Unix second until
// which the reservations of a stopped sidecar may exist.
func lives(ctx context.Context, l adapter.LeaseReader) (alive bool, kept core.Time, err error) {
	now, err := l.Now(ctx)
	if err != nil {
		return false, 0, fmt.Errorf("whether a sidecar lives: %w", err)
	}
	holder, err := l.Holder(ctx)
	if err != nil {
		return false, 0, fmt.Errorf("whether a sidecar lives: %w", err)
	}
	kept, err = l.KeptUntil(ctx)
	return holder != nil && now < holder.Until, kept, err
}
