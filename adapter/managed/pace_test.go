package managed

import (
	"testing"

	"accordion/adapter"
	"accordion/core"
)

func TestJobOfOlderSidecarKeepsItsShortSteps(t *testing.T) {
	limits := Limits{ShortestStep: 10}
	choices := []core.EP{{{Duration: 5, Nodes: 1}, {Duration: 20, Nodes: 2}}}
	fresh := New(&adapter.Job{}, "ep=1x5s,2x20s", choices)
	fresh.StepLengthChecked = true
	if limits.TooShort(fresh) == "" {
		t.Error("a new job with a short step may come in")
	}
	if why := limits.TooShort(&Job{Record: Record{Request: "ep=1x5s,2x20s"}, Choices: choices}); why != "" {
		t.Errorf("a job that was taken up before there were limits: %s", why)
	}
	if why := (Limits{}).TooShort(fresh); why != "" {
		t.Errorf("without a bound: %s", why)
	}
}

// resizes returns how many resizes of a job the limits allow in an hour if a resize is due every
// `every` seconds.
func resizes(l Limits, r *Job, from, every core.Time) (n int) {
	for now := from; now < from+3600; now += every {
		if second, _ := l.NextResize(r); now >= second {
			l.CountResize(r, now)
			n++
		}
	}
	return n
}

func TestResizesPerHour(t *testing.T) {
	for _, c := range []struct {
		name    string
		perHour int
		every   core.Time
		want    [3]int // number of resizes in each of three hours
	}{
		{"steps of ten seconds never meet the bound", 360, 10, [3]int{360, 360, 360}},
		{"steps that all end early do", 360, 1, [3]int{450, 360, 360}},
		{"one of two hundred seconds", 18, 100, [3]int{23, 18, 18}},
		{"there is no bound", 0, 1, [3]int{3600, 3600, 3600}},
	} {
		var r Job
		for hour, want := range c.want {
			if got := resizes(Limits{ResizesPerHour: c.perHour}, &r, 1_800_000_000+core.Time(hour)*3600, c.every); got != want {
				t.Errorf("%s: %d resizes in hour %d, want %d", c.name, got, hour+1, want)
			}
		}
	}
	r := Job{}
	l := Limits{ResizesPerHour: 360}
	resizes(l, &r, 1_800_000_000, 1)
	if second, why := l.NextResize(&r); second <= 1_800_003_599 || why != "it changed its size too often: 360 times an hour in the long run ([limits] resizes_per_hour)" {
		t.Errorf("the next resize is at %d: %s", second, why)
	}
}
