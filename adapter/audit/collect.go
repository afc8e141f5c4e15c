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

// Source is where Audit reads the data.
type Source struct {
	Journal Journal
	System  adapter.Auditor
	Lease   adapter.LeaseReader    // nil if there is no lease, and a sidecar is assumed to run
	Clock   adapter.Clock          // nil means the wall clock
	Watch   time.Duration          // for how long to watch, before the readings, which job holds which node
	Settle  time.Duration          // for how long to read again while there are findings that may disappear by themselves
	Seen    []adapter.CurrentState // states of an earlier watch
	Prompt  float64                // used as Input.Prompt
}

// The pauses between two readings.
const (
	watchPause  = time.Second
	settlePause = 2 * time.Second
)

// Audit reads the data of a batch system and of its accounting, and judges what happened since a
// Unix second. A finding that may disappear by itself counts only if it is in all readings. The
// readings end when no such finding is left, or after Settle. Audit also returns why rows could not
// be read, or "".
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

// watch records which job holds which node.
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

// read reads all data once. It reads the journal last, so that the journal contains what the batch
// system shows. why is the reason why rows could not be read.
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

// lives reports whether the lease shows a running sidecar. kept is the second until which the
// reservations of a stopped sidecar stay.
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
