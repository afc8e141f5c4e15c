package sidecar

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// What is written for a reservation while an older call for it may still be carried out would be undone by that.
func TestACallForAReservationThatWasGivenUpIsTakenForUnderWayForAWhile(t *testing.T) {
	for err, want := range map[error]bool{context.DeadlineExceeded: true, adapter.ErrBusy: false} {
		synctest.Test(t, func(t *testing.T) {
			s := New(Options{Journal: mute{}}).reservations
			s.settle(adapter.Reservation{Name: "accordion-app-1"}, "reserve", err)
			if got := s.busy("accordion-app-1"); got != want {
				t.Errorf("after %v it is under way: %t", err, got)
			}
			time.Sleep(managed.Straggles)
			if s.busy("accordion-app-1") {
				t.Errorf("%v after %v it is still under way", managed.Straggles, err)
			}
		})
	}
}

// An earlier reading shows nothing about a release that the batch system carried out after its
// caller gave up.
func TestAStartWhoseReleaseWasGivenUpIsJudgedByAReadingThatBeganAfterItCouldCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Journal: mute{}})
		r := &managed.Job{Record: managed.Record{Phase: managed.Starting}, Operation: managed.Operation{Straggles: time.Now().Add(managed.Straggles)}}
		s.readings.begun, s.readings.taken = 7, 7
		if s.jobs.settled(r) {
			t.Error("it is judged while its release may come")
		}
		time.Sleep(managed.Straggles)
		if s.jobs.settled(r) || s.jobs.fresh(r) {
			t.Error("it is judged by the reading of before")
		}
		s.readings.taken = 8
		if !s.jobs.settled(r) || !s.jobs.fresh(r) {
			t.Error("a reading of after does not tell")
		}
	})
}

// Where many acts were begun at once a plan for each end of one would keep the others waiting.
func TestActsThatHaveEndedAreTakenInTogether(t *testing.T) {
	s := New(Options{Journal: mute{}})
	taken := 0
	end := result{over: func(error) { taken++ }}
	for range 9 {
		s.workers.finished <- end
	}
	if err := s.finishAll(end); err != nil || taken != 10 || len(s.workers.finished) != 0 {
		t.Errorf("%d of 10 were taken in, %d are left: %v", taken, len(s.workers.finished), err)
	}
}
