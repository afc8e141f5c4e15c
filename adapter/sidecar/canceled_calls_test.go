package sidecar

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// If the batch system still carried out an older call, it would undo a newer call for the same
// reservation.
func TestACanceledCallForAReservationCountsAsUnderWayForAWhile(t *testing.T) {
	for err, want := range map[error]bool{context.DeadlineExceeded: true, adapter.ErrBusy: false} {
		synctest.Test(t, func(t *testing.T) {
			s := New(Options{Journal: nullJournal{}}).reservations
			s.settle(adapter.Reservation{Name: "accordion-app-1"}, "reserve", err)
			if got := s.busy("accordion-app-1"); got != want {
				t.Errorf("after %v it is under way: %t", err, got)
			}
			time.Sleep(managed.LateCall)
			if s.busy("accordion-app-1") {
				t.Errorf("%v after %v it is still under way", managed.LateCall, err)
			}
		})
	}
}

// An earlier reading does not show a release that the batch system carried out after the call was
// canceled.
func TestAStartWithACanceledReleaseIsJudgedByAReadingThatBeganAfterItsLastInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Journal: nullJournal{}})
		r := &managed.Job{Record: managed.Record{Phase: managed.Starting}, Operation: managed.Operation{LateCallUntil: time.Now().Add(managed.LateCall)}}
		s.readings.begun, s.readings.taken = 7, 7
		if s.jobs.settled(r) {
			t.Error("it is judged while its release may come")
		}
		time.Sleep(managed.LateCall)
		if s.jobs.settled(r) || s.jobs.fresh(r) {
			t.Error("it is judged by the reading of before")
		}
		s.readings.taken = 8
		if !s.jobs.settled(r) || !s.jobs.fresh(r) {
			t.Error("a reading of after does not tell")
		}
	})
}

// If many calls were begun at the same time, a plan after each result would delay the other
// results.
func TestResultsOfCallsAreTakenTogether(t *testing.T) {
	s := New(Options{Journal: nullJournal{}})
	taken := 0
	end := result{over: func(error) { taken++ }}
	for range 9 {
		s.workers.finished <- end
	}
	if err := s.finishAll(end); err != nil || taken != 10 || len(s.workers.finished) != 0 {
		t.Errorf("%d of 10 results were taken, %d are left: %v", taken, len(s.workers.finished), err)
	}
}
