package oar

import (
	"testing"
	"time"

	"accordion/adapter"
	"accordion/oar/observe"
	"accordion/oar/server"
)

// OAR ignores a notification that comes too soon after a pass. So the sidecar repeats the notification from time to time while a released
// job still waits.
func TestNotificationIsRepeatedUntilTheJobStarts(t *testing.T) {
	companion := func(state, joined string) *observe.Job { return &observe.Job{OARState: state, Joined: joined} }
	for _, c := range []struct {
		name  string
		job   observe.Job
		since time.Duration
		word  string
		slow  bool
	}{
		{"held", observe.Job{OARState: "Waiting"}, time.Hour, "", false},
		{"released just now", observe.Job{OARState: "Waiting", Released: true}, time.Second, "", false},
		{"released a while ago", observe.Job{OARState: "Waiting", Released: true}, notifyEvery, server.Starts, true},
		{"launched just now", observe.Job{OARState: "toLaunch", Released: true}, time.Second, "", false},
		{"launched a while ago", observe.Job{Job: adapter.Job{Key: adapter.Key{ID: 7}}, OARState: "toLaunch", Released: true}, notifyEvery, "OARRUNJOB_7", true},
		{"beginning", observe.Job{OARState: "Launching", Released: true}, time.Hour, "", false},
		{"running", observe.Job{OARState: "Running", Released: true}, time.Hour, "", false},
		{"its companion waits", observe.Job{OARState: "Running", Companions: []*observe.Job{companion("Waiting", observe.AtStart)}}, 0, server.Starts, false},
		{"its companion runs", observe.Job{OARState: "Running", Companions: []*observe.Job{companion("Running", observe.AtStart)}}, 0, "", false},
		{"its companion is launched", observe.Job{OARState: "Running", Released: true, Companions: []*observe.Job{companion("toLaunch", observe.AtStart)}}, time.Second, "", false},
		{"its companion was launched a while ago", observe.Job{OARState: "Running", Released: true, Companions: []*observe.Job{companion("toLaunch", observe.AtStart)}}, notifyEvery, server.Starts, true},
		{"it grows", observe.Job{OARState: "Running", Companions: []*observe.Job{companion("Waiting", "")}}, 0, "", false},
	} {
		if word, slow := lateNotification(&c.job, c.since); word != c.word || slow != c.slow {
			t.Errorf("%s: %q, slow %v; want %q, %v", c.name, word, slow, c.word, c.slow)
		}
	}
}

// A job that was submitted just after a pass does not wait long, even if another job has just started without a pass.
func TestSkippedPassIsRequestedLater(t *testing.T) {
	for _, c := range []struct {
		began, told time.Duration
		want        bool
	}{
		{time.Second, time.Second, false},
		{notifyEvery, notifyEvery, true},
		{2 * notifyEvery, time.Second, false},
		{2 * notifyEvery, notifyEvery, true},
		{repeatFor, notifyEvery, false},
		{24 * time.Hour, 24 * time.Hour, false},
	} {
		if got := passDue(c.began, c.told); got != c.want {
			t.Errorf("%v after a start, %v after the last word: %v, want %v", c.began, c.told, got, c.want)
		}
	}
}
