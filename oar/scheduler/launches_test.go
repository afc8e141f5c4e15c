package scheduler

import (
	"testing"
	"time"
)

func TestASchedulerStaysUntilOARNeedNotSleep(t *testing.T) {
	const second = 1_795_340_500
	at := func(offset time.Duration) time.Time { return time.Unix(second, 0).Add(offset) }
	for _, test := range []struct {
		of   string
		now  int64
		at   time.Time
		want time.Duration
	}{
		{"the only pass of a second", second + 1, at(300 * time.Millisecond), 0},
		{"a slow one", second + 1, at(7 * time.Second), 0},
		{"the second of a second", second + 2, at(400 * time.Millisecond), 500 * time.Millisecond},
		{"the same, just before the next one", second + 2, at(950 * time.Millisecond), 0},
		{"the same, after it", second + 2, at(time.Second), 0},
		{"one of a clock that was put back, or that is tried by hand", second + 3600, at(0), 0},
	} {
		if got := waitAfter(test.now, test.at); got != test.want {
			t.Errorf("%s stays for %s, want %s", test.of, got, test.want)
		}
		// This is the meta-scheduler's own computation, in whole seconds.
		if looks := test.at.Add(waitAfter(test.now, test.at) + nextLook); test.now < second+3600 && test.now-looks.Unix() > 1 {
			t.Errorf("after %s the next pass sleeps: it looks at %s, and the pass before it was for second %d", test.of, looks, test.now)
		}
	}
}

func TestALaunchIsTheLineThatOARReads(t *testing.T) {
	for _, test := range []struct {
		launch Launch
		want   string
	}{
		{Launch{7, 9, []int64{3}}, "SCHEDRUN JOB_ID=7 MOLDABLE_JOB_ID=9 RESOURCES=3"},
		{Launch{7, 9, []int64{3, 14, 15}}, "SCHEDRUN JOB_ID=7 MOLDABLE_JOB_ID=9 RESOURCES=3,14,15"},
	} {
		if got := test.launch.String(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
