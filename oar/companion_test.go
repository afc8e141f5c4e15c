package oar

import (
	"os/exec"
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/server"
)

func TestBaseIsTheSmallestStepOfTheMatchingProfiles(t *testing.T) {
	for _, c := range []struct {
		request string
		first   int
		want    int // 0 if an error is expected
	}{
		{"ep=2x20s,5x20s,3x20s", 2, 2},
		{"ep=5x20s,1x20s,3x20s", 5, 1},
		{"ep=5x20s,1x20s,3x20s", 4, 0},
		{"ep=4x20s,2x20s|8x10s,6x10s", 8, 6},
		{"ep=4x20s,2x20s|4x10s,3x10s", 4, 2}, // two alternative profiles
		{"ep=none", 4, 0},
	} {
		r := &observe.Job{Job: adapter.Job{Mark: adapter.MarkPrefix + c.request}}
		got, err := baseOf(r, c.first)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s on %d nodes: %d, %v; want %d", c.request, c.first, got, err, c.want)
		}
	}
}

func TestALayerIsDividedWhereTheProfileDividesIt(t *testing.T) {
	hosts := []string{"n1", "n2", "n3"}
	for _, c := range []struct {
		profile string
		above   int
		want    int // companions
	}{
		{"2x20s,5x20s,2x20s", 2, 1},
		{"2x20s,5x20s,3x20s", 2, 3},
		{"2x20s,5x20s,8x20s,5x20s", 5, 1},
		{"2x20s,5x20s,8x20s,6x20s", 5, 3},
	} {
		r := &observe.Job{Job: adapter.Job{Mark: adapter.MarkPrefix + "ep=" + c.profile}}
		got := (*System)(nil).layers(r, c.above, hosts)
		if len(got) != c.want || !slices.Equal(slices.Concat(got...), hosts) {
			t.Errorf("%s above %d: %v, want %d companions", c.profile, c.above, got, c.want)
		}
	}
	if got := (*System)(nil).layers(&observe.Job{}, 2, nil); got != nil {
		t.Errorf("no hosts make %v", got)
	}
}

func TestUsersTextIsOneWordForAShell(t *testing.T) {
	for _, word := range []string{"plain", "it's", "$HOME `id` \"x\" \\", "''", ""} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+server.Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q arrives as %q, %v", word, out, err)
		}
	}
}

func TestListOfNumbersForSQLIsNeverEmpty(t *testing.T) {
	for want, ids := range map[string][]int64{"-1": nil, "7": {7}, "1, 2, 3": {1, 2, 3}} {
		if got := database.List(ids); got != want {
			t.Errorf("%v is written %q", ids, got)
		}
	}
}
