package sidecar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter/embedded"
	"accordion/adapter/view"
)

// A slowSubscriber makes the loop stand still once: from the instant `at`, for the time `lasts`.
type slowSubscriber struct {
	at    time.Time
	lasts time.Duration
	slept bool
}

func (s *slowSubscriber) WantsSnapshot() bool {
	if !s.slept && !time.Now().Before(s.at) {
		s.slept = true
		time.Sleep(s.lasts)
	}
	return false
}

func (s *slowSubscriber) Receive(*view.Snapshot) {}

// The sidecar stands still if the machine is busy or the process is stopped.
func TestAGrowthThatAStandstillOfTheSidecarDelaysIsNotCountedAgainstTheBatchSystem(t *testing.T) {
	for name, away := range map[string]func(w *world){
		"its loop stood still": func(w *world) {},
		"it was not there": func(w *world) {
			w.at(15)
			w.halt()
			w.at(37)
			w.serve()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				if name == "its loop stood still" {
					w.halt()
					w.subscriber = &slowSubscriber{at: time.Now().Add(15 * time.Second), lasts: 20 * time.Second}
					w.serve()
				}
				w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Silent: true, Comment: "ep=2x20s,5x20s", Script: listening(80 * time.Second)})
				away(w)
				w.quiet(200)
				got := ""
				for _, line := range strings.Split(w.journalled(), "\n") {
					if strings.Contains(line, " grew ") || strings.Contains(line, "promise broken") {
						got += line + "\n"
					}
				}
				if strings.Count(got, "cause:sidecar") != 2 || strings.Contains(got, "batch system") || !strings.Contains(got, "the sidecar stood still") {
					t.Errorf("it grew and its promise was broken as\n%s\nwant the sidecar as the cause", got)
				}
				w.clean()
			})
		})
	}
}
